// What each run had, summed up from the events of its job: CPUs for as long as it ran with them. The checker of accounting records asks it, and
// nothing here asks the records. Cost: O(1) an event.
#pragma once

#include <map>
#include <utility>

#include "model/cluster.h"
#include "model/event.h"

namespace muster::sim {

struct RunUse {
  double cpu_seconds = 0;
  uint32_t cpus = 0;  // that it has since then; 0: it does not run
  Time since{};
  bool sure = true;  // false: the clock was set back meanwhile
};

class RunUses {
 public:
  void take(const Event& event, const Cluster& after);
  const std::map<std::pair<JobId, uint32_t>, RunUse>& runs() const { return runs_; }  // by how often the job was restarted before

 private:
  void settle(const Cluster& after, JobId id, Time at);
  std::map<std::pair<JobId, uint32_t>, RunUse> runs_;
};

}  // namespace muster::sim
