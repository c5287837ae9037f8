// scancel and the verbs of scontrol that act on jobs: cancel, signal, hold, release, requeue, suspend, resume, top, notify.
#include <signal.h>

#include <algorithm>
#include <cmath>

#include "model/array_spec.h"
#include "model/request_texts.h"
#include "sched/queue/priority.h"
#include "slurmctld/core/accrual.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_filter.h"
#include "slurmctld/core/privacy.h"
#include "slurmctld/core/selection.h"

namespace muster::slurmctld {
namespace {

bool knows_step(const Job& j, StepId id) {
  return id.value >= kInteractiveStep.value || std::ranges::any_of(j.steps, [&](const Step& s) { return s.id == id; });
}

bool comes_back(const Cluster& cluster, const Job& j) {
  return j.finished() && ((j.flags & (kJobRequeued | kJobRequeueHold)) || recurrence_of(cluster, j));
}

bool stays_ended(const Cluster& cluster, const Job& j) { return j.finished() && !comes_back(cluster, j); }

std::string name_of(const rpc::JobSelector& s) {
  std::string out = std::to_string(s.job.value);
  if (s.het_offset) out += "+" + std::to_string(*s.het_offset);
  if (s.array_task != kNoArrayTask) out += "_" + std::to_string(s.array_task);
  else if (!s.array_tasks.empty()) out += "_[" + s.array_tasks + "]";
  if (s.has_step) out += "." + std::to_string(s.step.value);
  return out;
}

struct Canceller {
  const View& v;
  const rpc::SignalJobs& c;
  rpc::JobFilter rest;  // the filter without the jobs it names: run() is called for each of those
  Decision<rpc::SignalJobsAnswer>& d;

  void error(const std::string& job, Errc code) { d.reply.errors.push_back({job, errc_number(code), std::string(errc_text(code))}); }
  void signal_nodes(const Job& j, const Target& t) {
    node_rpc::SignalJob order;
    order.job = j.id;
    order.generation = j.restarts;
    order.has_step = t.has_step;
    order.step = t.step;
    order.signal = c.signal ? c.signal : 9;
    order.batch_only = c.scope == rpc::SignalScope::kBatch;
    order.full = c.scope == rpc::SignalScope::kFull;
    if (order.batch_only) return d.orders.push_back({j.batch_share().node, order});
    for (const NodeShare& share : j.allocation->nodes) d.orders.push_back({share.node, order});
  }
  // A step that waits for the job's resources runs nowhere yet: what kills it ends it here, and other signals have nobody to go to. Returns
  // whether the target is such a step.
  bool end_waiting_step(const Job& j, const Target& t, bool kill) {
    auto step = std::ranges::find(j.steps, t.step, &Step::id);
    if (!t.has_step || step == j.steps.end() || step->state != StepState::kPending || j.managed) return false;
    if (kill || c.signal == 15 || c.signal == 9) d.events.push_back(event::StepEnded{j.id, t.step, 15, v.now});
    return true;
  }
  // Pending tasks of an array never ran: no record is made for them.
  void drop_tasks(const Job& j, const std::vector<uint32_t>& tasks) {
    for (uint32_t task : tasks) {
      event::JobEnding e;
      e.job = j.id;
      e.array_task = task;
      e.state = JobState::kCancelled;
      e.time = v.now;
      e.by = v.caller.uid;
      e.asked = true;
      d.events.push_back(std::move(e));
    }
  }
  // squeue shows a job as stopped by the STOP and CONT that go to the whole job, or to its script.
  void mark_stopped(const Job& j, uint16_t signal) {
    if (signal != SIGSTOP && signal != SIGCONT) return;
    event::JobChanged e = changed(j);
    if (signal == SIGSTOP) e.flags |= kJobStopped;
    else e.flags &= ~kJobStopped;
    if (e.flags != j.flags) d.events.push_back(std::move(e));
  }
  // Gives a job that is cancelled its --admin-comment.
  Result<> comment(const Job& j) {
    if (c.admin_comment.empty()) return {};
    if (!v.may(Right::kAdminComment)) return fail(Errc::kAccessDenied);
    JobRequest r = j.whole_request();
    r.admin_comment = c.admin_comment;
    MUSTER_TRY_VOID(check_texts(r));
    event::JobChanged e = changed(j);
    e.request = store_request(v, std::move(r), d.events);
    d.events.push_back(std::move(e));
    return {};
  }
  void cancel(const Target& target, const std::string& name) {
    const Job& job = *target.job;
    if (target.has_step) return signal_nodes(job, target);
    if (!target.tasks.empty()) return drop_tasks(job, target.tasks);
    if (auto said = comment(job); !said) {
      --d.reply.matched;
      return error(name.empty() ? job_name_for_users(job) : name, said.error().code);
    }
    Ending e;
    e.state = JobState::kCancelled;
    e.detail = "by uid " + std::to_string(v.caller.uid.value);
    e.asked = true;
    end_job(v, job, e, d.events);
  }
  // A component that waits is cancelled with its whole job, where the filter means that.
  void with_its_leader(const Job& j) {
    const Job* leader = v.cluster.jobs.find(j.het.leader.value);
    if (!leader || !matches_filter(v.cluster, *leader, rest)) error(job_name_for_users(j), Errc::kNotWholeHetJob);
  }
  // A selector names this component of a job that waits, and only the whole can be cancelled.
  bool refuses(const rpc::JobSelector& s, const Target& t) {
    if (!names_component(s, *t.job) || !t.job->pending() || !kills(t)) return false;
    if (v.may(*t.job)) error(name_of(s), Errc::kNotWholeHetJob);
    else error(name_of(s), refusal(v, *t.job, Errc::kUserIdMissing));
    return true;
  }
  bool kills(const Target& t) const { return !t.has_step && (c.signal == 0 || (c.signal == 9 && c.scope != rpc::SignalScope::kBatch)); }
  // For a job whose run has ended and that is to be queued again: if it is cancelled now, it stays ended.
  void stay_ended(const Job& j) {
    if (!matches_filter(v.cluster, j, rest)) return;
    ++d.reply.matched;
    if (j.het) return slurmctld::stay_ended(v, j, d.events);
    if (recurrence_of(v.cluster, j)) d.events.push_back(event::CronJobOver{j.id, true});
    event::JobChanged e = changed(j);
    e.flags &= ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit);
    d.events.push_back(std::move(e));
  }
  void run(const Target& target, bool named, const std::string& name) {
    const Job& job = *target.job;
    if (!v.may(job)) {
      if (named) error(name, refusal(v, job, Errc::kUserIdMissing));
      return;
    }
    if (needs_cron_flag(v, job, c) && kills(target) && (!job.finished() || comes_back(v.cluster, job)) &&
        matches_filter(v.cluster, job, rest))
      return error(name.empty() ? job_name_for_users(job) : name, Errc::kCanNotCancelCronJob);
    bool over = job.finished() || (job.flags & kJobCompleting);
    if (over && comes_back(v.cluster, job) && kills(target)) return stay_ended(job);
    if (over) {
      if (named) error(name, Errc::kAlreadyDone);
      return;
    }
    if (!matches_filter(v.cluster, job, rest)) return;
    if (target.has_step && !job.pending() && !knows_step(job, target.step)) {
      if (named) error(name, Errc::kInvalidJobId);
      return;
    }
    bool kill = kills(target) || c.signal == 0;
    if (job.het.offset && job.pending() && kill && !named && !target.has_step) return with_its_leader(job);
    ++d.reply.matched;
    if (end_waiting_step(job, target, kill)) return;
    if (kill && !(target.has_step && job.pending())) return cancel(target, name);
    if (job.pending()) {  // nothing of it runs anywhere
      --d.reply.matched;
      if (named) error(name, Errc::kJobPending);
      return;
    }
    signal_nodes(job, target);
    if (!target.has_step) mark_stopped(job, c.signal);
  }
};

// ---- hold and release. A job that runs, or is on its way back into the queue, is held for the time when it is queued again; what its run
// ended with stays as it is.
bool held_by_admin(const Job& j) {
  const bool will_be = j.finished() && (j.flags & kJobRequeueHold) && !(j.flags & kJobHeldByUser);
  return will_be || (j.flags & kJobHeldByAdmin);
}

void hold(const View& v, const Job& j, bool user, Events& out) {
  if (held_by_admin(j) && !v.may(Right::kAdminHold)) return;  // and stays that
  event::JobChanged e = changed(j);
  e.priority = 0;
  mark_held(v, j, user, e);
  if (j.finished()) e.reason = j.reason;
  out.push_back(std::move(e));
}

void release(const View& v, const Job& j, Events& out) {
  const bool comes_back_held = j.finished() && (j.flags & kJobRequeueHold);
  if (j.priority != 0 && !comes_back_held) return;
  event::JobChanged e = changed(j);
  e.flags &= ~(kJobHeldByUser | kJobHeldByAdmin | kJobSpecialExit | kJobRequeueHold | kJobResvDelHold | kJobPriorityFixed);
  e.priority = default_priority(v, j.id, j.request->nice);
  if (comes_back_held) e.flags |= kJobRequeued;
  if (j.finished()) return out.push_back(std::move(e));
  if (is_eligible_anew(v, j, e)) e.eligible = earliest_start(v, j);
  e.reason = waiting_reason(v, j.dependencies.get(), e.eligible);
  out.push_back(std::move(e));
}

bool still_going(const Job& j) { return j.state == JobState::kRunning || j.state == JobState::kSuspended; }

Result<> requeue(const View& view, const Job& job, const rpc::ControlJobs& request, Events& out) {
  bool hold_it = request.action == rpc::JobAction::kRequeueHold;
  if (request.incomplete && !still_going(job)) return {};
  if (job.pending() && !hold_it && recurrence_of(view.cluster, job)) return skip_next_run(view, job, out), Result<>();
  if (job.pending()) return fail(Errc::kJobPending);
  if (job.request->kind != JobKind::kBatch) return fail(Errc::kBatchOnly);
  if (!requeue_allowed(view, job)) return fail(Errc::kDisabled);  // --no-requeue, or JobRequeue=0
  uint32_t flags = hold_it || job.state == JobState::kSuspended ? kJobRequeueHold : kJobRequeued;
  if (hold_it && request.special_exit) flags |= kJobSpecialExit;
  if ((flags & kJobRequeueHold) && !view.may(Right::kAdminHold)) flags |= kJobHeldByUser;  // who holds it may release it
  if (job.finished() && job.het) return requeue_ended(view, job, flags, out);
  if (job.finished()) {
    // Tasks that were cancelled together before any of them had a record of its own cannot come back: there is no record for them.
    if (job.array_job_id && job.array_task == kNoArrayTask) return fail(Errc::kAlreadyDone);
    if (!job.cleaned_up()) {  // requeued once it is; EpilogSlurmctld may ask for this while it runs
      event::JobChanged e = changed(job);
      e.flags = (e.flags & ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit)) | flags;
      out.push_back(std::move(e));
      return {};
    }
    Job again = job;
    again.flags = (again.flags & ~kJobLaunchFailed) | flags;
    after_release(view, again, out);
    for (Event& made : out)
      if (auto* back = std::get_if<event::JobRequeued>(&made); back && back->job == job.id)
        back->restart = {.cause = RestartCause::kUser, .time = view.now, .user = view.caller.uid};
    return {};
  }
  Ending e;
  e.state = JobState::kCancelled;
  e.flags = flags;
  end_job(view, job, e, out);
  return {};
}

Result<> suspend(const View& view, const Job& job, bool resume, Decision<rpc::Messages>& out) {
  if (!view.may(Right::kSuspendJobs, job))
    return fail(Errc::kAccessDenied, {}, "only operators and coordinators suspend jobs; scancel --signal=STOP stops your own");
  if (job.pending()) return fail(Errc::kJobPending);
  if (job.finished()) return fail(Errc::kAlreadyDone);
  if (resume && job.state != JobState::kSuspended) return fail(Errc::kJobNotSuspended);
  if (!resume && job.state == JobState::kSuspended) return {};
  event::JobSuspended e;
  e.job = job.id;
  e.resumed = resume;
  e.time = view.now;
  out.events.push_back(e);  // the nodes' part is an obligation until each confirmed it
  return {};
}

Result<> act(const View& view, const Job& job, const rpc::ControlJobs& request, Decision<rpc::Messages>& out) {
  if (!view.may(job)) return fail(refusal(view, job));
  switch (request.action) {
    case rpc::JobAction::kHold:
    case rpc::JobAction::kUserHold:
      if (stays_ended(view.cluster, job)) return fail(Errc::kJobFinished);
      hold(view, job, request.action == rpc::JobAction::kUserHold, out.events);
      return {};
    case rpc::JobAction::kRelease:
      if (stays_ended(view.cluster, job)) return fail(Errc::kJobFinished);
      if (held_by_admin(job) && !view.may(Right::kAdminHold)) return fail(Errc::kAccessDenied);
      if (job.pending() && job.priority == 0) MUSTER_TRY_VOID(check_ever_runs(view, job.whole_request(), job.partition));
      release(view, job, out.events);
      return {};
    case rpc::JobAction::kRequeue:
    case rpc::JobAction::kRequeueHold: return requeue(view, job, request, out.events);
    case rpc::JobAction::kSuspend: return suspend(view, job, false, out);
    case rpc::JobAction::kResume: return suspend(view, job, true, out);
    case rpc::JobAction::kTop: break;  // decided for all of them together
  }
  return fail(Errc::kInvalidArgument);
}

// ---- top
bool same_queue(const Job& a, const Job& b) {
  return a.request->uid == b.request->uid && a.partition == b.partition && a.request->account == b.request->account &&
         a.request->qos == b.request->qos && b.request->partitions.size() <= 1;
}

void add_nice(const View& v, const Job& j, int64_t more, Events& out) {
  JobRequest r = j.whole_request();
  r.nice = static_cast<int32_t>(std::clamp<int64_t>(r.nice + more, -2147483645, 2147483645));
  event::JobChanged e = changed(j);
  e.priority = static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int64_t>(j.priority) - more, 1, kUnlimited32 - 1));
  e.request = store_request(v, std::move(r), out);
  out.push_back(std::move(e));
}

// The priority before it is cut to what can be shown; this is what nice values move.
int64_t uncut_priority(const sched::PriorityRule& rule, const Job& j) {
  if (!rule.moves(j)) return j.priority;
  const sched::PriorityFactors f = rule.factors(j, j.partition);
  double sum = f.age.weighted + f.job_size.weighted + f.partition.weighted + static_cast<double>(f.site - f.nice);
  for (const auto& [name, factor] : f.tres) sum += factor.weighted;
  return static_cast<int64_t>(std::floor(sum));
}

// Puts the jobs named first, in their order, by their nice values; what they gain, the user's other jobs in the same queue lose.
Result<> top(const View& view, const std::vector<const Job*>& jobs, Events& out) {
  auto named = [&](const Job& j) { return std::ranges::find(jobs, &j) != jobs.end(); };
  const sched::PriorityRule rule(view.cluster, view.settings.priority, view.now);
  std::vector<const Job*> others;
  int64_t highest = 0;
  view.cluster.jobs.for_each([&](uint32_t, const Job& o) {
    bool beside = o.pending() && o.priority && std::ranges::any_of(jobs, [&](const Job* j) { return same_queue(*j, o); });
    if (!beside) return;
    highest = std::max<int64_t>(highest, rule.of(o));
    if (!named(o)) others.push_back(&o);
  });
  int64_t gained = 0, place = static_cast<int64_t>(jobs.size());
  for (const Job* j : jobs) {
    int64_t gain = std::max<int64_t>(0, std::min<int64_t>(highest + place--, kUnlimited32 - 1) - uncut_priority(rule, *j));
    gained += gain;
    if (gain) add_nice(view, *j, -gain, out);
  }
  if (others.empty() || !gained) return {};
  int64_t each = (gained + static_cast<int64_t>(others.size()) - 1) / static_cast<int64_t>(others.size());
  for (const Job* o : others) add_nice(view, *o, each, out);
  return {};
}

Result<> may_top(const View& v, const Job& j) {
  if (!v.may(j)) return fail(refusal(v, j));
  // The others of the user pay for it, of whichever node they are.
  if (v.caller.through.kind == SubjectKind::kNode)
    return fail(Errc::kAccessDenied, {}, v.caller.through.text() + " has no cluster key, and all jobs of the user would move");
  if (!v.settings.config().scheduler_parameters.has("enable_user_top") && !v.may(Right::kTop))
    return fail(Errc::kAccessDenied, {}, "SchedulerParameters=enable_user_top opens it to users");
  if (!j.pending()) return fail(Errc::kJobNotPending);
  if (j.priority == 0) return fail(Errc::kJobHeld);
  if (j.request->partitions.size() > 1) return fail(Errc::kRequestedPartConfigUnavailable, {}, "the job waits in several partitions");
  return {};
}

// What is done to a heterogeneous job as a whole or not at all.
bool whole_only(rpc::JobAction a) {
  using enum rpc::JobAction;
  return a == kRequeue || a == kRequeueHold || a == kSuspend || a == kResume;
}

// A requeue is decided for the first component, and takes the others along.
bool goes_with_leader(rpc::JobAction a, const Job& j) {
  return (a == rpc::JobAction::kRequeue || a == rpc::JobAction::kRequeueHold) && j.het.offset != 0;
}

// Whether the selector names only tasks that were cancelled before they started, which no record knows any more.
bool dropped_all(const View& v, const rpc::JobSelector& s) {
  const ArrayGroup* g = v.cluster.arrays.find(s.job.value);
  if (!g) return false;
  Bitmap tasks;
  const size_t most = std::max<size_t>(v.settings.config().max_array_size, g->dropped.size());
  if (s.array_task != kNoArrayTask && s.array_task < most) tasks.set(s.array_task);
  else if (s.array_task == kNoArrayTask) Bitmap::parse_ranges(s.array_tasks, tasks, most);
  return tasks.any() && !(tasks - g->dropped).any();
}

}  // namespace

Result<Decision<rpc::SignalJobsAnswer>> decide(const View& view, const rpc::SignalJobs& request) {
  Decision<rpc::SignalJobsAnswer> out;
  Canceller canceller{view, request, request.filter, out};
  canceller.rest.jobs.clear();
  put_in_order(canceller.rest);
  if (request.filter.jobs.empty()) {
    const Rights rights = view.rights();
    view.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      const bool open = !j.finished() || comes_back(view.cluster, j);
      if (open && rights.may(view.of_job, j) && matches_filter(view.cluster, j, canceller.rest))
        canceller.run({&j, {}, false, {}}, false, {});
    });
    return out;
  }
  const std::vector<rpc::JobSelector> named = whole_where_wanted(view, request.filter.jobs);
  const std::vector<Meant> meant = select(view, named);
  for (size_t i = 0; i < meant.size(); ++i) {
    const rpc::JobSelector& s = named[i];
    if (!meant[i].known) canceller.error(name_of(s), dropped_all(view, s) ? Errc::kAlreadyDone : Errc::kInvalidJobId);
    const bool single = meant[i].targets.size() == 1;
    for (const Target& t : meant[i].targets)
      if (!canceller.refuses(s, t)) canceller.run(t, single, name_of(s));
  }
  return out;
}

Result<Decision<rpc::Messages>> decide(const View& view, const rpc::ControlJobs& request) {
  Decision<rpc::Messages> out;
  std::vector<const Job*> to_top;
  auto run = [&](const Job& j, const std::string& name) {
    bool is_top = request.action == rpc::JobAction::kTop;
    auto ok = is_top ? may_top(view, j) : act(view, j, request, out);
    if (ok && is_top) to_top.push_back(&j);
    if (!ok) out.reply.errors.push_back({name, errc_number(ok.error().code), std::string(ok.error().message())});
  };
  auto refuse_component = [&](const Job& j, const std::string& name) {
    const bool requeues = request.action == rpc::JobAction::kRequeue || request.action == rpc::JobAction::kRequeueHold;
    const Errc code = !view.may(j) ? refusal(view, j) : requeues ? Errc::kNotHetJobLeader : Errc::kNotWholeHetJob;
    out.reply.errors.push_back({name, errc_number(code), std::string(errc_text(code))});
  };
  const bool held =
      request.action == rpc::JobAction::kHold || request.action == rpc::JobAction::kUserHold || request.action == rpc::JobAction::kRelease;
  const std::vector<rpc::JobSelector> selectors = held ? whole_where_wanted(view, request.jobs) : request.jobs;
  auto is_over = [&](const Job& j) { return held ? stays_ended(view.cluster, j) : j.finished(); };
  const Picked picked = pick_jobs(view, selectors, out.events);
  for (size_t i = 0; i < picked.of.size(); ++i) {
    const std::string name = name_of(selectors[i]);
    const auto& [jobs, known] = picked.of[i];
    if (!known) out.reply.errors.push_back({name, errc_number(Errc::kInvalidJobId), std::string(errc_text(Errc::kInvalidJobId))});
    for (const Job* j : jobs) {
      if (jobs.size() > 1 && is_over(*j) && !j->het.leads()) continue;  // of an array only those that can still be acted on
      if (whole_only(request.action) && names_component(selectors[i], *j)) refuse_component(*j, name);
      else if (!goes_with_leader(request.action, *j)) run(*j, name);
    }
  }
  std::vector<std::string> names = request.names;  // sorted, so that many names cost one look at each job
  std::ranges::sort(names);
  if (!names.empty())
    view.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      const bool own = !goes_with_leader(request.action, j) && !is_over(j);
      if (own && view.may(j) && std::ranges::binary_search(names, j.name())) run(j, job_name_for_users(j));
    });
  if (!to_top.empty()) MUSTER_TRY_VOID(top(view, to_top, out.events));
  return out;
}

Result<Decision<rpc::Empty>> decide(const View& view, const rpc::NotifyJob& request) {
  const Job* job = view.cluster.jobs.find(request.job.value);
  if (!job) return fail(Errc::kInvalidJobId);
  if (!view.may(*job)) return fail(refusal(view, *job));
  if (job->pending()) return fail(Errc::kDisabled);
  if (job->finished()) return fail(Errc::kAlreadyDone);
  if (request.text.size() > 4096) return fail(Errc::kInvalidArgument, "the message has more than 4096 bytes");
  if (job->request->kind != JobKind::kBatch && job->steps.empty())
    return fail(Errc::kDisabled, {}, "nothing runs in the allocation that could show the message");
  Decision<rpc::Empty> out;
  node_rpc::NotifyJob order{job->id, job->restarts, request.text};
  if (job->request->kind == JobKind::kBatch) {
    out.orders.push_back({job->batch_share().node, order});
    return out;
  }
  // Each srun hears it once: from the first node of its step.
  Bitmap told;
  for (const Step& s : job->steps) {
    uint32_t index = s.shares.empty() ? 0 : s.shares[0].node_index;
    if (told.test(index)) continue;
    told.set(index);
    out.orders.push_back({job->allocation->nodes[index].node, order});
  }
  return out;
}

}  // namespace muster::slurmctld
