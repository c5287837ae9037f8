// The names of files that tasks read and write: "out-%j-%t.txt" as sbatch(1) FILENAME PATTERN and srun(1) IO
// Redirection have it. Shared by slurmd, which expands what differs between nodes and tasks, and srun, which
// opens the rest itself. Pure; cost O(length).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "model/job_request.h"
#include "model/sluid.h"

namespace muster {

struct FileNames {
  JobId job{}, array_job{};  // array_job 0: not of an array
  uint32_t array_task = kNoArrayTask;
  StepId step = kBatchStep;
  std::string node;         // %N, cut at the first dot
  uint32_t node_index = 0;  // %n
  uint32_t rank = 0;        // %t
  uint32_t restarts = 0;    // %r
  Sluid sluid{};            // %S
  std::string user, job_name;
};

// Replaces %% %A %a %b %J %j %N %n %r %S %s %t %u %x, with an optional width that pads numbers with zeros (at most 10). Other symbols
// stay as they are. A backslash anywhere turns replacement off and is removed. The result is not made absolute.
std::string expand_file_pattern(std::string_view pattern, const FileNames& names);

// Whether the name depends on the node or task (%N %n %t), so that only the nodes can open the file.
bool pattern_is_per_task(std::string_view pattern);

// slurm-%j.out, or slurm-%A_%a.out of an array.
std::string_view default_batch_output(bool of_array);

// `path` below `directory` unless it is absolute.
std::string below(std::string_view directory, std::string_view path);

}  // namespace muster
