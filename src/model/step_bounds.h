// What the site allows each job's steps, whoever decides about them: slurmctld, or the slurmd that manages them.
#pragma once

#include <cstdint>

namespace muster {

struct StepBounds {
  uint32_t most_steps = 0;    // of a job: MaxStepCount
  uint32_t most_tasks = 512;  // of a step on one node: MaxTasksPerNode
};

}  // namespace muster
