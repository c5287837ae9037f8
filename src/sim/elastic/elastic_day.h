// ElasticDay: a day of a cluster whose nodes are machines of a cloud. The controller's own core and planner; users who submit jobs for whole nodes; a tool
// kit that sets nodes DOWN which got no machine, and powers them down, as those of real clouds do, or that says nothing and leaves it to ResumeTimeout.
// While it goes on these are checked:
//   no node is used by two jobs, and no script starts where there is no machine
//   a machine is let go of, and no node is lost: at the end every node is powered down and free for the next job, and no machine is left
//   every job ends as it should
//   no more nodes are powered up, and no more machines are there, than max_powered_nodes
// What it costs is compared with the best that this schedule can cost: a machine for each node of a job from the job's start to its end, and after it as
// long as SuspendTime says, unless another job takes it before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/elastic/cloud.h"

namespace muster::sim::elastic {

struct DayRules {
  uint64_t seed = 1;
  Duration length = minutes(24 * 60);
  uint32_t nodes = 48;
  uint32_t jobs = 400;
  uint32_t most_powered = 0;  // max_powered_nodes; 0: not given
  bool kit_tells = true;      // of a machine that does not come; false: ResumeTimeout finds out
  CloudRules cloud;
};

struct Day {
  uint64_t completed = 0, restarts = 0, machines = 0, refused = 0, turns = 0;
  uint32_t most_powered = 0;                              // at once
  double paid_hours = 0, best_hours = 0, used_hours = 0;  // of machines; used: while a job has them
  std::vector<std::string> broken;                        // what was checked and is not so
};

Day play(const DayRules& rules);

}  // namespace muster::sim::elastic
