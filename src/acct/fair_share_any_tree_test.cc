// What must hold of fair shares in any tree, and the fair tree once more, slowly and by the guide's words.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "acct/fair_share.h"
#include "base/random.h"
#include "model/accounts.h"

namespace muster::acct {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr FairShareRule kRules[] = {
    {}, {.kind = FairShareKind::kClassic}, {.depth_oblivious = true}, {.kind = FairShareKind::kClassic, .dampening = 5}};

// Small numbers, so that much is equal; with `wild`, also numbers that no site has.
std::vector<ShareNode> random_tree(Random& rng, bool wild = false) {
  const std::vector<uint64_t> shares{0, 1, 1, 1, 2, 2, 3, 4, kSharesOfParent};
  const std::vector<uint64_t> wild_shares{0, 1, 1000, kSharesOfParent, kSharesOfParent - 1, UINT64_MAX};
  const std::vector<double> wild_usage{0, 1, 1e-308, 5e-324, 1e300, std::numeric_limits<double>::max(), kInfinity, -1, -kInfinity, kNan};
  std::vector<ShareNode> tree{{1, kNoParent, 1, 0, false}};
  std::vector<uint32_t> accounts{0};
  const uint64_t size = rng.uniform(1, 30);
  for (uint32_t i = 1; i < size; ++i) {
    const bool user = rng.chance(0.6);
    const double usage = user ? static_cast<double>(rng.uniform(0, 4)) : 0;
    tree.push_back({i + 1, rng.pick(accounts), rng.pick(wild ? wild_shares : shares), wild ? rng.pick(wild_usage) : usage, user});
    if (!user) accounts.push_back(i);
  }
  return tree;
}

TEST(FairShares, FactorsAreBetweenZeroAndOneForAnyNumbers) {
  Random rng(4);
  for (int round = 0; round < 3000; ++round) {
    const auto tree = random_tree(rng, round % 2);
    for (const FairShareRule& rule : kRules)
      for (const ShareView& v : fair_shares(tree, rule)) {
        EXPECT_TRUE(v.factor >= 0 && v.factor <= 1) << v.factor;
        EXPECT_TRUE(v.norm_shares >= 0 && v.norm_shares <= 1) << v.norm_shares;
        EXPECT_TRUE(v.norm_usage >= 0 && v.norm_usage <= 1) << v.norm_usage;
        EXPECT_TRUE(v.effective_usage >= 0 && std::isfinite(v.effective_usage)) << v.effective_usage;
        EXPECT_TRUE(v.raw_usage >= 0 && std::isfinite(v.raw_usage)) << v.raw_usage;
        EXPECT_TRUE(v.level_fs >= 0) << v.level_fs;
      }
  }
}

TEST(FairShares, MoreUsageNeverRaisesAFactor) {
  Random rng(5);
  for (int round = 0; round < 3000; ++round) {
    auto tree = random_tree(rng);
    const auto i = static_cast<uint32_t>(rng.uniform(0, tree.size() - 1));
    if (!tree[i].user) continue;
    for (const FairShareRule& rule : kRules) {
      auto more = tree;
      more[i].usage += static_cast<double>(rng.uniform(1, 40)) / 10;
      EXPECT_LE(fair_shares(more, rule)[i].factor, fair_shares(tree, rule)[i].factor + 1e-12);
    }
  }
}

// In another order, with parents before children.
std::vector<ShareNode> shuffled(Random& rng, const std::vector<ShareNode>& tree) {
  std::vector<ShareNode> out;
  std::map<uint32_t, uint32_t> place{{kNoParent, kNoParent}};  // by old index
  while (out.size() < tree.size()) {
    const auto i = static_cast<uint32_t>(rng.uniform(0, tree.size() - 1));
    if (place.contains(i) || !place.contains(tree[i].parent)) continue;
    place[i] = static_cast<uint32_t>(out.size());
    out.push_back(tree[i]);
    out.back().parent = place[tree[i].parent];
  }
  return out;
}

TEST(FairShares, TheOrderOfTheInputMakesNoDifference) {
  Random rng(6);
  for (int round = 0; round < 1000; ++round) {
    auto tree = random_tree(rng);
    for (ShareNode& node : tree) node.usage *= 0.1;  // whose sums depend on their order in the last digit
    const auto other = shuffled(rng, tree);
    for (const FairShareRule& rule : kRules) {
      const auto views = fair_shares(tree, rule), others = fair_shares(other, rule);
      std::map<uint32_t, ShareView> by_association;
      for (size_t i = 0; i < tree.size(); ++i) by_association[tree[i].association] = views[i];
      for (size_t i = 0; i < other.size(); ++i) EXPECT_EQ(others[i], by_association[other[i].association]);
    }
  }
}

// The guide's words, slowly and with whole numbers, so that a tie is one exactly.
class Slow {
 public:
  explicit Slow(const std::vector<ShareNode>& tree) : tree_(tree), rank_(tree.size()) {
    for (const ShareNode& node : tree) users_ += node.user;
    left_ = users_;
    std::vector<Entry> top{{0, {1, usage(0) > 0 ? 1u : 0u}}};
    visit(top, {});
  }
  const std::vector<uint32_t>& ranks() const { return rank_; }

 private:
  struct Fraction {
    uint64_t over, under;
    bool operator==(const Fraction& o) const { return over * o.under == o.over * under; }
    bool operator>(const Fraction& o) const { return over * o.under > o.over * under; }
  };
  struct Entry {
    uint32_t node;
    Fraction fs;
  };
  std::vector<uint32_t> children(uint32_t account) const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < tree_.size(); ++i)
      if (tree_[i].parent == account) out.push_back(i);
    return out;
  }
  uint64_t usage(uint32_t i) const {
    auto sum = static_cast<uint64_t>(tree_[i].usage);
    for (uint32_t child : children(i)) sum += usage(child);
    return sum;
  }
  // Those with shares in the account, and through accounts with Fairshare=parent; or the users with Fairshare=parent.
  std::vector<uint32_t> members(uint32_t account, bool guests) const {
    std::vector<uint32_t> out;
    for (uint32_t child : children(account)) {
      const bool as_parent = tree_[child].shares == kSharesOfParent;
      if (as_parent && !tree_[child].user)
        for (uint32_t i : members(child, guests)) out.push_back(i);
      else if (as_parent == guests) out.push_back(child);
    }
    return out;
  }
  std::vector<Entry> level(uint32_t account) const {
    std::vector<Entry> out;
    uint64_t shares = 0;
    for (uint32_t i : members(account, false)) shares += tree_[i].shares;
    for (uint32_t i : members(account, false)) {
      if (tree_[i].shares == 0) out.push_back({i, {0, 1}});
      else if (usage(i) == 0) out.push_back({i, {1, 0}});
      else out.push_back({i, {tree_[i].shares * usage(account), usage(i) * shares}});
    }
    return out;
  }
  // `tied`: the rank of users that tie with the account whose best user is still to be found.
  void visit(std::vector<Entry> entries, std::optional<uint32_t> tied) {
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) { return a.fs > b.fs; });
    for (size_t k = 0; k < entries.size();) {
      const Fraction fs = entries[k].fs;
      const uint32_t rank = tied ? *tied : left_, before = left_;
      std::vector<Entry> below;
      for (; k < entries.size() && entries[k].fs == fs; ++k) {
        const uint32_t i = entries[k].node;
        if (tree_[i].user) {
          assign(i, rank);
          continue;
        }
        for (uint32_t guest : members(i, true)) assign(guest, rank);
        for (const Entry& e : level(i)) below.push_back(e);
      }
      if (!below.empty()) visit(below, left_ < before ? std::optional(rank) : tied);
      if (left_ < before) tied.reset();
    }
  }
  void assign(uint32_t i, uint32_t rank) {
    rank_[i] = rank;
    --left_;
  }

  const std::vector<ShareNode>& tree_;
  std::vector<uint32_t> rank_;
  uint32_t users_ = 0, left_ = 0;
};

TEST(FairTree, RandomTreesAreRankedAsTheGuideSays) {
  Random rng(7);
  for (int round = 0; round < 5000; ++round) {
    const auto tree = random_tree(rng);
    const auto views = fair_shares(tree, {});
    const std::vector<uint32_t> expected = Slow(tree).ranks();
    for (size_t i = 0; i < tree.size(); ++i) ASSERT_EQ(views[i].rank, expected[i]) << "round " << round << ", node " << i;
  }
}

}  // namespace
}  // namespace muster::acct
