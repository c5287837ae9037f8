// What a job has used against what it held: seff and `muster report efficiency`. Pure: records in, numbers and text out.
//
// CPU time is that of all steps. Memory is that of the step that used the most: the sum of its tasks' peaks, so that it is exact for one
// task and an upper bound for several, whose peaks need not have come at once. The same holds for GPUs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "fields/record_view.h"

namespace muster::fields {

struct Efficiency {
  Duration cpu_used{}, cpu_held{};  // held: elapsed time times CPUs
  Bytes mem_used{}, mem_held{};     // of all nodes; held 0: no limit was set
  uint32_t nodes = 0, cpus = 0;
  uint64_t gpus_held = 0, gpu_util = 0;  // percent of a GPU, summed over GPUs: of the step that had most at work, at its peak
  Bytes gpu_memory{};                    // likewise
  bool gpus_known = false;
  double gpu_percent() const;  // of all GPUs
  bool known = false;          // something was gathered
  bool mem_estimated = false;  // of several tasks
  double cpu_percent() const;  // 0 where nothing was held
  double mem_percent() const;
  // What would have been enough with a fifth to spare; none where what was asked for is not more than that, or nothing is known.
  std::optional<uint32_t> cpus_next_time() const;
  std::optional<Bytes> mem_next_time() const;  // on each node, whole MiB or GiB
};
Efficiency efficiency_of(const RecordView& job);  // with its steps
// "2 CPUs in all and --mem=1229M"; empty where there is nothing to change.
std::string next_time(const Efficiency& efficiency);

// seff's report, as Slurm's contributed seff prints it, with what to ask for next time at the end.
std::string efficiency_report(const RecordView& job);

}  // namespace muster::fields
