// VictimSearch: which jobs have to make room so that one job can start, and where it then starts. Guide preempt.
//
// Nodes are gathered by what they cost: free ones first, then those whose jobs are of the lowest rank, and among these those with the fewest,
// smallest and youngest jobs. A job on several nodes costs once: on each of its nodes its part. Gathering ends when the gang fits. Then every
// job of the set, the dearest first, is put back for a trial, and stays where the gang still fits: no needless victim is left. The fewest
// victims that there are is a covering problem that nobody solves in time; the set that is found is minimal, not always the least.
// PreemptParameters=reorder_count and strict_order tune Slurm's search for the same and have nothing to tune here.
//
// Promises to jobs ahead are never touched: on a node that is promised only what the promise leaves is looked at.
//
// Cost: O(nodes of the class + shares of occupants there) to order, O(log) a node that is gathered, and a placement for each victim on
// the gathered nodes only. Aim: 64 nodes of a full cluster of 10,000 in 50 ms.
#pragma once

#include <optional>
#include <queue>
#include <vector>

#include "sched/place/placement.h"
#include "sched/preempt/occupants.h"

namespace muster::sched {

struct MadeRoom {
  AllocationPtr allocation;
  std::vector<uint32_t> victims;  // indexes of occupants, ascending
};

class VictimSearch {
 public:
  // `sure`: those that have to go in any case, for what they hold beside nodes; they are among the victims of whatever room is found.
  VictimSearch(Availability& nodes, const RequestClass& c, const Params& params, const NodeFilter* filter, const Occupants& occupants,
               const PreemptRule& rule, const Preemptor& who, Duration waited, std::vector<uint32_t> sure = {});

  // These are gone already, and off the supply: they cost nothing and are no victims of this job.
  void without(const std::vector<uint32_t>& gone) {
    for (uint32_t index : gone) lifted_[index] = true;
  }
  // Nothing: the job finds no room whoever goes. The supply is afterwards what it was before.
  std::optional<MadeRoom> run();

 private:
  // What a node can give, and what that costs.
  struct Offer {
    uint64_t rank = 0;  // the highest among its victims
    double cost = 0;
    uint32_t node = 0, tasks = 0;
    bool exact = false;
    std::vector<uint32_t> victims{};
    bool operator<(const Offer& o) const;  // for a heap: the cheapest on top
  };
  bool may_go(uint32_t index);
  double part_of(uint32_t index) const;
  std::vector<uint32_t> movable(uint32_t node);
  void open(uint32_t node);
  std::optional<Offer> offer(uint32_t node);
  // What a node has free when more and more of its jobs are gone, by counting.
  struct Left {
    uint32_t units = 0;
    uint64_t mem_mb = 0;
    std::vector<uint64_t> gres;
  };
  Left left_now(uint32_t node) const;
  void add(uint32_t node, uint32_t index, Left& left) const;
  uint32_t tasks(uint32_t node, const Left& left) const;
  bool all_may_go(uint32_t node, const std::vector<uint32_t>& movable) const;
  void gather(Offer offer);
  void lift(uint32_t index);
  bool enough() const;
  bool fits();
  std::optional<MadeRoom> settle();
  bool stands_in_place(uint32_t index) const;
  bool is_needed(uint32_t index) const;
  void drop_needless();
  void put_all_back();

  Availability& nodes_;
  RequestClass class_;  // narrowed to the gathered nodes
  const Shape& s_;
  const Params& params_;
  const NodeFilter* filter_;
  const Occupants& occupants_;
  const PreemptRule& rule_;
  const Preemptor& who_;
  const Duration waited_;
  const Bitmap feasible_;
  const uint32_t wanted_, target_;  // tasks on a node: to be of use; as many as are needed if they are even
  const uint32_t need_nodes_;
  const std::vector<uint32_t> sure_;
  std::vector<int8_t> verdict_;  // by occupant: not asked, may go, may not
  std::vector<bool> lifted_;     // by occupant
  std::vector<uint32_t> victims_;
  std::priority_queue<Offer> offers_;
  Bitmap gathered_;
  size_t nodes_gathered_ = 0;
  uint64_t tasks_ = 0;
  AllocationPtr placed_;
};

}  // namespace muster::sched
