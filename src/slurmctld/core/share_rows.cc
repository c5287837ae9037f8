#include "slurmctld/core/share_rows.h"

#include <algorithm>
#include <tuple>

#include "acct/shares.h"
#include "base/saturating.h"
#include "model/account_directory.h"

namespace muster::slurmctld {
namespace {

constexpr double kMinute = 60;

TresAmounts limit_minutes(const AssociationRecord& a) {
  TresAmounts out;
  for (const Limit& l : a.limits)
    if (l.kind == LimitKind::kGrpTresMins) out.put(TresName::of(l.tres), l.value);
  return out;
}

// Of all TRES, also those of which nothing was used.
TresAmounts used_minutes(const Spent& spent, const TresTable& table) {
  TresAmounts out;
  for (uint32_t i = 0; i < table.size(); ++i) out.put(table.what(i), to_count(spent.of(i) / kMinute));
  return out;
}

TresAmounts run_minutes(const Use& use, const TresTable& table, Time now) {
  TresAmounts out;
  for (uint32_t i = 0; i < table.size(); ++i) out.put(table.what(i), use.run_minutes(i, now));
  return out;
}

}  // namespace

std::vector<size_t> tree_order(const Cluster& cluster, const std::vector<acct::ShareNode>& tree) {
  std::vector<std::vector<size_t>> below(tree.size());
  std::vector<size_t> out, next;
  for (size_t i = 0; i < tree.size(); ++i) (tree[i].parent == acct::kNoParent ? next : below[tree[i].parent]).push_back(i);
  auto key = [&](size_t i) {
    const AssociationRecord& a = *cluster.directory->associations.find(tree[i].association);
    return std::tie(a.user, a.account, a.partition);
  };
  auto later = [&](size_t a, size_t b) {  // users have a name here; accounts, which come after them, have none
    if (tree[a].user != tree[b].user) return tree[b].user;
    return key(b) < key(a);
  };
  while (!next.empty()) {
    const size_t i = next.back();
    next.pop_back();
    out.push_back(i);
    std::ranges::sort(below[i], later);
    next.insert(next.end(), below[i].begin(), below[i].end());
  }
  return out;
}

rpc::ShareRows query_shares(const Cluster& cluster, const acct::FairShareRule& rule, Time now, const Privacy& privacy) {
  rpc::ShareRows out;
  out.fair_tree = rule.kind == acct::FairShareKind::kFairTree;
  const acct::Shares shares = acct::shares_of(cluster, rule, now);
  if (shares.tree.empty()) return out;
  for (size_t index : tree_order(cluster, shares.tree)) {
    const AssociationRecord& association = *cluster.directory->associations.find(shares.tree[index].association);
    if (!association.user.empty() && !privacy.shows_user_of(association)) continue;
    const acct::ShareView& view = shares.views[index];
    ShareRow row;
    row.association = association.id;
    row.parent = association.parent_id;
    row.account = association.account;
    row.user = association.user;
    row.partition = association.partition;
    row.depth = association.depth;
    row.shares = shares.tree[index].shares;
    row.norm_shares = view.norm_shares;
    row.raw_usage = view.raw_usage;
    row.norm_usage = view.norm_usage;
    row.effective_usage = view.effective_usage;
    row.level_fs = view.level_fs;
    row.factor = view.factor;
    row.limit_minutes = limit_minutes(association);
    row.used_minutes = used_minutes(cluster.used_by_association(association.id, now), cluster.tres_table());
    row.run_minutes = run_minutes(cluster.ledger.use_of(Holder::association(association.id)), cluster.tres_table(), now);
    out.shares.push_back(std::move(row));
  }
  return out;
}

bool ShareQuery::next(rpc::ShareRows& part) {
  constexpr size_t kRowsPerPart = 1000;
  part.fair_tree = all_.fair_tree;
  part.shares.clear();
  while (sent_ < all_.shares.size() && part.shares.size() < kRowsPerPart) part.shares.push_back(std::move(all_.shares[sent_++]));
  return !part.shares.empty();
}

}  // namespace muster::slurmctld
