#include "slurmctld/daemon/waiters.h"

namespace muster::slurmctld {

Result<> Waiters::may_add(Uid user) const {
  const size_t own = list_.of(user);
  if (list_.size() < kMaxWaiters && own < kMaxWaitersOfUser) return {};
  return fail(Errc::kTryAgainLater, {},
              "too many commands wait for jobs: " + std::to_string(own) + " of this user (at most " + std::to_string(kMaxWaitersOfUser) +
                  "), " + std::to_string(list_.size()) + " in all (at most " + std::to_string(kMaxWaiters) + ")");
}

Result<> Waiters::add(JobId job, Line line, Uid user, Waiter waiter) {
  MUSTER_TRY_VOID(may_add(user));
  list_.add(job, line, user, std::move(waiter));
  return {};
}

void Waiters::wake(const std::set<JobId>& touched, const Cluster& cluster, std::vector<Reply>& replies) {
  for (JobId id : touched) list_.take(id, [&](Waiter& waiter) { return waiter(cluster, cluster.jobs.find(id.value), replies); });
}

}  // namespace muster::slurmctld
