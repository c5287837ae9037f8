// JobWatch: what changed in the rows a user watches, between one look at the state and the next. The first look finds every job; later ones
// cost only what changed, since snapshots share the rest. It hands out parts on demand, as a query does, and goes on where it left off.
// Pure. squeue --watch.
#pragma once

#include <memory>
#include <vector>

#include "slurmctld/core/row_query.h"

namespace muster::slurmctld {

class JobWatch {
 public:
  using Rows = rpc::JobChanges;
  explicit JobWatch(rpc::QueryJobs query, Privacy privacy = {});

  // Compares `now` with the state of the last look, which is then forgotten. To be called when next() said that no part is left. False:
  // nothing about the watched rows changed.
  bool look(std::shared_ptr<const Cluster> now);
  // The next part of what the look found.
  bool next(rpc::JobChanges& part);

 private:
  bool shown(const Cluster& cluster, JobId job) const;

  rpc::QueryJobs query_;
  Privacy privacy_;
  JobRowWriter writer_;
  std::shared_ptr<const Cluster> before_, now_;
  std::vector<JobId> changed_;
  size_t next_ = 0;
  bool first_ = true;
};

}  // namespace muster::slurmctld
