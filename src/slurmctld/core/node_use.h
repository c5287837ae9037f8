// NodeUse: keeps what jobs hold of nodes (CPUs, memory, devices, counts, fences) in the state, for apply. It records and decides nothing.
#pragma once

#include "model/cluster.h"

namespace muster::slurmctld {

class NodeUse {
 public:
  explicit NodeUse(Cluster& c) : c_(c) {}
  void hold(const Job& j, Time now);  // the whole allocation
  void end(const Job& j, Time now);   // nodes it need not wait for are free, the others complete first
  void release(const Job& j, const NodeShare& s, bool completing, Time now);
  // A job that is suspended gives others its CPUs and keeps the rest; later it has them again, whoever is there by then. Job::run->off_cpus
  // says which of the two holds, and is set by the caller: before leave_cpus is called it is false, before take_cpus_again true.
  void leave_cpus(const Job& j, Time now);
  void take_cpus_again(const Job& j, Time now);
  // A node that a running job no longer needs is free at once, or when nothing of the job is left on it.
  void give_up(Job& j, const NodeShare& share, bool at_once, Time now);
  void fence(uint32_t id);         // keeps the node from other jobs while this one is there
  void lift_fences(const Job& j);  // the last node of the job is free

 private:
  void complete_on(NodeId id, bool off_cpus);

  Cluster& c_;
};

}  // namespace muster::slurmctld
