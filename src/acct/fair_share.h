// Fair share: how well each association was served, from its shares and its usage, as a factor from 0 (had far more than its share) to 1.
// What becomes of the factor in a priority (PriorityWeightFairshare) is the scheduler's matter, how usage decays that of model/usage.h.
// Guides fair_tree, classic_fair_share, priority_multifactor3 (depth-oblivious); sshare(1); sacctmgr(1) Fairshare; slurm.conf(5)
// PriorityFlags, FairShareDampeningFactor.
//
// Fair tree ranks: siblings are compared by their Level FS, and all users of the better account come before all users of the worse one.
// Classic takes 2^(-usage/shares), where usage of siblings counts too.
//
// Fairshare=parent. The children of such an account count as children of the first account above it that has shares of its own. Such a
// user is judged as the account it belongs to: it has that account's numbers, so in a fair tree it stands beside the account, ties with it
// and has the rank of the account's best user. Neither adds to the shares of its siblings; its usage counts for all accounts above it.
//
// Where the guides are silent: who has no shares comes last, used or not. Users and accounts in one account are siblings of each other. A
// level's usage is that of the account above it. Where k users tie, the k-1 ranks below theirs stay free. Depth-oblivious factors are
// damped as classic ones are, so that both agree below root.
//
// Errors: none. Usage below 0 or NaN counts as 0, above kMostUsage as that; no factor is NaN. The order of `tree` makes no difference, not
// even in the last digit, as long as parents stand before children.
// Cost: O(n log n), measured by fair_share_bench.cc.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::acct {

inline constexpr uint32_t kNoParent = UINT32_MAX;

enum class FairShareKind : uint8_t { kFairTree, kClassic };

struct FairShareRule {
  FairShareKind kind = FairShareKind::kFairTree;
  double dampening = 1;          // FairShareDampeningFactor, of classic; what is no number above 0 counts as 1
  bool depth_oblivious = false;  // PriorityFlags=DEPTH_OBLIVIOUS; implies kClassic
};

// One association of the tree.
struct ShareNode {
  uint32_t association = 0;
  uint32_t parent =
      kNoParent;        // index in the vector, of one before it; kNoParent: the root, which is the whole machine whatever its shares
  uint64_t shares = 1;  // kSharesOfParent: Fairshare=parent
  double usage = 0;     // its own, of all jobs that ran under it, not that of associations below it; TRES-weighted seconds
  bool user = false;    // a leaf
};

struct ShareView {
  double norm_shares = 0;      // fair tree: of all shares of its level; classic: of the whole machine
  double raw_usage = 0;        // its own and that of all below it
  double norm_usage = 0;       // the same as part of all usage
  double effective_usage = 0;  // fair tree: its part of the usage of the account above; classic: what shares it is held against
  double level_fs = 0;         // fair tree: norm_shares / effective_usage, to 32 bits; infinite where nothing was used. Classic: 0
  double factor = 0;           // fair tree: rank / number of users, of an account 0
  uint32_t rank = 0;           // fair tree: of users, from the number of users (the best) down to 1. Else 0
  bool operator==(const ShareView&) const = default;
};

// For each node of `tree`, in its order.
std::vector<ShareView> fair_shares(const std::vector<ShareNode>& tree, const FairShareRule& rule);

}  // namespace muster::acct
