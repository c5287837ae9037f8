// aftercorr between arrays: a task waits for the task of the same number. sbatch(1) --dependency. Where there is none, it waits for the
// whole array, as in Slurm 22.05.
//
// Tasks that wait are bits in their array's record. Those for which the matter is settled leave it: the ones that may start now for a record
// of theirs together, the ones that never can for another (JobChanged with both array_task and array_tasks), which later ones join. So there
// are as many records as there are different answers, and not as there are tasks. Ages are counted in steps of PriorityCalcPeriod, so tasks
// join those that became eligible within one.
//
// Cost: for the end of one task O(tasks / 64); to look at all of an array O(records in the table + tasks).
#pragma once

#include <functional>

#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_ids.h"

namespace muster::slurmctld {

// The records of an array: that of the tasks that wait, and those of others.
void for_each_record(const Cluster& cluster, JobId array, const std::function<void(const Job&)>& f);

// Which tasks of an array are over for good, and how.
struct TaskEnds {
  Bitmap ok, bad;
};
// `cause`: what this record of the array and those that were cancelled without one tell; null: all of its records.
TaskEnds task_ends(const Cluster& cluster, JobId array, const Job* cause);

// Whether the dependency is one of a task, or of tasks, on those of the same number in an array.
bool is_task_by_task(const Cluster& cluster, const Job& self, const Dependency& d);

// Settles an array's record that has such dependencies; false where it has none. `list`: its dependencies as they stand now.
bool settle_tasks(const View& view, const Job& job, const Dependencies& list, const Job* cause, JobIds& ids, Events& out);

// timers.cc: what a record becomes whose dependencies stand like that; ends one for which they never can be met, if it is to end for that.
event::JobChanged settled(const View& view, const Job& job, const Dependencies& list);
bool end_if_never(const View& view, const Job& job, const Dependencies& list, Events& out);

}  // namespace muster::slurmctld
