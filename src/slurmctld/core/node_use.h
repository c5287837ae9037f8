// What jobs hold of nodes (CPUs, memory, devices, counts, fences), as apply keeps it in the state. Records, decides nothing.
#pragma once

#include "model/cluster.h"

namespace muster::slurmctld {

class NodeUse {
 public:
  explicit NodeUse(Cluster& c) : c_(c) {}
  void hold(const Job& j, Time now);  // the whole allocation
  void end(const Job& j, Time now);   // nodes it need not wait for are free, the others complete first
  void release(const Job& j, const NodeShare& s, bool completing, Time now);
  // A node that a running job needs no more: free at once, or when it has got rid of the job.
  void give_up(Job& j, const NodeShare& share, bool at_once, Time now);
  void fence(uint32_t id);         // kept from others while the job is there
  void lift_fences(const Job& j);  // the last node of the job is free

 private:
  void complete_on(NodeId id);

  Cluster& c_;
};

}  // namespace muster::slurmctld
