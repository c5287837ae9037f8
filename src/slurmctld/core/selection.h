// Selection: what the selectors of one command mean together: records, pending tasks of an array's record, steps. Each is there
// once, with the first selector that names it, however many do; pending tasks that are all that their record has are the record.
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
  bool known = false;           // something goes by that name
  std::vector<Target> targets;  // none, though known: others named it before
};
std::vector<Meant> select(const View& v, const std::vector<rpc::JobSelector>& selectors);

// The records that one selector means, as they are.
std::vector<const Job*> select_jobs(const View& v, const rpc::JobSelector& s);

// The jobs that selectors mean, each as a record of its own: pending tasks that are named out of an array are taken out of
// the array's record by events appended to `out`, and stand in `own` as they will be; not those of jobs that the command is not for.
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
