// Waiters: commands that wait for something to become of a job (sbatch --wait, salloc, scontrol wait_job). Lives on the core thread. Cost:
// that of the waiters on jobs that a turn touched; forget() looks at all.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "slurmctld/daemon/waiting_list.h"

namespace muster::slurmctld {

// Looks at a job after each turn that touched it; true = it is satisfied and forgotten. `job` is null once purged. Runs on the
// core thread; what it wants to send it appends to `replies`.
using Waiter = std::function<bool(const Cluster&, const Job* job, std::vector<Reply>& replies)>;

inline constexpr size_t kMaxWaiters = 32768, kMaxWaitersOfUser = 4096;  // a user's: as many `sbatch --wait` at a time

class Waiters {
 public:
  Result<> may_add(Uid user) const;  // kTryAgainLater: too many wait already
  Result<> add(JobId job, Line line, Uid user, Waiter waiter);
  void forget(Line line) { list_.forget(line); }
  void forget_all(const void* connection) { list_.forget_all(connection); }
  void begin_turn() { list_.begin_turn(); }
  void forget_turn() { list_.forget_turn(); }
  void wake(const std::set<JobId>& touched, const Cluster& cluster, std::vector<Reply>& replies);
  bool empty() const { return list_.size() == 0; }
  size_t size() const { return list_.size(); }

 private:
  WaitingList<JobId, Waiter> list_;
};

}  // namespace muster::slurmctld
