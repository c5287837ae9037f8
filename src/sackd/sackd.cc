#include "sackd/sackd.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "agent/conf_cache.h"
#include "agent/fetched_files.h"
#include "base/version.h"
#include "net/daemon_signals.h"
#include "net/shares.h"
#include "os/daemonize.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/node/hardware.h"
#include "os/service_manager.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "site/run_as.h"
#include "site/trust.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::sackd {
namespace {

constexpr Duration kAnswerTime = minutes(1);

os::LogOptions log_options(const Arguments& a) {
  os::LogOptions o;
  o.program = "sackd";
  const int level = std::clamp(a.debug.value_or(static_cast<int>(os::LogLevel::kInfo)) + a.verbose, 0, 9);
  o.file_level = os::LogLevel::kQuiet;
  if (a.foreground) o.stderr_level = static_cast<os::LogLevel>(a.stderr_debug.value_or(level));
  if (!a.foreground || a.syslog_debug) o.syslog_level = static_cast<os::LogLevel>(a.syslog_debug.value_or(level));
  return o;
}

Result<config::LoadedConfig> load(const std::string& path) {
  site::DiskFiles files;
  auto loaded = config::load_config(files, path);
  if (!loaded) return fail(Errc::kConfig, config::to_text(loaded.error()));
  return std::move(*loaded);
}

struct Prepared {
  Setup setup;
  agent::FetchedConfig fetched;  // to be written once we are SlurmUser
};

using Joined = std::shared_ptr<agent::Membership>;

// By the token, if there is one: this host is known to slurmctld from then on.
Result<Joined> join(std::vector<net::Endpoint> servers, const Arguments& arguments) {
  if (arguments.token_file.empty()) return Joined();
  if (servers.empty()) {
    MUSTER_TRY(loaded, load(site::find_conf(arguments.conf_file)));
    for (const config::ControllerHost& host : loaded.config.slurmctld_hosts)
      servers.push_back({host.address, loaded.config.slurmctld_port.first});
  }
  return agent::Membership::join(arguments.token_file, {SubjectKind::kLogin, os::short_hostname()}, servers, [](const std::string& why) {
    std::fprintf(stderr, "sackd: slurmctld has to let this host in, and is waited for: %s\n", why.c_str());
  });
}

Result<Prepared> with_files_of_slurmctld(const std::vector<net::Endpoint>& servers, const Arguments& arguments, const Joined& joined) {
  Prepared out;
  MUSTER_TRY(proof, joined ? agent::FirstProof(joined->security(), std::string())
                           : agent::first_proof(arguments.conf_file, arguments.key_file, ""));
  MUSTER_TRY(fetched, agent::fetch_from(servers, proof.security, [](const std::string& why) {
               std::fprintf(stderr, "sackd: slurmctld has the configuration, and is waited for: %s\n", why.c_str());
             }));
  MUSTER_TRY(loaded, agent::load_fetched(fetched));
  out.setup.config = std::move(loaded.config);
  out.setup.folder = agent::run_directory() + "/conf";
  out.setup.key = proof.key;
  out.setup.version = fetched.version;
  out.setup.security = std::move(proof.security);
  out.fetched = std::move(fetched);
  return out;
}

Result<Prepared> with_own_files(const Arguments& arguments) {
  Prepared out;
  out.setup.conf_file = site::find_conf(arguments.conf_file);
  MUSTER_TRY(loaded, load(out.setup.conf_file));
  out.setup.config = std::move(loaded.config);
  return out;
}

// Everything that takes root, or a slurmctld, before the daemon is SlurmUser.
Result<Prepared> prepare(const Arguments& arguments) {
  if (agent::run_directory().empty())
    return fail(Errc::kConfig, "RUNTIME_DIRECTORY is not set", "without root it has to name the folder for sack.socket and the files");
  MUSTER_TRY(servers, agent::conf_servers(arguments.conf_server, arguments.conf_file));
  MUSTER_TRY(joined, join(servers, arguments));
  MUSTER_TRY(out, servers.empty() ? with_own_files(arguments) : with_files_of_slurmctld(servers, arguments, joined));
  Setup& setup = out.setup;
  MUSTER_TRY(slurm_user, site::user_of(setup.config.slurm_user));
  setup.slurm_user = slurm_user;
  setup.host = os::short_hostname();
  setup.membership = joined;
  if (joined && setup.config.auth_type == "auth/munge")
    return fail(Errc::kConfig, "--token-file: tokens are for AuthType=auth/slurm, and this cluster has auth/munge");
  if (joined) {
    setup.security = joined->security();
  } else if (setup.config.auth_type != "auth/munge" && !arguments.key_file.empty()) {
    MUSTER_TRY(key, site::read_cluster_key_at(arguments.key_file, slurm_user));
    setup.security.key = std::move(key);
  } else if (setup.security.key.empty()) {
    MUSTER_TRY(security, site::load_security(setup.config, slurm_user));
    setup.security = std::move(security);
  }
  // By the cluster key, too, a certificate: nodes that have no key know this host by it, and with it comes who signs credentials.
  if (!joined && setup.security.kind != net::Security::Kind::kMunge) {
    setup.membership = std::make_shared<agent::Membership>(Subject{SubjectKind::kLogin, setup.host});
    setup.security.identity = setup.membership->identity();
  }
  return out;
}

// RUNTIME_DIRECTORY becomes SlurmUser's: the files in it are replaced as a folder.
Result<> prepare_directory(const std::string& path, Uid slurm_user) {
  MUSTER_TRY_VOID(os::make_dirs(path, 0755));
  MUSTER_TRY_VOID(site::check_folder(path, "RUNTIME_DIRECTORY", slurm_user));
  if (::geteuid() != 0 || slurm_user.value == 0) return {};
  os::Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0 || ::fchown(folder.get(), slurm_user.value, static_cast<gid_t>(-1)) != 0) return os::fail_errno(path);
  return {};
}

}  // namespace

Sackd::Sackd(Setup setup, Arguments arguments, os::Log& log)
    : setup_(std::move(setup)),
      arguments_(std::move(arguments)),
      log_(log),
      link_(loop_, log, "Unable to reach slurmctld, trying on", connection_ports()),
      relay_(link_, [this] { return setup_.host; }),
      to_nodes_(loop_,
                [this] {
                  return agent::NodeRelay::Way{setup_.security, setup_.config.message_timeout};
                }),
      users_(loop_, channel_events()) {}

agent::ControllerConnection::Ports Sackd::connection_ports() {
  agent::ControllerConnection::Ports ports;
  ports.way = [this] {
    const config::Config& config = setup_.config;
    // A host that joined with a token is known by its certificate alone, also beside slurmctld.
    std::string agent =
        setup_.by_token() ? std::string() : site::slurmctld_agent_socket(config.slurmctld_pid_file, config.slurmctld_port.first);
    return agent::ControllerConnection::Way::of(config, std::move(agent), setup_.security, setup_.slurm_user);
  };
  ports.opened = [this] {
    log_.info("connected to slurmctld");
    link_.taken();
    fetch();
    if (setup_.membership && !setup_.by_token()) setup_.membership->ask_anew();
    if (setup_.membership) setup_.membership->renew(link_, log_, net::Loop::now());
  };
  ports.lost = [] {};
  ports.frame = [this](const net::Frame& frame) { on_frame(frame); };
  return ports;
}

net::ChannelSet::Events Sackd::channel_events() {
  net::ChannelSet::Events events;
  events.frame = [this](const net::ChannelPtr& channel, const net::Frame& frame) -> Result<> {
    if (frame.kind != net::FrameKind::kRequest) return fail(Errc::kUnexpectedMessage);
    if (frame.message == wire::number_of<rpc::RelayToNode>) return ask_node(channel, frame);
    return relay_.pass_on(channel, frame);
  };
  events.ended = [this](const net::Channel* channel) { relay_.closed(channel); };
  events.refused = [](const net::Peer&, const net::Frame&, const Error&) {};
  events.dropped = [](const net::Peer&) {};
  return events;
}

// The credential in a request to a node. The node takes a daemon's word for who asks, so it has to be the caller's.
Result<rpc::StepCredential> Sackd::own_credential(const net::Peer& peer, const rpc::RelayToNode& relay) const {
  MUSTER_TRY(request, agent::relayed_request(relay));
  MUSTER_TRY(said, agent::signed_credential(setup_.security, request.credential));
  if (said.uid != peer.uid && peer.subject(setup_.slurm_user).kind != SubjectKind::kAdministrator)
    return fail(Errc::kAccessDenied,
                "the credential is for uid " + std::to_string(said.uid.value) + ", the caller is uid " + std::to_string(peer.uid.value));
  if (said.purpose != request.purpose) return fail(Errc::kInvalidCredential, "the credential is for something else");
  return said;
}

// A step of a user of this host, or a file of his, on its way to a node, which is where his credential says.
Result<> Sackd::ask_node(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (channel->peer().trust != net::Trust::kLocalUser) return fail(Errc::kUnexpectedMessage);
  rpc::RelayToNode relay;
  MUSTER_TRY_VOID(wire::decode(frame.payload, relay));
  MUSTER_TRY(credential, own_credential(channel->peer(), relay));
  const auto at = std::ranges::find(credential.nodes, relay.node, [](const rpc::StepNode& n) { return n.address.name; });
  if (at == credential.nodes.end()) return fail(Errc::kInvalidNodeName, "node '" + relay.node + "' is none of the credential's");
  to_nodes_.pass_on(channel, frame, std::move(relay), at->address, credential.uid);
  return {};
}

Result<> Sackd::start(net::BoundSocket socket) {
  net::Limits limits;
  limits.shares = net::Shares::make(loop_, {0, setup_.slurm_user.value, ::geteuid()});
  limits.largest = [this](uint16_t message) { return wire::largest_request(message, setup_.config.most_script_bytes()); };
  limits.shares->on_refused = [this](const std::string& text) { log_.error("{}", text); };
  MUSTER_TRY(listener, net::listen_unix(
                           loop_, std::move(socket), [this](net::ChannelPtr c) { users_.accept(std::move(c)); }, limits));
  listener_ = std::move(listener);
  for (const std::string& note : arguments_.notes) log_.info("{}", note);
  wire_signals();
  link_.start();
  if (setup_.membership) renew();
  return {};
}

void Sackd::wire_signals() {
  net::wire_daemon_signals(loop_, {.stop =
                                       [this](int signal) {
                                         log_.info("signal {}: terminating", signal);
                                         link_.stop();
                                         loop_.stop();
                                       },
                                   .reload =
                                       [this] {
                                         if (setup_.folder.empty()) read_again();
                                         else fetch();
                                       },
                                   .reopen_log = [] {},
                                   .report =
                                       [this] {
                                         log_.info("connections: {} of users; slurmctld {}", users_.size(),
                                                   link_.connected() ? "is connected" : "is not connected");
                                       }});
}

void Sackd::renew() {
  setup_.membership->renew(link_, log_, net::Loop::now());
  renewal_ = loop_.after(minutes(1), [this] { renew(); });
}

void Sackd::on_frame(const net::Frame& frame) {
  if (frame.kind == net::FrameKind::kRequest) return link_.channel()->answer_error(frame.id, Error(Errc::kUnexpectedMessage));
  if (frame.message != rpc::ConfigChanged::kNumber) return;
  rpc::ConfigChanged changed;
  if (auto ok = wire::decode(frame.payload, changed); !ok)
    return log_.error("slurmctld sent a notice that cannot be read: {}", ok.error().message());
  if (!changed.version.empty() && changed.version != setup_.version) fetch();
}

void Sackd::fetch() {
  if (setup_.folder.empty() || arguments_.disable_reconfig) return;
  if (std::exchange(fetching_, true)) {
    again_ = true;
    return;
  }
  const agent::Ask ask = [this](uint16_t message, std::string payload, std::function<void(Result<net::Frame>)> answered) {
    link_.ask(
        message, std::move(payload), kAnswerTime, [](const net::Frame&) {}, std::move(answered));
  };
  agent::fetch_config(ask, agent::read_conf_cache(setup_.folder), true,
                      [this](Result<agent::FetchedConfig> config) { fetched(std::move(config)); });
}

void Sackd::fetched(Result<agent::FetchedConfig> config) {
  fetching_ = false;
  if (!config) return log_.error("the configuration of before stays: {}", config.error().message());
  if (config->version != setup_.version) {
    if (auto ok = agent::write_conf_cache(setup_.folder, *config, setup_.key); !ok)
      return log_.error("the configuration of before stays: {}", ok.error().message());
    setup_.version = config->version;
    log_.info("{} files of the configuration from slurmctld", config->files.size());
    read_again();
  }
  if (std::exchange(again_, false)) fetch();
}

// Where slurmctld is, and how long is waited for it. A new key takes a new start.
void Sackd::read_again() {
  auto loaded = load(setup_.folder.empty() ? setup_.conf_file : setup_.folder + "/slurm.conf");
  if (!loaded) return log_.error("the files are refused, nothing changed: {}", loaded.error().message());
  setup_.config = std::move(loaded->config);
  log_.info("configuration read again");
}

int run_sackd(int argc, char** argv) {
  net::ignore_daemon_signals();
  const std::string notify_socket = os::take_notify_socket();
  Arguments arguments = parse_arguments(argc, argv);
  if (arguments.exit_now >= 0) return arguments.exit_now;
  std::optional<os::Detached> background;
  auto die = [&](const Error& e) {
    std::string text = "sackd: fatal: " + std::string(e.message()) + (e.hint.empty() ? "" : "\nsackd: " + e.hint);
    if (background) background->failed(text);
    std::fprintf(stderr, "%s\n", text.c_str());
    return 1;
  };
  auto prepared = prepare(arguments);
  if (!prepared) return die(prepared.error());
  if (!arguments.foreground) {
    auto begun = os::Detached::begin();
    if (!begun) return die(begun.error());
    background = std::move(*begun);
  }
  [[maybe_unused]] auto files = os::raise_own_nofile();
  const std::string directory = agent::run_directory();
  if (auto ok = prepare_directory(directory, prepared->setup.slurm_user); !ok) return die(ok.error());
  auto socket = net::bind_agent_socket(directory + "/sack.socket");
  if (!socket) return die(socket.error());
  if (auto ok = site::become_user(prepared->setup.config.slurm_user); !ok) return die(ok.error());
  if (!prepared->setup.folder.empty())
    if (auto ok = agent::write_conf_cache(prepared->setup.folder, prepared->fetched, prepared->setup.key); !ok) return die(ok.error());
  // The certificate is renewed by SlurmUser, who has to be able to replace what is in the token's folder.
  if (const std::string folder = site::directory_of(arguments.token_file); !arguments.token_file.empty()) {
    if (::access(folder.c_str(), W_OK) != 0)
      return die(Error(Errc::kAccessDenied, folder + ": SlurmUser has to own the folder of --token-file, where the certificate is kept"));
    if (auto ok = site::check_folder(folder, "the folder of --token-file", prepared->setup.slurm_user); !ok) return die(ok.error());
  }
  auto log = os::Log::open(log_options(arguments));
  if (!log) return die(log.error());
  (*log)->info("sackd version {} started on cluster {}", kVersion, prepared->setup.config.cluster_name);
  Sackd daemon(std::move(prepared->setup), std::move(arguments), **log);
  if (auto ok = daemon.start(std::move(*socket)); !ok) return die(ok.error());
  if (background)
    if (auto ok = background->ready("/"); !ok) return die(ok.error());
  if (auto ok = os::tell_ready(notify_socket); !ok) (*log)->error("{}", ok.error().message());
  daemon.run();
  (*log)->info("sackd ends");
  return 0;
}

}  // namespace muster::sackd
