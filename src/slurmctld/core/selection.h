// Selection: what the selectors of one command mean together: records, pending tasks of an array's record, steps. Each of these appears
// once, with the first selector that names it, however many do. Pending tasks that are all that their record has are given as the record.
// So a command decides about each thing once, and what it decides holds for all of it. scancel(1), scontrol(1).
//
// Cost: O(records of the arrays named), and O(tasks) for each selector of tasks.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/rpc.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

struct Target {
  const Job* job = nullptr;
  std::vector<uint32_t> tasks;  // pending tasks of an array record; empty: the record
  bool has_step = false;
  StepId step{};
};

// What one of the selectors adds to those before it.
struct Meant {
  bool known = false;           // the selector names something that exists
  std::vector<Target> targets;  // empty though known: earlier selectors named all of it
};
std::vector<Meant> select(const View& v, const std::vector<rpc::JobSelector>& selectors);

// The records that one selector means, as they are.
std::vector<const Job*> select_jobs(const View& v, const rpc::JobSelector& selector);

// The jobs that selectors mean, each as a record of its own. Pending tasks that are named out of an array are taken out of the array's
// record by events appended to `out`, and stand in `own` as they will be; this is not done for jobs that the caller may not change.
struct PickedJobs {
  std::vector<const Job*> jobs;
  bool known = false;
};
struct Picked {
  std::vector<PickedJobs> of;
  std::deque<Job> own;
};
Picked pick_jobs(const View& v, const std::vector<rpc::JobSelector>& selectors, Events& out);

}  // namespace muster::slurmctld
