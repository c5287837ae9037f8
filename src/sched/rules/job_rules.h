// The rows of job_rules(), each in a file of its own. Only job_rules.cc, and code that words one rule's refusal otherwise, includes this.
#pragma once

#include "sched/rules/job_rule.h"

namespace muster::sched {

extern const JobRule kPartitionState;     // UP, DRAIN, DOWN, INACTIVE
extern const JobRule kPartitionHasNodes;  // any at all
extern const JobRule kPartitionNodes;     // MinNodes, MaxNodes
extern const JobRule kPartitionTime;      // MaxTime
extern const JobRule kPartitionLists;     // AllowAccounts, AllowQos and their opposites
extern const JobRule kAccounting;         // accounts and QOS, by sched/gate.h
extern const JobRule kRequestItself;      // wrong for the partition as it stands
extern const JobRule kDeferred;           // SchedulerParameters=defer
extern const JobRule kLimits;             // of associations, QOS, users of a partition
extern const JobRule kLicenses;           // --licenses
extern const JobRule kChannels;           // of switch/nvidia_imex
extern const JobRule kPoweredNodes;       // max_powered_nodes, at the start
extern const JobRule kReservationAccess;  // --reservation: it is there, and for the job
extern const JobRule kReservationTime;    // it has begun

}  // namespace muster::sched
