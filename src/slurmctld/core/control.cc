// scancel and the verbs of scontrol that act on jobs: cancel, signal, hold, release, requeue, suspend, resume, top, notify.
#include <algorithm>
#include <cmath>
#include <deque>

#include "model/array_spec.h"
#include "sched/priority.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_filter.h"

namespace muster::slurmctld {
namespace {

// An id for a task that gets a record of its own, after those that `events` gave already.
JobId next_task_id(const View& v, const Events& events) {
  uint32_t next = v.cluster.last_job_id.value;
  for (const Event& e : events) {
    if (auto* p = std::get_if<event::JobEnding>(&e)) next = std::max(next, p->task_job.value);
    if (auto* p = std::get_if<event::JobChanged>(&e)) next = std::max(next, p->task_job.value);
  }
  do {
    ++next;
  } while (v.cluster.jobs.contains(next) || v.cluster.arrays.contains(next));
  return JobId(next);
}

// One thing that scancel acts on: a record, or one pending task of it.
struct Target {
  const Job* job = nullptr;
  std::vector<uint32_t> tasks;   // pending tasks of an array record; empty = the record
  bool has_step = false;
  StepId step{};
};

std::vector<Target> targets_of(const View& v, const rpc::JobSelector& s) {
  std::vector<Target> out;
  Bitmap tasks;
  if (!s.array_tasks.empty()) Bitmap::parse_ranges(s.array_tasks, tasks, kMaxArrayTaskId + 1);
  else if (s.array_task != kNoArrayTask) tasks.set(s.array_task);
  if (tasks.none()) {
    for (const Job* j : select_jobs(v, s)) out.push_back({j, {}, s.has_step, s.step});
    return out;
  }
  rpc::JobSelector whole;
  whole.job = s.job;
  for (const Job* j : select_jobs(v, whole)) {
    if (j->array_task != kNoArrayTask && tasks.test(j->array_task)) out.push_back({j, {}, s.has_step, s.step});
    if (!j->array_tasks) continue;
    if (j->finished()) {    // tasks that ended before they became records of their own
      if (tasks.intersects(j->array_tasks->pending)) out.push_back({j, {}, s.has_step, s.step});
      continue;
    }
    Target t{j, {}, false, {}};
    (tasks & j->array_tasks->pending).for_each([&](size_t i) { t.tasks.push_back(static_cast<uint32_t>(i)); });
    if (t.tasks.size() == j->array_tasks->pending.count()) t.tasks.clear();   // all of them: the record
    if (!t.tasks.empty() || (tasks & j->array_tasks->pending).any()) out.push_back(std::move(t));
  }
  return out;
}

bool knows_step(const Job& j, StepId id) {
  return id.value >= kInteractiveStep.value || std::ranges::any_of(j.steps, [&](const Step& s) { return s.id == id; });
}

struct Canceller {
  const View& v;
  const rpc::SignalJobs& c;
  Decision<rpc::SignalJobsAnswer>& d;

  void error(const std::string& job, Errc code) {
    d.reply.errors.push_back({job, errc_number(code), std::string(errc_text(code))});
  }
  void signal_nodes(const Job& j, const Target& t) {
    node_rpc::SignalJob order;
    order.job = j.id;
    order.generation = j.restarts;
    order.has_step = t.has_step;
    order.step = t.step;
    order.signal = c.signal ? c.signal : 9;
    order.batch_only = c.scope == rpc::SignalScope::kBatch;
    order.full = c.scope == rpc::SignalScope::kFull;
    for (size_t i = 0; i < j.allocation->nodes.size(); ++i) {
      if (order.batch_only && i > 0) break;
      d.orders.push_back({j.allocation->nodes[i].node, order});
    }
  }
  void end_tasks(const Job& j, const std::vector<uint32_t>& tasks) {
    // Each cancelled task becomes a record of its own, as one that ran would.
    for (uint32_t task : tasks) {
      event::JobEnding e;
      e.job = j.id;
      e.array_task = task;
      e.task_job = next_task_id(v, d.events);
      e.state = JobState::kCancelled;
      e.reason = reason_shown(v.cluster, j);
      e.time = v.now;
      e.detail = by();
      e.by = v.caller.uid;
      d.events.push_back(std::move(e));
    }
  }
  std::shared_ptr<const std::string> by() const {
    return std::make_shared<const std::string>("by uid " + std::to_string(v.caller.uid.value));
  }
  void cancel(const Target& t) {
    const Job& j = *t.job;
    if (t.has_step) return signal_nodes(j, t);
    if (!t.tasks.empty()) return end_tasks(j, t.tasks);
    Ending e;
    e.state = JobState::kCancelled;
    e.detail = *by();
    end_job(v, j, e, d.events);
  }
  void run(const Target& t, bool named, const std::string& name) {
    const Job& j = *t.job;
    if (!v.may_manage(j)) {
      if (named) error(name, Errc::kUserIdMissing);
      return;
    }
    bool over = j.finished() || (j.flags & kJobCompleting);
    if (over) {
      if (named) error(name, Errc::kAlreadyDone);
      return;
    }
    if (!matches_filter(v.cluster, j, c.filter)) return;
    if (t.has_step && !j.pending() && !knows_step(j, t.step)) {
      if (named) error(name, Errc::kInvalidJobId);
      return;
    }
    bool kill = c.signal == 0 || (c.signal == 9 && c.scope != rpc::SignalScope::kBatch && !t.has_step);
    ++d.reply.matched;
    if (kill && !(t.has_step && j.pending())) return cancel(t);
    if (j.pending()) {   // nothing of it runs anywhere
      --d.reply.matched;
      if (named) error(name, Errc::kJobPending);
      return;
    }
    signal_nodes(j, t);
  }
};

// ---- hold and release. A running job is held for the time when it is queued again.
void hold(const View& v, const Job& j, bool user, Events& out) {
  event::JobChanged e = changed(j);
  bool own = user || !v.is_operator();
  e.priority = 0;
  e.reason = own ? Reason::kJobHeldUser : Reason::kJobHeldAdmin;
  e.flags = (e.flags & ~(kJobHeldByUser | kJobHeldByAdmin)) | (own ? kJobHeldByUser : kJobHeldByAdmin);
  out.push_back(std::move(e));
}

void release(const View& v, const Job& j, Events& out) {
  event::JobChanged e = changed(j);
  e.flags &= ~(kJobHeldByUser | kJobHeldByAdmin | kJobSpecialExit | kJobRequeueHold | kJobPriorityFixed);
  e.priority = default_priority(v, j.id, j.request->nice);
  if (!j.dependencies && e.eligible == kTimeUnset) e.eligible = std::max(v.now, j.request->begin);
  e.reason = waiting_reason(v, j.dependencies.get(), e.eligible);
  out.push_back(std::move(e));
}

bool still_going(const Job& j) { return j.state == JobState::kRunning || j.state == JobState::kSuspended; }

Result<> requeue(const View& v, const Job& j, const rpc::ControlJobs& c, Events& out) {
  bool hold_it = c.action == rpc::JobAction::kRequeueHold;
  if (c.incomplete && !still_going(j)) return {};
  if (j.pending()) return fail(Errc::kJobPending);
  if (j.request->kind != JobKind::kBatch) return fail(Errc::kBatchOnly);
  if (!requeue_allowed(v, j)) return fail(Errc::kRequeueDisabled);
  uint32_t flags = hold_it || j.state == JobState::kSuspended ? kJobRequeueHold : kJobRequeued;
  if (hold_it && c.special_exit) flags |= kJobSpecialExit;
  if (j.finished()) {
    // Tasks cancelled together before any of them had a record of its own: there is none to bring back.
    if (j.array_job_id && j.array_task == kNoArrayTask) return fail(Errc::kAlreadyDone);
    if (!j.cleaned_up()) {   // when it is: EpilogSlurmctld may ask for it, while it runs
      event::JobChanged e = changed(j);
      e.flags = (e.flags & ~(kJobRequeued | kJobRequeueHold | kJobSpecialExit)) | flags;
      out.push_back(std::move(e));
      return {};
    }
    Job again = j;
    again.flags |= flags;
    after_release(v, again, out);
    return {};
  }
  Ending e;
  e.state = JobState::kCancelled;
  e.flags = flags;
  end_job(v, j, e, out);
  return {};
}

Result<> suspend(const View& v, const Job& j, bool resume, Decision<rpc::Messages>& d) {
  if (!v.is_operator()) return fail(Errc::kAccessDenied, {}, "only operators suspend jobs; scancel --signal=STOP stops your own");
  if (j.pending()) return fail(Errc::kJobPending);
  if (j.finished()) return fail(Errc::kAlreadyDone);
  if (resume && j.state != JobState::kSuspended) return fail(Errc::kJobNotSuspended);
  if (!resume && j.state == JobState::kSuspended) return {};
  event::JobSuspended e;
  e.job = j.id;
  e.resumed = resume;
  e.time = v.now;
  d.events.push_back(e);   // the nodes' part is an obligation until each confirmed it
  return {};
}

Result<> act(const View& v, const Job& j, const rpc::ControlJobs& c, Decision<rpc::Messages>& d) {
  if (!v.may_manage(j)) return fail(Errc::kAccessDenied);
  switch (c.action) {
    case rpc::JobAction::kHold:
    case rpc::JobAction::kUserHold:
      if (j.finished()) return fail(Errc::kAlreadyDone);
      hold(v, j, c.action == rpc::JobAction::kUserHold, d.events);
      return {};
    case rpc::JobAction::kRelease:
      if (j.finished()) return fail(Errc::kAlreadyDone);
      if ((j.flags & kJobHeldByAdmin) && !v.is_operator()) return fail(Errc::kAccessDenied);
      if (j.priority == 0) release(v, j, d.events);
      return {};
    case rpc::JobAction::kRequeue:
    case rpc::JobAction::kRequeueHold: return requeue(v, j, c, d.events);
    case rpc::JobAction::kSuspend: return suspend(v, j, false, d);
    case rpc::JobAction::kResume: return suspend(v, j, true, d);
    case rpc::JobAction::kTop: break;   // decided for all of them together
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

// What nice moves: the priority before it is cut to what can be shown.
int64_t uncut_priority(const sched::PriorityRule& rule, const Job& j) {
  if (!rule.moves(j)) return j.priority;
  const sched::PriorityFactors f = rule.factors(j, j.partition);
  double sum = f.age.weighted + f.job_size.weighted + f.partition.weighted + static_cast<double>(f.site - f.nice);
  for (const auto& [name, factor] : f.tres) sum += factor.weighted;
  return static_cast<int64_t>(std::floor(sum));
}

// The jobs named come first, in their order, by their nice values; what they gain the user's other jobs there lose.
Result<> top(const View& v, const std::vector<const Job*>& jobs, Events& out) {
  auto named = [&](const Job& j) { return std::ranges::find(jobs, &j) != jobs.end(); };
  const sched::PriorityRule rule(v.cluster, v.settings.priority, v.now);
  std::vector<const Job*> others;
  int64_t highest = 0;
  v.cluster.jobs.for_each([&](uint32_t, const Job& o) {
    bool beside = o.pending() && o.priority && std::ranges::any_of(jobs, [&](const Job* j) { return same_queue(*j, o); });
    if (!beside) return;
    highest = std::max<int64_t>(highest, rule.of(o));
    if (!named(o)) others.push_back(&o);
  });
  int64_t gained = 0, place = static_cast<int64_t>(jobs.size());
  for (const Job* j : jobs) {
    int64_t gain = std::max<int64_t>(0, std::min<int64_t>(highest + place--, kUnlimited32 - 1) - uncut_priority(rule, *j));
    gained += gain;
    if (gain) add_nice(v, *j, -gain, out);
  }
  if (others.empty() || !gained) return {};
  int64_t each = (gained + static_cast<int64_t>(others.size()) - 1) / static_cast<int64_t>(others.size());
  for (const Job* o : others) add_nice(v, *o, each, out);
  return {};
}

Result<> may_top(const View& v, const Job& j) {
  if (!v.may_manage(j)) return fail(Errc::kAccessDenied);
  if (!v.is_operator() && !v.settings.config().scheduler_parameters.has("enable_user_top"))
    return fail(Errc::kDisabled, {}, "SchedulerParameters=enable_user_top opens it to users");
  if (!j.pending()) return fail(Errc::kJobNotPending);
  if (j.priority == 0) return fail(Errc::kJobHeld);
  if (j.request->partitions.size() > 1) return fail(Errc::kRequestedPartConfigUnavailable, {}, "the job waits in several partitions");
  return {};
}

std::string name_of(const rpc::JobSelector& s) {
  std::string out = std::to_string(s.job.value);
  if (s.array_task != kNoArrayTask) out += "_" + std::to_string(s.array_task);
  else if (!s.array_tasks.empty()) out += "_[" + s.array_tasks + "]";
  if (s.has_step) out += "." + std::to_string(s.step.value);
  return out;
}

}  // namespace

std::vector<const Job*> select_jobs(const View& v, const rpc::JobSelector& s) {
  std::vector<const Job*> out;
  const Job* j = v.cluster.jobs.find(s.job.value);
  if (!v.cluster.arrays.contains(s.job.value)) {
    if (j && (s.array_task == kNoArrayTask || j->array_task == s.array_task)) out.push_back(j);
    return out;
  }
  // An array: its records have ids from the array's own on; there are at most `records` of them.
  uint32_t left = v.cluster.arrays.at(s.job.value).records;
  v.cluster.jobs.for_each(
      [&](uint32_t, const Job& o) {
        if (o.array_job_id == s.job) {
          --left;
          bool this_task = s.array_task == kNoArrayTask || o.array_task == s.array_task ||
                           (o.array_tasks && o.array_tasks->pending.test(s.array_task));
          if (this_task) out.push_back(&o);
        }
        return left > 0;
      },
      s.job.value);
  return out;
}

PickedJobs pick_jobs(const View& v, const rpc::JobSelector& s, Events& out) {
  PickedJobs picked;
  for (const Target& t : targets_of(v, s)) {
    if (t.tasks.empty() || !t.job->pending()) picked.jobs.push_back(t.job);
    for (uint32_t task : t.job->pending() ? t.tasks : std::vector<uint32_t>()) {
      event::JobChanged e = changed(*t.job);
      e.array_task = task;
      e.task_job = next_task_id(v, out);
      e.array_tasks = nullptr;
      Job own = *t.job;
      own.id = e.task_job;
      own.array_task = task;
      own.array_tasks = nullptr;
      picked.jobs.push_back(&picked.own.emplace_back(std::move(own)));
      out.push_back(std::move(e));
    }
  }
  return picked;
}

Decision<rpc::SignalJobsAnswer> decide_signal(const View& v, const rpc::SignalJobs& c) {
  Decision<rpc::SignalJobsAnswer> d;
  Canceller canceller{v, c, d};
  if (c.filter.jobs.empty()) {
    v.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      if (!j.finished() && matches_filter(v.cluster, j, c.filter)) canceller.run({&j, {}, false, {}}, false, {});
    });
    return d;
  }
  for (const rpc::JobSelector& s : c.filter.jobs) {
    std::vector<Target> targets = targets_of(v, s);
    if (targets.empty()) canceller.error(name_of(s), Errc::kInvalidJobId);
    bool single = targets.size() == 1;
    for (const Target& t : targets) canceller.run(t, single, name_of(s));
  }
  return d;
}

Result<Decision<rpc::Messages>> decide_control(const View& v, const rpc::ControlJobs& c) {
  Decision<rpc::Messages> d;
  std::vector<const Job*> to_top;
  std::deque<PickedJobs> all;   // keeps what to_top points to
  auto run = [&](const Job& j, const std::string& name) {
    bool is_top = c.action == rpc::JobAction::kTop;
    auto ok = is_top ? may_top(v, j) : act(v, j, c, d);
    if (ok && is_top) to_top.push_back(&j);
    if (!ok) d.reply.errors.push_back({name, errc_number(ok.error().code), std::string(ok.error().message())});
  };
  for (const rpc::JobSelector& s : c.jobs) {
    const auto& jobs = all.emplace_back(pick_jobs(v, s, d.events)).jobs;
    if (jobs.empty()) d.reply.errors.push_back({name_of(s), errc_number(Errc::kInvalidJobId), std::string(errc_text(Errc::kInvalidJobId))});
    for (const Job* j : jobs) {
      if (jobs.size() > 1 && j->finished()) continue;   // of an array: those that can still be acted on
      run(*j, name_of(s));
    }
  }
  for (const std::string& name : c.names)
    v.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      if (j.name() == name && !j.finished() && v.may_manage(j)) run(j, job_name_for_users(j));
    });
  if (!to_top.empty()) MUSTER_TRY_VOID(top(v, to_top, d.events));
  return d;
}

Result<Decision<rpc::Empty>> decide_notify(const View& v, const rpc::NotifyJob& c) {
  const Job* j = v.cluster.jobs.find(c.job.value);
  if (!j) return fail(Errc::kInvalidJobId);
  if (!v.may_manage(*j)) return fail(Errc::kAccessDenied);
  if (j->pending()) return fail(Errc::kDisabled);
  if (j->finished()) return fail(Errc::kAlreadyDone);
  if (c.text.size() > 4096) return fail(Errc::kInvalidArgument, "the message has more than 4096 bytes");
  if (j->request->kind != JobKind::kBatch && j->steps.empty())
    return fail(Errc::kDisabled, {}, "nothing runs in the allocation that could show the message");
  Decision<rpc::Empty> d;
  node_rpc::NotifyJob order{j->id, j->restarts, c.text};
  if (j->request->kind == JobKind::kBatch) {
    d.orders.push_back({j->batch_share().node, order});
    return d;
  }
  // Each srun hears it once: from the first node of its step.
  Bitmap told;
  for (const Step& s : j->steps) {
    uint32_t index = s.shares.empty() ? 0 : s.shares[0].node_index;
    if (told.test(index)) continue;
    told.set(index);
    d.orders.push_back({j->allocation->nodes[index].node, order});
  }
  return d;
}

}  // namespace muster::slurmctld
