#include "sched/fair_factors.h"

#include "acct/shares.h"

namespace muster::sched {

FairFactorsPtr fair_factors(const Cluster& cluster, const PriorityParams& params, Time now) {
  if (!params.multifactor || !params.weight_fairshare) return nullptr;
  return acct::factors_of(cluster, params.fair_share, params.period, now);
}

}  // namespace muster::sched
