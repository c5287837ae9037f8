// Answers of sprio: what the priorities of pending jobs are made of, in parts, on demand, as row_query.h has it. Pure; called on the query
// thread. Cost: about 1 µs a pending job.
#pragma once

#include <memory>

#include "model/cluster.h"
#include "model/rpc.h"
#include "sched/queue/priority.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// A row for each partition that a job may run in; no rows of jobs that are held or that begin later.
class PriorityQuery {
 public:
  using Rows = rpc::PriorityRows;
  PriorityQuery(std::shared_ptr<const Cluster> cluster, const sched::PriorityParams& params, Time now, Privacy privacy);
  bool next(rpc::PriorityRows& part);

 private:
  void add(const Job& job, rpc::PriorityRows& part) const;

  std::shared_ptr<const Cluster> cluster_;
  sched::PriorityParams params_;
  Time now_;
  sched::PriorityRule rule_;
  Privacy privacy_;
  uint32_t next_key_ = 0;
  bool begun_ = false, over_ = false;
};

}  // namespace muster::slurmctld
