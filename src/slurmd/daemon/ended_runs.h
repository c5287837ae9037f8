// EndedRuns: which runs of jobs have ended on this node, in a file of the spool. A credential may outlive its run, and a slurmd that is
// started anew must not accept it. One line for each run; old ones are removed when the file has grown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "os/fd.h"
#include "os/log.h"

namespace muster::slurmd {

class EndedRuns {
 public:
  using Run = std::pair<JobId, uint32_t>;        // with its generation
  static constexpr Duration kKept = minutes(5);  // more than a credential's life plus the difference of nodes' clocks
  static constexpr size_t kLargest = 4u << 20;
  EndedRuns(os::Log& log, std::string path) : log_(log), path_(std::move(path)) {}

  // The runs of the last minutes. A line that cannot be read counts as absent.
  std::vector<Run> read(Time now);
  // Not synced: if the machine goes down the job's processes are gone, and its credentials will soon have expired.
  void add(JobId job, uint32_t generation, Time now);

 private:
  void write_anew(Time now);
  os::Log& log_;
  std::string path_;
  os::Fd fd_;
  size_t size_ = 0;
};

}  // namespace muster::slurmd
