// The numbers that the guides fair_tree, classic_fair_share and priority_multifactor3 print, their rules, and the cases at their edges.
#include "acct/fair_share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "base/random.h"
#include "model/accounts.h"

namespace muster::acct {
namespace {

constexpr FairShareRule kTree{};
constexpr FairShareRule kClassic{.kind = FairShareKind::kClassic};
constexpr FairShareRule kOblivious{.depth_oblivious = true};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A tree by names, below "root".
class Site {
 public:
  Site() { add("root", kNoParent, 1, 0, false); }
  Site& account(const std::string& name, uint64_t shares, const std::string& parent = "root", double usage = 0) {
    return add(name, index_.at(parent), shares, usage, false);
  }
  Site& user(const std::string& name, const std::string& account, uint64_t shares, double usage) {
    return add(name, index_.at(account), shares, usage, true);
  }
  Site& usage(const std::string& name, double usage) {
    nodes_[index_.at(name)].usage = usage;
    return *this;
  }
  Site& shares(const std::string& name, uint64_t shares) {
    nodes_[index_.at(name)].shares = shares;
    return *this;
  }
  ShareView view(const std::string& name, const FairShareRule& rule = kTree) const { return fair_shares(nodes_, rule)[index_.at(name)]; }
  double factor(const std::string& name, const FairShareRule& rule = kTree) const { return view(name, rule).factor; }
  uint32_t rank(const std::string& name) const { return view(name).rank; }

 private:
  Site& add(const std::string& name, uint32_t parent, uint64_t shares, double usage, bool user) {
    index_[name] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({static_cast<uint32_t>(nodes_.size() + 1), parent, shares, usage, user});
    return *this;
  }
  std::vector<ShareNode> nodes_;
  std::map<std::string, uint32_t> index_;
};

// ---- classic_fair_share

// The example of the guide (figure 3), in thousandths of the machine. Its users have had 70 percent of it; others without shares the rest.
Site guide_site() {
  Site s;
  s.account("A", 40).account("D", 60).account("gone", 0, "root", 300);
  s.account("B", 30, "A").account("C", 10, "A").account("E", 25, "D").account("F", 35, "D");
  s.user("1", "B", 1, 200).user("2", "C", 1, 250).user("3", "C", 1, 0).user("4", "E", 1, 250).user("5", "F", 1, 0);
  return s;
}

TEST(Classic, TheGuidesExampleHasItsNumbers) {
  struct Row {
    const char* name;
    double shares, usage, effective, factor;
  };
  const Site s = guide_site();
  for (const Row& row : {
           Row{"A", 0.4, 0.45, 0.45, 0.458502},  //
           {"D", 0.6, 0.25, 0.25, 0.749154},
           {"B", 0.3, 0.2, 0.3875, 0.408479},
           {"C", 0.1, 0.25, 0.3, 0.125},
           {"E", 0.25, 0.25, 0.25, 0.5},
           {"F", 0.35, 0, 0.145833, 0.749154},
           {"1", 0.3, 0.2, 0.3875, 0.408479},
           {"2", 0.05, 0.25, 0.275, 0.022097},
           {"3", 0.05, 0, 0.15, 0.125000},
           {"4", 0.25, 0.25, 0.25, 0.500000},
           {"5", 0.35, 0, 0.145833, 0.749154},
       }) {
    const ShareView v = s.view(row.name, kClassic);
    EXPECT_NEAR(v.norm_shares, row.shares, 5e-7) << row.name;
    EXPECT_NEAR(v.norm_usage, row.usage, 5e-7) << row.name;
    EXPECT_NEAR(v.effective_usage, row.effective, 5e-7) << row.name;
    EXPECT_NEAR(v.factor, row.factor, 5e-7) << row.name;
    EXPECT_EQ(v.rank, 0u);
    EXPECT_EQ(v.level_fs, 0);
  }
}

TEST(Classic, FourSharesBesideOneAreFourFifthsOfTheAccount) {
  Site s = guide_site();
  s.shares("2", 4);
  EXPECT_DOUBLE_EQ(s.view("2", kClassic).norm_shares, 0.08);
  EXPECT_DOUBLE_EQ(s.view("3", kClassic).norm_shares, 0.02);
}

TEST(Classic, TenUsersOfATenthOfTheMachineHaveOnePercentEach) {
  Site s;
  s.account("A", 40).account("B", 30).account("C", 20).account("D", 10);
  for (const char* name : {"A1", "A2", "A3", "A4"}) s.account(name, 10, "A");
  for (int i = 0; i < 10; ++i) s.user("u" + std::to_string(i), "A3", 7, 0);
  EXPECT_DOUBLE_EQ(s.view("u0", kClassic).norm_shares, 0.01);
}

TEST(Classic, WhoUsedExactlyTheirShareHasOneHalf) {
  Site s;
  s.user("exact", "root", 2, 20).user("less", "root", 4, 35).user("more", "root", 4, 45);
  EXPECT_DOUBLE_EQ(s.factor("exact", kClassic), 0.5);
  EXPECT_GT(s.factor("less", kClassic), 0.5);
  EXPECT_LT(s.factor("more", kClassic), 0.5);
}

TEST(Classic, BelowRootTheEffectiveUsageIsTheActualOne) {
  Site s;
  s.account("a", 1).account("b", 3).user("u", "a", 1, 60).user("v", "b", 1, 30).user("w", "root", 4, 10);
  EXPECT_DOUBLE_EQ(s.view("a", kClassic).effective_usage, 0.6);
  EXPECT_DOUBLE_EQ(s.view("w", kClassic).effective_usage, 0.1);
  EXPECT_DOUBLE_EQ(s.factor("a", kClassic), std::exp2(-0.6 / 0.125));
}

// "when user 3 submits their first job using account C, they will want their job's priority to reflect all the resources delivered to B"
TEST(Classic, WhoNeverRanPaysForTheUsersOfTheSameAccount) {
  Site s;
  s.account("A", 1).account("B", 1, "A").account("C", 1, "A").user("1", "B", 1, 80).user("2", "B", 1, 0).user("3", "C", 1, 0);
  EXPECT_GT(s.factor("3", kClassic), s.factor("2", kClassic));
  EXPECT_GT(s.factor("2", kClassic), s.factor("1", kClassic));
}

// slurm.conf(5): with 1 there is almost no difference between using 10 times and 100 times the share, with 5 there is.
TEST(Classic, DampeningTellsApartWhoUsedFarTooMuch) {
  Site s;
  s.user("ten", "root", 10, 100).user("hundred", "root", 1, 100).user("others", "root", 989, 800);
  auto difference = [&](double d) {
    const FairShareRule rule{.kind = FairShareKind::kClassic, .dampening = d};
    EXPECT_NEAR(s.factor("ten", rule), std::exp2(-10 / d), 1e-12);
    EXPECT_NEAR(s.factor("hundred", rule), std::exp2(-100 / d), 1e-12);
    return s.factor("ten", rule) - s.factor("hundred", rule);
  };
  EXPECT_LT(difference(1), 0.001);
  EXPECT_GT(difference(5), 0.2);
}

TEST(Classic, ADampeningThatIsNoNumberAboveZeroCountsAsOne) {
  const Site s = guide_site();
  for (double d : {0.0, -1.0, kInfinity, kNan}) {
    EXPECT_NEAR(s.factor("1", {.kind = FairShareKind::kClassic, .dampening = d}), 0.408479, 5e-7) << d;
  }
}

TEST(Classic, UsersWithFairshareParentHaveTheirAccountsNumbers) {
  Site s = guide_site();
  s.shares("2", kSharesOfParent).shares("3", kSharesOfParent);
  const ShareView account = s.view("C", kClassic);
  for (const char* name : {"2", "3"}) {
    const ShareView v = s.view(name, kClassic);
    EXPECT_EQ(v.norm_shares, account.norm_shares);
    EXPECT_EQ(v.effective_usage, account.effective_usage);
    EXPECT_EQ(v.factor, account.factor);
  }
  EXPECT_EQ(s.view("2", kClassic).raw_usage, 250);
  EXPECT_EQ(s.view("3", kClassic).raw_usage, 0);
  EXPECT_NEAR(account.factor, 0.125, 5e-7);
}

TEST(Classic, ChildrenOfAnAccountWithFairshareParentBelongToTheOneAbove) {
  Site nested, flat;
  nested.account("a", 1).account("b", 3).account("group", kSharesOfParent, "a").account("deep", kSharesOfParent, "group");
  flat.account("a", 1).account("b", 3);
  nested.user("u", "deep", 2, 10).user("v", "a", 1, 20).user("w", "b", 1, 70);
  flat.user("u", "a", 2, 10).user("v", "a", 1, 20).user("w", "b", 1, 70);
  for (const FairShareRule& rule : {kTree, kClassic, kOblivious})
    for (const char* name : {"a", "b", "u", "v", "w"}) EXPECT_EQ(nested.view(name, rule), flat.view(name, rule)) << name;
  EXPECT_EQ(nested.view("deep", kClassic).factor, flat.view("a", kClassic).factor);
  EXPECT_EQ(nested.view("deep").level_fs, flat.view("a").level_fs);
  EXPECT_EQ(nested.view("deep").raw_usage, 10);
}

TEST(Classic, WhoHasNoSharesHasFactorZero) {
  Site s;
  s.user("none", "root", 0, 0).user("some", "root", 1, 10);
  for (const FairShareRule& rule : {kClassic, kOblivious}) {
    EXPECT_EQ(s.factor("none", rule), 0);
    EXPECT_EQ(s.factor("some", rule), 0.5);
  }
}

// ---- priority_multifactor3

TEST(DepthOblivious, BelowRootItIsTheClassicFactor) {
  Site s;
  s.account("a", 1).account("b", 2).user("u", "a", 1, 60).user("v", "b", 1, 30).user("w", "root", 4, 10);
  for (double d : {1.0, 5.0})
    for (const char* name : {"a", "b", "w"}) {
      const FairShareRule classic{.kind = FairShareKind::kClassic, .dampening = d}, oblivious{.dampening = d, .depth_oblivious = true};
      EXPECT_NEAR(s.factor(name, oblivious), s.factor(name, classic), 1e-12) << name;
    }
}

double k_of(double ratio) { return 1 / (1 + std::pow(5 * std::log(ratio), 2)); }

// The guide's example: all children together used twice their shares, one of them two thirds of its own. Its local ratio is one third.
TEST(DepthOblivious, AFrugalUserOfAnExceededAccountIsDrawnToTheAccount) {
  Site s;
  s.account("a", 3).account("b", 7).user("frugal", "a", 1, 200.0 / 3).user("other", "a", 2, 600 - 200.0 / 3).user("v", "b", 1, 400);
  const double ratio = 2 * std::pow(1.0 / 3, k_of(2));
  EXPECT_NEAR(s.factor("a", kOblivious), 0.25, 1e-12);
  EXPECT_NEAR(s.factor("frugal", kOblivious), std::exp2(-ratio), 1e-12);
  EXPECT_NEAR(s.view("frugal", kOblivious).effective_usage, ratio * 0.1, 1e-12);
}

// The guide: if ancestors used twice their shares and the child three times its own, k is kept to 1.
TEST(DepthOblivious, WhoWentFurtherThanTheAccountPaysForItself) {
  Site s;
  s.account("a", 3).account("b", 7).user("u", "a", 1, 300).user("other", "a", 2, 300).user("v", "b", 1, 400);
  EXPECT_NEAR(s.factor("u", kOblivious), std::exp2(-3), 1e-12);
}

TEST(DepthOblivious, InAnAccountOnTargetOnlyTheOwnUsageCounts) {
  Site s;
  s.account("a", 3).account("b", 7).user("u", "a", 1, 30).user("other", "a", 2, 270).user("v", "b", 1, 700);
  EXPECT_NEAR(s.factor("u", kOblivious), std::exp2(-0.3), 1e-12);
  EXPECT_NEAR(s.factor("other", kOblivious), std::exp2(-1.35), 1e-12);
}

// Each account of the guide's example by the formulas as they are printed, with r, r[l] and k.
TEST(DepthOblivious, TheFormulasOfTheGuideHoldOnTwoLevels) {
  const Site s = guide_site();
  auto ratio = [&](const char* name) {
    const ShareView v = s.view(name, kOblivious);
    return v.norm_usage / v.norm_shares;
  };
  auto below = [&](double parent, const char* name, const std::vector<const char*>& siblings) {
    double shares = 0, usage = 0;
    for (const char* sibling : siblings) {
      shares += s.view(sibling, kOblivious).norm_shares;
      usage += s.view(sibling, kOblivious).norm_usage;
    }
    const double local = ratio(name) / (usage / shares);
    const double k = std::log(parent) * std::log(local) >= 0 ? 1 : k_of(parent);
    return parent * std::pow(local, k);
  };
  const double a = ratio("A"), c = below(a, "C", {"B", "C"}), b = below(a, "B", {"B", "C"});
  EXPECT_NEAR(s.factor("A", kOblivious), std::exp2(-a), 1e-12);
  EXPECT_NEAR(s.factor("B", kOblivious), std::exp2(-b), 1e-12);
  EXPECT_NEAR(s.factor("C", kOblivious), std::exp2(-c), 1e-12);
  EXPECT_NEAR(s.factor("2", kOblivious), std::exp2(-below(c, "2", {"2", "3"})), 1e-12);
  EXPECT_NEAR(s.factor("E", kOblivious), std::exp2(-below(ratio("D"), "E", {"E", "F"})), 1e-12);
  EXPECT_EQ(s.factor("5", kOblivious), 1);
}

// ---- fair_tree

TEST(FairTree, LevelFsIsTheShareOfTheLevelByItsUsage) {
  Site s;
  s.account("a", 30).account("b", 10).user("u", "a", 1, 10).user("v", "a", 4, 70).user("w", "b", 1, 20);
  struct Row {
    const char* name;
    double shares, usage, fs;
  };
  for (const Row& row :
       {Row{"a", 0.75, 0.8, 0.9375}, {"b", 0.25, 0.2, 1.25}, {"u", 0.2, 0.125, 1.6}, {"v", 0.8, 0.875, 0.8 / 0.875}, {"w", 1, 1, 1}}) {
    const ShareView v = s.view(row.name);
    EXPECT_DOUBLE_EQ(v.norm_shares, row.shares) << row.name;
    EXPECT_DOUBLE_EQ(v.effective_usage, row.usage) << row.name;
    EXPECT_NEAR(v.level_fs, row.fs, 1e-9) << row.name;
  }
  EXPECT_EQ(s.view("a").raw_usage, 80);
  EXPECT_DOUBLE_EQ(s.view("u").norm_usage, 0.1);
}

// sshare(1): 0 to 1 is over-served, more than 1 under-served, no usage infinity.
TEST(FairTree, LevelFsTellsWhoWasServedTooMuch) {
  Site s;
  s.user("over", "root", 1, 70).user("under", "root", 1, 30).user("never", "root", 1, 0);
  EXPECT_LT(s.view("over").level_fs, 1);
  EXPECT_GT(s.view("over").level_fs, 0);
  EXPECT_GT(s.view("under").level_fs, 1);
  EXPECT_EQ(s.view("never").level_fs, kInfinity);
}

// The guide's example: the first common ancestor is Acct1, and what decides is the Level FS of Acct12 and Acct16.
TEST(FairTree, TheAccountsBelowTheCommonAncestorDecide) {
  Site s;
  s.account("Acct1", 1).account("Acct12", 1, "Acct1").account("Acct16", 1, "Acct1");
  s.user("UserA", "Acct12", 100, 60).user("idle", "Acct12", 1, 0).user("UserB", "Acct16", 1, 40).user("greedy", "Acct16", 100, 1);
  EXPECT_GT(s.view("Acct16").level_fs, s.view("Acct12").level_fs);
  EXPECT_GT(s.factor("UserB"), s.factor("UserA"));
  EXPECT_GT(s.factor("UserB"), s.factor("idle"));
  s.usage("UserA", 30);
  EXPECT_GT(s.view("Acct12").level_fs, s.view("Acct16").level_fs);
  EXPECT_GT(s.factor("UserA"), s.factor("UserB"));
  EXPECT_GT(s.factor("UserA"), s.factor("greedy"));
}

TEST(FairTree, TheFactorIsTheRankByTheNumberOfUsers) {
  Site s;
  s.account("a", 1).user("u1", "a", 1, 10).user("u2", "a", 1, 20).user("u3", "root", 1, 40).user("u4", "root", 1, 5);
  EXPECT_EQ(s.factor("u4"), 1.0);
  EXPECT_EQ(s.factor("u1"), 0.75);
  EXPECT_EQ(s.factor("u2"), 0.5);
  EXPECT_EQ(s.factor("u3"), 0.25);
  EXPECT_EQ(s.view("a").rank, 0u);
  EXPECT_EQ(s.factor("a"), 0);
}

TEST(FairTree, SiblingUsersThatTieHaveOneRank) {
  Site s;
  s.user("best", "root", 1, 1).user("u", "root", 1, 10).user("v", "root", 2, 20).user("w", "root", 3, 30).user("last", "root", 1, 50);
  EXPECT_EQ(s.rank("best"), 5u);
  for (const char* name : {"u", "v", "w"}) EXPECT_EQ(s.rank(name), 4u) << name;
  EXPECT_EQ(s.rank("last"), 1u);
}

TEST(FairTree, AUserThatTiesWithAnAccountHasTheRankOfItsBestUser) {
  Site s;
  s.account("a", 1).user("u", "root", 1, 30).user("v", "a", 1, 10).user("w", "a", 1, 20).user("first", "root", 1, 1);
  EXPECT_EQ(s.rank("first"), 4u);
  EXPECT_EQ(s.rank("u"), 3u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_EQ(s.rank("w"), 1u);
}

// The account's best child is an account that has no users.
TEST(FairTree, SuchATieReachesTheFirstUserThereIs) {
  Site s;
  s.account("a", 1)
      .account("empty", 1, "a")
      .account("sub", 1, "a")
      .user("u", "root", 1, 30)
      .user("v", "sub", 1, 10)
      .user("w", "sub", 1, 20);
  EXPECT_EQ(s.view("empty").level_fs, kInfinity);
  EXPECT_EQ(s.rank("u"), 3u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_EQ(s.rank("w"), 1u);
}

TEST(FairTree, TheChildrenOfAccountsThatTieAreMerged) {
  Site s;
  s.account("a", 1).account("b", 2).user("a1", "a", 1, 10).user("a2", "a", 1, 30).user("b1", "b", 1, 30).user("b2", "b", 1, 50);
  EXPECT_EQ(s.view("a").level_fs, s.view("b").level_fs);
  EXPECT_EQ(s.rank("a1"), 4u);  // 2
  EXPECT_EQ(s.rank("b1"), 3u);  // 4/3
  EXPECT_EQ(s.rank("b2"), 2u);  // 4/5
  EXPECT_EQ(s.rank("a2"), 1u);  // 2/3
  s.usage("b1", 20).usage("b2", 60);
  EXPECT_EQ(s.rank("a1"), s.rank("b1"));
  EXPECT_EQ(s.rank("a1"), 4u);
  EXPECT_EQ(s.rank("a2"), s.rank("b2"));
  EXPECT_EQ(s.rank("a2"), 2u);
}

TEST(FairTree, WhatDecayedAlikeStillTies) {
  Random rng(3);
  for (int round = 0; round < 200; ++round) {
    const double decay = static_cast<double>(rng.uniform(1, 1'000'000'007)) / 1'000'000'007;
    Site s;
    s.account("a", 1).account("b", 3).user("a1", "a", 1, 7 * decay).user("a2", "a", 2, 14 * decay);
    s.user("b1", "b", 7, 21 * decay).user("b2", "b", 14, 42 * decay);
    for (const char* name : {"a1", "a2", "b1", "b2"}) EXPECT_EQ(s.rank(name), 4u) << decay;
  }
}

TEST(FairTree, AUserWithFairshareParentStandsBesideItsAccount) {
  Site s;
  s.account("a", 1).account("b", 1).user("u", "a", kSharesOfParent, 25).user("v", "a", 1, 5).user("w", "a", 3, 30).user("x", "b", 1, 40);
  EXPECT_EQ(s.view("u").level_fs, s.view("a").level_fs);
  EXPECT_EQ(s.view("u").norm_shares, s.view("a").norm_shares);
  EXPECT_EQ(s.view("u").effective_usage, s.view("a").effective_usage);
  EXPECT_EQ(s.view("u").raw_usage, 25);
  EXPECT_DOUBLE_EQ(s.view("v").norm_shares, 0.25);          // the other's shares are not of this level
  EXPECT_DOUBLE_EQ(s.view("v").effective_usage, 5.0 / 60);  // but its usage is the account's
  EXPECT_EQ(s.rank("x"), 4u);
  EXPECT_EQ(s.rank("u"), 3u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_EQ(s.rank("w"), 1u);
}

TEST(FairTree, UsersThatAllHaveFairshareParentTie) {
  Site s;
  s.account("a", 1).account("b", 1).user("u", "a", kSharesOfParent, 25).user("v", "a", kSharesOfParent, 0).user("x", "b", 1, 20);
  EXPECT_EQ(s.rank("x"), 3u);
  EXPECT_EQ(s.rank("u"), 2u);
  EXPECT_EQ(s.rank("v"), 2u);
}

TEST(FairTree, FairshareParentOfAUserReachesPastAccountsThatHaveItToo) {
  Site s;
  s.account("a", 1).account("b", 1).account("group", kSharesOfParent, "a");
  s.user("u", "group", kSharesOfParent, 50).user("v", "group", 1, 20).user("w", "a", 1, 30).user("x", "b", 1, 40);
  EXPECT_EQ(s.view("u").level_fs, s.view("a").level_fs);
  EXPECT_EQ(s.rank("u"), s.rank("v"));
  EXPECT_EQ(s.rank("w"), 1u);
}

TEST(FairTree, AUserOfRootWithFairshareParentHasTheBestRank) {
  Site s;
  s.user("u", "root", kSharesOfParent, 50).user("v", "root", 1, 20).user("w", "root", 1, 30);
  EXPECT_EQ(s.rank("u"), 3u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_EQ(s.rank("w"), 1u);
}

TEST(FairTree, WhoHasNoSharesComesLastUsedOrNot) {
  Site s;
  s.account("a", 0).account("b", 1).user("u", "a", 1, 0).user("v", "b", 1, 90).user("w", "b", 0, 0).user("x", "root", 1, 10);
  EXPECT_EQ(s.view("a").level_fs, 0);
  EXPECT_EQ(s.rank("x"), 4u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_EQ(s.rank("w"), 2u);
  EXPECT_EQ(s.rank("u"), 1u);
}

TEST(FairTree, DampeningHasNoPartInIt) {
  const Site s = guide_site();
  for (const char* name : {"1", "2", "3", "4", "5"}) EXPECT_EQ(s.view(name, {.dampening = 5}), s.view(name));
}

// ---- both

constexpr FairShareRule kRules[] = {kTree, kClassic, kOblivious, {.kind = FairShareKind::kClassic, .dampening = 5}};

TEST(FairShares, NothingGivesNothing) {
  for (const FairShareRule& rule : kRules) EXPECT_TRUE(fair_shares({}, rule).empty());
}

TEST(FairShares, RootAloneIsTheWholeMachine) {
  for (const FairShareRule& rule : kRules)
    for (uint64_t shares : {uint64_t{0}, uint64_t{1}, kSharesOfParent}) {
      const ShareView v = fair_shares({{1, kNoParent, shares, 0, false}}, rule)[0];
      EXPECT_EQ(v.norm_shares, 1);
      EXPECT_EQ(v.norm_usage, 0);
      EXPECT_EQ(v.effective_usage, 0);
    }
}

TEST(FairShares, WhereNothingWasUsedAllHaveOne) {
  Site s;
  s.account("a", 1).account("b", 5).user("u", "a", 1, 0).user("v", "a", 9, 0).user("w", "b", 2, 0).user("x", "root", 1, 0);
  for (const FairShareRule& rule : kRules)
    for (const char* name : {"u", "v", "w", "x"}) EXPECT_EQ(s.factor(name, rule), 1) << name;
}

TEST(FairShares, WhereNobodyHasSharesAllAreAlike) {
  Site s;
  s.account("a", 0).account("b", 0).user("u", "a", 0, 5).user("v", "b", 0, 0).user("w", "root", 0, 9);
  for (const char* name : {"u", "v", "w"}) {
    EXPECT_EQ(s.factor(name), 1) << name;
    EXPECT_EQ(s.factor(name, kClassic), 0) << name;
    EXPECT_EQ(s.factor(name, kOblivious), 0) << name;
  }
}

TEST(FairShares, HugeUsageIsStillCompared) {
  Site s;
  s.user("u", "root", 1, std::numeric_limits<double>::max()).user("v", "root", 1, 1e249).user("w", "root", 1, 1e249);
  EXPECT_EQ(s.rank("u"), 1u);
  EXPECT_EQ(s.rank("v"), 3u);
  EXPECT_LT(s.factor("u", kClassic), s.factor("v", kClassic));
}

// Each account has next to nothing of the one above and used all of it. Nothing overflows, neither numbers nor the stack.
TEST(FairShares, AccountsMayBeNestedDeeply) {
  std::vector<ShareNode> tree{{1, kNoParent, 1, 0, false}};
  uint32_t account = 0;
  for (int depth = 0; depth < 100'000; ++depth) {
    const auto next = static_cast<uint32_t>(tree.size());
    tree.push_back({next + 1, account, 1, 0, false});
    tree.push_back({next + 2, account, kSharesOfParent - 1, 0, true});
    account = next;
  }
  tree.push_back({static_cast<uint32_t>(tree.size() + 1), account, 1, 1000, true});
  EXPECT_EQ(fair_shares(tree, kTree).back().rank, 1u);
  for (const FairShareRule& rule : {kClassic, kOblivious})
    for (const ShareView& v : fair_shares(tree, rule)) ASSERT_TRUE(v.factor >= 0 && v.factor <= 1 && std::isfinite(v.effective_usage));
  EXPECT_EQ(fair_shares(tree, kOblivious).back().factor, 0);
}

}  // namespace
}  // namespace muster::acct
