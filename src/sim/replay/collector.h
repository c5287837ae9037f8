// Collector: what the events of a replay amount to: of each job when it could start, started and ended; how much was in use and was waited for at each
// moment; what each account used; what was preempted; what was promised. It decides nothing. Which kind of rule preempted a job does not matter here:
// a job that ends as PREEMPTED, a job that comes back to the queue and a job that is suspended are seen by their events.
//
// Cost: O(nodes of the job + accounts) for a start or an end, O(1) for a promise.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <unordered_map>

#include "model/event.h"
#include "sim/replay/site.h"
#include "sim/replay/trace.h"
#include "sim/replay/usage_line.h"

namespace muster::sim::replay {

// Of one job of the trace. Times that have not come are unset.
struct JobResult {
  Time submitted{}, eligible{}, first_start{}, start{}, end{};
  JobState state = JobState::kPending;
  bool known = false, refused = false;
  uint16_t starts = 0, preempted = 0, suspended = 0;
  uint32_t nodes = 0, cpus = 0, gpus = 0;  // of the last start
  uint32_t refusal = 0;                    // number in Collector::refusals
  // Promises before the first start: the first and the last expected start, and how often the next was later than the one before by more than a
  // minute, by how much in all.
  Time promised_at{}, first_promise{}, last_promise{};
  uint16_t delays = 0;
  Duration delayed{};
};

struct Used {
  double cpu_seconds = 0, gpu_seconds = 0, node_seconds = 0;
};

struct Preempted {
  uint64_t cancelled = 0, requeued = 0, suspended = 0;  // times
  Used lost;                                            // what the runs had used that ended so
};

class Collector {
 public:
  Collector(const Trace& trace, Time begin, Duration bucket);

  // ---- by whoever drives the replay
  void set_cluster(const Capacity& capacity) { in_use_.assign(capacity.counted.size(), 0); }
  void submitted(uint32_t index, JobId id, Time now);
  void refused(uint32_t index, Time now, std::string why);
  void take(const Event& event, const Cluster& cluster);
  void promises(const sched::Plan& plan, Time now);
  void finish(Time now);  // what runs still is used until now

  uint32_t waiting() const { return waiting_; }
  uint32_t running() const { return running_; }
  uint64_t ended() const { return ended_; }
  static constexpr uint32_t kNobody = 0xffffffffu;
  uint32_t index_of(JobId id) const;  // kNobody: not of the trace

  // ---- for reports
  const std::vector<JobResult>& jobs() const { return jobs_; }
  const Names& refusals() const { return refusals_; }
  const UsageLine& line() const { return line_; }
  // By number in Trace::accounts: all that was used, and what was used while jobs waited: only then is one account's use another one's wait.
  const std::vector<Used>& used_by_account() const { return accounts_; }
  const std::vector<Used>& used_while_waiting() const { return contended_; }
  const Preempted& preempted() const { return preempted_; }
  uint64_t hash() const { return hash_; }  // of all starts and ends, in their order

 private:
  struct Held {
    AllocationPtr allocation;
    Time since{};  // unset: suspended
    Used before;   // of this run, until it was suspended last
  };
  void started(const event::JobStarted& started, const Cluster& cluster);
  void ending(const event::JobEnding& ending);
  void suspended(const event::JobSuspended& suspended);
  void hold(uint32_t index, const Allocation& allocation, int sign, Time now);
  void settle_accounts(Time now);
  void accrue(uint32_t index, Held& held, Time now);
  void wait(uint32_t index, int sign, Time now);
  void mix(uint64_t what, Time at);

  const Trace& trace_;
  std::vector<JobResult> jobs_;
  std::unordered_map<uint32_t, uint32_t> by_id_;  // JobId → index
  std::map<uint32_t, Held> held_;                 // by index: of those that run
  std::vector<uint32_t> in_use_;                  // jobs on each node
  std::vector<Used> accounts_, contended_;
  std::vector<Used> now_used_;  // by account: CPUs, GPUs and nodes that its jobs hold now
  Time settled_at_{};
  UsageLine line_;
  Preempted preempted_;
  Names refusals_;
  uint32_t waiting_ = 0, running_ = 0;
  uint64_t ended_ = 0, hash_ = 0;
};

// CPUs and GPUs that an allocation holds.
std::pair<uint32_t, uint32_t> size_of(const Allocation& a);

}  // namespace muster::sim::replay
