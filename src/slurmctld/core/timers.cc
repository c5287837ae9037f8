// What time brings about for jobs (limits, begin times, warnings, forgetting), and what the start or end of a job means for those that
// depend on it.
#include <algorithm>
#include <functional>
#include <set>

#include "model/dependency.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/task_dependencies.h"

namespace muster::slurmctld {
namespace {

// What a dependency waits for: whether all of it has ended, and how. Arrays count as a whole unless one task is named.
struct Target {
  bool known = false, started = false, ended = false, ok = false, bad = false;
  Time started_at{};
};

void look_at(const Job& j, Target& t) {
  t.known = true;
  t.started = !j.pending();
  t.started_at = j.started;
  t.ended = j.finished() && !(j.flags & (kJobRequeued | kJobRequeueHold));
  t.ok = t.ended && j.state == JobState::kCompleted;
  t.bad = t.ended && j.state != JobState::kCompleted;
}

// When the last of an array's tasks started, or was cancelled instead.
Time last_start(const Cluster& cluster, JobId array) {
  Time last = kTimeUnset;
  for_each_record(cluster, array, [&](const Job& j) { last = std::max(last, j.started); });
  return last;
}

Target look_at_array(const Cluster& cluster, const Dependency& dependency, uint32_t task) {
  Target target;
  const ArrayGroup& group = cluster.arrays.at(dependency.job.value);
  if (task == kNoArrayTask || task == kWholeArray) {
    uint32_t ended = group.ended_ok + group.ended_bad;
    target = {true,
              group.running + ended >= group.total,
              ended >= group.total,
              ended >= group.total && group.ended_bad == 0,
              group.ended_bad > 0 && ended >= group.total,
              {}};
    if (target.started && dependency.delay_min) target.started_at = last_start(cluster, dependency.job);
    return target;
  }
  if (group.dropped.test(task)) return {.known = true, .started = true, .ended = true, .bad = true};
  uint32_t left = group.records;
  cluster.jobs.for_each(
      [&](uint32_t, const Job& j) {
        if (j.array_job_id != dependency.job) return true;
        if (j.array_task == task || (j.array_tasks && j.array_tasks->pending.test(task))) look_at(j, target);
        return --left > 0 && !target.known;
      },
      dependency.job.value);
  return target;
}

// The first component's id means the whole job: it has ended with the last of them, and well if all have.
Target look_at_components(const Cluster& cluster, const Job& leader) {
  Target t{.known = true, .started = true, .ended = true, .ok = true, .started_at = leader.started};
  for (const Job* j : components_of(cluster, leader.het)) {
    Target one;
    look_at(*j, one);
    t.started = t.started && one.started;
    t.ended = t.ended && one.ended;
    t.ok = t.ok && one.ok;
    t.bad = t.bad || one.bad;
  }
  t.bad = t.bad && t.ended;
  return t;
}

// The task of the same number; where there is none, and for an array as long as its tasks are not looked at one by one, the whole.
Target look_at_task(const Cluster& cluster, const Job& self, const Dependency& d) {
  Target whole = look_at_array(cluster, d, kWholeArray);
  if (self.array_task == kNoArrayTask) {
    whole.bad = false;
    return whole;
  }
  const TaskEnds ends = task_ends(cluster, d.job, nullptr);
  whole.ok = ends.ok.test(self.array_task) || (whole.ok && !ends.bad.test(self.array_task));
  whole.bad = ends.bad.test(self.array_task) || (whole.bad && !whole.ok);
  return whole;
}

Target look(const Cluster& cluster, const Job& self, const Dependency& d) {
  if (is_task_by_task(cluster, self, d)) return look_at_task(cluster, self, d);
  if (cluster.arrays.contains(d.job.value)) return look_at_array(cluster, d, d.array_task);
  Target t;
  const Job* j = cluster.jobs.find(d.job.value);
  if (j && j->het.leads()) return look_at_components(cluster, *j);
  if (j) look_at(*j, t);
  return t;
}

// Calls `f` for the jobs that a singleton waits for: earlier jobs of its user and name that are not over, except those of its own array
// and the other components of its job.
void each_before_singleton(const Cluster& cluster, const Job& self, const std::function<void(const Job&)>& f) {
  cluster.jobs.for_each([&](uint32_t, const Job& j) {
    bool other = (self.array_job_id == JobId{} || j.array_job_id != self.array_job_id) && (!self.het || j.het.leader != self.het.leader);
    bool named_alike = j.request->uid == self.request->uid && j.name() == self.name();
    if (j.id < self.id && !j.finished() && named_alike && other) f(j);
    return j.id < self.id;
  });
}

bool singleton_free(const Cluster& cluster, const Job& self) {
  bool free = true;
  each_before_singleton(cluster, self, [&](const Job&) { free = false; });
  return free;
}

// after:job+minutes: a job that it is about, or the task of an array that started last, may be forgotten before the minutes are over. When they
// are was worked out while it was known.
bool waits_for_forgotten(const Job& self, const Dependency& d, Time now) {
  return d.delay_min > 0 && self.dependencies && std::ranges::find(self.dependencies->list, d) != self.dependencies->list.end() &&
         self.eligible != kTimeUnset && self.eligible > now;
}

DependencyState state_of(const View& view, const Job& self, const Dependency& dependency) {
  using enum DependencyState;
  if (dependency.type == DependencyType::kSingleton) return singleton_free(view.cluster, self) ? kFulfilled : kUnfulfilled;
  Target target = look(view.cluster, self, dependency);
  const bool forgets = !target.known || view.cluster.arrays.contains(dependency.job.value);
  if (forgets && waits_for_forgotten(self, dependency, view.now)) return kUnfulfilled;
  if (!target.known) return kFulfilled;  // ended so long ago that it is forgotten; refused at submission if it never was
  switch (dependency.type) {
    case DependencyType::kAfter:
      if (!target.started) return kUnfulfilled;
      return dependency.delay_min == 0 || target.started_at + minutes(dependency.delay_min) <= view.now ? kFulfilled : kUnfulfilled;
    case DependencyType::kAfterAny:
    case DependencyType::kAfterBurstBuffer: return target.ended ? kFulfilled : kUnfulfilled;
    case DependencyType::kAfterOk:
    case DependencyType::kAfterCorr: return target.ok ? kFulfilled : target.bad ? kFailed : kUnfulfilled;
    case DependencyType::kAfterNotOk: return target.bad ? kFulfilled : target.ok ? kFailed : kUnfulfilled;
    case DependencyType::kSingleton: break;
  }
  return kUnfulfilled;
}

bool kills_invalid(const View& v, const Job& j) {
  return j.request->kill_on_invalid_dependency_set ? j.request->kill_on_invalid_dependency
                                                   : v.settings.config().dependency_parameters.has("kill_invalid_depend");
}

void time_out(const View& v, const Job& j, Events& out) {
  if (j.is_preempted()) return end_preempted(v, j, j.run->preempted_by, j.run->preempt_how, out);
  if (v.now < limit_time(v, j) || (j.flags & kJobConfiguring)) return;  // its time begins when its nodes are ready
  Ending e;
  e.state = JobState::kTimeout;
  e.reason = Reason::kTimeLimit;
  e.exit_status = 0;
  end_job(v, j, e, out);
}

void warn(const Job& j, Events& out, std::vector<Order>& orders) {
  out.push_back(event::JobWarned{j.id, kWarnedSignal});
  node_rpc::SignalJob order;
  order.job = j.id;
  order.generation = j.restarts;
  order.signal = j.request->warn.signal;
  order.batch_only = j.request->warn.batch_shell_only;
  if (order.batch_only) return orders.push_back({j.batch_share().node, order});
  for (const NodeShare& share : j.allocation->nodes) orders.push_back({share.node, order});
}

}  // namespace

Time limit_time(const View& v, const Job& j) {
  if (j.is_preempted()) return j.ends;
  auto over = v.settings.config().over_time_limit_min;
  const Partition* p = v.cluster.partitions.find(j.partition);
  if (p && p->over_time_limit_min) over = *p->over_time_limit_min;
  return over && j.ends != kTimeInfinite ? j.ends + minutes(*over) : kTimeInfinite;
}

Reason waiting_reason(const View& v, const Dependencies* dependencies, Time eligible) {
  if (dependencies) return verdict_of(*dependencies) == DependencyVerdict::kNever ? Reason::kDependencyNeverSatisfied : Reason::kDependency;
  return eligible > v.now ? Reason::kBeginTime : Reason::kNone;
}

Time recheck_time(const View& v, const Job& job, const Dependencies& list) {
  Time at = kTimeUnset;
  for (const Dependency& d : list.list) {
    if (d.state != DependencyState::kUnfulfilled || d.type != DependencyType::kAfter || d.delay_min == 0) continue;
    Target t = look(v.cluster, job, d);
    if (t.known && !t.started) continue;
    Time then = t.known ? t.started_at + minutes(d.delay_min) : job.eligible;
    if (v.cluster.arrays.contains(d.job.value) && waits_for_forgotten(job, d, v.now)) then = std::max(then, job.eligible);
    if (at == kTimeUnset || (list.any ? then < at : then > at)) at = then;
  }
  return at;
}

bool is_circular(const View& view, const Job& job, const Dependencies& list) {
  std::set<JobId> seen;
  std::vector<JobId> open;
  auto add = [&](const Job& of, const Dependencies& more) {
    for (const Dependency& d : more.list) {
      if (d.state != DependencyState::kUnfulfilled) continue;
      if (d.type == DependencyType::kSingleton)
        each_before_singleton(view.cluster, of, [&](const Job& earlier) { open.push_back(earlier.id); });
      else open.push_back(d.job);
    }
  };
  add(job, list);
  while (!open.empty()) {
    JobId id = open.back();
    open.pop_back();
    if (id == job.id || (job.array_job_id && id == job.array_job_id)) return true;
    if (job.het && id >= job.het.leader && id < job.het.component(job.het.size)) return true;  // they start together
    const Job* j = view.cluster.jobs.find(id.value);
    if (j && seen.insert(id).second && j->pending() && j->dependencies) add(*j, *j->dependencies);
  }
  return false;
}

event::JobChanged settled(const View& view, const Job& job, const Dependencies& list) {
  event::JobChanged change = changed(job);
  const bool met = verdict_of(list) == DependencyVerdict::kMet;
  change.dependencies = met ? nullptr : std::make_shared<const Dependencies>(list);
  change.eligible = met ? earliest_start(view, job) : recheck_time(view, job, list);
  if (job.priority > 0) change.reason = waiting_reason(view, change.dependencies.get(), change.eligible);
  return change;
}

bool end_if_never(const View& view, const Job& job, const Dependencies& list, Events& out) {
  if (verdict_of(list) != DependencyVerdict::kNever || !kills_invalid(view, job)) return false;
  Ending ending;
  ending.reason = Reason::kDependencyNeverSatisfied;
  end_job(view, job, ending, out);
  return true;
}

namespace {

// `cause`: whose start or end it is looked at for; null: whatever it waits for may have come to be otherwise.
void settle_for(const View& view, const Job& job, const Job* cause, JobIds& ids, Events& out) {
  if (!job.pending() || !job.dependencies) return;
  Dependencies list = *job.dependencies;
  const bool moved = refresh_dependencies(view, job, list);
  if (settle_tasks(view, job, list, cause, ids, out) || end_if_never(view, job, list, out)) return;
  event::JobChanged change = settled(view, job, list);
  if (change.dependencies && !moved && (change.eligible == kTimeUnset || change.eligible == job.eligible)) return;
  out.push_back(std::move(change));
}

}  // namespace

void settle_dependencies(const View& view, const Job& job, Events& out) {
  JobIds ids(view.cluster, view.settings.config());
  settle_for(view, job, nullptr, ids, out);
}

void name_whole_arrays(const Cluster& cluster, Dependencies& list) {
  for (Dependency& d : list.list)
    if (d.array_task == kNoArrayTask && cluster.arrays.contains(d.job.value)) d.array_task = kWholeArray;
}

Result<> check_submitted(const Cluster& cluster, const Dependencies& list) {
  for (const Dependency& d : list.list) {
    if (d.type == DependencyType::kSingleton) continue;
    const bool known = cluster.jobs.contains(d.job.value) || cluster.arrays.contains(d.job.value);
    if (!known && !cluster.was_given(d.job))
      return fail(Errc::kDependency, {}, "job " + std::to_string(d.job.value) + " has never been submitted");
    // It is certain that the job is over, but how it ended is not known here any more.
    const bool any_end = d.type == DependencyType::kAfter || d.type == DependencyType::kAfterAny;
    if (!known && !any_end)
      return fail(Errc::kDependency, {}, "how job " + std::to_string(d.job.value) + " ended is not known any more (MinJobAge)");
  }
  return {};
}

bool refresh_dependencies(const View& v, const Job& job, Dependencies& list) {
  bool any = false;
  for (Dependency& d : list.list) {
    if (d.state != DependencyState::kUnfulfilled) continue;
    d.state = state_of(v, job, d);
    any = any || d.state != DependencyState::kUnfulfilled;
  }
  return any;
}

DependencyVerdict verdict_of(const Dependencies& list) {
  bool all_met = true, any_met = false, any_failed = false, all_failed = true;
  for (const Dependency& d : list.list) {
    all_met = all_met && d.state == DependencyState::kFulfilled;
    any_met = any_met || d.state == DependencyState::kFulfilled;
    any_failed = any_failed || d.state == DependencyState::kFailed;
    all_failed = all_failed && d.state == DependencyState::kFailed;
  }
  if (list.any ? any_met : all_met) return DependencyVerdict::kMet;
  return (list.any ? all_failed : any_failed) ? DependencyVerdict::kNever : DependencyVerdict::kWait;
}

void resolve_dependents(const View& view, const Job& job, Events& out) {
  std::vector<JobId> waiting = view.indexes.dependents_of(job.id);
  if (job.array_job_id && job.array_job_id != job.id)
    for (JobId id : view.indexes.dependents_of(job.array_job_id)) waiting.push_back(id);
  if (job.het.offset)
    for (JobId id : view.indexes.dependents_of(job.het.leader)) waiting.push_back(id);
  if (job.finished())
    for (JobId id : view.indexes.singletons()) waiting.push_back(id);
  std::ranges::sort(waiting);
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  JobIds ids(view.cluster, view.settings.config());
  for (JobId id : waiting)
    if (const Job* j = view.cluster.jobs.find(id.value)) settle_for(view, *j, &job, ids, out);
}

void job_timer(const View& view, JobId id, TimerKind kind, Events& out, std::vector<Order>& orders) {
  const Job* job = view.cluster.jobs.find(id.value);
  if (!job) return;
  switch (kind) {
    case TimerKind::kJobBegin:
      if (job->dependencies) {
        settle_dependencies(view, *job, out);
      } else if (job->pending() && job->reason == Reason::kBeginTime && job->eligible <= view.now) {
        event::JobChanged e = changed(*job);
        e.reason = Reason::kNone;
        out.push_back(std::move(e));
      }
      return;
    case TimerKind::kJobLimit:
      if ((job->state == JobState::kRunning || (job->state == JobState::kSuspended && job->is_preempted())) && job->ends <= view.now)
        time_out(view, *job, out);
      return;
    case TimerKind::kJobWarn:
      if (job->state == JobState::kRunning && !(job->run->time_warned & kWarnedSignal)) warn(*job, out, orders);
      return;
    case TimerKind::kJobMail:
      if (auto mail = job->state == JobState::kRunning ? next_limit_mail(*job) : std::nullopt; mail && mail->at <= view.now)
        out.push_back(event::JobWarned{id, mail->said});
      return;
    case TimerKind::kJobDeadline:
      if (job->pending() && latest_start(*job) < view.now) {
        Ending e;
        e.state = JobState::kDeadline;
        e.reason = Reason::kDeadLine;
        end_job(view, *job, e, out);
      }
      return;
    case TimerKind::kJobImmediate:  // --immediate: now or never
      if (job->pending()) {
        Ending e;
        e.reason = Reason::kResources;
        end_job(view, *job, e, out);
      }
      return;
    case TimerKind::kJobPurge:
      if (!job->finished() || !job->cleaned_up()) return;
      if (job->het) {  // the last of them takes the others along
        if (!may_be_forgotten(view, *job)) return;
        event::JobsPurged all;
        for (const Job* one : components_of(view.cluster, job->het)) all.jobs.push_back(one->id);
        out.push_back(std::move(all));
        return;
      }
      if (!out.empty())
        if (auto* last = std::get_if<event::JobsPurged>(&out.back())) {
          last->jobs.push_back(id);
          return;
        }
      out.push_back(event::JobsPurged{{id}});
      return;
    default: return;
  }
}

}  // namespace muster::slurmctld
