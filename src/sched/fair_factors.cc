#include "sched/fair_factors.h"

#include "acct/shares.h"
#include "model/account_directory.h"

namespace muster::sched {

namespace {

bool asked_by_qos(const Cluster& cluster) {
  bool any = false;
  if (cluster.directory)
    cluster.directory->qos.for_each(
        [&](const std::string&, const QosRecord& q) { any |= q.usage_threshold && has_flag(q, "EnforceUsageThreshold"); });
  return any;
}

}  // namespace

FairFactorsPtr fair_factors(const Cluster& cluster, const PriorityParams& params, Time now) {
  if (!params.multifactor || !(params.weight_fairshare || asked_by_qos(cluster))) return nullptr;
  return acct::factors_of(cluster, params.fair_share, params.period, now);
}

}  // namespace muster::sched
