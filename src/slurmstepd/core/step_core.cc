#include "slurmstepd/core/step_core.h"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace muster::slurmstepd {
namespace {

constexpr Duration kModuleStarts = seconds(60), kModuleEnds = seconds(5), kAborterEnds = milliseconds(500), kKillAgain = milliseconds(100);
constexpr Duration kSrunSilent = seconds(60), kHurriedSilent = seconds(10), kAttachedSilent = seconds(2);

// Wait statuses of tasks that never ran.
constexpr int32_t kStepFailed = 1 << 8, kTaskFailed = 2 << 8;

// The error in the words that users know from a shell.
std::string as_said(const Error& error) {
  std::string why(error.message());
  if (why.starts_with("execve ")) why.replace(0, 7, "execve(): ");
  return why;
}

}  // namespace

StepPlan plan_of(const step_rpc::StepdLaunch& launch, bool module) {
  StepPlan plan;
  plan.tasks = launch.tasks.size();
  plan.to_srun = !launch.io.host.empty() || !launch.io.path.empty();
  plan.login_environment = !launch.login_shell.empty();
  plan.module = module;
  plan.site_prolog = !launch.site_task_prolog.empty();
  plan.prolog = !launch.task_prolog.empty();
  plan.wait_for_children = launch.wait_for_children;
  plan.oom_kill_step = launch.oom_kill_step;
  plan.batch = launch.step == kBatchStep;
  plan.stays = launch.step == kExternStep;
  plan.kill_wait_seconds = launch.kill_wait_seconds;
  if (launch.time_limit_min != kUnlimited32) plan.limit = minutes(launch.time_limit_min);
  plan.warn = launch.warn;
  return plan;
}

// ---- the start
void StepCore::begin(StepPlan plan, const Result<>& prepared) {
  plan_ = std::move(plan);
  tasks_.resize(plan_.tasks);
  phase_ = StepPhase::kConnecting;
  if (!prepared) return launch_failed(prepared.error(), true);
  plan_.to_srun ? host_.connect_to_srun() : go_on_to_login();
}

void StepCore::connected(const Result<>& outcome) {
  if (over()) return outcome ? close_when_quiet() : void();
  if (!outcome) return launch_failed(outcome.error(), false);
  go_on_to_login();
}

void StepCore::go_on_to_login() {
  phase_ = StepPhase::kPreparing;
  plan_.login_environment ? host_.load_login_environment() : go_on_to_tasks();
}

void StepCore::login_environment(const Result<>& found) {
  if (over()) return;
  if (!found) state_.text = found.error().message();  // told when there is somewhere to tell it
  go_on_to_tasks();
}

void StepCore::go_on_to_tasks() {
  host_.prepared();
  if (!plan_.module) return start_tasks();
  phase_ = StepPhase::kModule;
  module_begun_ = true;
  if (auto ok = host_.start_module(); !ok) return launch_failed(ok.error(), false);
  set_timer(StepTimer::kModule, kModuleStarts);
}

void StepCore::module_ready() {
  cancel_timer(StepTimer::kModule);
  if (phase_ != StepPhase::kModule) return;
  host_.module_is_ready();
  start_tasks();
}

void StepCore::module_failed(const Error& error) {
  cancel_timer(StepTimer::kModule);
  if (!started_ && !over()) launch_failed(error, false);
}

void StepCore::start_tasks() {
  if (auto ok = host_.begin_plugins(); !ok) return plugins_failed(ok.error());
  phase_ = StepPhase::kOpening;
  host_.open_files();
}

void StepCore::files_open() {
  if (over()) return;
  phase_ = StepPhase::kStarting;
  start_next_tasks();
}

// Tasks without prologs come up beside each other. A prolog's task is alone on its way: prologs see each other's tasks run.
void StepCore::start_next_tasks() {
  while (next_ < tasks_.size() && !over()) {
    const size_t waiting = starting_;
    begin_task(next_++);
    if ((plan_.site_prolog || plan_.prolog) && starting_ > waiting) return;
  }
  look_if_all_started();
}

void StepCore::begin_task(size_t task) {
  ++starting_;
  tasks_[task].state = Task::kMadeReady;
  if (auto ok = host_.wire(task); !ok) return task_failed(task, ok.error());
  go_on_to_program(task, true);
}

// The site's prolog, then the user's, then the task.
void StepCore::go_on_to_program(size_t task, bool of_site) {
  if (of_site ? plan_.site_prolog : plan_.prolog) return host_.run_prolog(task, of_site);
  of_site ? go_on_to_program(task, false) : launch(task);
}

void StepCore::prolog_ended(size_t task, bool of_site, const std::optional<Error>& failed) {
  if (over()) return;
  if (failed) task_failed(task, *failed);
  else of_site ? go_on_to_program(task, false) : launch(task);
  start_next_tasks();
}

void StepCore::launch(size_t task) {
  auto launched = host_.launch(task, tasks_[task].in_tmp);
  if (!launched) return task_failed(task, launched.error());
  tasks_[task].state = Task::kOnItsWay;
  ++running_;
  if (*launched == StepHost::Launched::kHeld) started(task);
}

void StepCore::started(size_t task) {
  tasks_[task].state = Task::kRunning;
  --starting_;
  host_.has_started(task);
  look_if_all_started();
}

void StepCore::not_started(size_t task, const Error& error, bool at_directory) {
  Task& t = tasks_[task];
  t.state = Task::kMadeReady;
  --running_;
  if (over()) return host_.forget_start(task);
  if (at_directory && !std::exchange(t.in_tmp, true)) return host_.go_to_tmp(task, error);
  task_failed(task, error);
  look_if_all_started();
}

void StepCore::launch_again(size_t task) {
  if (over()) return;
  launch(task);
  look_if_all_started();
}

// srun is told of this task, and the others run. A batch script is alone: its failure fails the launch.
void StepCore::task_failed(size_t task, const Error& error) {
  --starting_;
  host_.forget_start(task);
  if (!plan_.to_srun) return launch_failed(error, false);
  tasks_[task].state = Task::kEnded;
  tasks_[task].status = kTaskFailed;
  state_.exit_status = std::max(state_.exit_status, kTaskFailed);
  host_.note_to_srun("slurmstepd: error: " + as_said(error));
  host_.tell_ended({{task, kTaskFailed, {}}}, false);
}

void StepCore::look_if_all_started() {
  if (started_ || over() || next_ < tasks_.size() || starting_ > 0) return;
  all_started();
}

void StepCore::all_started() {
  if (auto ok = host_.release_tasks(); !ok) return plugins_failed(ok.error());
  started_ = true;
  phase_ = StepPhase::kRunning;
  host_.all_run(std::exchange(state_.text, {}));
  state_.state = step_rpc::StepdState::kRunning;
  host_.report(state_);
  began_ = host_.now();
  watch_limit();
  if (running_ == 0 && !host_.programs_run()) all_tasks_ended();
}

// ---- what keeps a step from starting
void StepCore::launch_failed(const Error& error, bool node_fault) {
  state_.state = step_rpc::StepdState::kLaunchFailed;
  state_.node_fault = node_fault;
  state_.text = error.message();
  if (plan_.to_srun) {
    std::vector<EndedTask> all;
    for (size_t task = 0; task < tasks_.size(); ++task) all.push_back({task, kStepFailed, state_.text});
    host_.tell_ended(all, false);
    host_.abort_on_all_nodes();  // there, tasks may wait for ours
  }
  nothing_more_starts(0);
}

// spank(8) Errors: the node is drained for a batch job only, and not where the plugin says that the job is at fault.
void StepCore::plugins_failed(const Error& error) {
  std::string text = "spank: " + std::string(error.message());
  host_.note("slurmstepd: error: " + text);
  launch_failed(Error(error.code, std::move(text)), plan_.batch && !host_.plugins_blame_job());
}

// Whoever asked for the step's end has the reason. The tasks count as ended by the signal: none of them was ever seen.
void StepCore::end_before_start(uint32_t kill_wait_seconds) {
  const int32_t signal = kill_wait_seconds == 0 ? SIGKILL : SIGTERM;
  state_.exit_status = std::max(state_.exit_status, signal);
  std::vector<EndedTask> unseen;
  for (size_t task = 0; task < tasks_.size(); ++task)
    if (tasks_[task].state <= Task::kMadeReady) unseen.push_back({task, signal, {}});
  if (plan_.to_srun) host_.tell_ended(unseen, false);
  nothing_more_starts(kill_wait_seconds);
}

// Tasks that run, or are on their way to it, get as long to end as they would later.
void StepCore::nothing_more_starts(uint32_t kill_wait_seconds) {
  if (ending_ == Ending::kByItself) ending_ = Ending::kGivenUp;
  phase_ = StepPhase::kClosing;
  next_ = tasks_.size();
  if (running_ > 0 && kill_wait_seconds > 0) terminate(kill_wait_seconds);
  host_.give_up_start();
  if (module_begun_) host_.kill_module();
  if (armed(StepTimer::kKill)) return;
  running_ > 0 || host_.processes_left() ? kill_now() : close_when_quiet();
}

// ---- life
// A step's own limit (srun --time in a job, scontrol update step) and the signal before it.
void StepCore::watch_limit() {
  cancel_timer(StepTimer::kLimit);
  cancel_timer(StepTimer::kWarn);
  if (!plan_.limit) return;
  const Duration left = std::max(*plan_.limit - (host_.now() - began_), Duration::zero());
  set_timer(StepTimer::kLimit, left);
  if (plan_.warn.signal && !warned_) set_timer(StepTimer::kWarn, std::max(left - seconds(plan_.warn.seconds_before_end), Duration::zero()));
}

void StepCore::set_limit(std::optional<Duration> limit) {
  plan_.limit = limit;
  if (started_) watch_limit();
}

void StepCore::over_memory(Bytes has, Bytes limit, const std::string& step) {
  if (over()) return;
  state_.out_of_memory = state_.ends_step = true;
  end(0, step + " exceeded memory limit (" + std::to_string(has.value) + " > " + std::to_string(limit.value) + "), being killed");
}

void StepCore::fired(StepTimer timer) {
  if (finished()) return;
  switch (timer) {
    case StepTimer::kKill: return kill_now();
    case StepTimer::kLimit: return end(plan_.kill_wait_seconds, host_.out_of_time());
    case StepTimer::kAbort: return abort_step();
    case StepTimer::kWarn: warned_ = true; return host_.signal_tasks(plan_.warn.signal);
    case StepTimer::kModule:
      if (started_) return host_.kill_module();
      if (over()) return;
      return launch_failed(Error(Errc::kMpiPluginPrelaunchFailed, host_.module_name() + ": the module is not ready after " +
                                                                      std::to_string(to_seconds(kModuleStarts)) + " s"),
                           false);
    case StepTimer::kQuiet: host_.close_stream(); return close_when_quiet();
  }
}

// The module ended without our doing. Tasks may notice and end before it is reaped, so this does not wait for that.
void StepCore::module_gone() {
  if (!started_ || ending_ != Ending::kByItself || over()) return;
  host_.note_of_node(host_.module_name() + ": the module is gone");
  abort_step();
}

// A task that aborts ends by itself, with the status that it means to be seen: SIGTERM must not be faster.
void StepCore::module_wants_abort(const std::string& why) {
  host_.note_of_node(why);
  if (armed(StepTimer::kAbort)) return;
  if (std::ranges::any_of(tasks_, [](const Task& t) { return t.state == Task::kEnded && t.status != 0; })) return abort_step();
  set_timer(StepTimer::kAbort, kAborterEnds);
}

// Ends the step on all nodes, as srun does; where srun is gone, on this one.
void StepCore::abort_step() {
  cancel_timer(StepTimer::kAbort);
  host_.srun_connected() ? host_.abort_on_all_nodes() : end(plan_.kill_wait_seconds, {});
}

// ---- ends
void StepCore::task_ended(size_t task, int32_t status) {
  tasks_[task].state = Task::kEnded;
  tasks_[task].status = status;
  --running_;
  state_.exit_status = std::max(state_.exit_status, status);
  host_.is_over({task, status, {}}, started_ || !over());
}

void StepCore::reaped(const Reaped& what) {
  if (what.module && !over() && !started_) launch_failed(*what.module, false);
  if (!what.tasks.empty()) {
    look_for_oom_kills();
    if (plan_.to_srun) host_.tell_ended(what.tasks, state_.out_of_memory);
    if (armed(StepTimer::kAbort)) abort_step();
  }
  if (what.module || !what.tasks.empty()) look_if_over();
  if (phase_ == StepPhase::kLingering && !host_.processes_left()) all_tasks_ended();
  if (phase_ == StepPhase::kClosing && !host_.processes_left()) close_when_quiet();
}

void StepCore::look_for_oom_kills() {
  const uint64_t kills = host_.oom_kills();
  if (kills <= oom_kills_) return;
  state_.out_of_memory = true;
  host_.note_oom_kills(kills - std::exchange(oom_kills_, kills));
  if (!plan_.oom_kill_step) return;
  state_.ends_step = true;
  end(0, {});
}

// Called when the last task or the last program beside the tasks has ended, and during an end.
void StepCore::look_if_over() {
  if (running_ > 0 || finished()) return;
  if (over()) return host_.processes_left() ? kill_soon() : close_when_quiet();
  if (started_ && !host_.programs_run()) all_tasks_ended();
}

void StepCore::end(uint32_t kill_wait_seconds, const std::string& message) {
  if (!begun() || finished()) return;
  const Ending before = std::exchange(ending_, Ending::kAsked);
  if (over()) return kill_wait_seconds == 0 && running_ > 0 ? kill_now() : close_when_quiet();
  if (before == Ending::kByItself && !message.empty()) host_.note("slurmstepd: error: " + message);
  if (!started_) return end_before_start(kill_wait_seconds);
  if (kill_wait_seconds == 0) return kill_now();
  if (before == Ending::kByItself) terminate(kill_wait_seconds);
}

void StepCore::terminate(uint32_t kill_wait_seconds) {
  for (int signal : {SIGCONT, SIGTERM}) host_.signal_everything(signal);
  set_timer(StepTimer::kKill, seconds(kill_wait_seconds));
}

// Kills again and again until no process is left: those that fork while they are being killed are caught by the next round.
void StepCore::kill_now() {
  if (finished()) return;
  host_.kill_everything();
  host_.reap();
  if (!finished() && (running_ > 0 || host_.processes_left())) set_timer(StepTimer::kKill, kKillAgain);
  else if (phase_ == StepPhase::kLingering) all_tasks_ended();
}

// Kills later, and not from within the round that found the last task ended.
void StepCore::kill_soon() { set_timer(StepTimer::kKill, Duration{}); }

// All tasks have ended: the processes that they left behind are ended too.
void StepCore::all_tasks_ended() {
  if (module_begun_ && host_.module_runs()) {
    host_.finish_module();  // its last letters are waited for; its end calls again
    return set_timer(StepTimer::kModule, kModuleEnds);
  }
  // With --wait-for-children a step ends with its last process, not with its last task.
  if (ending_ == Ending::kByItself && (plan_.stays || (plan_.wait_for_children && host_.processes_left()))) {
    phase_ = StepPhase::kLingering;
    return;
  }
  phase_ = StepPhase::kClosing;
  if (host_.processes_left()) kill_now();
  if (!finished() && !host_.processes_left()) close_when_quiet();
}

void StepCore::srun_lost() { over() ? close_when_quiet() : end(plan_.kill_wait_seconds, {}); }

void StepCore::readers_changed() {
  if (over()) close_when_quiet();
}

void StepCore::written() {
  closing_ = Closing::kWritten;
  close_when_quiet();
}

// One thing after the other: plugins can still be heard when they have their last word, and srun has the last output before the connection
// closes.
void StepCore::close_when_quiet() {
  if (finished() || running_ > 0 || host_.processes_left() || host_.programs_run()) return;
  host_.end_plugins();
  if (closing_ == Closing::kQuiet) {
    closing_ = Closing::kSwept;
    if (module_begun_) host_.sweep();
    if (host_.programs_run()) return;
  }
  if (closing_ == Closing::kSwept) {
    closing_ = Closing::kWriting;
    host_.write_the_rest();  // written() may be called at once
    return;
  }
  if (closing_ == Closing::kWriting) return;
  if (host_.srun_connected() || host_.readers_attached()) return wait_for_readers();
  finish();
}

// srun closes when it has everything. A srun that does not, or that reads nothing, is left behind; so is an output that somebody outside
// the job holds open. A step that was told to end waits less long, and readers other than srun are waited for the least.
void StepCore::wait_for_readers() {
  if (!host_.outputs_open() && closing_ != Closing::kEndSaid) {
    closing_ = Closing::kEndSaid;
    host_.say_end_to_srun();
  }
  const Duration patience = !host_.srun_connected() ? kAttachedSilent : ending_ == Ending::kAsked ? kHurriedSilent : kSrunSilent;
  const Duration until = host_.now() + patience;
  if (armed(StepTimer::kQuiet) && quiet_until_ <= until) return;
  quiet_until_ = until;
  set_timer(StepTimer::kQuiet, patience);
}

void StepCore::finish() {
  phase_ = StepPhase::kFinished;
  for (uint8_t t = 0; t < kStepTimers; ++t) cancel_timer(static_cast<StepTimer>(t));
  if (state_.state != step_rpc::StepdState::kLaunchFailed) state_.state = step_rpc::StepdState::kEnded;
  host_.clean_up();
  host_.report(state_);
  released_ ? host_.leave() : host_.wait_to_leave();
}

void StepCore::release() {
  released_ = true;
  if (finished()) host_.leave();
}

void StepCore::set_timer(StepTimer timer, Duration delay) {
  armed_ |= static_cast<uint8_t>(1u << static_cast<uint8_t>(timer));
  host_.set_timer(timer, delay);
}

void StepCore::cancel_timer(StepTimer timer) {
  armed_ &= static_cast<uint8_t>(~(1u << static_cast<uint8_t>(timer)));
  host_.cancel_timer(timer);
}

}  // namespace muster::slurmstepd
