// Plan: what a pass over the queue comes to. It is advice: slurmctld/core checks every item against the state at that moment
// (still_fits, planner.h) and drops what no longer fits.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "sched/planned.h"

namespace muster::sched {

enum class Pass : uint8_t {
  kQuick,  // start what can start; verdicts only for jobs looked at
  kFull,   // and a reason and an expected start for every pending job
};

struct StartItem {
  JobId job{};
  uint32_t array_task = kNoArrayTask;  // which pending task of an array record
  uint32_t partition = 0;
  AllocationPtr allocation;                  // nodes in rank order, tasks laid out per node
  bool by_full_pass = false;                 // else by a quick one
  bool needs_power_up = false;               // some node is powered down: the job starts CONFIGURING
  uint32_t priority = 0;                     // of the job at that moment
  std::optional<uint32_t> time_limit_min{};  // lowered within --time-min
  uint32_t reservation = 0;                  // that it runs in
  RequestBodyPtr request{};                  // what was planned for: an update since then voids the item; null: not checked
  std::vector<StartItem> together{};         // the other components of a heterogeneous job: all of them start, or none
  std::vector<JobId> over{};                 // jobs that are suspended for it, ascending: it has CPUs of theirs
};

// Jobs that are to end so that a waiting one can start. A minimal set: without any of them it could not. Of a heterogeneous job all components
// start then, and nobody ends for a part of it.
struct PreemptItem {
  JobId job{};
  uint32_t array_task = kNoArrayTask;
  uint32_t partition = 0;
  AllocationPtr allocation;    // where it will start
  std::vector<JobId> victims;  // ascending; never empty
  uint32_t priority = 0;
  RequestBodyPtr request{};
  std::vector<StartItem>
      components{};          // the other components of a heterogeneous job; what is above and below is the first one's, but for the victims
  uint32_t reservation = 0;  // that it will run in
};

struct Plan {
  uint64_t position = 0;          // of the snapshot it was made from
  std::vector<StartItem> starts;  // in order; each is atomic
  std::vector<PreemptItem> preemptions;
  std::vector<JobId> released_claims;  // of jobs that cannot use what is held for them
  std::vector<std::pair<JobId, Verdict>> verdicts;
  FairFactorsPtr fair_factors;  // that the order of jobs came from
  PlannedNodesPtr planned;      // of a full pass: the nodes that it keeps for jobs that wait; null: a quick pass, which cannot say
  // for sdiag and the bench
  uint32_t jobs_considered = 0, classes = 0;
  Duration horizon{};
};

}  // namespace muster::sched
