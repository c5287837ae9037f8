// Node-step files of a job become one HDF5 file. sh5util(1) --jobs, --savefiles.
//
// The recordings lie in a folder of the user's, who may have put anything there while root merges: no link is followed, only plain files of
// a bounded size are read, and what they hold is checked. The job file is written under another name that nobody else could have prepared,
// and takes its own when it is complete.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace muster::cli {

// What --jobs says: a job and, unless all are meant, steps of it by the names they have in files.
struct WantedSteps {
  JobId job{};
  std::vector<std::string> steps;
  bool wants(const std::string& step) const;
};
// kInvalidReq: no numbers, or steps of several jobs.
Result<WantedSteps> parse_wanted_steps(const std::string& text);

struct MergePlan {
  WantedSteps wanted;
  std::string folder;  // of the user's recordings
  std::string output;
  bool save_files = false;
};
struct MergeOutcome {
  size_t merged = 0;                // 0: there was nothing, and no file was written
  std::vector<std::string> faults;  // recordings that could not be read to their end; they are kept
};
// kAccessDenied: the folder cannot be read.
Result<MergeOutcome> merge_recordings(const MergePlan& plan);

}  // namespace muster::cli
