// The batch script of sbatch: the file named, found in the working directory or PATH, or standard input, or a script made from --wrap.
// sbatch(1) DESCRIPTION.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common/options.h"

namespace muster::cli {

struct Script {
  std::string text;
  std::string path;              // as opened; "" from standard input or --wrap
  std::string name;              // for messages
  std::string default_job_name;  // of a job without --job-name
};

// Errors have Slurm's texts: "Unable to open file train.sh", "This does not look like a batch script. …". `max_bytes`:
// SchedulerParameters=max_script_size.
Result<Script> load_script(const JobScanResult& scan, size_t max_bytes = kDefaultMaxScript);

// The path of a script whose name has no '/': in the working directory, else in `path` (PATH), else "".
std::string find_script(const std::string& name, std::string_view path);

}  // namespace muster::cli
