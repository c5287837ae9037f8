#include "slurmd/daemon/slurmd.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "os/files.h"
#include "os/process.h"
#include "slurmd/daemon/cgroup_setup.h"
#include "slurmd/daemon/gres_setup.h"
#include "slurmd/daemon/launch.h"
#include "slurmd/daemon/mpi_launch.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd {
namespace {

constexpr Duration kLoadInterval = seconds(20);

ProgramContext context_of(const node_rpc::JobOnNode& j) {
  ProgramContext c;
  c.job = j.job;
  c.array_job = j.array_job_id;
  c.array_task = j.array_task;
  c.partition = j.partition;
  c.node_list = j.node_list;
  c.gres = j.share.gres;
  c.cpus_per_node = j.cpus_per_node;
  c.restarts = j.generation;
  c.started = j.started;
  c.ends = j.ends;
  if (!j.request) return c;
  const JobRequest& r = *j.request;
  c.uid = r.uid;
  c.gid = r.gid;
  c.user_name = r.user_name;
  c.account = r.account;
  c.job_name = r.name;
  c.work_dir = r.work_dir;
  c.std_in = r.std_in;
  c.std_out = r.std_out;
  c.std_err = r.std_err;
  c.comment = r.comment;
  c.constraints = r.features;
  c.extra = r.extra;
  c.licenses = r.licenses;
  c.qos = r.qos;
  c.reservation = r.reservation;
  c.spank_env = r.spank_env;
  return c;
}

bool is_over(const step_rpc::StepdReport& r) {
  return r.state == step_rpc::StepdState::kEnded || r.state == step_rpc::StepdState::kLaunchFailed;
}

std::string clocks_name(JobId job, StepId step, uint32_t generation) {
  return step_name(job, step) + "." + std::to_string(generation);
}

}  // namespace

Slurmd::Slurmd(Setup setup, Arguments arguments, os::Log& log)
    : setup_(std::move(setup)),
      arguments_(std::move(arguments)),
      log_(log),
      leftovers_(loop_, log),
      stepds_(loop_, log, setup_.stepd, setup_.stepd_with_plugins, setup_.spool,
              {[this](const step_rpc::StepdReport& r) { on_stepd(r); },
               [this](JobId job, StepId step) { leftovers_.end(setup_.groups, job, step); }}),
      programs_(loop_, log),
      plugins_(log),
      clocks_(log, setup_.spool, nvml_library()),
      files_(loop_, setup_.stepd),
      link_(loop_, log, setup_,
            {[this] { return registration(); },
             [this](const NodeOrder& o) {
               if (auto* l = std::get_if<node_rpc::LaunchBatch>(&o))
                 contexts_[l->job.job] = context_of(l->job);
               else if (auto* p = std::get_if<node_rpc::PrepareJob>(&o))
                 contexts_[p->job.job] = context_of(p->job);
               else if (auto* t = std::get_if<node_rpc::TerminateJob>(&o))
                 learn(*t);
               last_order_ = net::Loop::now();
               look_for_programs();
               core_.on_order(o, last_order_);
               if (std::holds_alternative<node_rpc::Registered>(o))
                 log_.info("registered with slurmctld as {}", setup_.node);
               settle();
             },
             [this] { core_.disconnected(); }}) {}

bool Slurmd::serial_prologs() const {
  return std::ranges::any_of(setup_.config().prolog_flags, [](const std::string& f) { return iequals(f, "Serial"); });
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
                      !job_programs(spank::Callback::kJobEpilog, setup_.epilogs).empty()});
}

Result<> Slurmd::start() {
  programs_.set_serial(serial_prologs());
  MUSTER_TRY_VOID(plugins_.start(setup_));
  for (const std::string& n : setup_.notes) log_.info("{}", n);
  MUSTER_TRY_VOID(os::make_dirs(setup_.spool, 0755));
  MUSTER_TRY_VOID(prepare_cgroups(setup_, log_));
  if (arguments_.clear_locks) ::unlink(setup_.agent_socket().c_str());
  auto accept = [this](net::ChannelPtr c) { accepted(std::move(c)); };
  MUSTER_TRY(agent, net::listen_unix(loop_, setup_.agent_socket(), accept));
  agent_ = std::move(agent);
  MUSTER_TRY(tcp, net::listen_tcp(loop_, "*", setup_.node_config().port, setup_.security, accept));
  tcp_ = std::move(tcp);
  tcp_->on_refused([this](const std::string& address, const Error& e) {
    log_.error("refused {}: {}", address, e.message());
  });
  wire_signals();
  clocks_.find_again();  // before a step that has ended meanwhile says so
  stepds_.adopt([this] {
    put_back_clocks();
    end_abandoned();
    settle();
    link_.start();
    send_load();
  });
  return {};
}

void Slurmd::wire_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  loop_.on_signal(SIGCHLD, [this] { on_children(); });
  for (int s : {SIGTERM, SIGINT})
    loop_.on_signal(s, [this, s] {
      log_.info("signal {}: terminating; steps live on", s);
      stop();
    });
  loop_.on_signal(SIGHUP, [this] {
    carry_out(ReadConfig{});
    [[maybe_unused]] auto ok = log_.reopen();
  });
  loop_.on_signal(SIGUSR2, [this] { [[maybe_unused]] auto ok = log_.reopen(); });
}

void Slurmd::stop() {
  link_.stop();
  loop_.stop();
}

node_rpc::Register Slurmd::registration() const {
  node_rpc::Register r;
  r.node = setup_.node;
  r.hardware = setup_.hardware;
  r.jobs = core_.registration();
  r.port = tcp_ ? tcp_->port() : 0;
  return r;
}

// ---- the core
void Slurmd::settle() {
  for (;;) {
    std::vector<Effect> effects = core_.take_effects();
    for (NodeReport& r : core_.take_reports()) link_.send(std::move(r));
    if (effects.empty()) return;
    for (const Effect& e : effects) std::visit([&](const auto& x) { carry_out(x); }, e);
  }
}

void Slurmd::carry_out(const RunProlog& e) {
  std::vector<std::string> env = program_environment(contexts_[e.job], setup_.context, false);
  programs_.run(job_programs(spank::Callback::kJobProlog, setup_.prologs), std::move(env), setup_.config().prolog_timeout, [this, e](std::string error) {
    if (!error.empty()) log_.error("prolog of job {}: {}", e.job.value, error);
    core_.on_event(PrologEnded{e.job, e.generation, error.empty() ? "" : "Prolog error: " + error});
    settle();
  });
}

void Slurmd::carry_out(const RunEpilog& e) {
  ProgramContext& context = contexts_[e.job];
  context.job = e.job;
  std::vector<std::string> env = program_environment(context, setup_.context, true);
  programs_.run(job_programs(spank::Callback::kJobEpilog, setup_.epilogs), std::move(env), setup_.config().epilog_timeout, [this, e](std::string error) {
    if (!error.empty()) log_.error("epilog of job {}: {}", e.job.value, error);
    core_.on_event(EpilogEnded{e.job, e.generation, error.empty() ? "" : "Epilog error: " + error});
    settle();
  });
}

void Slurmd::set_clocks(const std::string& asked, const std::vector<GresShare>& gres, step_rpc::StepdLaunch& l) {
  const GpuClockOrder order = gpu_clock_order(asked, setup_.config().gpu_freq_def, setup_.hardware.gres, gres);
  std::vector<std::string> told = clocks_.begin(clocks_name(l.job, l.step, l.generation), order);
  if (l.tasks.empty()) return;
  for (std::string& line : told) l.tasks.front().notes.push_back(std::move(line));
}

void Slurmd::put_back_clocks() {
  std::vector<std::string> gone = clocks_.steps();
  stepds_.for_each_step([&](const step_rpc::StepdReport& r) {
    if (!is_over(r)) std::erase(gone, clocks_name(r.job, r.step, r.generation));
  });
  for (const std::string& step : gone) clocks_.end(step);
}

Result<pid_t> Slurmd::start_stepd(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi) {
  MUSTER_TRY_VOID(look_after_scope(setup_, log_));
  leftovers_.leave(launch.job, launch.step);
  return stepds_.start(std::move(launch), std::move(mpi));
}

// The controller does not say so: for it, such a job is not on this node any more.
void Slurmd::end_abandoned() {
  for (const auto& [job, step] : stepds_.abandoned()) {
    bool job_lives = false;
    stepds_.for_each(job, [&](StepId) { job_lives = true; });
    if (!job_lives) leftovers_.end(setup_.groups, job);
    else if (!stepds_.find(job, step)) leftovers_.end(setup_.groups, job, step);
  }
}

void Slurmd::carry_out(const StartBatch& e) {
  const node_rpc::JobOnNode& job = e.launch->job;
  auto launch = batch_launch(setup_, users_, *e.launch);
  if (launch) set_clocks(job.request->tres_freq, job.share.gres, *launch);
  Result<pid_t> pid = launch ? start_stepd(std::move(*launch)) : std::unexpected(launch.error());
  if (pid) {
    log_.debug("launching batch job {} for uid {}", job.job.value, job.request ? job.request->uid.value : 0);
    return;
  }
  clocks_.end(clocks_name(job.job, kBatchStep, job.generation));
  log_.error("batch job {}: {}", job.job.value, pid.error().message());
  const bool node_fault = launch.has_value() || launch.error().code == Errc::kConfig;
  core_.on_event(StepFailed{job.job, job.generation, kBatchStep, node_fault,
                            std::string(pid.error().message())});
}

Result<pid_t> Slurmd::launch_step(const AskedStep& asked) {
  MUSTER_TRY(mpi, step_mpi(setup_, asked.credential, asked.launch));
  const rpc::StepCredential& c = asked.credential;
  MUSTER_TRY(launch, step_launch(setup_, users_, c, asked.launch));
  for (const rpc::StepNode& here : c.nodes)
    if (here.address.name == asked.launch.node) set_clocks(asked.launch.request->tres_freq, here.gres, launch);
  auto pid = start_stepd(std::move(launch), std::move(mpi));
  if (!pid) clocks_.end(clocks_name(c.job, c.step, c.generation));
  return pid;
}

void Slurmd::carry_out(const StartStep& e) {
  auto at = asked_.find({e.job, e.step});
  if (at == asked_.end()) return;
  AskedStep asked = std::move(at->second);
  asked_.erase(at);
  Result<pid_t> pid = launch_step(asked);
  if (!pid) {
    log_.error("step {}: {}", step_name(e.job, e.step), pid.error().message());
    if (auto channel = asked.channel.lock()) channel->answer_error(asked.id, pid.error());
    core_.on_event(StepFailed{e.job, e.generation, e.step, false, std::string(pid.error().message())});
    return;
  }
  starting_[{e.job, e.step}] = Asker{asked.channel, asked.id, asked.message};
}

// srun learns what became of its launch with slurmstepd's first word.
void Slurmd::answer_launch(const step_rpc::StepdReport& r) {
  auto at = starting_.find({r.job, r.step});
  if (at == starting_.end() || r.state == step_rpc::StepdState::kStarting) return;
  Asker asker = at->second;
  starting_.erase(at);
  auto channel = asker.channel.lock();
  if (!channel) return;
  if (r.state == step_rpc::StepdState::kLaunchFailed)
    return channel->answer_error(asker.id, Error(Errc::kError, r.text));
  channel->answer(asker.id, asker.message, wire::encoded(rpc::StepLaunched{r.pid}));
}

void Slurmd::carry_out(const RefuseStep& e) {
  auto at = asked_.find({e.job, e.step});
  if (at == asked_.end()) return;
  if (auto channel = at->second.channel.lock())
    channel->answer_error(at->second.id, Error(Errc::kAlreadyDone, e.text));
  asked_.erase(at);
}

void Slurmd::carry_out(const EndSteps& e) {
  stepds_.end_all(e.job, [&](StepId step) {
    step_rpc::StepdEnd m;
    m.kill_wait_seconds = e.kill_wait_seconds;
    m.message = end_message(e.job, step, setup_.node, e.state, e.time);
    return m;
  });
  const Duration patience = seconds(e.kill_wait_seconds) + setup_.config().unkillable_step_timeout;
  unkillable_[e.job] = loop_.after(patience, [this, e] { give_up(e); });
}

// slurm.conf(5) UnkillableStepTimeout: SIGKILL did not help. The node is drained, and the site's program told of each step.
void Slurmd::give_up(const EndSteps& e) {
  const std::vector<StepId> steps = core_.steps_of(e.job);
  if (!core_.knows(e.job, e.generation) || steps.empty()) return;
  const std::string& program = setup_.config().unkillable_step_program;
  for (StepId step : steps) {
    log_.error("step {} is still there {} s after it was killed: the node will be drained", step_name(e.job, step),
               to_seconds(setup_.config().unkillable_step_timeout));
    if (program.empty()) continue;
    programs_.run({site::ProgramCall(program)},
                  {"SLURM_JOB_ID=" + std::to_string(e.job.value), "SLURM_STEP_ID=" + std::to_string(step.value),
                   "SLURM_CONF=" + setup_.context.conf_path, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                  std::nullopt, [this](const std::string& error) {
                    if (!error.empty()) log_.error("UnkillableStepProgram: {}", error);
                  });
  }
  core_.on_event(StepsUnkillable{e.job, e.generation});
  settle();
}

// scancel(1): the steps; with --batch the script alone; with --full everything and its children.
void Slurmd::carry_out(const SignalSteps& e) {
  const node_rpc::SignalJob& o = e.order;
  std::vector<StepId> steps;
  stepds_.for_each(o.job, [&](StepId s) { steps.push_back(s); });
  for (StepId step : steps) {
    bool meant = o.has_step     ? step == o.step
                 : o.batch_only ? step == kBatchStep
                                : o.full || step != kBatchStep;
    if (!meant) continue;
    step_rpc::StepdSignal m;
    m.signal = o.signal;
    m.all_processes = o.full || setup_.loaded->cgroup.signal_children || o.signal == SIGSTOP || o.signal == SIGCONT;
    if (o.signal == 0 || o.signal == SIGKILL) {
      step_rpc::StepdEnd end;
      end.kill_wait_seconds = o.signal == 0 ? static_cast<uint32_t>(to_seconds(setup_.config().kill_wait)) : 0;
      end.message = end_message(o.job, step, setup_.node, JobState::kCancelled, net::Loop::now());
      stepds_.end(o.job, step, end);
      continue;
    }
    stepds_.signal(o.job, step, m);
  }
}

void Slurmd::carry_out(const StopSteps& e) {
  step_rpc::StepdSignal m;
  m.signal = e.stop ? SIGSTOP : SIGCONT;
  m.all_processes = true;
  std::vector<StepId> steps;
  stepds_.for_each(e.job, [&](StepId s) { steps.push_back(s); });
  for (StepId step : steps) stepds_.signal(e.job, step, m);
  core_.on_event(StepsStopped{e.job, e.generation, e.stop});
}

void Slurmd::carry_out(const ReleaseStep& e) { stepds_.release(e.job, e.step); }

// After a restart, or where an earlier run is all that came here, this is what is known of the job.
void Slurmd::learn(const node_rpc::TerminateJob& t) {
  ProgramContext& known = contexts_[t.job];
  if (!t.about || (known.job && known.restarts >= t.generation)) return;
  const int32_t exit_status = known.job ? 0 : known.exit_status;   // a script that was found again may have told it
  known = context_of(*t.about);
  known.exit_status = exit_status;
}

void Slurmd::carry_out(const DropJob& e) {
  if (auto at = contexts_.find(e.job); at != contexts_.end() && at->second.restarts <= e.generation) contexts_.erase(at);
  unkillable_.erase(e.job);
  leftovers_.end(setup_.groups, e.job);
}

void Slurmd::carry_out(const ReadConfig&) {
  auto fresh = load_setup(arguments_);
  if (!fresh)
    return log_.error("reconfigure: the files are refused, nothing changed: {}", fresh.error().message());
  if (auto ok = keep_cgroups(setup_, *fresh, log_); !ok)
    return log_.error("reconfigure: nothing changed: {}", ok.error().message());
  std::string agent = setup_.agent_socket();
  std::string spool = setup_.spool;
  setup_ = std::move(*fresh);
  programs_.set_serial(serial_prologs());
  if (setup_.spool != spool || setup_.agent_socket() != agent)
    log_.error("reconfigure: new paths take effect at the next start");
  users_.clear();
  apply_logging();
  log_.info("configuration read again");
}

void Slurmd::apply_logging() {
  os::LogOptions o = log_options(setup_, arguments_);
  log_.set_levels(o.file_level, o.stderr_level, o.syslog_level);
}

// scontrol setdebug nodes=…: what was configured off stays off.
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
  const std::string& program = setup_.config().reboot_program;
  if (program.empty()) return log_.error("slurmctld asks for a reboot, and slurm.conf names no RebootProgram");
  log_.info("rebooting by {}: {}", program, e.reason);
  std::vector<std::string> env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "SLURMD_NODENAME=" + setup_.node,
                                  "SLURM_CONF=" + setup_.config().path};
  programs_.run({site::ProgramCall(program)}, std::move(env), std::nullopt, [this](std::string error) {
    if (!error.empty()) log_.error("RebootProgram: {}", error);
  });
}

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
  if (is_over(r)) clocks_.end(clocks_name(r.job, r.step, r.generation));
  switch (r.state) {
    case kStarting:
      break;
    case kRunning:
      core_.on_event(StepStarted{r.job, r.generation, r.step});
      break;
    case kEnded:
      if (r.step == kBatchStep) contexts_[r.job].exit_status = r.exit_status;
      if (r.step == kBatchStep) core_.on_event(StepStarted{r.job, r.generation, r.step});
      core_.on_event(StepEnded{r.job, r.generation, r.step, r.exit_status, r.out_of_memory});
      break;
    case kLaunchFailed:
      log_.error("step {}: {}", step_name(r.job, r.step), r.text);
      core_.on_event(StepFailed{r.job, r.generation, r.step, r.node_fault, r.text});
      break;
  }
  settle();
}

void Slurmd::on_children() {
  for (const os::Reaped& r : os::reap_children())
    if (!programs_.reaped(r.pid, r.status.raw)) files_.reaped(r.pid, r.status.raw);
}

void Slurmd::send_load() {
  node_rpc::Load m;
  if (auto text = os::read_line("/proc/loadavg")) {
    double one = std::strtod(text->c_str(), nullptr);
    m.cpu_load = static_cast<uint32_t>(std::lround(one * 100));
  }
  if (auto text = os::read_file("/proc/meminfo", 1 << 16)) {
    size_t at = text->find("MemFree:");
    if (at != std::string::npos) m.free_mem_mb = std::strtoull(text->c_str() + at + 8, nullptr, 10) / 1024;
  }
  link_.send(m);
  load_timer_ = loop_.after(kLoadInterval, [this] { send_load(); });
}

}  // namespace muster::slurmd
