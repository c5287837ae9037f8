#include "slurmctld/core/selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "slurmctld/core/job_ids.h"

namespace muster::slurmctld {
namespace {

// One more than the highest number that a task of these records can have: MaxArraySize may have been higher when they came.
size_t task_numbers(const View& v, const std::vector<const Job*>& records) {
  size_t most = v.settings.config().max_array_size;
  for (const Job* j : records) {
    if (j->array_task != kNoArrayTask) most = std::max(most, size_t{j->array_task} + 1);
    if (j->array_tasks) most = std::max(most, j->array_tasks->pending.size());
  }
  return most;
}

bool has_waiting_tasks(const Job& j) { return j.array_tasks && !j.finished(); }

class Selection {
 public:
  Selection(const View& v, const std::vector<rpc::JobSelector>& selectors) : v_(v), selectors_(selectors) {}

  std::vector<Meant> run() {
    std::vector<Meant> out;
    for (const rpc::JobSelector& s : selectors_) out.push_back(each(s));
    for (Meant& m : out) std::erase_if(m.targets, [&](Target& t) { return !first(t); });
    return out;
  }

 private:
  // What all of the selectors have named of a record so far, and what of that has been given as a target.
  struct Named {
    bool whole = false, given = false;
    Bitmap tasks, given_tasks;
  };

  const std::vector<const Job*>& records_of(JobId id) {
    auto [at, fresh] = records_.try_emplace(id);
    if (fresh) {
      rpc::JobSelector whole;
      whole.job = id;
      at->second = select_jobs(v_, whole);
    }
    return at->second;
  }

  Meant each(const rpc::JobSelector& selector) {
    Meant out;
    Bitmap tasks;
    const bool of_tasks = !selector.array_tasks.empty() || selector.array_task != kNoArrayTask;
    const size_t most = of_tasks ? task_numbers(v_, records_of(selector.job)) : 0;
    if (!selector.array_tasks.empty() && !Bitmap::parse_ranges(selector.array_tasks, tasks, most)) return out;
    if (selector.array_tasks.empty() && selector.array_task != kNoArrayTask) {
      if (selector.array_task >= most) return out;
      tasks.set(selector.array_task);
    }
    if (tasks.none()) {
      const bool parts = selector.sluid || of_tasks || selector.het_offset;
      for (const Job* j : parts ? select_jobs(v_, selector) : records_of(selector.job)) record(*j, selector, out);
      return out;
    }
    for (const Job* j : records_of(selector.job)) {
      // Tasks that ended before they had records of their own belong to the array's record.
      const bool is_task = j->array_task != kNoArrayTask && tasks.test(j->array_task);
      if (is_task || (j->array_tasks && j->finished() && tasks.intersects(j->array_tasks->pending))) record(*j, selector, out);
      else if (has_waiting_tasks(*j)) waiting(*j, tasks & j->array_tasks->pending, out);
    }
    return out;
  }
  void record(const Job& j, const rpc::JobSelector& s, Meant& out) {
    out.known = true;
    out.targets.push_back({&j, {}, s.has_step, s.step});
    if (!s.has_step) named_[&j].whole = true;
  }
  void waiting(const Job& j, const Bitmap& tasks, Meant& out) {
    if (tasks.none()) return;
    out.known = true;
    Target t{&j, {}, false, {}};
    tasks.for_each([&](size_t i) { t.tasks.push_back(static_cast<uint32_t>(i)); });
    out.targets.push_back(std::move(t));
    Named& n = named_[&j];
    n.tasks |= tasks;
    if (n.tasks.count() == j.array_tasks->pending.count()) n.whole = true;
  }

  // Whether the target is new; tasks that were given before are taken out of it.
  bool first(Target& t) {
    if (t.has_step) return steps_.emplace(t.job, t.step.value).second;
    Named& n = named_[t.job];
    if (n.whole) {
      t.tasks.clear();
      return !std::exchange(n.given, true);
    }
    std::erase_if(t.tasks, [&](uint32_t task) { return n.given_tasks.test(task); });
    for (uint32_t task : t.tasks) n.given_tasks.set(task);
    return !t.tasks.empty();
  }

  const View& v_;
  const std::vector<rpc::JobSelector>& selectors_;
  std::map<JobId, std::vector<const Job*>> records_;
  std::unordered_map<const Job*, Named> named_;
  std::set<std::pair<const Job*, uint32_t>> steps_;
};

}  // namespace

std::vector<Meant> select(const View& v, const std::vector<rpc::JobSelector>& selectors) { return Selection(v, selectors).run(); }

std::vector<const Job*> select_jobs(const View& view, const rpc::JobSelector& selector) {
  std::vector<const Job*> out;
  const Job* job = view.cluster.jobs.find(selector.job.value);
  if (selector.sluid) {
    if (job && selector.means_run(job->sluid())) out.push_back(job);
    return out;
  }
  if (job && job->het && (selector.het_offset || job->het.leads())) {  // "123+1"; the first component's id alone means all of them
    for (const Job* one : components_of(view.cluster, job->het))
      if (!selector.het_offset || (job->het.leads() && one->het.offset == *selector.het_offset)) out.push_back(one);
    return out;
  }
  if (selector.het_offset) return out;
  if (!view.cluster.arrays.contains(selector.job.value)) {
    if (job && (selector.array_task == kNoArrayTask || job->array_task == selector.array_task)) out.push_back(job);
    return out;
  }
  // An array: its records have ids from the array's own on, or from the start again beyond MaxJobId; there are `records` of them.
  uint32_t left = view.cluster.arrays.at(selector.job.value).records;
  auto look = [&](uint32_t, const Job& o) {
    if (o.array_job_id == selector.job && left > 0) {
      --left;
      bool this_task = selector.array_task == kNoArrayTask || o.array_task == selector.array_task ||
                       (o.array_tasks && o.array_tasks->pending.test(selector.array_task));
      if (this_task) out.push_back(&o);
    }
    return left > 0;
  };
  view.cluster.jobs.for_each(look, selector.job.value);
  if (left > 0) view.cluster.jobs.for_each([&](uint32_t id, const Job& o) { return id < selector.job.value && look(id, o); });
  return out;
}

Picked pick_jobs(const View& view, const std::vector<rpc::JobSelector>& selectors, Events& out) {
  Picked picked;
  JobIds ids(view.cluster, view.settings.config());
  for (const Meant& meant : select(view, selectors)) {
    PickedJobs& here = picked.of.emplace_back();
    here.known = meant.known;
    for (const Target& target : meant.targets) {
      // A task that the caller may not change gets no record of its own: the whole array's is there to be refused.
      const bool apart = target.job->pending() && view.may(*target.job);
      if (target.tasks.empty() || !apart) here.jobs.push_back(target.job);
      for (uint32_t task : apart ? target.tasks : std::vector<uint32_t>()) {
        event::JobChanged e = changed(*target.job);
        e.array_task = task;
        e.task_job = ids.next_or_beyond();
        e.array_tasks = nullptr;
        Job own = *target.job;
        own.id = e.task_job;
        own.array_task = task;
        own.array_tasks = nullptr;
        here.jobs.push_back(&picked.own.emplace_back(std::move(own)));
        out.push_back(std::move(e));
      }
    }
  }
  return picked;
}

}  // namespace muster::slurmctld
