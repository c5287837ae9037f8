#include "sched/pass/within_layers.h"

#include "sched/place/placement.h"
#include "sched/rules/job_rule.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {

bool never_within_layers(const Cluster& cluster, const Params& params, const RequestBody& request, const RequestClass& of) {
  if (!params.hierarchies || of.never || !asks_layers(params, of.shape.licenses)) return false;
  RequestClass asked = of;
  const Partition& partition = cluster.partitions.at(asked.partition);
  Grant grant;
  const HeldCounter nothing(cluster, params);
  const JobQuestion question{cluster, params, partition, request, asked};
  const RuleSet rules = rules_concerning(asked, partition, params) & rules_foreseen();
  if (const Hold hold = first_to_hold(rules, question, nothing.held(), grant)) return hold.reason == Reason::kLicenses;
  if (!grant.layers) return false;
  // What it remembers of other nodes means nothing here, nor does where it would rather be.
  asked.preferred = asked.unchanged = nullptr;
  asked.resolved_at = asked.blocked_at = asked.too_full_at = 0;
  asked.too_full = Bitmap();
  Availability ideal;
  ideal.update(cluster.nodes, params, true);
  resolve(asked, cluster, ideal, partition);
  const WithinLayers within(asked, grant.layers);
  const Placement got = place(ideal, asked, params, nullptr, {});
  const AllocationPtr* allocation = placed(got);
  return !allocation || !grant.layers->shares(**allocation);
}

}  // namespace muster::sched
