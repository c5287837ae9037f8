// scancel and the verbs of scontrol that act on jobs: cancel, signal, hold, release, requeue, suspend, resume, top.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/array_spec.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

template <class T>
bool wanted(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool in_partition(const View& v, const Job& j, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  const Partition* p = v.cluster.partitions.find(j.partition);
  if (j.pending() && !j.request->partitions.empty())
    return std::ranges::any_of(j.request->partitions, [&](const std::string& n) { return wanted(names, n); });
  return p && wanted(names, p->name);
}

bool on_nodes(const View& v, const Job& j, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  if (!j.allocation) return false;
  return std::ranges::any_of(j.allocation->nodes, [&](const NodeShare& s) {
    const Node* n = v.cluster.nodes.find(s.node.value);
    return n && wanted(names, n->spec->name);
  });
}

bool matches(const View& v, const Job& j, const rpc::JobFilter& f) {
  const JobRequest& r = *j.request;
  if (!wanted(f.users, r.uid) || !wanted(f.names, r.name) || !wanted(f.accounts, r.account) || !wanted(f.qos, r.qos) ||
      !wanted(f.reservations, r.reservation) || !wanted(f.wckeys, r.wckey) || !wanted(f.licenses, r.licenses))
    return false;
  if (f.states || f.state_flags) {
    bool by_state = f.states & (1u << static_cast<unsigned>(j.state));
    if (!by_state && !(f.state_flags & j.flags)) return false;
  }
  return in_partition(v, j, f.partitions) && on_nodes(v, j, f.nodes);
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
    Target t{j, {}, false, {}};
    (tasks & j->array_tasks->pending).for_each([&](size_t i) { t.tasks.push_back(static_cast<uint32_t>(i)); });
    if (t.tasks.size() == j->array_tasks->pending.count()) t.tasks.clear();   // all of them: the record
    if (!t.tasks.empty() || (tasks & j->array_tasks->pending).any()) out.push_back(std::move(t));
  }
  return out;
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
    uint32_t next = v.cluster.last_job_id.value;
    for (const Event& e : d.events)
      if (auto* p = std::get_if<event::JobEnding>(&e); p && p->task_job) next = std::max(next, p->task_job.value);
    for (uint32_t task : tasks) {
      do {
        ++next;
      } while (v.cluster.jobs.contains(next) || v.cluster.arrays.contains(next));
      event::JobEnding e;
      e.job = j.id;
      e.array_task = task;
      e.task_job = JobId(next);
      e.state = JobState::kCancelled;
      e.time = v.now;
      e.detail = by();
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
    if (!matches(v, j, c.filter)) return;
    bool kill = c.signal == 0 || (c.signal == 9 && c.scope != rpc::SignalScope::kBatch && !t.has_step);
    ++d.reply.matched;
    if (kill) return cancel(t);
    if (j.state == JobState::kPending) {
      --d.reply.matched;
      if (named) error(name, Errc::kJobPending);
      return;
    }
    signal_nodes(j, t);
  }
};

// ---- hold and release
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
  e.flags &= ~(kJobHeldByUser | kJobHeldByAdmin | kJobSpecialExit | kJobRequeueHold);
  if (v.settings.priority.multifactor)
    e.priority = std::max(1u, sched::priority_of(v.cluster, v.settings.priority, j, v.now));
  else
    e.priority = static_cast<uint32_t>(std::clamp<int64_t>(4294901760ll - (j.id.value - 1) - j.request->nice, 1, kUnlimited32 - 1));
  if (!j.dependencies && e.eligible == kTimeUnset) e.eligible = std::max(v.now, j.request->begin);
  e.reason = waiting_reason(v, j.dependencies.get(), e.eligible);
  out.push_back(std::move(e));
}

Result<> requeue(const View& v, const Job& j, bool hold_it, Events& out) {
  bool asked = j.request->requeue != TriState::kDefault;
  bool allowed = asked ? j.request->requeue == TriState::kYes : v.settings.config().job_requeue;
  if (j.request->kind != JobKind::kBatch) return fail(Errc::kBatchOnly);
  if (!allowed) return fail(Errc::kRequeueDisabled);
  if (j.pending()) {
    if (!hold_it) return fail(Errc::kJobPending);
    hold(v, j, false, out);
    return {};
  }
  if (j.finished()) {
    if (j.releasing.any()) return fail(Errc::kTransitionStateNoUpdate);
    // Tasks cancelled together before any of them had a record of its own: there is none to bring back.
    if (j.array_job_id && j.array_task == kNoArrayTask) return fail(Errc::kAlreadyDone);
    Job again = j;
    again.flags |= hold_it ? kJobRequeueHold : kJobRequeued;
    after_release(v, again, out);
    return {};
  }
  Ending e;
  e.state = JobState::kCancelled;
  e.flags = hold_it ? kJobRequeueHold : kJobRequeued;
  end_job(v, j, e, out);
  return {};
}

Result<> suspend(const View& v, const Job& j, bool resume, Decision<rpc::Messages>& d) {
  if (!v.is_operator()) return fail(Errc::kUserIdMissing);
  if (j.pending()) return fail(Errc::kJobPending);
  if (j.finished()) return fail(Errc::kAlreadyDone);
  if (resume != (j.state == JobState::kSuspended)) return fail(resume ? Errc::kInvalidStateChange : Errc::kAlreadyDone);
  event::JobSuspended e;
  e.job = j.id;
  e.resumed = resume;
  e.time = v.now;
  d.events.push_back(e);
  node_rpc::SignalJob order;
  order.job = j.id;
  order.generation = j.restarts;
  order.full = true;
  order.signal = resume ? 18 : 19;   // SIGCONT, SIGSTOP
  for (const NodeShare& s : j.allocation->nodes) d.orders.push_back({s.node, order});
  return {};
}

// Moves the user's job before the user's other pending jobs of the partition by handing their priorities around.
Result<> top(const View& v, const Job& j, Events& out) {
  if (!j.pending() || j.priority == 0) return fail(Errc::kInvalidStateChange);
  uint32_t best = j.priority;
  v.cluster.jobs.for_each([&](uint32_t, const Job& o) {
    if (o.pending() && o.request->uid == j.request->uid && o.partition == j.partition) best = std::max(best, o.priority);
  });
  if (best == j.priority) return {};
  event::JobChanged e = changed(j);
  e.priority = best == kUnlimited32 - 1 ? best : best + 1;
  out.push_back(std::move(e));
  return {};
}

Result<> act(const View& v, const Job& j, rpc::JobAction action, Decision<rpc::Messages>& d) {
  if (!v.may_manage(j)) return fail(Errc::kAccessDenied);
  switch (action) {
    case rpc::JobAction::kHold:
    case rpc::JobAction::kUserHold:
      if (!j.pending()) return fail(j.finished() ? Errc::kAlreadyDone : Errc::kJobNotPending);
      hold(v, j, action == rpc::JobAction::kUserHold, d.events);
      return {};
    case rpc::JobAction::kRelease:
      if (!j.pending()) return fail(j.finished() ? Errc::kAlreadyDone : Errc::kJobNotPending);
      if ((j.flags & kJobHeldByAdmin) && !v.is_operator()) return fail(Errc::kAccessDenied);
      if (j.priority == 0) release(v, j, d.events);
      return {};
    case rpc::JobAction::kRequeue: return requeue(v, j, false, d.events);
    case rpc::JobAction::kRequeueHold: return requeue(v, j, true, d.events);
    case rpc::JobAction::kSuspend: return suspend(v, j, false, d);
    case rpc::JobAction::kResume: return suspend(v, j, true, d);
    case rpc::JobAction::kTop: return top(v, j, d.events);
  }
  return fail(Errc::kInvalidArgument);
}

std::string name_of(const rpc::JobSelector& s) {
  std::string out = std::to_string(s.job.value);
  if (s.array_task != kNoArrayTask) out += "_" + std::to_string(s.array_task);
  else if (!s.array_tasks.empty()) out += "_[" + s.array_tasks + "]";
  if (s.has_step) out += "." + std::to_string(s.step.value);
  return out;
}

}  // namespace

std::string job_name_for_users(const Job& job) {
  if (job.array_task != kNoArrayTask) return std::to_string(job.array_job_id.value) + "_" + std::to_string(job.array_task);
  if (job.array_tasks) return std::to_string(job.id.value) + "_[" + format_array_tasks(*job.array_tasks) + "]";
  return std::to_string(job.id.value);
}

event::JobChanged changed(const Job& job) {
  event::JobChanged e;
  e.job = job.id;
  e.request = job.request_id;
  e.priority = job.priority;
  e.flags = job.flags;
  e.reason = job.reason;
  e.time_limit_min = job.time_limit_min;
  e.partition = job.partition;
  e.eligible = job.eligible;
  e.ends = job.ends;
  e.array_tasks = job.array_tasks;
  e.dependencies = job.dependencies;
  e.detail = job.detail;
  return e;
}

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

Decision<rpc::SignalJobsAnswer> decide_signal(const View& v, const rpc::SignalJobs& c) {
  Decision<rpc::SignalJobsAnswer> d;
  Canceller canceller{v, c, d};
  if (c.filter.jobs.empty()) {
    v.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      if (!j.finished() && matches(v, j, c.filter)) canceller.run({&j, {}, false, {}}, false, {});
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
  auto run = [&](const Job& j, const std::string& name) {
    auto ok = act(v, j, c.action, d);
    if (!ok) d.reply.errors.push_back({name, errc_number(ok.error().code), std::string(ok.error().message())});
  };
  for (const rpc::JobSelector& s : c.jobs) {
    auto jobs = select_jobs(v, s);
    if (jobs.empty()) d.reply.errors.push_back({name_of(s), errc_number(Errc::kInvalidJobId), std::string(errc_text(Errc::kInvalidJobId))});
    for (const Job* j : jobs) {
      if (jobs.size() > 1 && j->finished()) continue;   // of an array: those that can still be acted on
      run(*j, name_of(s));
    }
  }
  for (const std::string& name : c.names)
    v.cluster.jobs.for_each([&](uint32_t, const Job& j) {
      if (j.request->name == name && !j.finished() && v.may_manage(j)) run(j, job_name_for_users(j));
    });
  return d;
}

}  // namespace muster::slurmctld
