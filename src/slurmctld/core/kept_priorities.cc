#include "slurmctld/core/kept_priorities.h"

#include <algorithm>

#include "sched/queue/priority.h"

namespace muster::slurmctld {
namespace {

// Priorities move in steps of PriorityCalcPeriod. A new one brings new fair shares; until then the ages were those of an earlier period.
Time last_known(const Cluster& before, const View& view) {
  const FairFactorsPtr &was = before.moment.fair_factors, &is = view.cluster.moment.fair_factors;
  return was && is && was->period < is->period ? was->period : view.now;
}

// Fair shares, and what slurmdbd says of QOS and associations, are what may lower a priority. Fair shares that were not worked out yet count
// nothing.
bool may_have_fallen(const Cluster& before, const View& view) {
  const sched::PriorityParams& params = view.settings.priority;
  if (!params.only_up || (params.weight_fairshare && !before.moment.fair_factors)) return false;
  return before.directory != view.cluster.directory || before.moment.fair_factors != view.cluster.moment.fair_factors;
}

}  // namespace

Time last_known_moment(const Cluster& cluster) {
  Time last{};
  cluster.jobs.for_each([&](uint32_t, const Job& j) { last = std::max({last, j.submitted, j.started, j.ended}); });
  cluster.usage.each_association([&](uint32_t, const Spent& spent) { last = std::max(last, spent.at); });
  return last;
}

Events decide_kept_priorities(const Cluster& before, const View& view) {
  if (!may_have_fallen(before, view)) return {};
  const sched::PriorityRule was(before, view.settings.priority, last_known(before, view)),
      is(view.cluster, view.settings.priority, view.now);
  event::PrioritiesKept kept;
  view.cluster.jobs.for_each([&](uint32_t id, const Job& job) {
    const Job* old = before.jobs.find(id);
    if (!old || !job.pending() || !was.moves(*old) || !is.moves(job) || old->request != job.request) return;
    const uint32_t priority = was.of(*old);
    if (is.of(job) >= priority) return;
    kept.jobs.push_back(job.id);
    kept.priorities.push_back(priority);
  });
  return kept.jobs.empty() ? Events() : Events{std::move(kept)};
}

}  // namespace muster::slurmctld
