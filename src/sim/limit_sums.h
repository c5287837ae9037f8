// Limit sums: what limits are about, counted anew from every job, and which limits bound a job. The checkers of limits and of reasons use it;
// nothing here asks the ledger or acct. Guide resource_limits; sacctmgr(1).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/account_directory.h"
#include "model/cluster.h"

namespace muster::sim {

// What a job holds of a TRES by its name: "cpu", "mem", "node", "billing", "gres/NAME[:TYPE]", "license/NAME".
uint64_t amount_of(const Allocation& allocation, std::string_view tres);

// The association of its user and account, for that partition before the one for all; null: there is none.
const AssociationRecord* own_association(const Cluster& cluster, const RequestBody& request, const Partition& partition);

// A limit that bounds a job, and whose it is.
struct BoundBy {
  Limit limit;
  const QosRecord* qos = nullptr;  // else of the association
  const AssociationRecord* association = nullptr;
  std::string whom() const;
};
// Those of the QOS of the job and of the partition, the one that comes first before the other, then those of the association and of all above
// it, where no QOS sets the same.
std::vector<BoundBy> bounds_of(const Cluster& cluster, const RequestBody& request, uint32_t association, const Partition& partition);

class LimitSums {
 public:
  // `asker`: whose user and account a limit for each of them is about.
  // `claims`: what is held for waiting jobs that others make room for counts, too, as a pass has it.
  LimitSums(const Cluster& cluster, const BoundBy& bound, const RequestBody& asker, bool claims = false);
  // Whether a job of this association counts.
  bool counts(uint32_t association, const RequestBody& request, uint32_t partition) const;
  uint64_t held(std::string_view tres) const;  // of "node": each node once
  std::set<uint32_t> nodes() const;
  uint64_t running() const;
  uint64_t submitted() const;  // a pending task of an array counts once
  // What those who run may still use before their time limits, each rounded up or down.
  uint64_t run_minutes(std::string_view tres, Time now, bool up) const;

 private:
  bool counts(const Job& job) const { return counts(job.association, *job.request, job.partition); }
  void each_running(const std::function<void(const Job&)>& f) const;
  const Cluster& cluster_;
  const BoundBy& bound_;
  const RequestBody& asker_;
  const bool claims_;
};

}  // namespace muster::sim
