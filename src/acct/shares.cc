#include "acct/shares.h"

#include <algorithm>
#include <unordered_map>

#include "model/account_directory.h"

namespace muster::acct {
namespace {

std::vector<const AssociationRecord*> parents_first(const AccountDirectory& directory) {
  std::vector<const AssociationRecord*> out;
  out.reserve(directory.associations.size());
  directory.associations.for_each([&](uint32_t, const AssociationRecord& a) { out.push_back(&a); });
  std::ranges::stable_sort(out, {}, &AssociationRecord::depth);
  return out;
}

}  // namespace

Shares shares_of(const Cluster& cluster, const FairShareRule& rule, Time now) {
  Shares out;
  if (!cluster.directory) return out;
  std::unordered_map<uint32_t, uint32_t> place;
  std::vector<double> with_those_below;  // as the book has it; the arithmetic wants each node's own
  for (const AssociationRecord* a : parents_first(*cluster.directory)) {
    ShareNode n;
    n.association = a->id;
    if (auto parent = place.find(a->parent_id); parent != place.end()) n.parent = parent->second;
    n.shares = find_limit(a->limits, LimitKind::kShares).value_or(1);
    n.usage = cluster.used_by_association(a->id, now).of(TresTable::kBilling);
    with_those_below.push_back(n.usage);
    n.user = !a->user.empty();
    place[a->id] = static_cast<uint32_t>(out.tree.size());
    out.tree.push_back(n);
  }
  for (size_t i = 0; i < out.tree.size(); ++i)
    if (const uint32_t parent = out.tree[i].parent; parent != kNoParent) out.tree[parent].usage -= with_those_below[i];
  for (ShareNode& n : out.tree) n.usage = std::max(n.usage, 0.0);
  out.views = fair_shares(out.tree, rule);
  return out;
}

FairFactorsPtr factors_of(const Cluster& cluster, const FairShareRule& rule, Duration period, Time now) {
  if (!cluster.directory) return nullptr;
  const Time start = period_start(now, period);
  const FairFactors::Rule by{rule.kind == FairShareKind::kFairTree, rule.depth_oblivious, rule.dampening};
  const FairFactorsPtr& known = cluster.moment.fair_factors;
  if (known && known->period == start && known->directory == cluster.directory && known->rule == by) return known;
  auto out = std::make_shared<FairFactors>();
  out->rule = by;
  out->period = start;
  out->directory = cluster.directory;
  const Shares shares = shares_of(cluster, rule, now);
  for (size_t i = 0; i < shares.tree.size(); ++i)
    if (shares.tree[i].user) out->by_association[shares.tree[i].association] = shares.views[i].factor;
  return out;
}

}  // namespace muster::acct
