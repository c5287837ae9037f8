// Answers of sshare: the fair share of every association that whoever asks may see. Pure; called on the query thread.
// Cost: O(associations x log).
#pragma once

#include "acct/fair_share.h"
#include "model/cluster.h"
#include "model/rpc.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// In the order of the tree: below each account its users, then its accounts, each by name. Users whom PrivateData hides are left out, but
// what they use counts.
rpc::ShareRows query_shares(const Cluster& cluster, const acct::FairShareRule& rule, Time now, const Privacy& privacy);

// The index of each node of the tree in that order.
std::vector<size_t> tree_order(const Cluster& cluster, const std::vector<acct::ShareNode>& tree);

// The same in parts.
class ShareQuery {
 public:
  using Rows = rpc::ShareRows;
  explicit ShareQuery(rpc::ShareRows all) : all_(std::move(all)) {}
  bool next(rpc::ShareRows& part);

 private:
  rpc::ShareRows all_;
  size_t sent_ = 0;
};

}  // namespace muster::slurmctld
