#include "sim/replay/collector.h"

#include "base/hash.h"

namespace muster::sim::replay {
namespace {

double seconds_in(Duration d) { return static_cast<double>(d.count()) / 1e6; }

constexpr Duration kNoticed = minutes(1);  // a promise that moves by less is the same

Used times(const JobResult& job, double seconds) { return {job.cpus * seconds, job.gpus * seconds, job.nodes * seconds}; }
void add(Used& to, const Used& what) {
  to.cpu_seconds += what.cpu_seconds;
  to.gpu_seconds += what.gpu_seconds;
  to.node_seconds += what.node_seconds;
}

}  // namespace

std::pair<uint32_t, uint32_t> size_of(const Allocation& a) {
  uint64_t gpus = 0;
  for (const NodeShare& s : a.nodes)
    for (const GresShare& g : s.gres) gpus += g.name == "gpu" ? g.count : 0;
  return {a.total_cpus(), static_cast<uint32_t>(gpus)};
}

Collector::Collector(const Trace& trace, Time begin, Duration bucket)
    : trace_(trace),
      jobs_(trace.jobs.size()),
      accounts_(trace.accounts.size()),
      contended_(trace.accounts.size()),
      now_used_(trace.accounts.size()),
      line_(begin, bucket) {}

uint32_t Collector::index_of(JobId id) const {
  const auto at = by_id_.find(id.value);
  return at == by_id_.end() ? kNobody : at->second;
}

// What accounts hold counts until now if jobs wait; called before either changes.
void Collector::settle_accounts(Time now) {
  const double span = waiting_ ? seconds_in(now - settled_at_) : 0;
  settled_at_ = now;
  if (span <= 0) return;
  for (size_t i = 0; i < now_used_.size(); ++i) {
    const Used& n = now_used_[i];
    add(contended_[i], {n.cpu_seconds * span, n.gpu_seconds * span, n.node_seconds * span});
  }
}

void Collector::wait(uint32_t index, int sign, Time now) {
  settle_accounts(now);
  waiting_ += static_cast<uint32_t>(sign);
  line_.change(Amount::kWaiting, sign, now);
  line_.change(Amount::kGpusWaiting, sign * static_cast<double>(trace_.jobs[index].gpus), now);
}

void Collector::mix(uint64_t what, Time at) { hash_ = mix64(hash_ ^ what) + mix64(static_cast<uint64_t>(at.time_since_epoch().count())); }

void Collector::submitted(uint32_t index, JobId id, Time now) {
  JobResult& job = jobs_[index];
  job.known = true;
  job.submitted = job.eligible = now;
  by_id_[id.value] = index;
  wait(index, 1, now);
}

void Collector::refused(uint32_t index, Time now, std::string why) {
  JobResult& job = jobs_[index];
  job.known = job.refused = true;
  job.submitted = now;
  job.refusal = refusals_.add(why);
}

void Collector::hold(uint32_t index, const Allocation& allocation, int sign, Time now) {
  settle_accounts(now);
  add(now_used_[trace_.jobs[index].account], times(jobs_[index], sign));
  const auto [cpus, gpus] = size_of(allocation);
  line_.change(Amount::kCpus, sign * static_cast<double>(cpus), now);
  line_.change(Amount::kGpus, sign * static_cast<double>(gpus), now);
  int nodes = 0;
  for (const NodeShare& s : allocation.nodes) {
    if (in_use_.size() <= s.node.value) in_use_.resize(s.node.value + 1);
    uint32_t& jobs = in_use_[s.node.value];
    if (sign > 0) nodes += jobs++ == 0;
    else nodes -= --jobs == 0;
  }
  line_.change(Amount::kNodes, nodes, now);
}

void Collector::accrue(uint32_t index, Held& held, Time now) {
  if (held.since == Time{}) return;
  const Used more = times(jobs_[index], seconds_in(now - held.since));
  add(held.before, more);
  add(accounts_[trace_.jobs[index].account], more);
  held.since = {};
}

void Collector::started(const event::JobStarted& started, const Cluster& cluster) {
  const uint32_t index = index_of(started.job);
  if (index == kNobody) return;
  JobResult& job = jobs_[index];
  // The job as it is now says since when it could have started. A job that ended in the same turn is still there.
  if (const Job* j = cluster.jobs.find(started.job.value); j && job.starts == 0)
    job.eligible = std::max(job.submitted, std::min(j->eligible, started.time));
  wait(index, -1, started.time);
  ++running_;
  job.state = JobState::kRunning;
  job.start = started.time;
  if (job.starts++ == 0) job.first_start = started.time;
  job.nodes = static_cast<uint32_t>(started.allocation->nodes.size());
  std::tie(job.cpus, job.gpus) = size_of(*started.allocation);
  hold(index, *started.allocation, 1, started.time);
  held_[index] = {started.allocation, started.time, {}};
  mix(started.job.value * 4 + 1, started.time);
  for (const NodeShare& s : started.allocation->nodes) hash_ = mix64(hash_ ^ s.node.value);
}

void Collector::ending(const event::JobEnding& ending) {
  const uint32_t index = index_of(ending.job);
  if (index == kNobody) return;
  JobResult& job = jobs_[index];
  const auto at = held_.find(index);
  const bool comes_back = ending.flags & (kJobRequeued | kJobRequeueHold);
  mix(ending.job.value * 4 + 2 + comes_back, ending.time);
  job.state = ending.state;
  job.end = ending.time;
  ended_ += !comes_back;
  if (at == held_.end()) {
    wait(index, -1, ending.time);
    return;
  }
  --running_;
  const bool was_suspended = at->second.since == Time{};
  accrue(index, at->second, ending.time);
  if (!was_suspended) hold(index, *at->second.allocation, -1, ending.time);
  if (ending.state == JobState::kPreempted) {
    ++job.preempted;
    ++(comes_back ? preempted_.requeued : preempted_.cancelled);
    add(preempted_.lost, at->second.before);
  }
  held_.erase(at);
}

void Collector::suspended(const event::JobSuspended& suspended) {
  const uint32_t index = index_of(suspended.job);
  const auto at = held_.find(index);
  if (at == held_.end() || suspended.resumed == (at->second.since != Time{})) return;
  if (suspended.resumed) {
    at->second.since = suspended.time;
    hold(index, *at->second.allocation, 1, suspended.time);
    return;
  }
  accrue(index, at->second, suspended.time);
  hold(index, *at->second.allocation, -1, suspended.time);
  ++jobs_[index].suspended;
  ++preempted_.suspended;
}

void Collector::take(const Event& event, const Cluster& cluster) {
  if (auto* s = std::get_if<event::JobStarted>(&event)) started(*s, cluster);
  else if (auto* e = std::get_if<event::JobEnding>(&event)) ending(*e);
  else if (auto* p = std::get_if<event::JobSuspended>(&event)) suspended(*p);
  else if (auto* r = std::get_if<event::JobRequeued>(&event)) {
    const uint32_t index = index_of(r->job);
    if (index == kNobody) return;
    jobs_[index].state = JobState::kPending;
    jobs_[index].end = {};
    wait(index, 1, r->time);
  }
}

void Collector::promises(const sched::Plan& plan, Time now) {
  for (const auto& [id, verdict] : plan.verdicts) {
    const uint32_t index = index_of(id);
    if (index == kNobody || verdict.expected_start == Time{} || verdict.expected_start == kTimeInfinite) continue;
    JobResult& job = jobs_[index];
    if (job.starts) continue;
    const Time promise = verdict.expected_start;
    if (job.first_promise == Time{}) {
      job.first_promise = promise;
      job.promised_at = now;
    } else if (promise > job.last_promise + kNoticed) {
      ++job.delays;
      job.delayed += promise - job.last_promise;
    }
    job.last_promise = promise;
  }
}

void Collector::finish(Time now) {
  settle_accounts(now);
  for (auto& [index, held] : held_) accrue(index, held, now);
  line_.advance(now);
}

}  // namespace muster::sim::replay
