#include "slurmd/core/node_core.h"

#include <algorithm>
#include <utility>

#include "model/without_job.h"

namespace muster::slurmd {
namespace {

constexpr uint32_t kContentAttempts = 3;
constexpr const char* kKillFailed = "Kill task failed";
std::string kill_failed(const std::string& held) { return held.empty() ? kKillFailed : std::string(kKillFailed) + ": " + held; }

}  // namespace

void NodeCore::on_order(const NodeOrder& received, Time now) {
  std::visit(
      [&](const auto& x) {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, node_rpc::TerminateJob>) {
          node_rpc::TerminateJob t = x;
          if (t.time == kTimeUnset) t.time = now;
          order(t);
        } else {
          order(x);
        }
      },
      received);
}

void NodeCore::on_event(const NodeEvent& e) {
  std::visit([&](const auto& x) { event(x); }, e);
}

bool NodeCore::knows(JobId job, uint32_t generation) const {
  auto at = jobs_.find(job);
  return at != jobs_.end() && at->second.generation == generation && at->second.phase != Phase::kGone;
}

std::vector<StepId> NodeCore::steps_of(JobId job) const {
  auto at = jobs_.find(job);
  if (at == jobs_.end()) return {};
  std::vector<StepId> out(at->second.steps.begin(), at->second.steps.end());
  if (batch_runs(at->second)) out.push_back(kBatchStep);
  if (at->second.external == External::kEnding) out.push_back(kExternStep);
  return out;
}

NodeCore::Entry* NodeCore::find(JobId job, uint32_t generation) {
  auto at = jobs_.find(job);
  return at == jobs_.end() || at->second.generation != generation ? nullptr : &at->second;
}

// The controller knows nothing of a run without a job, and is told nothing about it.
void NodeCore::report(NodeReport r) {
  const bool unknown = std::visit(
      [](const auto& x) {
        if constexpr (requires { JobId(x.job); }) return is_without_job(x.job);
        else return false;
      },
      r);
  if (unknown) return;
  // The end of a step may be for a step manager, which can be told without slurmctld.
  if (registered_ || std::holds_alternative<node_rpc::StepGone>(r)) reports_.push_back(std::move(r));
}

// ---- orders
void NodeCore::order(const node_rpc::Registered& o) {
  registered_ = true;
  order(node_rpc::ForgetJobs{o.forget});
  for (const auto& [job, e] : jobs_) {
    for (const auto& [step, gone] : e.untaken) report(gone);
    bool over = e.phase == Phase::kGone || e.batch == Batch::kFinished || e.batch == Batch::kFailed;
    if (over) tell(e);
    if (e.launch && !e.content) find_content(e);  // what was asked of the controller went with the last session
  }
}

void NodeCore::tell(const Entry& entry) {
  if (entry.batch == Batch::kFailed) {
    report(node_rpc::LaunchFailed{entry.job, entry.generation, entry.node_fault, entry.failure});
    if (entry.phase == Phase::kGone && (!entry.epilog_error.empty() || entry.external_usage)) report(job_gone(entry));
  } else if (entry.batch == Batch::kFinished && !entry.ending &&
             (entry.phase != Phase::kGone || (entry.epilog_error.empty() && !entry.external_usage))) {
    report(node_rpc::BatchFinished{entry.job, entry.generation, entry.exit_status, entry.phase == Phase::kGone, entry.out_of_memory,
                                   entry.batch_usage});
  } else if (entry.phase == Phase::kGone) {
    if (entry.batch == Batch::kFinished)
      report(node_rpc::BatchFinished{entry.job, entry.generation, entry.exit_status, false, entry.out_of_memory, entry.batch_usage});
    report(job_gone(entry));
  } else if (entry.batch == Batch::kRunning) {
    report(node_rpc::BatchStarted{entry.job, entry.generation});
  }
}

void NodeCore::order(const node_rpc::LaunchBatch& order) {
  auto at = jobs_.find(order.job.job);
  if (at != jobs_.end()) {
    Entry& e = at->second;
    // One whose external step was found again is as far, as is one that an srun of the script's was faster for.
    const bool only_prepared =
        (e.prepare || e.external != External::kNone) && e.batch == Batch::kNone && !e.ending && e.phase <= Phase::kActive;
    if (e.generation == order.job.generation) return only_prepared ? launch(e, order) : tell(e);
    if (e.generation > order.job.generation) return;  // late
    if (e.phase != Phase::kGone) {                    // the earlier run has to leave first
      e.next = std::make_shared<const node_rpc::LaunchBatch>(order);
      return end(e, 0, JobState::kCancelled, kTimeUnset);
    }
    drop(order.job.job);
  }
  Entry& e = jobs_[order.job.job];
  e.job = order.job.job;
  e.generation = order.job.generation;
  launch(e, order);
}

void NodeCore::launch(Entry& e, const node_rpc::LaunchBatch& o) {
  e.batch = Batch::kLaunching;
  e.launch = std::make_shared<const node_rpc::LaunchBatch>(o);
  e.content = o.script_hash.empty() && o.environment_hash.empty();
  if (!e.content) find_content(e);  // while the prolog runs
  contain(e, o.job);
  if (e.phase == Phase::kActive) begin(e);
}

void NodeCore::find_content(const Entry& e) {
  FindContent f{e.job, e.generation, {}};
  for (const std::string& hash : {e.launch->script_hash, e.launch->environment_hash})
    if (!hash.empty()) f.hashes.push_back(hash);
  effects_.emplace_back(std::move(f));
}

void NodeCore::order(const node_rpc::PrepareJob& order) {
  auto at = jobs_.find(order.job.job);
  if (at != jobs_.end() && at->second.generation < order.job.generation) {
    if (at->second.phase != Phase::kGone) return end(at->second, 0, JobState::kCancelled, kTimeUnset);  // asked for again
    drop(order.job.job);
    at = jobs_.end();
  }
  if (at == jobs_.end()) {
    Entry& e = jobs_[order.job.job];
    e.job = order.job.job;
    e.generation = order.job.generation;
    e.prepare = true;
    contain(e, order.job);
    return begin(e);
  }
  Entry& e = at->second;
  if (e.generation != order.job.generation || e.phase == Phase::kGone) return tell(e);
  e.prepare = true;
  contain(e, order.job);
  if (e.phase == Phase::kActive && e.contained) begin(e);  // a step was here before the order
  if (e.phase == Phase::kActive) report(node_rpc::JobPrepared{e.job, e.generation});
}

void NodeCore::contain(Entry& e, const node_rpc::JobOnNode& job) {
  if (job.contained && e.external == External::kNone) e.contained = std::make_shared<const node_rpc::JobOnNode>(job);
}

// The prolog, then the external step; where the prolog is to run in that, the other way round.
void NodeCore::begin(Entry& e) {
  const bool prolog_due = programs_.prolog && !e.prolog_ran;
  if (e.contained && (e.ready || !e.steps.empty())) start_external(e);  // what is here already does not wait
  if (!prolog_due && !e.contained) return after_prolog(e);
  e.phase = Phase::kProlog;
  if (e.contained && (!prolog_due || programs_.in_job)) return start_external(e);
  effects_.emplace_back(RunProlog{e.job, e.generation, programs_.in_job && e.external == External::kRunning});
}

void NodeCore::start_external(Entry& e) {
  e.external = External::kStarting;
  effects_.emplace_back(StartExternal{std::exchange(e.contained, nullptr)});
}

void NodeCore::external_started(Entry& e) {
  const External before = e.external;
  if (before > External::kStarting) return;
  e.external = External::kRunning;
  if (e.phase == Phase::kGone) return all_left(e);  // after a restart the rest was found first, and nobody has been told yet
  if (before != External::kStarting || e.phase != Phase::kProlog) return;  // found again, or beside steps
  e.ending ? end_as_told(e) : go_on(e);
}

void NodeCore::go_on(Entry& e) {
  begin(e);
  if (e.phase == Phase::kActive && e.batch == Batch::kFailed) batch_ended(e);  // its script could not be had meanwhile
}

// Before its time it is not missed; else it was waited for.
void NodeCore::external_over(Entry& e, const StepUsagePtr& usage, const std::string& failure, bool node_fault) {
  if (e.external == External::kOver) return;
  const External before = std::exchange(e.external, External::kOver);
  e.external_usage = usage;
  if (before == External::kEnding) all_left(e);
  else if (before == External::kStarting && e.phase == Phase::kProlog) e.ending ? end_as_told(e) : not_prepared(e, failure, node_fault);
}

void NodeCore::after_prolog(Entry& e) {
  e.phase = Phase::kActive;
  if (e.prepare && !e.ready) report(node_rpc::JobPrepared{e.job, e.generation});
  e.ready = e.prolog_ran = true;
  if (e.launch && e.content) effects_.emplace_back(StartBatch{std::exchange(e.launch, nullptr)});
  for (StepId s : std::exchange(e.asked, {})) {
    e.steps.insert(s);
    effects_.emplace_back(StartStep{e.job, e.generation, s});
  }
}

void NodeCore::order(const node_rpc::TerminateJob& order) {
  auto at = jobs_.find(order.job);
  if (at == jobs_.end() || at->second.generation < order.generation) {
    if (at != jobs_.end() && at->second.phase != Phase::kGone) {
      end(at->second, 0, order.state, order.time);
      report(node_rpc::JobGone{order.job, order.generation, {}});
      return;
    }
    if (was_forgotten(order.job, order.generation)) {
      effects_.emplace_back(DropJob{order.job, order.generation});
      return report(node_rpc::JobGone{order.job, order.generation, {}});
    }
    // Nothing of the job came here, or a restart of slurmd lost what did: the epilog runs on every node of an allocation.
    drop(order.job);
    Entry& e = jobs_[order.job];
    e.job = order.job;
    e.generation = order.generation;
    e.ending = true;
    e.forget = order.forget;
    return all_left(e);
  }
  Entry& e = at->second;
  if (e.generation > order.generation) return report(node_rpc::JobGone{order.job, order.generation, {}});
  e.forget = e.forget || order.forget;
  if (e.phase == Phase::kGone) {
    report(job_gone(e));
    if (e.forget) drop(e.job);
    return;
  }
  end(e, order.kill_wait_seconds, order.state, order.time);
}

// Ends what runs of the job. A second call only shortens the wait.
void NodeCore::end(Entry& e, uint32_t kill_wait_seconds, JobState state, Time time) {
  bool again = std::exchange(e.ending, true);
  for (StepId s : std::exchange(e.asked, {})) effects_.emplace_back(RefuseStep{e.job, e.generation, s, "Job is ending"});
  if (e.phase == Phase::kProlog || e.phase == Phase::kEpilog || e.external == External::kEnding) return;  // their end goes on from here
  if (std::exchange(e.launch, nullptr)) e.batch = Batch::kNone;                                           // its script has not come
  e.phase = Phase::kEnding;
  if (e.steps.empty() && !batch_runs(e)) return all_left(e);
  if (!again || kill_wait_seconds == 0) effects_.emplace_back(EndSteps{e.job, e.generation, kill_wait_seconds, state, time});
}

void NodeCore::order(const node_rpc::SignalJob& o) {
  Entry* e = find(o.job, o.generation);
  if (e && e->phase != Phase::kGone) effects_.emplace_back(SignalSteps{o});
}

void NodeCore::order(const node_rpc::LimitStep& o) {
  Entry* e = find(o.job, o.generation);
  if (!e || !(e->steps.contains(o.step) || e->asked.contains(o.step))) return;
  e->limits[o.step] = o;
  if (e->steps.contains(o.step)) effects_.emplace_back(LimitSteps{o});
}

// A job of which nothing is here uses nothing here.
void NodeCore::order(const node_rpc::MeasureJob& o) {
  Entry* entry = find(o.job, o.generation);
  if (!entry || entry->phase == Phase::kGone) return report(node_rpc::JobMeasured{o.job, o.generation, Bytes(0)});
  effects_.emplace_back(MeasureSteps{o.job, o.generation});
}

void NodeCore::order(const node_rpc::LimitMemory& o) {
  Entry* entry = find(o.job, o.generation);
  if (!entry || entry->phase == Phase::kGone) return;
  entry->memory = o;
  effects_.emplace_back(LimitMemoryOfSteps{o});
}

void NodeCore::order(const node_rpc::ForgetJobs& o) {
  for (JobId job : o.jobs) {
    auto at = jobs_.find(job);
    if (at == jobs_.end()) continue;
    if (at->second.phase == Phase::kGone) drop(job);
    else if (at->second.batch == Batch::kFailed) at->second.forget = true;
  }
}

void NodeCore::order(const node_rpc::StepEndTaken& o) {
  Entry* e = find(o.job, o.generation);
  if (e && e->untaken.erase(o.step)) effects_.emplace_back(ReleaseStep{o.job, o.step});
}

void NodeCore::order(const node_rpc::Reconfigure& o) {
  if (o.shutdown) effects_.emplace_back(StopDaemon{});
  else effects_.emplace_back(ReadConfig{});
}

void NodeCore::order(const node_rpc::SetLogging& o) { effects_.emplace_back(ChangeLogging{o}); }

void NodeCore::order(const node_rpc::RebootNode& o) {
  if (o.issued != kTimeUnset && o.issued == reboot_begun_) return;
  reboot_begun_ = o.issued;
  effects_.emplace_back(Reboot{o.reason, o.action, o.features});
}

void NodeCore::order(const node_rpc::NotifyJob& o) {
  Entry* e = find(o.job, o.generation);
  if (e && e->phase != Phase::kGone) effects_.emplace_back(NotifySteps{o.job, o.text});
}

// A job of which nothing is here has nothing to stop, so the order counts as carried out.
void NodeCore::order(const node_rpc::SuspendJob& o) {
  Entry* e = find(o.job, o.generation);
  if (!e || e->phase == Phase::kGone) return report(node_rpc::JobSettled{o.job, o.generation, o.suspend});
  e->suspended = o.suspend;
  effects_.emplace_back(StopSteps{o.job, o.generation, o.suspend, o.grace_seconds});
}

// ---- events
void NodeCore::event(const StepsStopped& x) { report(node_rpc::JobSettled{x.job, x.generation, x.stopped}); }

void NodeCore::event(const StepsMeasured& x) { report(node_rpc::JobMeasured{x.job, x.generation, x.resident}); }

void NodeCore::event(const PrologEnded& ended) {
  Entry* entry = find(ended.job, ended.generation);
  if (!entry || entry->phase != Phase::kProlog) return;
  entry->prolog_ran = true;
  if (entry->ending) end_as_told(*entry);
  else if (ended.error.empty()) go_on(*entry);
  else not_prepared(*entry, ended.error, true);
}

// It was told to end while its prolog ran, or its external step came up: nothing else of it is here.
void NodeCore::end_as_told(Entry& e) {
  if (e.batch == Batch::kLaunching) e.batch = Batch::kNone;
  e.launch = nullptr;
  e.phase = Phase::kEnding;
  all_left(e);
}

// The prolog failed, or the external step.
void NodeCore::not_prepared(Entry& e, const std::string& why, bool node_fault) {
  for (StepId s : std::exchange(e.asked, {})) effects_.emplace_back(RefuseStep{e.job, e.generation, s, why});
  e.launch = nullptr;
  e.contained = nullptr;
  e.batch = Batch::kFailed;
  e.node_fault = node_fault;
  e.failure = why;
  tell(e);
  all_left(e);
}

void NodeCore::event(const EpilogEnded& x) {
  Entry* e = find(x.job, x.generation);
  if (!e || e->phase != Phase::kEpilog) return;
  if (e->epilog_error.empty()) e->epilog_error = x.error;
  e->epilog_ran = true;
  all_left(*e);
}

void NodeCore::event(const ContentFound& x) {
  Entry* e = find(x.job, x.generation);
  if (!e || !e->launch) return;
  e->content = true;
  if (e->phase == Phase::kActive && e->ready) after_prolog(*e);
}

// This may come before the prolog has ended: then the prolog goes on, and the epilog follows it.
void NodeCore::event(const ContentMissing& x) {
  Entry* e = find(x.job, x.generation);
  if (!e || !e->launch || e->content) return;
  e->launch = nullptr;
  e->batch = Batch::kFailed;
  e->node_fault = x.node_fault;
  e->failure = x.text;
  if (e->phase == Phase::kActive) batch_ended(*e);
}

// A node whose disk does not keep what was written to it is at fault.
void NodeCore::event(const ContentLost& x) {
  const node_rpc::JobOnNode& job = x.launch->job;
  Entry* e = find(job.job, job.generation);
  if (!e || e->batch != Batch::kLaunching || e->launch) return;
  if (++e->content_lost > kContentAttempts || e->ending) return event(StepFailed{job.job, job.generation, kBatchStep, true, x.text});
  e->launch = x.launch;
  e->content = false;
  find_content(*e);
}

// The node is drained when the job lets go of it, with the words that administrators look for.
void NodeCore::event(const StepSurvives& x) {
  Entry& e = entry_of_step(x.job, x.generation);
  if (e.generation == x.generation) e.epilog_error = kill_failed(x.held);
}

void NodeCore::event(const StepAsked& asked) {
  auto refuse = [&](const char* why) { effects_.emplace_back(RefuseStep{asked.job, asked.generation, asked.step, why}); };
  auto at = jobs_.find(asked.job);
  if (at == jobs_.end()) {
    if (was_forgotten(asked.job, asked.generation)) return refuse("Job has ended");
    Entry& e = jobs_[asked.job];
    e.job = asked.job;
    e.generation = asked.generation;
    e.prolog_ran = is_without_job(asked.job);  // Prolog and Epilog are of jobs
    e.asked.insert(asked.step);
    return begin(e);
  }
  Entry& e = at->second;
  if (e.generation != asked.generation) return refuse("Job has been requeued");
  if (e.ending || e.phase > Phase::kActive) return refuse("Job has ended");
  if (e.steps.contains(asked.step) || e.asked.contains(asked.step)) return refuse("Step is already here");
  e.asked.insert(asked.step);
  if (e.phase == Phase::kActive) begin(e);
}

NodeCore::Entry& NodeCore::entry_of_step(JobId job, uint32_t generation) {
  Entry& e = jobs_[job];
  if (!e.job) {  // found after a restart
    e.job = job;
    e.generation = generation;
    e.prolog_ran = true;
  }
  return e;
}

void NodeCore::event(const StepStarted& started) {
  Entry& entry = entry_of_step(started.job, started.generation);
  if (entry.generation != started.generation) return;
  if (entry.suspended) effects_.emplace_back(StopSteps{started.job, started.generation, true});
  if (entry.memory) effects_.emplace_back(LimitMemoryOfSteps{*entry.memory});
  if (started.step == kExternStep) return external_started(entry);
  if (started.step != kBatchStep) {
    entry.steps.insert(started.step);
    if (auto limit = entry.limits.find(started.step); limit != entry.limits.end()) effects_.emplace_back(LimitSteps{limit->second});
    return;
  }
  if (entry.batch == Batch::kRunning) return;
  entry.batch = Batch::kRunning;
  tell(entry);
}

void NodeCore::event(const StepEnded& ended) {
  if (!jobs_.contains(ended.job) && was_forgotten(ended.job, ended.generation)) {
    effects_.emplace_back(ReleaseStep{ended.job, ended.step});
    return;
  }
  Entry& entry = entry_of_step(ended.job, ended.generation);
  if (entry.generation == ended.generation && ended.step == kExternStep)
    return external_over(entry, ended.usage, "the external step ended before its time", true);
  if (entry.generation != ended.generation || entry.phase == Phase::kGone) return release_late(entry, ended.step);
  if (ended.step != kBatchStep)
    return step_ended(entry,
                      {ended.job, ended.generation, ended.step, ended.exit_status, ended.out_of_memory, ended.ends_step, ended.usage});
  if (entry.batch == Batch::kFinished || entry.batch == Batch::kFailed) return;
  entry.batch = Batch::kFinished;
  entry.exit_status = ended.exit_status;
  entry.out_of_memory = ended.out_of_memory;
  entry.batch_usage = ended.usage;
  batch_ended(entry);
}

void NodeCore::event(const StepFailed& failed) {
  Entry* entry = find(failed.job, failed.generation);
  if (!entry) {
    effects_.emplace_back(ReleaseStep{failed.job, failed.step});
    return;
  }
  if (entry->phase == Phase::kGone) return release_late(*entry, failed.step);
  if (failed.step == kExternStep)
    return external_over(*entry, nullptr, "the external step could not be started: " + failed.text, failed.node_fault);
  if (failed.step != kBatchStep) return step_ended(*entry, {failed.job, failed.generation, failed.step, 1 << 8, false, false, nullptr});
  entry->batch = Batch::kFailed;
  entry->node_fault = failed.node_fault;
  entry->failure = failed.text;
  batch_ended(*entry);
}

// The job lets go of the node without these steps. The controller drains the node with the words that Slurm's administrators look for.
void NodeCore::event(const StepsUnkillable& x) {
  Entry* e = find(x.job, x.generation);
  if (!e || e->phase != Phase::kEnding) return;
  for (StepId s : std::exchange(e->steps, {})) report(node_rpc::StepGone{x.job, x.generation, s, 9, false, false, nullptr});
  if (batch_runs(*e)) {
    e->batch = Batch::kFinished;
    e->exit_status = 9;
  }
  if (e->external == External::kEnding) e->external = External::kOver;
  e->epilog_error = kill_failed(x.held);
  all_left(*e);
}

// For a step that came to its end after its job: nobody asks for its result any more. But the result of the job's own script stays until
// the controller has it.
void NodeCore::release_late(const Entry& e, StepId step) {
  if (step != kBatchStep || e.batch == Batch::kNone) effects_.emplace_back(ReleaseStep{e.job, step});
}

// The step's slurmstepd keeps the result until somebody has it; the result of a run without a job interests nobody.
void NodeCore::step_ended(Entry& e, node_rpc::StepGone gone) {
  e.steps.erase(gone.step);
  e.limits.erase(gone.step);
  if (is_without_job(e.job)) effects_.emplace_back(ReleaseStep{e.job, gone.step});
  else e.untaken[gone.step] = gone;
  report(gone);
  step_left(e);
}

// The script is over. If steps are left, the controller's TerminateJob ends those; if none is left, the job is over here.
void NodeCore::batch_ended(Entry& e) {
  bool last = e.steps.empty();
  if (!e.ending && (!last || programs_.epilog || e.external != External::kNone || e.batch == Batch::kFailed)) tell(e);
  if (last) all_left(e);
}

void NodeCore::step_left(Entry& e) {
  if (is_without_job(e.job)) {  // nobody will tell us to forget it
    if (e.steps.empty() && e.asked.empty()) drop(e.job);
    return;
  }
  bool batch_over = e.batch == Batch::kFinished || e.batch == Batch::kFailed;
  if (e.steps.empty() && !batch_runs(e) && (e.ending || batch_over)) all_left(e);
}

// Goes on with what is still to be done: the epilog, the end of the external step, or first that and then the epilog.
void NodeCore::all_left(Entry& e) {
  const bool in_job = programs_.in_job && e.external == External::kRunning;
  if (programs_.epilog && !e.epilog_ran && (in_job || !has_external(e))) {
    e.phase = Phase::kEpilog;
    effects_.emplace_back(RunEpilog{e.job, e.generation, in_job});
  } else if (has_external(e)) {
    e.phase = Phase::kEnding;
    if (std::exchange(e.external, External::kEnding) != External::kEnding) effects_.emplace_back(EndExternal{e.job, e.generation});
  } else {
    gone(e);
  }
}

void NodeCore::gone(Entry& entry) {
  entry.phase = Phase::kGone;
  bool told = entry.batch == Batch::kFailed && entry.epilog_error.empty() && !entry.external_usage && !entry.ending;
  if (!told) {
    // With an epilog the end of the script has been told already, unless it came after TerminateJob: then its status is told now.
    bool with_status = entry.batch == Batch::kFinished && (entry.ending || !(programs_.epilog || entry.external != External::kNone));
    if (with_status) tell(entry);
    else report(job_gone(entry));
  }
  auto next = entry.next;
  JobId job = entry.job;
  if (entry.forget || next) drop(job);
  if (next) order(*next);
}

bool NodeCore::was_forgotten(JobId job, uint32_t generation) const { return forgotten_.contains(std::pair(job, generation)); }

bool NodeCore::has_ended(JobId job, uint32_t generation) const {
  auto at = jobs_.find(job);
  if (at == jobs_.end()) return was_forgotten(job, generation);
  const Entry& e = at->second;
  if (e.generation != generation) return e.generation > generation;
  return e.ending || e.phase > Phase::kActive;
}

void NodeCore::remember_ended(JobId job, uint32_t generation) {
  if (!forgotten_.emplace(job, generation).second) return;
  in_order_.emplace_back(job, generation);
  if (in_order_.size() <= kEndedKept) return;
  forgotten_.erase(in_order_.front());
  in_order_.pop_front();
}

void NodeCore::drop(JobId job) {
  auto at = jobs_.find(job);
  if (at == jobs_.end()) return;
  if (at->second.batch != Batch::kNone) effects_.emplace_back(ReleaseStep{job, kBatchStep});
  if (at->second.external != External::kNone) effects_.emplace_back(ReleaseStep{job, kExternStep});
  for (const auto& [step, gone] : at->second.untaken) effects_.emplace_back(ReleaseStep{job, step});
  effects_.emplace_back(DropJob{job, at->second.generation});
  remember_ended(job, at->second.generation);
  jobs_.erase(at);
}

std::vector<node_rpc::NodeJob> NodeCore::registration() const {
  std::vector<node_rpc::NodeJob> out;
  out.reserve(jobs_.size());
  for (const auto& [job, e] : jobs_) {
    if (is_without_job(job)) continue;
    node_rpc::NodeJob n;
    n.job = job;
    n.generation = e.generation;
    n.batch = e.batch != Batch::kNone;
    n.exit_status = e.exit_status;
    if (e.phase == Phase::kGone) n.state = node_rpc::NodeJobState::kGone;
    else if (e.batch == Batch::kFinished || e.batch == Batch::kFailed) n.state = node_rpc::NodeJobState::kFinished;
    n.steps.assign(e.steps.begin(), e.steps.end());
    out.push_back(std::move(n));
  }
  return out;
}

}  // namespace muster::slurmd
