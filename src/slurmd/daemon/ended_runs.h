// EndedRuns: which runs of jobs have ended on this node, in a file of the spool: a credential outlives its run by up to its own life,
// and a slurmd that is started anew must not take it. A line a run; older ones go when the file has grown.
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
  static constexpr Duration kKept = minutes(5);  // longer than a credential's life, and what clocks of nodes may differ by
  static constexpr size_t kLargest = 4u << 20;
  EndedRuns(os::Log& log, std::string path) : log_(log), path_(std::move(path)) {}

  // Those of the last minutes. What cannot be read is as if it were not there.
  std::vector<Run> read(Time now);
  // Not synced: with the machine the job's processes are gone, and soon the life of its credentials.
  void add(JobId job, uint32_t generation, Time now);

 private:
  void write_anew(Time now);
  os::Log& log_;
  std::string path_;
  os::Fd fd_;
  size_t size_ = 0;
};

}  // namespace muster::slurmd
