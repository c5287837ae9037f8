#include "slurmd/daemon/slurmd.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/daemon_signals.h"
#include "net/shares.h"
#include "os/files.h"
#include "os/process.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "slurmd/daemon/cgroup_setup.h"
#include "slurmd/daemon/external_step.h"
#include "slurmd/daemon/gres_setup.h"
#include "slurmd/daemon/launch.h"
#include "slurmd/daemon/mpi_launch.h"
#include "slurmd/daemon/node_samples.h"
#include "slurmd/daemon/oom_scores.h"
#include "slurmd/daemon/power_programs.h"
#include "slurmd/daemon/survivors.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kLoadInterval = seconds(20);

}  // namespace

Slurmd::Slurmd(Setup setup, Arguments arguments, os::Log& log)
    : setup_(std::move(setup)),
      arguments_(std::move(arguments)),
      log_(log),
      leftovers_(loop_, log),
      sweeper_(loop_, log, setup_.stepd),
      stepds_(loop_, log, sweeper_, setup_.node, setup_.stepd, setup_.stepd_with_plugins, setup_.spool,
              {[this](const step_rpc::StepdReport& r) { on_stepd(r); },
               [this](JobId job, StepId step) { leftovers_.end(setup_.groups, job, step); },
               [this](const step_rpc::StepdReport& r) {
                 core_.on_event(StepSurvives{r.job, r.generation, tell_unkillable(r)});
               }}),
      programs_(loop_, log),
      plugins_(log),
      namespaces_(loop_, log, setup_.stepd, [this](JobId job) { late_.wake(job); }),
      channels_(log, setup_.spool + "/channels", device_root()),
      clocks_(log, setup_.spool, nvml_library()),
      gpu_watch_(loop_, log, {setup_.program_directory + "/slurmd", nvml_library(), setup_.gpu_samples()},
                 [this] { return wants_gpu_samples(setup_, stepds_); }),
      energy_(loop_, log, powercap(), setup_.gpu_samples()),
      files_(loop_, setup_.stepd),
      link_(loop_, log, setup_,
            {[this] { return registration(); },
             [this](const NodeOrder& o) {
               if (auto* l = std::get_if<node_rpc::LaunchBatch>(&o)) contexts_[l->job.job] = program_context(l->job);
               else if (auto* p = std::get_if<node_rpc::PrepareJob>(&o)) contexts_[p->job.job] = program_context(p->job);
               else if (auto* t = std::get_if<node_rpc::TerminateJob>(&o)) learn(*t);
               else if (auto* m = std::get_if<node_rpc::ManageSteps>(&o)) places_.learn(m->warrant.job);
               last_order_ = net::Loop::now();
               if (std::holds_alternative<node_rpc::Registered>(o)) managed_.registered();
               if (follower_.on_order(o)) carry_out(ReadConfig{});
               managed_.on_order(o);
               look_for_programs();
               core_.on_order(o, last_order_);
               settle();
               if (std::holds_alternative<node_rpc::Registered>(o)) checks_.registered();
             },
             [this] {
               core_.disconnected();
               managed_.disconnected();
             },
             [this](const net::ChannelPtr& channel, const net::Frame& f) { asked_by_controller(channel, f); },
             [this](const rpc::ClusterTrust& trust) { certificate_.trust(trust); }}),
      checks_(loop_, log, setup_, link_),
      managed_(loop_, log, setup_,
               {[this](NodeReport r) { link_.send(std::move(r)); }, [this] { return link_.has_room(); },
                [this](const std::string& node, JobId job, StepId step) { kill_part(node, job, step); }}),
      neighbours_(loop_, log, setup_, places_),
      ended_runs_(log, setup_.spool + "/ended"),
      ends_(loop_, log,
            {[this](const rpc::PartEnded& part, std::function<void(Result<>)> done) { managed_.part_ended(part, std::move(done)); },
             [this](const std::string& manager, const rpc::PartEnded& part, std::function<void()> taken) {
               return neighbours_.tell(manager, part.job, wire::number_of<rpc::PartEnded>, wire::encoded(part), std::move(taken));
             },
             [this](const node_rpc::StepGone& gone) {
               core_.on_order(node_rpc::StepEndTaken{gone.job, gone.generation, gone.step}, net::Loop::now());
               settle();
             }}),
      contents_(loop_, log, setup_.spool + "/content",
                {[this](const rpc::FetchContent& what, auto answered) { link_.fetch(what, std::move(answered)); },
                 [this](JobId job, uint32_t generation, Result<> found, bool node_fault) {
                   if (found) core_.on_event(ContentFound{job, generation});
                   else core_.on_event(ContentMissing{job, generation, node_fault, std::string(found.error().message())});
                   settle();
                 }}) {}

bool Slurmd::has_prolog_flag(std::string_view flag) const {
  return std::ranges::any_of(setup_.config().prolog_flags, [&](const std::string& f) { return iequals(f, flag); });
}

// Prolog or Epilog, and the plugins beside them.
std::vector<site::ProgramCall> Slurmd::job_programs(spank::Callback callback, const std::vector<std::string>& site) const {
  std::vector<site::ProgramCall> out;
  if (auto call = plugins_.job_script(setup_, callback)) out.push_back(std::move(*call));
  out.insert(out.end(), site.begin(), site.end());
  return out;
}

void Slurmd::look_for_programs() {
  core_.set_programs({!job_programs(spank::Callback::kJobProlog, setup_.prologs).empty(),
                      !job_programs(spank::Callback::kJobEpilog, setup_.epilogs).empty(), has_prolog_flag("RunInJob")});
}

Result<> Slurmd::start() {
  programs_.set_serial(has_prolog_flag("Serial"));
  MUSTER_TRY_VOID(plugins_.start(setup_));
  for (const std::string& n : setup_.notes) log_.info("{}", n);
  stepds_.score(take_oom_scores(log_));
  MUSTER_TRY_VOID(os::make_dirs(setup_.spool, 0755));
  MUSTER_TRY_VOID(site::check_folder(setup_.spool, "SlurmdSpoolDir", Uid(::geteuid())));
  certificate_.start(setup_.spool + "/authority");
  MUSTER_TRY_VOID(contents_.open());
  MUSTER_TRY_VOID(managed_.start());
  for (const auto& [job, generation] : ended_runs_.read(net::Loop::now())) core_.remember_ended(job, generation);
  MUSTER_TRY_VOID(prepare_cgroups(setup_, log_));
  MUSTER_TRY_VOID(namespaces_.start(setup_));
  channels_.start(setup_.config().imex_channels > 0);
  if (arguments_.clear_locks) ::unlink(setup_.agent_socket().c_str());
  auto accept = [this](net::ChannelPtr c) { accepted(std::move(c)); };
  net::Limits limits;
  limits.shares = net::Shares::make(loop_, {0, setup_.slurm_user.value, ::geteuid()});
  limits.largest = [this](uint16_t message) { return wire::largest_request(message, setup_.config().most_script_bytes()); };
  limits.shares->on_refused = [this](const std::string& text) { log_.error("{}", text); };
  MUSTER_TRY(agent, net::listen_unix(loop_, setup_.agent_socket(), accept, limits));
  agent_ = std::move(agent);
  const bool only_here = setup_.config().communication_parameters.has("NoInAddrAny");  // slurm.conf(5)
  MUSTER_TRY(tcp, net::listen_tcp(loop_, only_here ? setup_.node_config().address() : "*", setup_.node_config().port, setup_.security,
                                  accept, limits));
  tcp_ = std::move(tcp);
  tcp_->on_refused([this](const std::string& address, const Error& e) { log_.error("refused {}: {}", address, e.message()); });
  wire_signals();
  clocks_.find_again();  // before a step that has ended meanwhile says so
  stepds_.adopt([this] {
    put_back_clocks();
    end_abandoned();
    std::map<JobId, uint32_t> living;
    stepds_.for_each_step([&](const step_rpc::StepdReport& r) {
      if (!is_over(r)) living[r.job] = std::max(living[r.job], r.generation);
    });
    namespaces_.find_again(living);
    settle();
    watch_gpus(false);
    checks_.start([this] {
      link_.start();
      send_load();
      energy_.start(config::use_gathering(setup_.config()), [this] { send_load(); });
    });
  });
  return {};
}

void Slurmd::wire_signals() {
  loop_.on_signal(SIGCHLD, [this] { on_children(); });
  net::wire_daemon_signals(loop_, {.stop =
                                       [this](int s) {
                                         log_.info("signal {}: terminating; steps live on", s);
                                         stop();
                                       },
                                   .reload =
                                       [this] {
                                         carry_out(ReadConfig{});
                                         [[maybe_unused]] auto ok = log_.reopen();
                                       },
                                   .reopen_log = [this] { reopen_log(); },
                                   .report =
                                       [this] {
                                         log_.info("connections: {} open to this node; slurmctld {}", clients_.size(),
                                                   link_.connected() ? "is connected" : "is not connected");
                                       }});
}

void Slurmd::stop() {
  link_.stop();
  loop_.stop();
}

node_rpc::Register Slurmd::registration() const {
  node_rpc::Register r;
  r.node = setup_.node;
  r.hardware = setup_.hardware;
  r.hardware.step_key = managed_.public_key();
  r.managed = managed_.registration();
  r.jobs = core_.registration();
  r.port = tcp_ ? tcp_->port() : 0;
  r.extra = arguments_.extra;
  checks_.tell(r);
  return r;
}

// ---- the core
void Slurmd::settle() {
  for (;;) {
    std::vector<Effect> effects = core_.take_effects();
    channels_.take_back([this](JobId job, uint32_t generation) { return core_.is_gone(job, generation); });
    for (NodeReport& r : core_.take_reports()) report(std::move(r));
    if (effects.empty()) return;
    for (const Effect& e : effects) std::visit([&](const auto& x) { carry_out(x); }, e);
  }
}

void Slurmd::run_around(JobId job, bool epilog, bool in_job, std::function<void(const std::string& error)> done) {
  ProgramContext& context = contexts_[job];
  context.job = job;
  const config::Config& config = setup_.config();
  programs_.run(
      epilog ? job_programs(spank::Callback::kJobEpilog, setup_.epilogs) : job_programs(spank::Callback::kJobProlog, setup_.prologs),
      program_environment(context, setup_.context, epilog), epilog ? config.epilog_timeout : config.prolog_timeout,
      [this, job, epilog, done = std::move(done)](const std::string& error) {
        if (!error.empty() && epilog) log_.error("epilog of job {}: {}", job.value, error);
        else if (!error.empty()) log_.error("prolog of job {}: {}", job.value, error);
        done(error.empty() ? "" : (epilog ? "Epilog error: " : "Prolog error: ") + error);
        settle();
      },
      in_job ? external_procs(setup_, log_, job) : std::vector<os::Fd>());
}

void Slurmd::carry_out(const RunProlog& e) {
  run_around(e.job, false, e.in_job, [this, e](const std::string& error) { core_.on_event(PrologEnded{e.job, e.generation, error}); });
}

void Slurmd::carry_out(const RunEpilog& e) {
  run_around(e.job, true, e.in_job, [this, e](const std::string& error) { core_.on_event(EpilogEnded{e.job, e.generation, error}); });
}

void Slurmd::set_clocks(const TresFrequencyText& asked, const std::vector<GresShare>& gres, step_rpc::StepdLaunch& l) {
  const GpuClockOrder order = gpu_clock_order(asked, setup_.config().gpu_freq_def, setup_.hardware.gres, gres);
  std::vector<std::string> told = clocks_.begin(run_name(l.job, l.step, l.generation), order);
  if (l.tasks.empty()) return;
  for (std::string& line : told) l.tasks.front().notes.push_back(std::move(line));
}

void Slurmd::put_back_clocks() {
  std::vector<std::string> gone = clocks_.steps();
  stepds_.for_each_step([&](const step_rpc::StepdReport& r) {
    if (!is_over(r)) std::erase(gone, run_name(r.job, r.step, r.generation));
  });
  for (const std::string& step : gone) clocks_.end(step);
}

Result<pid_t> Slurmd::start_stepd(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi, bool io_by_root) {
  MUSTER_TRY_VOID(look_after_scope(setup_, log_));
  leftovers_.leave(launch.job, launch.step);
  if (launch.gather && !launch.gather->gpu_samples.empty()) watch_gpus(true);
  const auto name_space = namespaces_.for_step(launch.job, launch.step);
  return stepds_.start(std::move(launch), std::move(mpi), io_by_root, name_space);
}

// The controller will not order this: for it, such a job is not on this node any more.
void Slurmd::end_abandoned() {
  for (const auto& [job, step] : stepds_.abandoned()) {
    bool job_lives = false;
    stepds_.for_each(job, [&](StepId) { job_lives = true; });
    if (!job_lives) leftovers_.end(setup_.groups, job);
    else if (!stepds_.find(job, step)) leftovers_.end(setup_.groups, job, step);
  }
}

void Slurmd::carry_out(const EndExternal& e) {
  if (late_.over({e.job, kExternStep})) return end_late(e.job, e.generation, kExternStep);
  stepds_.end(e.job, kExternStep, {0, {}});
  unkillable_[e.job] = loop_.after(setup_.config().unkillable_step_timeout, [this, e] { give_up({e.job, e.generation}); });
}

void Slurmd::carry_out(const RefuseStep& e) {
  auto at = asked_.find({e.job, e.step});
  if (at == asked_.end()) return;
  if (auto channel = at->second.channel.lock()) channel->answer_error(at->second.id, Error(Errc::kAlreadyDone, e.text));
  asked_.erase(at);
}

void Slurmd::carry_out(const EndSteps& e) {
  for (StepId step : late_.over(e.job)) end_late(e.job, e.generation, step);
  stepds_.end_all(e.job, [&](StepId step) {
    step_rpc::StepdEnd m;
    m.kill_wait_seconds = e.kill_wait_seconds;
    m.message = end_message(e.job, step, setup_.node, e.state, e.time);
    return m;
  });
  for (uint16_t signal : {SIGCONT, SIGTERM}) stepds_.signal(e.job, kExternStep, {signal, true});
  const Duration patience = seconds(e.kill_wait_seconds) + setup_.config().unkillable_step_timeout;
  unkillable_[e.job] = loop_.after(patience, [this, e] { give_up(e); });
}

// slurm.conf(5) UnkillableStepTimeout: SIGKILL did not help. The node is drained, and the site's program is told of each step.
void Slurmd::give_up(const EndSteps& e) {
  const std::vector<StepId> steps = core_.steps_of(e.job);
  if (!core_.knows(e.job, e.generation) || steps.empty()) return;
  std::string held;
  for (StepId step : steps) {
    step_rpc::StepdReport none;
    none.job = e.job;
    none.step = step;
    const step_rpc::StepdReport* report = stepds_.find(e.job, step);
    std::string holds = tell_unkillable(report ? *report : none);
    if (held.empty()) held = std::move(holds);
  }
  core_.on_event(StepsUnkillable{e.job, e.generation, std::move(held)});
  settle();
}

std::string Slurmd::tell_unkillable(const step_rpc::StepdReport& step) {
  const std::string name = step_name(step.job, step.step);
  log_.error("step {} is still there after it was killed: the node will be drained", name);
  std::string reason = tell_survivors(log_, name, survivors_of(setup_.groups, step));
  const std::string& program = setup_.config().unkillable_step_program;
  if (program.empty()) return reason;
  programs_.run({site::ProgramCall(program)},
                {"SLURM_JOB_ID=" + std::to_string(step.job.value), "SLURM_STEP_ID=" + std::to_string(step.step.value),
                 "SLURM_CONF=" + setup_.context.conf_path, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                std::nullopt, [this](const std::string& error) {
                  if (!error.empty()) log_.error("UnkillableStepProgram: {}", error);
                });
  return reason;
}

// scancel(1): signals the steps; with --batch the script alone; with --full everything with its children.
void Slurmd::carry_out(const SignalSteps& e) {
  const node_rpc::SignalJob& o = e.order;
  const bool ends = o.signal == 0 || o.signal == SIGKILL;
  if (ends && o.has_step && o.step != kExternStep && late_.over({o.job, o.step})) end_late(o.job, o.generation, o.step);
  std::vector<StepId> steps;
  stepds_.for_each(o.job, [&](StepId s) { steps.push_back(s); });
  for (StepId step : steps) {
    bool meant = o.has_step ? step == o.step : o.batch_only ? step == kBatchStep : o.full || (step != kBatchStep && step != kExternStep);
    if (!meant || (step == kExternStep && !core_.is_external_open(o.job))) continue;
    step_rpc::StepdSignal m;
    m.signal = o.signal;
    m.all_processes = o.full || setup_.loaded->cgroup.signal_children || o.signal == SIGSTOP || o.signal == SIGCONT;
    if (ends) {
      step_rpc::StepdEnd end;
      end.kill_wait_seconds = o.signal == 0 ? static_cast<uint32_t>(to_seconds(setup_.config().kill_wait)) : 0;
      end.message = end_message(o.job, step, setup_.node, JobState::kCancelled, net::Loop::now());
      stepds_.end(o.job, step, end);
      continue;
    }
    stepds_.signal(o.job, step, m);
  }
}

void Slurmd::signal_all(JobId job, uint16_t signal) {
  step_rpc::StepdSignal m;
  m.signal = signal;
  m.all_processes = true;
  std::vector<StepId> steps;
  stepds_.for_each(job, [&](StepId s) { steps.push_back(s); });
  for (StepId step : steps)
    if (step != kExternStep || signal == SIGCONT || core_.is_external_open(job)) stepds_.signal(job, step, m);
}

void Slurmd::carry_out(const ReleaseStep& e) { stepds_.release(e.job, e.step); }

// After a restart, or where only an earlier run came here, this is all that is known of the job.
void Slurmd::learn(const node_rpc::TerminateJob& t) {
  ProgramContext& known = contexts_[t.job];
  if (!t.about || (known.job && known.restarts >= t.generation)) return;
  const int32_t exit_status = known.job ? 0 : known.exit_status;  // a script that was found again may have told it
  known = program_context(*t.about);
  known.exit_status = exit_status;
}

void Slurmd::carry_out(const DropJob& e) {
  if (auto at = contexts_.find(e.job); at != contexts_.end() && at->second.restarts <= e.generation) contexts_.erase(at);
  unkillable_.erase(e.job);
  stopper_.forget(e.job);
  contents_.let_go(e.job);
  managed_.job_over(e.job, e.generation);
  ended_runs_.add(e.job, e.generation, net::Loop::now());
  neighbours_.forget(e.job);
  ends_.forget(e.job);
  late_.over(e.job);
  namespaces_.remove(e.job, e.generation);
  leftovers_.end(setup_.groups, e.job);
}

void Slurmd::read_config() {
  auto fresh = load_setup(arguments_);
  if (!fresh) return log_.error("reconfigure: the files are refused, nothing changed: {}", fresh.error().message());
  if (auto ok = keep_cgroups(setup_, *fresh, log_); !ok) return log_.error("reconfigure: nothing changed: {}", ok.error().message());
  std::string agent = setup_.agent_socket();
  std::string spool = setup_.spool;
  setup_ = std::move(*fresh);
  programs_.set_serial(has_prolog_flag("Serial"));
  if (setup_.spool != spool || setup_.agent_socket() != agent) log_.error("reconfigure: new paths take effect at the next start");
  if (namespaces_.differs(setup_)) log_.error("reconfigure: NamespaceType and its file take effect at the next start of slurmd");
  channels_.start(setup_.config().imex_channels > 0);
  users_.clear();
  managed_.configure();
  checks_.configure();
  apply_logging();
  log_.info("configuration read again");
}

void Slurmd::apply_logging() {
  os::LogOptions o = log_options(setup_, arguments_);
  log_.set_levels(o.file_level, o.stderr_level, o.syslog_level);
}

// scontrol setdebug nodes=…: a log that is configured off stays off.
void Slurmd::carry_out(const ChangeLogging& e) {
  if (auto level = config::parse_debug_level(e.order.level)) {
    os::LogOptions o = log_options(setup_, arguments_);
    auto changed = [&](os::LogLevel was) { return was == os::LogLevel::kQuiet ? was : static_cast<os::LogLevel>(*level); };
    log_.set_levels(changed(o.file_level), changed(o.stderr_level), changed(o.syslog_level));
    log_.info("log level {}, as scontrol asked", e.order.level);
  }
  if (!e.order.flags.empty()) log_.info("debug flags {}, as scontrol asked", join(e.order.flags, " "));
}

void Slurmd::carry_out(const Reboot& e) {
  auto over = [this](bool well) {
    if (!well) core_.on_event(RebootFailed{});
    else if (setup_.config().slurmd_parameters.has("shutdown_on_reboot")) stop();
  };
  checks_.bring(e.features, [this, e, over] { run_reboot({programs_, log_, setup_}, e, over); });
}
void Slurmd::carry_out(const PowerDown& e) { run_power_down({programs_, log_, setup_}, e); }

void Slurmd::carry_out(const NotifySteps& e) {
  bool batch = stepds_.find(e.job, kBatchStep) != nullptr;
  stepds_.for_each(e.job, [&](StepId step) {
    if (!batch || step == kBatchStep) stepds_.note(e.job, step, e.text);
  });
}

void Slurmd::carry_out(const StopDaemon&) {
  log_.info("shutting down, as slurmctld asked");
  stop();
}

void Slurmd::on_stepd(const step_rpc::StepdReport& r) {
  using enum step_rpc::StepdState;
  answer_launch(r);
  if (!r.manager.empty()) ends_.managed_by({r.job, r.step}, r.manager);
  if (is_over(r)) clocks_.end(run_name(r.job, r.step, r.generation));
  switch (r.state) {
    case kStarting: break;
    case kRunning: core_.on_event(StepStarted{r.job, r.generation, r.step}); break;
    case kEnded:
      if (r.step == kBatchStep) contexts_[r.job].exit_status = r.exit_status;
      if (r.step == kBatchStep) core_.on_event(StepStarted{r.job, r.generation, r.step});
      core_.on_event(StepEnded{r.job, r.generation, r.step, r.exit_status, r.out_of_memory, r.ends_step, r.usage});
      // Nothing of the job is left; one that ended before its time is not missed.
      if (r.step == kExternStep && core_.has_ended(r.job, r.generation)) namespaces_.remove(r.job, r.generation);
      break;
    case kLaunchFailed:
      log_.error("step {}: {}", step_name(r.job, r.step), r.text);
      core_.on_event(StepFailed{r.job, r.generation, r.step, r.node_fault, r.text});
      break;
  }
  settle();
}

void Slurmd::on_children() {
  const std::vector<os::Reaped> ended = os::reap_children();
  if (ended.size() == os::kReapedAtOnce) loop_.defer([this] { on_children(); });
  for (const os::Reaped& r : ended)
    if (!programs_.reaped(r.pid, r.status.raw) && !checks_.reaped(r.pid, r.status.raw) && !sweeper_.reaped(r.pid) &&
        !namespaces_.reaped(r.pid, r.status.raw) && !gpu_watch_.reaped(r.pid))
      files_.reaped(r.pid, r.status.raw);
}

void Slurmd::watch_gpus(bool for_a_step) {
  if (for_a_step || wants_gpu_samples(setup_, stepds_)) gpu_watch_.need(gpu_sample_interval(setup_));
}

void Slurmd::send_load() {
  node_rpc::Load m = node_load();
  m.energy = energy_.last();
  link_.send(m);
  load_timer_ = loop_.after(kLoadInterval, [this] { send_load(); });
}

}  // namespace muster::slurmd
