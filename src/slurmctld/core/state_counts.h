// StateCounts: how many job records are in each state, so that a query for a few states ends when it has seen them all, however long the
// queue is. Kept by Indexes, published with the Cluster that it counts. O(1).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "model/cluster.h"
#include "model/rpc.h"
#include "sched/planned.h"

namespace muster::slurmctld {

struct StateCounts {
  static constexpr uint32_t kAny = std::numeric_limits<uint32_t>::max();
  std::array<uint32_t, kJobStateCount> records{};

  uint64_t pending_tasks = 0;  // pending jobs, each task of an array counted

  void add(const Job& j) {
    ++records[static_cast<size_t>(j.state)];
    pending_tasks += waiting_in(j);
  }
  void remove(const Job& j) {
    --records[static_cast<size_t>(j.state)];
    pending_tasks -= waiting_in(j);
  }
  uint32_t of(JobState s) const { return records[static_cast<size_t>(s)]; }
  // How many records are in one of the filter's states; kAny where the filter also asks for flags of jobs.
  uint32_t meant_by(const rpc::JobFilter& f) const {
    if (f.state_flags || !f.states) return kAny;
    uint32_t sum = 0;
    for (size_t i = 0; i < records.size(); ++i)
      if (f.states & (1u << i)) sum += records[i];
    return sum;
  }
  bool operator==(const StateCounts&) const = default;

 private:
  static uint64_t waiting_in(const Job& j) { return !j.pending() ? 0 : j.array_tasks ? j.array_tasks->pending.count() : 1; }
};

// What readers see: the state as of a commit, the counts of its records, and the nodes that the last full pass keeps for waiting jobs.
struct Snapshot : Cluster {
  Snapshot(const Cluster& cluster, const StateCounts& c, sched::PlannedNodesPtr p) : Cluster(cluster), counts(c), planned(std::move(p)) {}
  StateCounts counts;
  sched::PlannedNodesPtr planned;  // never null
};

}  // namespace muster::slurmctld
