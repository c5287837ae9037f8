// The fair share of every association at one moment: from the tree of associations, their shares, and what they have used (model/usage_book.h).
// sshare(1) shows it whole; priorities use its factors, which are worked out anew once in a PriorityCalcPeriod.
// Cost: O(n log n) for n associations; bench: fair_share_bench.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "acct/fair_share.h"
#include "model/cluster.h"

namespace muster::acct {

struct Shares {
  std::vector<ShareNode> tree;   // parents before children
  std::vector<ShareView> views;  // of each node of the tree
};

// Empty where no accounts are known.
Shares shares_of(const Cluster& cluster, const FairShareRule& rule, Time now);

// The factors for the period that `now` is in: those of the cluster where they still hold, else new ones. Null where no accounts are known.
FairFactorsPtr factors_of(const Cluster& cluster, const FairShareRule& rule, Duration period, Time now);

}  // namespace muster::acct
