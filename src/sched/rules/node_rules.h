// The rows of node_rules(), each in a file of its own. Only node_rules.cc includes this.
#pragma once

#include "sched/rules/node_rule.h"

namespace muster::sched {

extern const NodeRule kNodeKnown;      // exists, and is not FUTURE
extern const NodeRule kNodeInService;  // up, not drained
extern const NodeRule kConstraint;     // --constraint, --prefer
extern const NodeRule kNodeExtra;      // --extra, where it is a constraint
extern const NodeRule kNodeLists;      // --nodelist, --exclude
extern const NodeRule kNodeMake;       // sockets, cores, threads, disk
extern const NodeRule kNodeRoom;       // CPUs, memory, devices of an idle node
extern const NodeRule kNodeAmounts;    // CPUs, memory, devices that are free
extern const NodeRule kNodeLayout;     // where they are
extern const NodeRule kPartitionCpus;  // MaxCPUsPerNode, MaxCPUsPerSocket
extern const NodeRule kNodeOwner;      // --exclusive=user, mcs
extern const NodeRule kWholeNodes;     // --exclusive
extern const NodeRule kWholeLeaves;    // --exclusive=topo
extern const NodeRule kTogether;       // --switches, --contiguous
extern const NodeRule kTopologyUnit;   // blocks, rings, tori
extern const NodeRule kReservations;   // whose they are not
extern const NodeRule kLayers;         // hierarchical resources
extern const NodeRule kNotWoken;       // powered down, and none may be woken
extern const NodeRule kPromised;       // to jobs ahead

}  // namespace muster::sched
