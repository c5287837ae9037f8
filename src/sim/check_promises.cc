#include "sim/check_promises.h"

#include <algorithm>

#include "sim/queue_order.h"
#include "slurmctld/core/decide.h"

namespace muster::sim {
namespace {

constexpr Duration kRounding = seconds(120);  // plans count in minutes, from the moment of the pass

// The one that comes before all others that wait for nodes, if that is sure.
const Job* first_in_queue(const Cluster& cluster) {
  const Job* first = nullptr;
  bool sure = true;
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.pending() || !waits_for_room(slurmctld::reason_shown(cluster, job))) return;
    sure &= !job.het && asked_partitions(cluster, job).size() == 1;
    if (!first || turn_of(cluster, job) > turn_of(cluster, *first)) first = &job;
  });
  return sure ? first : nullptr;
}

// A job that is still there although its time is over, or is being cleaned up: when its nodes are free nobody knows.
bool somebody_overstays(const Cluster& cluster, Time now) {
  bool out = false;
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (job.pending() || !job.allocation) return;
    out |= (job.finished() && !job.all_released()) || !job.run->leaving.empty();
    out |= !job.finished() && (job.state == JobState::kSuspended || (job.time_limit_min != kUnlimited32 && job.ends <= now));
  });
  return out;
}

// What only gives nodes back, tells of what is over, or comes behind everybody.
template <class E>
constexpr bool kAlwaysHarmless =
    std::is_same_v<E, event::RequestStored> || std::is_same_v<E, event::JobSubmitted> || std::is_same_v<E, event::JobEnding> ||
    std::is_same_v<E, event::JobNodesReleased> || std::is_same_v<E, event::JobsPurged> || std::is_same_v<E, event::JobShrunk> ||
    std::is_same_v<E, event::JobNodeLeft> || std::is_same_v<E, event::JobRequeued> || std::is_same_v<E, event::JobWarned> ||
    std::is_same_v<E, event::JobScriptEnded> || std::is_same_v<E, event::JobMemoryReduced> || std::is_same_v<E, event::RecordsStored> ||
    std::is_same_v<E, event::StepCreated> || std::is_same_v<E, event::StepNodesDone> || std::is_same_v<E, event::StepEnded> ||
    std::is_same_v<E, event::StepUpdated> || std::is_same_v<E, event::StepUsed> || std::is_same_v<E, event::StepsTold>;

}  // namespace

bool PromiseWatch::harmless(const Event& event, const Cluster& before) const {
  if (const auto* e = std::get_if<event::JobStarted>(&event)) {
    const Job *job = before.jobs.find(e->job.value), *first = before.jobs.find(first_->job.value);
    return job && first && (job == first || turn_of(before, *job) < turn_of(before, *first));
  }
  if (const auto* e = std::get_if<event::JobLaunched>(&event)) {
    const Job* job = before.jobs.find(e->job.value);
    return job && e->ends <= job->ends;
  }
  if (const auto* e = std::get_if<event::JobChanged>(&event)) {
    const Job* job = before.jobs.find(e->job.value);
    return job && job->pending() && e->job != first_->job;
  }
  return std::visit([]<class E>(const E&) { return kAlwaysHarmless<E>; }, event);
}

void PromiseWatch::take(const Event& event, const Cluster& before) {
  if (first_ && !harmless(event, before)) first_.reset();
}

std::string PromiseWatch::look(const Cluster& cluster, const sched::Params& params, Time now) {
  const std::optional<Promise> before = std::exchange(first_, {});
  const bool known = params.backfill && !params.priority.multifactor && !params.preempt.preempts() && cluster.reservations.empty() &&
                     !params.imex_channels;
  if (!known || somebody_overstays(cluster, now)) return "";
  const Job* job = first_in_queue(cluster);
  const Verdict* verdict = job ? cluster.moment.verdicts.find(job->id.value) : nullptr;
  if (!verdict || verdict->reason != Reason::kResources || verdict->expected_start == Time{} || !job->request->licenses.empty()) return "";
  first_ = Promise{job->id, job->request, verdict->expected_start};
  if (!before || before->job != job->id || before->request != job->request) return "";
  first_->start = std::min(first_->start, before->start);
  if (verdict->expected_start <= before->start + kRounding) return "";
  return "job " + std::to_string(job->id.value) + ", the first in the queue, was promised to start at " + format_time(before->start) +
         ", and now at " + format_time(verdict->expected_start);
}

}  // namespace muster::sim
