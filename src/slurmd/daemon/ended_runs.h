// EndedRuns: which runs of jobs have ended on this node, in a file of the spool. A credential may outlive its run, and a slurmd that is
// started anew must not accept it. One row for each run; old ones are removed when the file has grown.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "slurmd/daemon/kept_rows.h"

namespace muster::slurmd {

class EndedRuns {
 public:
  using Run = std::pair<JobId, uint32_t>;        // with its generation
  static constexpr Duration kKept = minutes(5);  // more than a credential's life plus the difference of nodes' clocks
  static constexpr size_t kLargest = 4u << 20;
  EndedRuns(os::Log& log, std::string path) : log_(log), rows_(log, std::move(path), 2 * kLargest) {}

  // The runs of the last minutes.
  std::vector<Run> read(Time now);
  // Not synced: if the machine goes down the job's processes are gone, and its credentials will soon have expired.
  void add(JobId job, uint32_t generation, Time now);

 private:
  using Rows = KeptRows<uint32_t, uint32_t, int64_t>;  // job, generation, when it ended in Unix seconds
  std::vector<Rows::Row> write_anew(Time now);         // without the old ones; those that are left
  os::Log& log_;
  Rows rows_;
};

}  // namespace muster::slurmd
