// What --extract and --item-extract write and --list prints, from a job file. sh5util(1). The lines are those of Debian's Slurm 22.05.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/sh5util/job_file.h"
#include "cli/sh5util/merge.h"

namespace muster::cli {

struct Extraction {
  WantedSteps wanted;
  std::string series;  // as typed: "Task", "Task_3", "Energy"; "": all of them
  std::string node;    // "": all of them
  bool time_series = false;
};
// Comma separated values. kNotFound: the file has no such series.
Result<std::string> extract_series(const JobFile& file, const Extraction& how);

struct ItemExtraction {
  std::string lines;                 // comma separated values
  std::vector<std::string> summary;  // a line for each step
};
// kNotFound: the file has no such series, or none with this item.
Result<ItemExtraction> extract_item(const JobFile& file, const Extraction& how, const std::string& item);

// The names of the series' columns. kNotFound as above.
Result<std::vector<std::string>> list_items(const JobFile& file, const Extraction& how);

}  // namespace muster::cli
