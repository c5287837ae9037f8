// Occupants: the jobs that could be told to make room, what they would give back, and on which nodes they stand. Built once a pass, and
// only when a job that may preempt others finds no room.
//
// A job that is suspended gives back CPUs alone: it keeps its memory, its devices and its licences (slurm.conf(5) PreemptMode=SUSPEND). One
// that waits for its turn already costs nothing to displace.
//
// Cost: O(running jobs + their shares).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "model/cluster.h"
#include "sched/preempt/preempt_rule.h"
#include "sched/queue/pending.h"
#include "sched/supply/availability.h"

namespace muster::sched {

struct Occupant {
  const Job* job = nullptr;
  PreemptHow how = PreemptHow::kOff;
  uint64_t rank = 0;                  // lower ranks make room first
  double cost = 0;                    // within a rank: one for the job, and a little for its size and for the time that it has run
  bool aside = false;                 // suspended already
  bool taken = false;                 // was chosen in this pass
  std::span<const NodeShare> shares;  // what it would give back
};

class Occupants {
 public:
  Occupants(const Cluster& cluster, const PreemptRule& rule, const Pending& pending, uint32_t nodes, Time now);

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  const Occupant& at(uint32_t index) const { return jobs_[index]; }
  std::span<const uint32_t> on(uint32_t node) const {  // indexes, ascending
    return std::span(on_).subspan(first_on_[node], first_on_[node + 1] - first_on_[node]);
  }
  void take(uint32_t index) { jobs_[index].taken = true; }
  void set_aside(uint32_t index) { jobs_[index].aside = true; }  // it is suspended from now on

  // Takes what the job holds off the supply, and lays it on again.
  void lift(uint32_t index, Availability& nodes) const;
  void put_back(uint32_t index, Availability& nodes) const;

 private:
  std::span<const NodeShare> given_back(const Allocation& allocation, PreemptHow how);
  void sort_by_node(uint32_t nodes);

  std::vector<Occupant> jobs_;
  std::deque<std::vector<NodeShare>> lessened_;  // shares of those that give back CPUs alone; of others they are the job's own
  std::vector<uint32_t> on_, first_on_;          // indexes of jobs, node after node; where those of each node begin
};

}  // namespace muster::sched
