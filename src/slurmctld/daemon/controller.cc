#include "slurmctld/daemon/controller.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <set>

#include "base/text.h"
#include "base/version.h"
#include "config/job_completion.h"
#include "config/load.h"
#include "config/show_config.h"
#include "config/write_config.h"
#include "net/credential.h"
#include "net/daemon_signals.h"
#include "net/shares.h"
#include "net/system_clock.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/log.h"
#include "os/service_manager.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "site/run_as.h"
#include "site/trust.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/reservations.h"
#include "slurmctld/daemon/accounting_link.h"
#include "slurmctld/daemon/arguments.h"
#include "slurmctld/daemon/certificates.h"
#include "slurmctld/daemon/completions.h"
#include "slurmctld/daemon/core_thread.h"
#include "slurmctld/daemon/node_links.h"
#include "slurmctld/daemon/own_host.h"
#include "slurmctld/daemon/planner_thread.h"
#include "slurmctld/daemon/programs.h"
#include "slurmctld/daemon/reservation_groups.h"
#include "slurmctld/daemon/service.h"
#include "slurmctld/daemon/trigger_programs.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

os::LogOptions log_options(const config::Config& c, const Arguments& a) {
  os::LogOptions o;
  o.program = "slurmctld";
  o.file = a.log_file.empty() ? c.slurmctld_log_file : a.log_file;
  int level = std::clamp(c.slurmctld_debug + a.verbose - a.quiet, 0, 9);
  o.file_level = static_cast<os::LogLevel>(level);
  if (a.foreground) o.stderr_level = static_cast<os::LogLevel>(level);
  if (auto format = os::parse_log_time_format(c.log_time_format)) o.time_format = *format;
  if (o.file.empty() && !a.foreground) o.syslog_level = static_cast<os::LogLevel>(level);
  return o;
}

// ---- the whole controller once its configuration is known
class Controller {
 public:
  Controller(os::Log& log, std::string conf_path, Arguments arguments)
      : log_(log), conf_path_(std::move(conf_path)), arguments_(std::move(arguments)) {}

  // `files` has read the configuration.
  Result<> start(std::shared_ptr<const config::LoadedConfig> loaded, const site::KeptFiles& files, net::BoundSocket agent);
  void run();

 private:
  Result<TurnDriver> open_state();
  CoreThread::Ports core_ports();
  PlannerThread::Ports planner_ports();
  void program_ended(const JobProgramEnd& end);
  void trigger_started(uint32_t id);
  NodeLinks::Ports node_ports();
  AccountingLink::Ports accounting_ports();
  Service::Ports service_ports(const net::Security& security);
  template <class F>
  void post_command(F f);
  template <class F>
  void answer_record_waits(F f);
  Result<> listen(net::BoundSocket agent, const net::Security& security);
  void wire_signals();
  void reopen_log();
  void report_connections();
  void carry_out(std::vector<Effect> effects);
  void follow_completions(const config::Config& config);
  void send(Order& order);
  Result<rpc::Messages> reconfigure();
  void use(std::shared_ptr<const config::LoadedConfig> loaded, Uid slurm_user);
  void offer_files(const config::Config& config, const site::KeptFiles& files);
  std::string config_version() const { return config_files_ ? config_files_->manifest().version : ""; }
  void shutdown(bool controller_only);
  std::string show_config();
  // With the remote licences and the nodes that are known now.
  std::shared_ptr<const Settings> settings() const {
    const auto cluster = core_ ? core_->snapshot() : nullptr;
    LicensesOf of{cluster ? cluster->directory : nullptr, cluster ? cluster->node_names : nullptr};
    std::lock_guard lock(settings_mutex_);
    if (std::exchange(licenses_of_, of) != of) {
      auto next = std::make_shared<Settings>(*settings_);
      set_licenses(*next, of.directory.get(), of.nodes.get());
      settings_ = std::move(next);
    }
    return settings_;
  }

  os::Log& log_;
  std::string conf_path_;
  Arguments arguments_;
  mutable std::mutex settings_mutex_;
  mutable std::shared_ptr<const Settings> settings_;
  struct LicensesOf {  // whose remote licences are in settings_, and by which numbers the nodes of layers
    std::shared_ptr<const AccountDirectory> directory;
    std::shared_ptr<const NodeNumbers> nodes;
    bool operator==(const LicensesOf&) const = default;
  };
  mutable LicensesOf licenses_of_;
  net::Loop loop_;
  std::shared_ptr<net::Shares> shares_;
  Statistics stats_;
  std::unique_ptr<store::BlobReader> blobs_;
  std::unique_ptr<Completions> completions_;
  net::SystemClock clock_;
  std::unique_ptr<CoreThread> core_;
  std::unique_ptr<PlannerThread> planner_;
  std::unique_ptr<NodeLinks> nodes_;
  std::unique_ptr<Certificates> certificates_;       // null with munge
  net::Security security_;                           // signs the warrants of step managers
  std::shared_ptr<const ConfigFiles> config_files_;  // for hosts without slurm.conf; null: they get none
  std::unique_ptr<Service> service_;
  std::unique_ptr<TriggerPrograms> triggers_;
  std::unique_ptr<Programs> programs_;
  std::unique_ptr<AccountingLink> accounting_;
  std::unique_ptr<ReservationGroups> groups_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::vector<std::unique_ptr<net::Loop::Timer>> timers_;
  bool dump_core_ = false;                  // SIGABRT
  std::atomic<bool> watchers_told_{false};  // that there is a new snapshot; a second call would say nothing new
  Time started_{};
};

Result<> Controller::start(std::shared_ptr<const config::LoadedConfig> loaded, const site::KeptFiles& files, net::BoundSocket agent) {
  started_ = stats_.since = net::Loop::now();
  MUSTER_TRY(slurm_user, site::user_of(loaded->config.slurm_user));
  settings_ = std::make_shared<const Settings>(make_settings(loaded, slurm_user, ::geteuid() != 0));
  offer_files(loaded->config, files);
  shares_ = net::Shares::make(loop_, {0, slurm_user.value, ::geteuid()});
  shares_->on_refused = [this](const std::string& text) { log_.error("{}", text); };
  MUSTER_TRY(turns, open_state());
  // The configuration becomes part of the state before anybody is served. What is left to do waits for the parts that do it.
  MUSTER_TRY(effects, turns.open(*settings_));
  MUSTER_TRY(security, own_security(loaded->config, slurm_user, certificates_));
  MUSTER_TRY(blobs, store::open_sqlite_blobs(loaded->config.state_save_location));
  blobs_ = std::move(blobs);
  completions_ = std::make_unique<Completions>(loop_, log_, loaded->config.state_save_location,
                                               [this](const std::string& hash) { return blobs_->get_blob(hash); });
  follow_completions(loaded->config);
  core_ = std::make_unique<CoreThread>(std::move(turns), clock_, log_, stats_, core_ports());
  planner_ = std::make_unique<PlannerThread>(log_, stats_, planner_ports());
  security_ = security;
  nodes_ = std::make_unique<NodeLinks>(log_, node_ports());
  triggers_ = std::make_unique<TriggerPrograms>(loop_, log_, loaded->config.cluster_name, [this](uint32_t id) { trigger_started(id); });
  programs_ = std::make_unique<Programs>(
      loop_, log_, [this](const JobProgramEnd& end) { program_ended(end); },
      [this](pid_t pid, int status) { return triggers_->reaped(pid) || completions_->reaped(pid, status); });
  accounting_ = std::make_unique<AccountingLink>(loop_, log_, accounting_ports());
  service_ = std::make_unique<Service>(loop_, log_, stats_, *core_, *planner_, *nodes_, service_ports(security));
  MUSTER_TRY_VOID(listen(std::move(agent), security));
  completions_->begin(core_->snapshot());
  core_->start();
  planner_->start();
  carry_out(std::move(effects));
  accounting_->configure(settings_, security);
  const auto known = [this](const GroupMembers& found) { post_command([found](Core& c) { c.learn_members(found); }); };
  groups_ = std::make_unique<ReservationGroups>(loop_, log_, ReservationGroups::Ports{[this] { return core_->snapshot(); }, known});
  groups_->configure(loaded->config.group_update_time, loaded->config.group_update_force);
  return {};
}

// ---- what the parts need of each other
CoreThread::Ports Controller::core_ports() {
  CoreThread::Ports ports;
  ports.to_io = [this](std::vector<Reply> replies) {
    loop_.post([replies = std::move(replies)] {
      for (const Reply& r : replies) r();
    });
  };
  ports.carry_out = [this](std::vector<Effect> effects) {
    loop_.post([this, effects = std::move(effects)]() mutable { carry_out(std::move(effects)); });
  };
  ports.state_changed = [this] { planner_->state_changed(); };
  ports.turned = [this](std::shared_ptr<const Snapshot> before, std::shared_ptr<const Snapshot> after, const Events& events) {
    completions_->turn(std::move(before), std::move(after), events);
  };
  ports.published = [this] {
    if (!watchers_told_.exchange(true))
      loop_.post([this] {
        watchers_told_ = false;
        service_->state_changed();
      });
  };
  return ports;
}

PlannerThread::Ports Controller::planner_ports() {
  PlannerThread::Ports ports;
  ports.snapshot = [this] { return core_->snapshot(); };
  ports.params = [this] { return settings()->sched; };
  ports.submit = [this](sched::Plan plan) {
    // The next pass looks at a state that has this plan in it, so no job is planned twice.
    auto done = std::make_shared<std::promise<void>>();
    auto waiting = done->get_future();
    core_->post({[plan = std::move(plan), done](Core& c, store::EventLog&) -> Reply {
                   c.carry_out(plan);
                   return [done] { done->set_value(); };
                 },
                 [done](const Error&) { done->set_value(); }});
    waiting.wait_for(std::chrono::seconds(10));
  };
  return ports;
}

// For commands that nobody waits for, and that are made anew after a turn that was rolled back.
template <class F>
void Controller::post_command(F f) {
  core_->post({[f](Core& c, store::EventLog&) -> Reply {
                 f(c);
                 return {};
               },
               {}});
}

template <class F>
void Controller::answer_record_waits(F f) {
  core_->post({[this, f](Core&, store::EventLog&) -> Reply {
                 std::vector<Reply> answers;
                 f(core_->record_waits(), answers);
                 if (answers.empty()) return {};
                 return [answers = std::move(answers)] {
                   for (const Reply& answer : answers) answer();
                 };
               },
               {}});
}

// A turn that is rolled back leaves the program due: the core asks for it again, and is told again.
void Controller::program_ended(const JobProgramEnd& end) {
  core_->post({[this, end](Core& c, store::EventLog&) -> Reply {
                 c.program_ended(end);
                 return [this, end] { programs_->recorded(end); };
               },
               {}});
}

// Until the log has it, it is said again.
void Controller::trigger_started(uint32_t id) {
  core_->post({[id](Core& c, store::EventLog&) -> Reply {
                 c.trigger_started(id);
                 return {};
               },
               [this, id](const Error&) {
                 loop_.post([this, id] { timers_.push_back(loop_.after(seconds(1), [this, id] { trigger_started(id); })); });
               }});
}

NodeLinks::Ports Controller::node_ports() {
  NodeLinks::Ports ports;
  ports.snapshot = [this] { return core_->snapshot(); };
  ports.report = [this](NodeId node, NodeReport r) {
    // A report of a turn that was rolled back is not lost: the node registers anew and says all it knows.
    core_->post({[node, r = std::move(r)](Core& c, store::EventLog&) -> Reply {
                   c.report(node, r);
                   return {};
                 },
                 [this, node](const Error&) { nodes_->drop(node); }});
  };
  ports.later = [this](std::function<void()> f) { loop_.defer(std::move(f)); };
  ports.connected = [this](NodeId node) { post_command([node](Core& c) { c.node_connected(node); }); };
  ports.close = [this](const net::ChannelPtr& channel) { service_->drop(channel); };
  ports.address_of = [this](const net::Peer& peer) { return service_->address_of(peer); };
  ports.config_version = [this] { return config_version(); };
  ports.reconfigures_first = [this] { return settings()->config().slurmctld_parameters.has("reconfig_on_restart"); };
  ports.trust = [this] { return certificates_ ? wire::encoded(certificates_->trust()) : std::string(); };
  ports.behind = [this](NodeId node) { post_command([node](Core& c) { c.node_caught_up(node); }); };
  ports.disconnected = [this](NodeId node) { post_command([node](Core& c) { c.node_disconnected(node); }); };
  return ports;
}

AccountingLink::Ports Controller::accounting_ports() {
  AccountingLink::Ports ports;
  ports.snapshot = [this] { return core_->snapshot(); };
  ports.here = [this] {
    post_command([](Core& c) { c.slurmdbd_reached(true); });
    answer_record_waits([](RecordWaits& w, std::vector<Reply>& out) { w.connected(true, out); });
  };
  ports.acknowledged = [this](uint64_t position) {
    answer_record_waits([position](RecordWaits& w, std::vector<Reply>& out) { w.stored(position, out); });
  };
  ports.read_blob = [this](const std::string& hash) { return blobs_->get_blob(hash); };
  ports.next = [this](uint64_t position) { post_command([position](Core& c) { c.records_stored(position); }); };
  ports.directory.learned = [this](DirectoryFetch::Directory directory, std::function<void()> known,
                                   std::function<void(const Error&)> refused) {
    core_->post({[directory = std::move(directory), known = std::move(known)](Core& c, store::EventLog&) -> Reply {
                   c.learn_directory(*directory);
                   return known;
                 },
                 std::move(refused)});
  };
  ports.lost = [this] {
    post_command([](Core& c) {
      c.records_link_lost();
      c.slurmdbd_reached(false);
    });
    answer_record_waits([](RecordWaits& w, std::vector<Reply>& out) { w.connected(false, out); });
  };
  return ports;
}

Service::Ports Controller::service_ports(const net::Security& security) {
  Service::Ports ports;
  ports.settings = [this] { return settings(); };
  ports.reconfigure = [this] { return reconfigure(); };
  ports.config_files = [this] { return config_files_; };
  ports.shutdown = [this](bool controller_only) { shutdown(controller_only); };
  ports.security = security;
  ports.certificates = certificates_.get();
  ports.pass_on = [this](Uid uid, size_t bytes) { return shares_->pass_on(uid, bytes); };
  ports.pass_on_by = [this](const Subject& host, size_t bytes) { return shares_->pass_on(host, bytes); };
  ports.configuration_changed = [this](auto changed) { use(std::move(changed), settings()->slurm_user); };
  ports.texts.show_config = [this] { return show_config(); };
  ports.texts.write_config = [this](bool passwords) { return config::write_config(*settings()->loaded, net::Loop::now(), passwords); };
  ports.texts.read_blob = [this](const std::string& hash) { return blobs_->get_blob(hash); };
  return ports;
}

Result<TurnDriver> Controller::open_state() {
  const std::string& dir = settings_->config().state_save_location;
  if (arguments_.clear_state)
    for (const char* name : {"/muster.db", "/muster.db-wal", "/muster.db-shm"}) ::unlink((dir + name).c_str());
  MUSTER_TRY_VOID(site::check_folder(dir, "StateSaveLocation", settings_->slurm_user));
  MUSTER_TRY_VOID(site::check_secret(dir + "/muster.db", "the controller's state", settings_->slurm_user));
  MUSTER_TRY(log, store::open_sqlite_log(dir));
  TurnDriver turns(Core(*settings_), std::move(log), clock_);
  MUSTER_TRY(recovered, turns.recover(dir + "/muster.db", arguments_.ignore_state_errors));
  if (recovered.passed_over) log_.error("{} events of the log could not be read and were passed over (-i)", recovered.passed_over);
  const Cluster& cluster = turns.core().cluster();
  log_.info("state: {} jobs, {} nodes ({} events replayed)", cluster.jobs.size(), cluster.nodes.size(), recovered.replayed);
  return turns;
}

// slurm.conf(5), CommunicationParameters=NoCtldInAddrAny: the address that SlurmctldHost gives for this host.
std::string listen_address(const config::Config& c) {
  if (!c.communication_parameters.has("NoCtldInAddrAny")) return "*";
  const config::ControllerHost* own = own_line(c, own_hostname(), leads_here);
  return own ? own->address : "*";
}

Result<> Controller::listen(net::BoundSocket agent, const net::Security& security) {
  const config::Config& config = settings_->config();
  auto accepted = [this](net::ChannelPtr channel) { service_->accept(std::move(channel)); };
  net::Limits limits;
  limits.shares = shares_;
  limits.largest = [this](uint16_t message) { return wire::largest_request(message, settings_->config().most_script_bytes()); };
  const std::string where = listen_address(config);
  for (uint32_t port = config.slurmctld_port.first; port <= config.slurmctld_port.last; ++port) {
    auto listener = net::listen_tcp(loop_, where, static_cast<uint16_t>(port), security, accepted, limits);
    if (!listener) return std::unexpected(listener.error());
    (*listener)->on_refused([this](const std::string& address, const Error& e) {
      // A port probe that connects and goes is nobody's mistake; a wrong key is.
      if (e.code == Errc::kAuthFailed) log_.error("refused {}: {}", address, e.message());
      else log_.verbose("refused {}: {}", address, e.message());
    });
    listeners_.push_back(std::move(*listener));
  }
  MUSTER_TRY(local, net::listen_unix(loop_, std::move(agent), accepted, limits));
  listeners_.push_back(std::move(local));
  return {};
}

void Controller::send(Order& order) {
  if (auto* manage = std::get_if<node_rpc::ManageSteps>(&order.order)) {
    auto text = net::sign_warrant(security_, wire::encoded(manage->warrant));
    if (!text) return log_.error("the warrant of job {} could not be signed: {}", manage->job.id.value, text.error().message());
    manage->signed_warrant = std::move(*text);
  }
  nodes_->send(order.node, order.order);
}

void Controller::carry_out(std::vector<Effect> effects) {
  auto current = settings();
  for (Effect& e : effects) {
    if (auto* order = std::get_if<Order>(&e)) send(*order);
    else if (auto* power = std::get_if<PowerNodes>(&e)) programs_->power(*power, *core_->snapshot(), current->config());
    else if (auto* mail = std::get_if<SendMail>(&e)) programs_->mail(*mail, *core_->snapshot(), current->config());
    else if (auto* run = std::get_if<RunJobProgram>(&e)) programs_->job_program(*run, *core_->snapshot(), current->config());
    else if (auto* prolog = std::get_if<AbandonProlog>(&e)) programs_->abandon(*prolog);
    else if (auto* reserved = std::get_if<RunReservationProgram>(&e)) programs_->reservation(*reserved, current->config());
    else if (auto* trigger = std::get_if<RunTrigger>(&e)) triggers_->run(trigger->trigger);
    else if (auto* upload = std::get_if<UploadRecords>(&e)) accounting_->upload(std::move(*upload));
    else if (auto* gone = std::get_if<DropNode>(&e)) nodes_->drop(gone->node);
    else if (auto* line = std::get_if<LogLine>(&e)) log_.info("{}", line->text);
  }
}

// What cannot be given out is no reason not to run.
void Controller::offer_files(const config::Config& config, const site::KeptFiles& files) {
  config_files_ = nullptr;
  if (!config.slurmctld_parameters.has("enable_configless")) return;
  std::vector<std::string> notes;
  auto collected = ConfigFiles::collect(config, files.read_files(), notes);
  for (const std::string& note : notes) log_.error("{}", note);
  if (!collected) return log_.error("{}", collected.error().message());
  config_files_ = std::move(*collected);
  log_.info("{} files for hosts without slurm.conf", config_files_->manifest().files.size());
}

void Controller::follow_completions(const config::Config& config) {
  const bool shared = std::ranges::none_of(config.private_data, [](const std::string& what) { return iequals(what, "jobs"); });
  completions_->configure(config::job_completion(config), shared);
}

Result<rpc::Messages> Controller::reconfigure() {
  site::KeptFiles files;
  auto loaded = config::load_config(files, conf_path_);
  if (!loaded) {
    log_.error("reconfigure: the files are refused, nothing changed: {}", config::to_text(loaded.error()));
    return fail(Errc::kConfig, loaded.error()[0].text());
  }
  for (const config::ConfigNotice& n : loaded->notices) log_.info("{}", n.text());
  rpc::Messages out;
  auto before = settings();
  auto read = keep_power_settings(*before->loaded, std::make_shared<const config::LoadedConfig>(std::move(*loaded)));
  for (const config::ConfigChange& c : config::diff(before->config(), read->config)) {
    log_.info("reconfigure: {} changes from '{}' to '{}'{}", c.key, c.before, c.after,
              c.needs_restart ? " (takes effect at the next start)" : "");
    if (c.needs_restart) out.lines.push_back(c.key + " takes effect when slurmctld is restarted");
  }
  MUSTER_TRY(slurm_user, site::user_of(read->config.slurm_user));
  use(read, slurm_user);
  offer_files(read->config, files);
  service_->users_changed();
  auto next = settings();
  core_->post({[this, next](Core& c, store::EventLog&) -> Reply {
                 c.configure(*next);
                 planner_->look_again();  // what changed may be no part of the cluster: more licences, another limit
                 return {};
               },
               {}});
  nodes_->send_to_all(node_rpc::Reconfigure{false, config_version()});
  service_->config_changed(config_version());
  follow_completions(next->config());
  MUSTER_TRY(security, site::load_security(next->config(), slurm_user));
  accounting_->configure(next, security);
  groups_->configure(next->config().group_update_time, next->config().group_update_force);
  return out;
}

// From now on this is the configuration for everybody but the core, which has its own copy. Any thread.
void Controller::use(std::shared_ptr<const config::LoadedConfig> loaded, Uid slurm_user) {
  auto before = settings();
  auto next = std::make_shared<Settings>(make_settings(std::move(loaded), slurm_user, before->rootless));
  os::LogOptions levels = log_options(next->config(), arguments_);
  log_.set_levels(levels.file_level, levels.stderr_level, levels.syslog_level);
  std::lock_guard lock(settings_mutex_);
  set_licenses(*next, licenses_of_.directory.get(), licenses_of_.nodes.get());
  settings_ = next;
}

void Controller::shutdown(bool controller_only) {
  log_.info("shutting down{}", controller_only ? "" : ", node daemons too");
  if (!controller_only) nodes_->send_to_all(node_rpc::Reconfigure{true, {}});
  timers_.push_back(loop_.after(milliseconds(50), [this] { loop_.stop(); }));  // answers leave first
}

std::string Controller::show_config() {
  auto current = settings();
  auto cluster = core_->snapshot();
  config::ShowFacts facts;
  facts.now = net::Loop::now();
  facts.boot = started_;
  facts.next_job_id = expected_job_id(*cluster, current->config()).value;
  facts.version = kVersion;
  facts.slurm_user_uid = current->slurm_user.value;
  for (const auto& host : current->config().slurmctld_hosts) facts.controllers.push_back({host.name, facts.controllers.empty()});
  return config::show_config(*current->loaded, facts);
}

void Controller::wire_signals() {
  auto stop = [this](int signo) {
    log_.info("signal {}: terminating", signo);
    loop_.stop();
  };
  net::wire_daemon_signals(loop_, {.stop = stop,
                                   .reload =
                                       [this] {
                                         log_.reopen();
                                         (void)reconfigure();
                                       },
                                   .reopen_log = [this] { reopen_log(); },
                                   .report = [this] { report_connections(); }});
  loop_.on_signal(SIGABRT, [this, stop] {
    dump_core_ = true;
    stop(SIGABRT);
  });
}

void Controller::reopen_log() {
  site::DiskFiles files;
  if (auto loaded = config::load_config(files, conf_path_)) {
    os::LogOptions levels = log_options(loaded->config, arguments_);
    log_.set_levels(levels.file_level, levels.stderr_level, levels.syslog_level);
  }
  log_.reopen();
}

void Controller::report_connections() {
  log_.info("connections: {} open, {} of them of nodes; {} listeners", service_->connections(), nodes_->connected(), listeners_.size());
}

void Controller::run() {
  wire_signals();
  loop_.run();
  listeners_.clear();
  groups_ = nullptr;
  accounting_->close();
  planner_->stop();
  core_->stop();
  completions_->close();
  service_->close_all();
  log_.info("slurmctld ends");
  if (!dump_core_) return;
  log_.flush();
  ::signal(SIGABRT, SIG_DFL);
  ::raise(SIGABRT);
}

}  // namespace

int run_slurmctld(int argc, char** argv) {
  net::ignore_daemon_signals();
  const std::string notify_socket = os::take_notify_socket();
  Arguments arguments = parse_arguments(argc, argv);
  if (arguments.exit_now >= 0) return arguments.exit_now;
  std::string path = site::find_conf(arguments.conf_file);
  site::KeptFiles files;
  auto loaded = config::load_config(files, path);
  if (!loaded) {
    std::fprintf(stderr, "slurmctld: fatal: %s", config::to_text(loaded.error()).c_str());
    return 1;
  }
  const config::Config& config = loaded->config;
  std::optional<os::Detached> background;
  if (!arguments.foreground) {
    auto begun = os::Detached::begin();
    if (!begun) {
      std::fprintf(stderr, "slurmctld: fatal: %s\n", std::string(begun.error().message()).c_str());
      return 1;
    }
    background = std::move(*begun);
  }
  auto die = [&](const Error& e) {
    std::string text = "slurmctld: fatal: " + std::string(e.message()) + (e.hint.empty() ? "" : "\nslurmctld: " + e.hint);
    if (background) background->failed(text);
    std::fprintf(stderr, "%s\n", text.c_str());
    return 1;
  };
  if (auto ok = may_control(config, own_hostname(), leads_here); !ok) return die(ok.error());
  if (arguments.nice) (void)::setpriority(PRIO_PROCESS, 0, *arguments.nice);
  [[maybe_unused]] auto descriptors = os::raise_own_nofile();  // a connection for each node
  auto pid_file = os::PidFile::create(config.slurmctld_pid_file);
  if (!pid_file) return die(pid_file.error());
  if (auto ok = pid_file->write_pid(); !ok) return die(ok.error());
  auto agent = net::bind_agent_socket(site::slurmctld_agent_socket(config.slurmctld_pid_file, config.slurmctld_port.first));
  if (!agent) return die(agent.error());
  if (auto ok = site::become_user(config.slurm_user); !ok) return die(ok.error());
  auto log = os::Log::open(log_options(config, arguments));
  if (!log) return die(log.error());
  (*log)->info("slurmctld version {} started on cluster {}", kVersion, config.cluster_name);
  for (const config::ConfigNotice& n : loaded->notices) (*log)->info("{}", n.text());

  Controller controller(**log, path, arguments);
  if (auto ok = controller.start(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), files, std::move(*agent)); !ok) {
    (*log)->fatal("{}", ok.error().message());
    return die(ok.error());
  }
  if (auto ok = background ? background->ready() : Result<>(); !ok) return die(ok.error());
  if (auto ok = os::tell_ready(notify_socket); !ok) (*log)->error("{}", ok.error().message());
  files = site::KeptFiles();
  controller.run();
  return 0;
}

}  // namespace muster::slurmctld
