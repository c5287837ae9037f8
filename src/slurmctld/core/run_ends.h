// Runs of jobs that have ended, or begun, for what is told of each once (slurm.conf(5) JobCompType). A run ends with its job, or with a requeue, after which
// the next one has another number of restarts. Tasks of an array that were cancelled before they had a record of their own have no run; an array's
// record that is cancelled as a whole has one. Pure. Cost: O(events) for a turn, O(jobs) at a start.
#pragma once

#include <string>
#include <vector>

#include "model/accounting.h"
#include "model/cluster.h"
#include "model/event.h"

namespace muster::slurmctld {

using Events = std::vector<Event>;

struct EndedRun {
  JobRecord record;
  // What the accounting database does not keep of a job.
  std::string submit_host, dependency, excluded_nodes;
  uint32_t tasks_per_node = 0, cpus_per_task = 0;
  bool is_batch = false;
};

// The runs that the events of a turn ended. `before` and `after`: the state before and after that turn.
std::vector<EndedRun> runs_ended(const Cluster& before, const Cluster& after, const Events& events);
// The runs that the events of a turn began and that run still after it; those that run in the state.
std::vector<EndedRun> runs_begun(const Cluster& after, const Events& events);
std::vector<EndedRun> runs_under_way(const Cluster& state);
// The jobs that the turn forgot.
std::vector<uint32_t> jobs_forgotten(const Events& events);
// All runs in the state that are over. Whoever starts anew has to look at all of them, for nobody says which were told already.
std::vector<EndedRun> runs_over(const Cluster& state);
// All jobs in the state.
std::vector<uint32_t> jobs_known(const Cluster& state);

}  // namespace muster::slurmctld
