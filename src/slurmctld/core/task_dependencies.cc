#include "slurmctld/core/task_dependencies.h"

#include <algorithm>

#include "model/array_spec.h"
#include "model/dependency.h"

namespace muster::slurmctld {
namespace {

bool is_over(const ArrayGroup& g) { return g.ended_ok + g.ended_bad >= g.total; }

// Adds the record's tasks to those that ended well or badly; a record that comes back into the queue has not ended.
void add_ends(const Job& record, TaskEnds& ends) {
  if (!record.finished() || (record.flags & (kJobRequeued | kJobRequeueHold))) return;
  Bitmap& to = record.state == JobState::kCompleted ? ends.ok : ends.bad;
  if (record.array_tasks) to |= record.array_tasks->pending;
  else if (record.array_task != kNoArrayTask) to.set(record.array_task);
}

void add_tasks(const Job& record, Bitmap& tasks) {
  if (record.array_tasks) tasks |= record.array_tasks->pending;
  else if (record.array_task != kNoArrayTask) tasks.set(record.array_task);
}

// Tasks whose records are forgotten (MinJobAge) ended well if all that ended badly are known.
void add_forgotten(const ArrayGroup& group, const Job& record, const Bitmap& seen, uint32_t seen_bad, TaskEnds& ends) {
  if (seen_bad < group.ended_bad || seen.count() >= group.total) return;
  if (auto all = parse_array_spec(record.whole_request().array.text(), kMaxArrayTaskId)) ends.ok |= all->pending - seen;
}

// Tasks of one record whose dependencies stand alike.
struct Part {
  Bitmap tasks;
  Dependencies list;
};

// A record of the same array that stands as one would that `made` makes.
const Job* record_to_join(const View& view, const Job& job, const event::JobChanged& made) {
  const Duration step = std::max<Duration>(view.settings.priority.period, seconds(1));
  for (JobId id : view.indexes.dependents_of(job.array_job_id)) {
    const Job* o = view.cluster.jobs.find(id.value);
    if (!o || o->id == job.id || o->array_job_id != job.array_job_id || !o->pending() || o->restarts != job.restarts || o->detail) continue;
    if (o->request_id != made.request || o->priority != made.priority || o->flags != made.flags ||
        o->time_limit_min != made.time_limit_min || o->partition != made.partition || o->association != made.association ||
        o->accrues != job.accrues || o->reason != made.reason || o->submitted != job.submitted || o->turns->claim)
      continue;
    if (!o->dependencies != !made.dependencies || (o->dependencies && !(*o->dependencies == *made.dependencies))) continue;
    const bool same_age =
        o->eligible == made.eligible || (o->eligible != kTimeUnset && o->eligible < made.eligible && made.eligible - o->eligible < step);
    if (same_age) return o;
  }
  return nullptr;
}

class Settling {
 public:
  Settling(const View& view, const Job& job, const Job* cause, JobIds& ids, Events& out)
      : view_(view), job_(job), cause_(cause), ids_(ids), out_(out) {}

  void run(const Dependencies& list) {
    std::vector<Part> parts = parts_of(list);
    // Those that wait for more keep the record.
    std::ranges::stable_partition(parts, [](const Part& p) { return verdict_of(p.list) != DependencyVerdict::kWait; });
    for (size_t i = 0; i + 1 < parts.size(); ++i) take_out(parts[i]);
    keep(parts.back());
  }

 private:
  std::vector<Part> parts_of(const Dependencies& list) const {
    std::vector<Part> parts{{job_.array_tasks->pending, list}};
    for (size_t at = 0; at < list.list.size(); ++at) {
      const Dependency& wanted = list.list[at];
      if (wanted.state != DependencyState::kUnfulfilled || !is_task_by_task(view_.cluster, job_, wanted)) continue;
      const ArrayGroup& group = view_.cluster.arrays.at(wanted.job.value);
      const bool over = is_over(group);
      if (cause_ && cause_->array_job_id != wanted.job) continue;
      const TaskEnds ends = task_ends(view_.cluster, wanted.job, over ? nullptr : cause_);  // others may have ended in this turn, too
      const auto rest = !over ? DependencyState::kUnfulfilled : group.ended_bad ? DependencyState::kFailed : DependencyState::kFulfilled;
      std::vector<Part> next;
      for (const Part& p : parts) {
        add(p, at, p.tasks & ends.ok, DependencyState::kFulfilled, next);
        add(p, at, p.tasks & ends.bad, DependencyState::kFailed, next);
        add(p, at, p.tasks - ends.ok - ends.bad, rest, next);
      }
      parts = std::move(next);
    }
    return parts;
  }
  // Adds these tasks of a part; to those that stand alike already, if there are any.
  static void add(const Part& from, size_t i, Bitmap tasks, DependencyState state, std::vector<Part>& parts) {
    if (tasks.none()) return;
    Part part{std::move(tasks), from.list};
    part.list.list[i].state = state;
    auto alike = std::ranges::find(parts, part.list, &Part::list);
    if (alike == parts.end()) parts.push_back(std::move(part));
    else alike->tasks |= part.tasks;
  }
  std::shared_ptr<const ArrayTasks> with_limit(const Bitmap& tasks) const {
    return std::make_shared<const ArrayTasks>(ArrayTasks{tasks, job_.array_tasks->max_running});
  }

  void take_out(const Part& part) {
    event::JobChanged e = settled(view_, job_, part.list);
    const Job* known = record_to_join(view_, job_, e);
    e.array_task = static_cast<uint32_t>(part.tasks.first());
    e.task_job = known ? known->id : ids_.next_or_beyond();
    // A single one that waits has a record like one that was changed by itself.
    const bool alone = !known && e.dependencies && part.tasks.count() == 1;
    e.array_tasks = alone ? nullptr : with_limit(part.tasks);
    Job own = job_;
    own.id = e.task_job;
    out_.push_back(std::move(e));
    end_if_never(view_, own, part.list, out_);
  }
  void keep(const Part& part) {
    Job own = job_;
    own.array_tasks = with_limit(part.tasks);
    if (end_if_never(view_, own, part.list, out_)) return;
    event::JobChanged e = settled(view_, own, part.list);
    const bool stands = e.dependencies && *e.dependencies == *job_.dependencies;
    if (!stands || (e.eligible != kTimeUnset && e.eligible != job_.eligible)) out_.push_back(std::move(e));
  }

  const View& view_;
  const Job& job_;
  const Job* cause_;
  JobIds& ids_;
  Events& out_;
};

}  // namespace

void for_each_record(const Cluster& cluster, JobId array, const std::function<void(const Job&)>& f) {
  const ArrayGroup* group = cluster.arrays.find(array.value);
  uint32_t left = group ? group->records : 0;
  const auto look = [&](const Job& j) {
    if (j.array_job_id != array) return left > 0;
    f(j);
    return --left > 0;
  };
  // Ids of tasks follow their array's, and begin anew after MaxJobId.
  if (left > 0) cluster.jobs.for_each([&](uint32_t, const Job& j) { return look(j); }, array.value);
  if (left > 0) cluster.jobs.for_each([&](uint32_t id, const Job& j) { return id < array.value && look(j); });
}

TaskEnds task_ends(const Cluster& cluster, JobId array, const Job* cause) {
  const ArrayGroup& group = cluster.arrays.at(array.value);
  TaskEnds ends;
  ends.bad = group.dropped;
  if (cause) {
    add_ends(*cause, ends);
    return ends;
  }
  Bitmap seen = group.dropped;
  const Job* any = nullptr;
  auto seen_bad = static_cast<uint32_t>(seen.count());
  for_each_record(cluster, array, [&](const Job& j) {
    any = &j;
    add_ends(j, ends);
    add_tasks(j, seen);
    if (j.finished() && j.state != JobState::kCompleted)
      seen_bad += j.array_tasks ? static_cast<uint32_t>(j.array_tasks->pending.count()) : 1;
  });
  if (any) add_forgotten(group, *any, seen, seen_bad, ends);
  return ends;
}

bool is_task_by_task(const Cluster& cluster, const Job& self, const Dependency& d) {
  const bool of_array = self.array_tasks || self.array_task != kNoArrayTask;
  const bool names_one = d.array_task != kNoArrayTask && d.array_task != kWholeArray;
  return d.type == DependencyType::kAfterCorr && of_array && !names_one && cluster.arrays.contains(d.job.value);
}

bool settle_tasks(const View& view, const Job& job, const Dependencies& list, const Job* cause, JobIds& ids, Events& out) {
  if (!job.array_tasks || job.array_tasks->pending.none()) return false;
  const bool any = std::ranges::any_of(
      list.list, [&](const Dependency& d) { return d.state == DependencyState::kUnfulfilled && is_task_by_task(view.cluster, job, d); });
  if (!any) return false;
  Settling(view, job, cause, ids, out).run(list);
  return true;
}

}  // namespace muster::slurmctld
