// The life of a job after submission: its start, what its nodes report, its end, and its way back into the queue.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <tuple>

#include "acct/admission.h"
#include "hostlist/hostlist.h"
#include "model/sharing_words.h"
#include "slurmctld/core/channels.h"
#include "slurmctld/core/core.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/feature_boots.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/privacy.h"
#include "slurmctld/core/quarantine.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {
namespace {

// Nodes of the item that are powered down have to come up first: they are marked as powering up (# in sinfo) and wait for their turn
// (resume_queue.h), in the same turn of the core where ResumeRate lets them.
void power_up(const View& v, const sched::StartItem& item, Events& out) {
  for (const NodeShare& s : item.allocation->nodes) {
    const Node& n = v.cluster.nodes.at(s.node.value);
    if (!(n.flags & kNodePoweredDown)) continue;
    event::NodeStateChanged e = state_of(n, v.now);
    e.flags = (n.flags & ~kNodePoweredDown) | kNodePoweringUp;
    e.resume_deadline = kTimeUnset;
    out.push_back(std::move(e));
  }
}

// Whether an exit code is one of those that a list (RequeueExit, RequeueExitHold) names.
bool in_exit_list(const std::string& list, int code) {
  Bitmap codes;
  return !list.empty() && Bitmap::parse_ranges(list, codes, 256) && codes.test(static_cast<size_t>(code));
}

uint32_t requeue_flags_of_exit(const View& v, const Job& job, int32_t status) {
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 0 || !requeue_allowed(v, job)) return 0;
  if (in_exit_list(v.settings.config().requeue_exit_hold, WEXITSTATUS(status))) return kJobRequeueHold | kJobSpecialExit;
  return in_exit_list(v.settings.config().requeue_exit, WEXITSTATUS(status)) ? static_cast<uint32_t>(kJobRequeued) : 0u;
}

std::optional<size_t> index_of(const Job& job, NodeId node) {
  for (size_t i = 0; i < job.allocation->nodes.size(); ++i)
    if (job.allocation->nodes[i].node == node) return i;
  return std::nullopt;
}

// Handles one report of a node, checked against the generation of the job that it is about.
struct ReportHandler {
  const View& v;
  NodeId node;
  Decision<rpc::Empty>& d;

  const Job* job_of(JobId id, uint32_t generation) const {
    const Job* j = v.cluster.jobs.find(id.value);
    return j && j->restarts == generation && j->allocation && index_of(*j, node) ? j : nullptr;
  }
  void release(const Job& j, size_t index) {
    if (!j.run->releasing.test(index)) return;
    event::JobNodesReleased e;
    e.job = j.id;
    e.nodes = Bitmap(j.allocation->nodes.size());
    e.nodes.set(index);
    e.time = v.now;
    d.events.push_back(std::move(e));
  }
  // The node may drop what it remembers of the job once this turn is durable.
  void forget(JobId id) {
    node_rpc::ForgetJobs f;
    f.jobs.push_back(id);
    d.orders.push_back(Order{node, std::move(f)});
  }
  void drain(const std::string& why) { drain(why, v.settings.slurm_user); }
  void drain(const std::string& why, Uid by) {
    const Node* n = v.cluster.nodes.find(node.value);
    if (!n || (n->flags & kNodeDrain)) return;
    event::NodeStateChanged e = state_of(*n, v.now);
    e.flags |= kNodeDrain;
    e.reason = why;
    e.by = by;
    e.time = v.now;
    d.events.push_back(std::move(e));
  }

  void operator()(const node_rpc::Register& r) { d = decide_register(v, node, r); }
  void operator()(const node_rpc::Load&) {}
  void operator()(const node_rpc::JobMeasured&) {}  // Core collects those
  void operator()(const node_rpc::NodeTested&) {}
  void operator()(const node_rpc::NodeFault& fault) {
    if (!fault.text.empty()) drain(one_line_reason(fault.text), Uid(0));
  }
  void operator()(const node_rpc::BatchStarted& r) {
    const Job* j = job_of(r.job, r.generation);
    if (!j || j->state != JobState::kRunning || j->launched) return;
    d.events.push_back(event::JobLaunched{r.job, v.now, end_within(v, *j, 0, j->time_limit_min, v.now)});
  }
  void operator()(const node_rpc::BatchFinished& finished) {
    const Job* job = job_of(finished.job, finished.generation);
    if (finished.gone) forget(finished.job);
    if (!job || job->batch_share().node != node) return;
    if (finished.usage && !job->run->batch_usage) d.events.push_back(event::StepUsed{job->id, {kBatchStep, {node}, own(finished.usage)}});
    if (job->finished()) {
      bool news = finished.exit_status != 0 && job->exit_status == 0 && job->run->releasing.test(job->run->batch_index);
      if (news && !(job->flags & (kJobRequeued | kJobRequeueHold)))
        d.events.push_back(event::JobScriptEnded{job->id, finished.exit_status});
      if (finished.gone) release(*job, job->run->batch_index);
      return;
    }
    Ending ending;
    ending.exit_status = finished.exit_status;
    ending.state = finished.exit_status == 0 ? JobState::kCompleted : JobState::kFailed;
    if (finished.exit_status != 0) ending.reason = WIFSIGNALED(finished.exit_status) ? Reason::kFailedSignal : Reason::kNonZeroExitCode;
    if (finished.out_of_memory) {
      ending.state = JobState::kOutOfMemory;
      ending.reason = Reason::kOutOfMemory;
    }
    ending.flags = requeue_flags_of_exit(v, *job, finished.exit_status);
    ending.gone = Bitmap(job->allocation->nodes.size());
    if (finished.gone) ending.gone.set(job->run->batch_index);
    end_job(v, *job, ending, d.events);
  }
  void operator()(const node_rpc::JobGone& gone) {
    forget(gone.job);
    if (!gone.epilog_error.empty()) drain(gone.epilog_error);
    if (const Job* job = job_of(gone.job, gone.generation)) {
      const size_t index = *index_of(*job, node);
      if (job->run->releasing.test(index)) external_used(*job, gone);
      return release(*job, index);
    }
    const Job* j = v.cluster.jobs.find(gone.job.value);
    if (!j || j->restarts != gone.generation || !j->is_leaving(node)) return;
    external_used(*j, gone);
    d.events.push_back(event::JobNodeLeft{gone.job, node, v.now});
  }
  // Told again, it is not taken again: the node is no longer the job's.
  void external_used(const Job& j, const node_rpc::JobGone& r) {
    if (r.external && j.run->contained) d.events.push_back(event::StepUsed{j.id, {kExternStep, {node}, own(r.external)}});
  }
  void operator()(const node_rpc::LaunchFailed& failed) {
    forget(failed.job);
    if (failed.node_fault) drain(failed.text.empty() ? "Prolog error" : failed.text);
    const Job* job = job_of(failed.job, failed.generation);
    if (!job || job->finished()) return;
    Ending ending;
    ending.state = JobState::kFailed;
    ending.reason = Reason::kJobLaunchFailure;
    ending.detail = failed.text;
    ending.exit_status = failed.node_fault ? 1 << 8 : 53;  // 0:53 is what Slurm shows for output that cannot be opened
    // srun's steps may run there without the script; the node says when it is rid of them.
    ending.gone = Bitmap(job->allocation->nodes.size());
    ending.flags = kJobLaunchFailed;
    ending.node = node;
    // The job is held: otherwise one whose prolog fails everywhere would drain the cluster node by node.
    bool hold =
        failed_too_often(v, *job) || !(v.settings.config().scheduler_parameters.has("nohold_on_prolog_fail") || may_be_expedited(v, *job));
    const bool forced = job->request->kind == JobKind::kBatch && v.settings.prolog.force_requeue_on_fail;
    if (failed.node_fault && (forced || requeue_allowed(v, *job))) ending.flags |= hold ? kJobRequeueHold : kJobRequeued;
    end_job(v, *job, ending, d.events);
  }
  void operator()(const node_rpc::JobSettled& r) {
    const Job* j = job_of(r.job, r.generation);
    if (!j || j->finished() || r.suspended != (j->state == JobState::kSuspended)) return;
    size_t index = *index_of(*j, node);
    if (!j->run->settling.test(index)) return;
    event::JobNodesSettled e;
    e.job = j->id;
    e.suspended = r.suspended;
    e.nodes = Bitmap(j->allocation->nodes.size());
    e.nodes.set(index);
    d.events.push_back(std::move(e));
  }
  void operator()(const node_rpc::JobPrepared& r) {
    const Job* j = job_of(r.job, r.generation);
    if (!j || j->finished() || !j->run->preparing.test(*index_of(*j, node))) return;
    event::JobNodesPrepared e;
    e.job = j->id;
    e.nodes = Bitmap(j->allocation->nodes.size());
    e.nodes.set(*index_of(*j, node));
    d.events.push_back(std::move(e));
  }
  void operator()(const node_rpc::StepGone& gone) {
    d.orders.push_back({node, node_rpc::StepEndTaken{gone.job, gone.generation, gone.step}});  // also where nobody asks for it any more
    const Job* job = job_of(gone.job, gone.generation);
    if (!job) return;
    const size_t index = *index_of(*job, node);
    if (job->managed && !job->finished()) return pass_on(*job, gone);
    auto step = std::ranges::find(job->steps, gone.step, &Step::id);
    if (step == job->steps.end()) return told_late(*job, gone);
    const auto still_there = [&](const StepShare& x) { return !x.done && x.node_index != index; };
    // An end that is told again, because the node has not heard that it was taken, brings no use a second time.
    const bool told = std::ranges::any_of(step->shares, [&](const StepShare& x) { return x.done && x.node_index == index; });
    const StepUsagePtr usage = told ? nullptr : own(gone.usage);
    if (std::ranges::none_of(step->shares, still_there)) {
      event::StepEnded e = step_ended(v, *job, *step, gone.exit_status, gone.out_of_memory);
      e.usage = usage;
      d.events.push_back(std::move(e));
      return;
    }
    event::StepNodesDone done;
    done.job = job->id;
    done.step = gone.step;
    done.nodes = Bitmap(index + 1);
    done.nodes.set(index);
    done.exit_status = gone.exit_status;
    done.out_of_memory = gone.out_of_memory;
    done.usage = usage;
    d.events.push_back(std::move(done));
    if (!gone.ends_step) return;
    for (const StepShare& x : step->shares)
      if (still_there(x)) kill_step(*job, gone.step, x.node_index);
  }
  // A node speaks for itself alone.
  StepUsagePtr own(const StepUsagePtr& usage) const { return on_node(usage, v.cluster.nodes.at(node.value).spec->name); }
  // The step was over before this node's part of it: srun said so, or its job ended.
  void told_late(const Job& j, const node_rpc::StepGone& r) {
    if (is_untold(v.cluster, j.id, r.step, node)) d.events.push_back(event::StepUsed{j.id, {r.step, {node}, own(r.usage)}});
  }
  // Passes the end of a part of a step on to the step's manager, when the node could not tell it or no longer knows of it.
  void pass_on(const Job& j, const node_rpc::StepGone& r) {
    node_rpc::PartOfStepEnded order;
    order.part = {
        v.cluster.nodes.at(node.value).spec->name, r.job, r.generation, r.step, r.exit_status, r.out_of_memory, r.ends_step, own(r.usage)};
    d.orders.push_back({j.allocation->nodes.front().node, std::move(order)});
  }
  void operator()(const node_rpc::StepsOfJob& r) { take_news(v, node, r, d); }
  void kill_step(const Job& j, StepId step, uint32_t index) {
    node_rpc::SignalJob kill;
    kill.job = j.id;
    kill.generation = j.restarts;
    kill.has_step = true;
    kill.step = step;
    kill.signal = SIGKILL;
    d.orders.push_back({j.allocation->nodes[index].node, kill});
  }
};

}  // namespace

namespace {

// PrologFlags: whether the job can be used only when the prologs of its nodes have ended.
bool waits_for_prologs(const View& v, const Job& job) {
  return job.request->kind == JobKind::kBatch ? v.settings.prolog.defer_batch : !v.settings.prolog.no_hold;
}

// PrologFlags=Alloc: all nodes are prepared at the start, but for the batch script's own: the script brings that node's prolog along,
// unless it is to wait for the prologs of all nodes.
Bitmap nodes_to_prepare(const View& v, const Job& job, const Allocation& a, uint32_t batch_index) {
  Bitmap out(a.nodes.size());
  if (!v.settings.prolog.at_allocation) return out;
  for (size_t i = 0; i < a.nodes.size(); ++i) out.set(i);
  if (job.request->kind == JobKind::kBatch && !v.settings.prolog.defer_batch) out.reset(batch_index);
  return out;
}

// The time limit where it is lowered within --time-min: by the plan, or to what is left until --deadline.
std::optional<uint32_t> limit_at_start(const View& v, const Job& job, const sched::StartItem& item) {
  if (job.request->deadline == kTimeUnset || !job.request->time_min_min) return item.time_limit_min;
  const int64_t left = std::max<int64_t>(to_seconds(job.request->deadline - v.now) / 60, job.request->time_min_min);
  const uint32_t limit = item.time_limit_min.value_or(job.time_limit_min);
  return left < limit ? std::optional(static_cast<uint32_t>(left)) : item.time_limit_min;
}

// --batch: the first node of the allocation that has these features; without such a node, the first one.
uint32_t batch_index_of(const View& v, const RequestBody& r, const Allocation& a) {
  const std::vector<FeatureExpr>& wanted = r.batch_features->base;
  if (wanted.empty()) return 0;
  for (uint32_t i = 0; i < a.nodes.size(); ++i) {
    const std::vector<std::string>& has = v.cluster.nodes.at(a.nodes[i].node.value).features_active;
    if (has_features(wanted[0], has)) return i;
  }
  return 0;
}

}  // namespace

Result<const Job*> may_start(const View& view, const sched::StartItem& item) {
  const Job* job = view.cluster.jobs.find(item.job.value);
  if (!job || !job->pending() || job->priority == 0 || !item.allocation || item.allocation->nodes.empty())
    return fail(Errc::kInvalidStateChange);
  bool of_array = item.array_task != kNoArrayTask;
  if (of_array != (job->array_tasks != nullptr) || (of_array && !job->array_tasks->pending.test(item.array_task)))
    return fail(Errc::kInvalidStateChange);
  if (job->dependencies || job->eligible == kTimeUnset || job->eligible > view.now) return fail(Errc::kInvalidStateChange);
  // It was planned for what was asked before an update.
  if (item.request && item.request != job->request) return fail(Errc::kInvalidStateChange);
  // %limit holds for tasks that come back into the queue, too.
  const ArrayGroup* g = job->array_job_id ? view.cluster.arrays.find(job->array_job_id.value) : nullptr;
  if (g && g->max_running && g->running >= g->max_running) return fail(Errc::kInvalidStateChange);
  const Partition* p = view.cluster.partitions.find(item.partition);
  if (!p || (p->state != PartitionState::kUp && p->state != PartitionState::kDrain)) return fail(Errc::kPartitionNotAvailable);
  return job;
}

JobId task_record(const View& v, const Job& job, uint32_t array_task) {
  if (array_task == kNoArrayTask) return {};
  if (job.array_tasks->pending.count() == 1) return job.id;
  return JobIds(v.cluster, v.settings.config()).next_or_beyond();
}

uint32_t started_by(const Job& job, const sched::StartItem& item) {
  if (item.by_full_pass) return kStartedByBackfill;
  // A pass that looks at a job and leaves it waiting says why.
  return job.reason == Reason::kNone && job.eligible <= job.submitted ? kStartedAtSubmission : kStartedByMain;
}

Result<Events> decide_start(const View& v, const sched::StartItem& item) {
  const Job* first = v.cluster.jobs.find(item.job.value);
  return first && first->het ? start_together(v, item) : start_one(v, item);
}

Result<Events> start_one(const View& view, const sched::StartItem& item) {
  MUSTER_TRY(job, may_start(view, item));
  MUSTER_TRY_VOID(item.over.empty()
                      ? sched::still_fits(view.cluster, view.settings.sched, *job->request, item, view.now, job->time_limit_min)
                      : may_start_over(view, item));

  Events out;
  event::JobStarted started;
  started.job = job->id;
  started.array_task = item.array_task;
  started.task_job = task_record(view, *job, item.array_task);
  started.time = view.now;
  started.time_limit_min = limit_at_start(view, *job, item);
  started.reservation = item.reservation;
  started.ends = end_within(view, *job, item.reservation, started.time_limit_min.value_or(job->time_limit_min), view.now);
  started.priority = item.priority;
  started.partition = item.partition;
  started.association = acct::association_of(view.cluster, *job->request, item.partition);
  MUSTER_TRY(allocation, with_channels(view, *job, item.partition, item.allocation));
  started.allocation = std::move(allocation);
  started.flags = started_by(*job, item);
  started.batch_index = batch_index_of(view, *job->request, *item.allocation);
  for (const NodeShare& s : item.allocation->nodes)
    if (view.cluster.nodes.at(s.node.value).flags & (kNodePoweredDown | kNodePoweringUp))
      started.flags |= kJobConfiguring | kJobPowerUpNode;
  started.contained = view.settings.prolog.contain;
  started.managed = may_be_managed(view, *job, *item.allocation);
  const config::PortRange ports = view.settings.config().mpi_ports;
  if (auto kept = started.managed ? steps::ports_to_keep(view.cluster, {ports.first, ports.last, true}, *item.allocation) : std::nullopt)
    std::tie(started.first_port, started.last_port) = *kept;
  started.prolog = !view.settings.config().prolog_slurmctld.empty();
  started.preparing = nodes_to_prepare(view, *job, *item.allocation, started.batch_index);
  MUSTER_TRY(boots, boot_for_job(view, *job, *item.allocation, out));
  if (boots) started.flags |= kJobConfiguring | kJobPowerUpNode;
  if (started.prolog || (started.preparing.any() && waits_for_prologs(view, *job))) started.flags |= kJobConfiguring;
  power_up(view, item, out);
  suspend_for(view, item.over, started.task_job ? started.task_job : started.job, out);
  out.push_back(std::move(started));
  return out;
}

Decision<rpc::Empty> decide_report(const View& v, NodeId node, const NodeReport& report) {
  Decision<rpc::Empty> d;
  std::visit(ReportHandler{v, node, d}, report);
  return d;
}

void end_job(const View& v, const Job& job, const Ending& ending, Events& out) {
  if (job.het) end_together(v, job, ending, out);
  else end_one(v, job, ending, out);
}

void end_one(const View& view, const Job& job, const Ending& ending, Events& out) {
  if (job.finished()) return;
  const bool otherwise = ending.asked || ending.state == JobState::kNodeFail || (ending.flags & (kJobRequeued | kJobRequeueHold));
  if (job.is_preempted() && ending.state != JobState::kPreempted && !otherwise) {
    // Whatever ended it: nobody can tell an end that the notice brought about from another. slurm.conf(5) GraceTime.
    Ending as_told = ending;
    as_told.state = JobState::kPreempted;
    as_told.reason = Reason::kNone;
    as_told.detail = "by job " + std::to_string(job.run->preempted_by.value);
    as_told.flags = job.run->preempt_how == PreemptHow::kRequeue ? kJobRequeued : 0u;
    return end_one(view, job, as_told, out);
  }
  event::JobEnding ended;
  ended.job = job.id;
  ended.state = ending.state;
  ended.reason = ending.reason;
  if (job.pending() && ended.state == JobState::kCancelled && ended.reason == Reason::kNone)
    ended.reason = reason_shown(view.cluster, job);  // what it waited for
  ended.flags = ending.flags;
  ended.exit_status = ending.exit_status;
  if (ending.state == JobState::kCancelled) ended.by = view.caller.uid;
  ended.asked = ending.asked;
  if (ending.node) {
    ended.node = *ending.node;
    ended.has_node = true;
  }
  // The clock may have stepped back since the start.
  ended.time = job.pending() ? view.now : std::max(view.now, job.started);
  if (!ending.detail.empty()) ended.detail = std::make_shared<const std::string>(ending.detail);
  ended.epilog = job.allocation && !view.settings.config().epilog_slurmctld.empty();
  if (job.allocation) {
    ended.releasing = Bitmap(job.allocation->nodes.size());
    for (size_t i = 0; i < job.allocation->nodes.size(); ++i) {
      const Node* n = view.cluster.nodes.find(job.allocation->nodes[i].node.value);
      if (can_be_told(n) && !ending.gone.test(i)) ended.releasing.set(i);
    }
  }
  out.push_back(std::move(ended));
}

namespace {
constexpr uint32_t kBooting = kNodePoweringUp | kNodePoweredDown | kNodeRebootIssued;
}

bool nodes_ready(const View& v, const Job& job) {
  if (!job.allocation || job.prolog_due) return false;
  const bool up = std::ranges::all_of(job.allocation->nodes, [&](const NodeShare& s) {
    const Node* n = v.cluster.nodes.find(s.node.value);
    return n && !(n->flags & kBooting);
  });
  return up && !(job.run->preparing.any() && waits_for_prologs(v, job));
}

void settle_start(const View& v, const Job& job, Events& out) {
  if (job.het) return settle_together(v, job, out);
  settle_one(v, job, true, out);
}

void settle_one(const View& view, const Job& job, bool others_ready, Events& out) {
  if (!(job.flags & kJobConfiguring) || job.finished() || !job.allocation || job.prolog_due) return;
  const bool ready = std::ranges::all_of(job.allocation->nodes, [&](const NodeShare& s) {
    const Node* n = view.cluster.nodes.find(s.node.value);
    return n && !(n->flags & kBooting);
  });
  const bool prolog = job.run->preparing.any() && waits_for_prologs(view, job), waits = prolog || !others_ready;
  if (!ready || (waits && !(job.flags & kJobPowerUpNode))) return;
  event::JobChanged e = changed(job);
  e.flags &= ~kJobPowerUpNode;
  e.time = view.now;
  e.ends = end_within(view, job, 0, job.time_limit_min, view.now);  // it could not begin before
  if (!waits) e.flags &= ~kJobConfiguring;
  if (e.reason == Reason::kProlog || prolog) e.reason = prolog ? Reason::kProlog : Reason::kNone;
  out.push_back(std::move(e));
}

Events decide_program_ended(const View& view, const JobProgramEnd& end) {
  const Job* job = view.cluster.jobs.find(end.job.value);
  if (!job || job->restarts != end.generation || !(end.epilog ? job->epilog_due : job->prolog_due)) return {};
  if (end.epilog || end.error.empty()) return {event::JobProgramEnded{job->id, end.epilog}};
  Ending ending;
  ending.reason = Reason::kProlog;
  ending.detail = "PrologSlurmctld: " + end.error;
  if (requeue_allowed(view, *job)) {
    // After MaxBatchRequeue it is held: otherwise a job that always fails would go round and round.
    ending.flags = failed_too_often(view, *job) ? kJobRequeueHold : kJobRequeued;
    ending.state = JobState::kFailed;
    ending.exit_status = 1 << 8;
  }
  Events out;
  end_job(view, *job, ending, out);
  return out;
}

Result<Decision<rpc::Empty>> decide(const View& view, const rpc::FinishAllocation& request) {
  const Job* job = view.cluster.jobs.find(request.job.value);
  if (!job) return fail(Errc::kInvalidJobId);
  if (!view.may(*job)) return fail(refusal(view, *job, Errc::kUserIdMissing));
  if (job->finished()) return fail(Errc::kAlreadyDone);
  Decision<rpc::Empty> d;
  Ending e;
  e.exit_status = request.exit_status;
  if (job->pending()) e.state = JobState::kCancelled;
  else e.state = request.exit_status == 0 ? JobState::kCompleted : JobState::kFailed;
  if (e.state == JobState::kFailed) e.reason = Reason::kNonZeroExitCode;
  end_job(view, *job, e, d.events);
  return d;
}

namespace {

// SLURM_ARRAY_TASK_COUNT, MIN, MAX and STEP, for the array as it was submitted.
void describe_array(const RequestBody& request, node_rpc::JobOnNode& out) {
  const ArrayExtent& tasks = request.array.value();
  if (!tasks.count) return;
  out.array_task_count = tasks.count;
  out.array_task_min = tasks.min;
  out.array_task_max = tasks.max;
  out.array_task_step = tasks.step;
}

// All components of the job that this one leads, for the variables of its script.
std::vector<HetComponent> components_with_nodes(const Cluster& cluster, const Job& leader) {
  std::vector<HetComponent> out;
  for (const Job* job : components_of(cluster, leader.het)) {
    if (!job->allocation) continue;
    HetComponent& component = out.emplace_back();
    component.job = job->id;
    component.name = job->name();
    if (const Partition* p = cluster.partitions.find(job->partition)) component.partition = p->name;
    const RequestBody& request = *job->request;
    component.account = request.account;
    component.qos = request.qos;
    component.reservation = request.reservation.text();
    std::vector<std::string> names;
    for (const NodeShare& s : job->allocation->nodes) {
      const Node* node = cluster.nodes.find(s.node.value);
      names.push_back(node ? node->spec->name : "?");
      component.cpus_per_node.push_back(s.counted_cpus());
      component.tasks_per_node.push_back(s.tasks);
    }
    component.node_list = compress_hosts(names);
    const bool tasks_asked =
        request.num_tasks || request.ntasks_per_node || request.ntasks_per_socket || request.ntasks_per_core || request.ntasks_per_gpu;
    if (tasks_asked) component.num_tasks = job->allocation->total_tasks();
    component.cpus_per_task = request.cpus_per_task;
    component.mem_per_cpu_mb = request.mem_per_cpu_mb.value_or(0);
    component.mem_per_node_mb = request.mem_per_node_mb.value_or(0);
  }
  return out;
}

}  // namespace

node_rpc::JobOnNode job_on_nodes(const Cluster& cluster, const Job& job) {
  node_rpc::JobOnNode out;
  out.job = job.id;
  out.generation = job.restarts;
  out.array_job_id = job.array_job_id;
  out.array_task = job.array_task;
  auto request = std::make_shared<JobRequest>(job.whole_request());
  if (job.run->reservation) request->reservation = job.run->reservation_name;  // of several the one it runs in, or the one that drew it in
  out.request = std::move(request);
  if (job.array_job_id) describe_array(*job.request, out);
  out.cluster = cluster.name;
  out.time_limit_min = job.time_limit_min;
  out.sluid = job.sluid();
  out.restart = why_restarted(cluster, job);
  out.started = job.started;
  out.ends = job.ends;
  out.num_tasks = job.allocation->total_tasks();
  out.contained = job.run->contained;
  if (job.het.leads()) out.het = components_with_nodes(cluster, job);
  const Partition* partition = cluster.partitions.find(job.partition);
  if (partition) out.partition = partition->name;
  out.exclusive = exclusive_word(job.request->exclusive, partition);
  out.oversubscribe = oversubscribe_word(job.request->exclusive, partition);
  std::vector<std::string> names;
  for (const NodeShare& s : job.allocation->nodes) {
    const Node* node = cluster.nodes.find(s.node.value);
    names.push_back(node ? node->spec->name : "?");
    out.cpus_per_node.push_back(s.counted_cpus());
    out.tasks_per_node.push_back(s.tasks);
  }
  out.node_list = compress_hosts(names);
  return out;
}

void place_on_node(const Cluster& cluster, const Job& job, size_t index, node_rpc::JobOnNode& n) {
  n.node_index = static_cast<uint32_t>(index);
  n.share = job.allocation->nodes[index];
  TopologyAddress at = address_of(cluster, job, index);
  n.topology_address = std::move(at.address);
  n.topology_pattern = std::move(at.pattern);
}

node_rpc::JobOnNode job_on_node(const Cluster& cluster, const Job& job, size_t index) {
  node_rpc::JobOnNode n = job_on_nodes(cluster, job);
  place_on_node(cluster, job, index, n);
  return n;
}

const node_rpc::JobOnNode& DescribedJob::of(const Cluster& cluster, const Job& job) {
  if (job_.request && job_.job == job.id) return job_;
  job_ = job_on_nodes(cluster, job);
  auto request = std::make_shared<JobRequest>(*job_.request);
  request->argv.clear();
  request->submit_line.clear();
  job_.request = std::move(request);
  job_.tasks_per_node.clear();
  return job_;
}

}  // namespace muster::slurmctld
