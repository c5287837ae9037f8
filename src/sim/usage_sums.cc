#include "sim/usage_sums.h"

#include <algorithm>
#include <cmath>

namespace muster::sim {

void UsageSums::take(const Event& event, const Cluster& before) {
  if (const auto* started = std::get_if<event::JobStarted>(&event)) {
    const Job* job = before.jobs.find(started->job.value);
    if (!job || !started->allocation) return;
    open_[started->task_job ? started->task_job : started->job] = {started->association ? started->association : job->association,
                                                                   started->partition, job->request, started->allocation, started->time};
  } else if (const auto* ending = std::get_if<event::JobEnding>(&event)) {
    close(ending->job, ending->time, false);
  } else if (const auto* suspended = std::get_if<event::JobSuspended>(&event)) {
    if (suspended->resumed) reopen(suspended->job, suspended->time, nullptr);
    else close(suspended->job, suspended->time, true);
  } else if (const auto* shrunk = std::get_if<event::JobShrunk>(&event)) {
    close(shrunk->job, shrunk->time, true);
    reopen(shrunk->job, shrunk->time, shrunk->allocation);
  } else if (const auto* changed = std::get_if<event::JobChanged>(&event)) {
    const Job* job = before.jobs.find(changed->job.value);
    if (job && !job->pending()) open_.erase(changed->job), still_.erase(changed->job);  // it may be another's from now on
  } else if (std::holds_alternative<event::DirectoryLearned>(event) || std::holds_alternative<event::UsageReset>(event)) {
    open_.clear();
    still_.clear();
    runs_.clear();
  }
}

void UsageSums::close(JobId job, Time at, bool stays) {
  if (const auto run = open_.find(job); run != open_.end()) {
    run->second.until = std::max(at, run->second.from);
    runs_.push_back(run->second);
    if (stays) still_[job] = run->second;
    open_.erase(run);
  }
  if (!stays) still_.erase(job);
}

void UsageSums::reopen(JobId job, Time at, const AllocationPtr& less) {
  const auto run = still_.find(job);
  if (run == still_.end()) return;
  Run next = run->second;
  next.from = at;
  next.until = kTimeInfinite;
  if (less) next.allocation = less;
  open_[job] = std::move(next);
  still_.erase(run);
}

double UsageSums::seconds_of(const Run& run, Time by) const {
  const Time until = std::min(run.until, by);
  if (until <= run.from) return 0;
  const auto age = [&](Time t) { return static_cast<double>((by - t).count()) / 1e6; };
  if (half_life_ <= Duration{}) return age(run.from) - age(until);
  const double half = static_cast<double>(half_life_.count()) / 1e6;
  return half / std::log(2) * (std::exp2(-age(until) / half) - std::exp2(-age(run.from) / half));
}

double UsageSums::minutes(const LimitSums& counts, std::string_view tres, Time by) const {
  constexpr double kMinute = 60;
  double out = 0;
  const auto add = [&](const Run& run) {
    if (!counts.counts(run.association, *run.request, run.partition)) return;
    out += seconds_of(run, by) / kMinute * (tres.empty() ? 1.0 : static_cast<double>(amount_of(*run.allocation, tres)));
  };
  for (const auto& [job, run] : open_) add(run);
  for (const Run& run : runs_) add(run);
  return out;
}

}  // namespace muster::sim
