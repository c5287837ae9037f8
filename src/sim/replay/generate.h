// Makes months of a GPU cluster's work from published figures (profiles.h): a trace as sacct prints it, with the slurm.conf, gres.conf and accounts of
// the cluster it is for. The same options give the same bytes. Pure. Cost: O(jobs log jobs).
#pragma once

#include <string>

#include "base/result.h"
#include "sim/replay/profiles.h"

namespace muster::sim::replay {

struct GenerateOptions {
  const Profile* profile = nullptr;
  double months = 1;  // of 30 days
  uint32_t nodes = 100, gpus_per_node = 8, cpus_per_node = 96;
  uint64_t mem_per_node_mb = 1'000'000;
  uint32_t users = 60, accounts = 8;
  double load = 0.85;  // GPU time asked for, as a part of what there is
  uint64_t jobs = 0;   // 0: as many as the load makes; else run times are stretched so that so many jobs make the load
  uint64_t seed = 1;
};

struct Generated {
  std::string trace, slurm_conf, gres_conf, accounts;
  uint64_t jobs = 0;
  double gpu_hours = 0, load = 0;  // what came out
  double mean_gpus = 0, mean_run = 0, median_run = 0;
  double stretch = 1;  // of run times
};

// What the distributions have by themselves, of jobs of at most so many GPUs: to be held against the profile.
struct ModelFigures {
  double mean_gpus = 0, mean_run = 0, median_run = 0, gpu_seconds = 0;  // gpu_seconds: of a job, on average
};
ModelFigures model_figures(const Profile& profile, uint32_t most_gpus);

// Errors: more jobs than a few million. `jobs` is at most 5 million, gpus_per_node a power of two, the rest not 0.
Result<Generated> generate(const GenerateOptions& options);

}  // namespace muster::sim::replay
