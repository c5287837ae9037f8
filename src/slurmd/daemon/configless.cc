#include "slurmd/daemon/configless.h"

#include <cstdio>

#include "agent/conf_cache.h"
#include "agent/conf_servers.h"
#include "agent/fetched_files.h"
#include "base/text.h"
#include "config/hosts.h"
#include "config/load.h"
#include "os/node/hardware.h"
#include "site/conf_files.h"
#include "slurmd/daemon/join.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

std::string node_of_host(const config::Config& config, const std::string& host) {
  for (const config::NodeConfig& node : config.nodes)
    if (iequals(node.hostname(), host)) return node.name;
  return host;
}

// For commands on this host; without the link they take SLURM_CONF.
void link_for_commands(const std::string& folder, std::vector<std::string>& notes) {
  const std::string run = agent::run_directory();
  if (run.empty()) return;
  if (auto ok = agent::link_to_cache(run + "/conf", folder); !ok)
    notes.push_back("commands on this host have to be told of " + folder + ": " + std::string(ok.error().message()));
}

}  // namespace

Result<std::string> cache_folder(const agent::FetchedConfig& fetched, const Arguments& arguments) {
  MUSTER_TRY(loaded, agent::load_fetched(fetched, arguments.node_line));
  const std::string host = os::short_hostname();
  const std::string node = arguments.node_name.empty() ? node_of_host(loaded.config, host) : arguments.node_name;
  return config::substitute_node(loaded.config.slurmd_spool_dir, node, host) + "/conf-cache";
}

Result<> join_by_token(Arguments& arguments) {
  MUSTER_TRY(servers, agent::conf_servers(arguments.conf_server, arguments.conf_file));
  std::optional<config::LoadedConfig> local;  // where there is a slurm.conf
  if (servers.empty()) {
    site::DiskFiles files;
    auto loaded = config::load_config(files, site::find_conf(arguments.conf_file));
    if (!loaded) return fail(config::to_text(loaded.error()));
    local = std::move(*loaded);
    const config::Config& config = local->config;
    for (const config::ControllerHost& host : config.slurmctld_hosts)
      servers.push_back({config.slurmctld_addr.empty() ? host.address : config.slurmctld_addr, config.slurmctld_port.first});
  }
  Subject subject{SubjectKind::kNode, arguments.node_name.empty() ? os::short_hostname() : arguments.node_name};
  std::optional<rpc::JoinNode> future;
  if (arguments.join == rpc::JoinAs::kFuture) {
    subject.name.clear();  // slurmctld says which
    MUSTER_TRY(machine, future_request(arguments, local ? &local->config : nullptr));
    future = std::move(machine);
  }
  auto waits = [](const std::string& why) {
    std::fprintf(stderr, "slurmd: slurmctld has to let this node in, and is waited for: %s\n", why.c_str());
  };
  MUSTER_TRY(membership, agent::Membership::join(arguments.token_file, subject, servers, waits, std::move(future)));
  arguments.membership = std::move(membership);
  return {};
}

Result<> fetch_configuration(Arguments& arguments) {
  MUSTER_TRY(servers, agent::conf_servers(arguments.conf_server, arguments.conf_file));
  if (servers.empty()) return {};
  MUSTER_TRY(proof, arguments.membership ? agent::FirstProof(arguments.membership->security(), std::string())
                                         : agent::first_proof(arguments.conf_file, "", arguments.auth_info));
  MUSTER_TRY(config, agent::fetch_from(servers, proof.security, [](const std::string& why) {
               std::fprintf(stderr, "slurmd: slurmctld has the configuration, and is waited for: %s\n", why.c_str());
             }));
  MUSTER_TRY(folder, cache_folder(config, arguments));
  MUSTER_TRY_VOID(agent::write_conf_cache(folder, config, proof.key));
  arguments.configless = Configless{folder, proof.key, config.version};
  arguments.conf_file = folder + "/slurm.conf";
  link_for_commands(folder, arguments.notes);
  return {};
}

bool ConfigFollower::on_order(const NodeOrder& order) {
  const auto* registered = std::get_if<node_rpc::Registered>(&order);
  const auto* reconfigure = std::get_if<node_rpc::Reconfigure>(&order);
  if (!configless_ || (!registered && !reconfigure)) return false;
  const std::string& version = registered ? registered->config : reconfigure->config;
  if (version.empty()) {
    if (!reconfigure || !reconfigure->shutdown)
      log_.error("slurmctld gives out no configuration (SlurmctldParameters=enable_configless): the one of before stays");
    return false;
  }
  wanted_ = version;
  return registered && version != kept_.version;
}

void ConfigFollower::bring(std::function<void()> then) {
  if (!configless_ || wanted_.empty() || (wanted_ == kept_.version && !fetching_)) return then();
  waiting_.push_back(std::move(then));
  if (std::exchange(fetching_, true)) return;
  const agent::Ask ask = [this](uint16_t message, std::string payload, std::function<void(Result<net::Frame>)> answered) {
    link_.connection().ask(
        message, std::move(payload), ControllerLink::kAnswerTime, [](const net::Frame&) {}, std::move(answered));
  };
  agent::fetch_config(ask, agent::read_conf_cache(kept_.folder), false,
                      [this](Result<agent::FetchedConfig> config) { fetched(std::move(config)); });
}

void ConfigFollower::fetched(Result<agent::FetchedConfig> config) {
  fetching_ = false;
  const std::vector<std::function<void()>> waiting = std::exchange(waiting_, {});
  Result<> written = config ? agent::write_conf_cache(kept_.folder, *config, kept_.key) : std::unexpected(config.error());
  if (!written) return log_.error("the configuration of before stays: {}", written.error().message());
  kept_.version = config->version;
  log_.info("{} files of the configuration from slurmctld", config->files.size());
  if (!waiting.empty()) waiting.back()();  // all of them read it
}

}  // namespace muster::slurmd
