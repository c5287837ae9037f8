#include "sim/replay/accounts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/replay/swf.h"

namespace muster::sim::replay {
namespace {

using testing::ElementsAre;

const AssociationRecord* find(const rpc::Entities& e, std::string_view account, std::string_view user) {
  for (const AssociationRecord& a : e.associations)
    if (a.account == account && a.user == user) return &a;
  return nullptr;
}

TEST(AccountsFile, AsSacctmgrDumpsThem) {
  auto read = read_accounts(
      "# a comment\n"
      "QOS - 'high':Priority=100:GraceTime=00:05:Preempt='normal':GrpTRES=gres/gpu:h100=64,cpu=8:UsageFactor=2.5:Flags=DenyOnLimit\n"
      "Cluster - 'tux':Fairshare=1:QOS='normal'\n"
      "Parent - 'root'\n"
      "Account - 'Science':Description='science: all of it':Organization='org':Fairshare=30:MaxJobs=4:GrpTRESMins=cpu=100\n"
      "Parent - 'science'\n"
      "Account - 'chem':Fairshare=parent:GrpNodes=7\n"
      "User - 'adam':DefaultAccount='chem':MaxWallDurationPerJob=1-00:00:00:AdminLevel=None\n"
      "Parent - 'chem'\r\n"
      "User - 'adam':QOS='high,normal':DefaultQOS='high'\n");
  ASSERT_TRUE(read) << read.error().message();
  const AssociationRecord* science = find(*read, "science", "");
  const AssociationRecord* chem = find(*read, "chem", "");
  ASSERT_TRUE(science && chem);
  EXPECT_EQ(science->parent_id, 1u);
  EXPECT_EQ(chem->parent_id, science->id);
  EXPECT_EQ(find_limit(science->limits, LimitKind::kShares), 30u);
  EXPECT_EQ(find_limit(science->limits, LimitKind::kMaxJobs), 4u);
  EXPECT_EQ(find_limit(science->limits, LimitKind::kGrpTresMins, "cpu"), 100u);
  EXPECT_EQ(find_limit(chem->limits, LimitKind::kShares), kSharesOfParent);
  EXPECT_EQ(find_limit(chem->limits, LimitKind::kGrpTres, "node"), 7u);
  const AssociationRecord *first = find(*read, "science", "adam"), *second = find(*read, "chem", "adam");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(find_limit(first->limits, LimitKind::kMaxWall), 1440u);
  EXPECT_FALSE(first->is_default);
  EXPECT_TRUE(second->is_default);
  EXPECT_THAT(first->qos, ElementsAre("normal")) << "from the cluster's line";
  EXPECT_THAT(second->qos, ElementsAre("high", "normal"));
  EXPECT_EQ(second->default_qos, "high");
  const auto high = std::ranges::find(read->qos, "high", &QosRecord::name);
  ASSERT_NE(high, read->qos.end());
  EXPECT_EQ(find_limit(high->limits, LimitKind::kPriority), 100u);
  EXPECT_EQ(find_limit(high->limits, LimitKind::kGrpTres, "gres/gpu:h100"), 64u);
  EXPECT_EQ(find_limit(high->limits, LimitKind::kGrpTres, "cpu"), 8u);
  EXPECT_EQ(high->usage_factor, 2.5);
  EXPECT_THAT(high->preempt, ElementsAre("normal"));
}

TEST(AccountsFile, ErrorsNameTheLine) {
  auto refusal = [](std::string_view text) {
    auto read = read_accounts(text);
    return read ? std::string("read") : std::string(read.error().message());
  };
  EXPECT_EQ(refusal("\nnonsense\n"), "line 2: want TITLE - 'name'[:Option=value …]");
  EXPECT_EQ(refusal("Parent - 'nobody'\n"), "line 1: Parent: the account nobody is not there yet");
  EXPECT_EQ(refusal("Account - 'a'\nAccount - 'A'\n"), "line 2: the account a is there already");
  EXPECT_EQ(refusal("Account - 'a':Fairshare=lots\n"), "line 1: Invalid value for FairShare (lots)");
  EXPECT_EQ(refusal("Account - 'a':GrpTRES=gpu\n"), "line 1: Invalid value for GrpTRES (gpu)");
  EXPECT_EQ(refusal("QOS - 'q':UsageFactor=x\n"), "line 1: Invalid value for UsageFactor (x)");
  EXPECT_EQ(refusal("User - 'u'\nUser - 'u'\n"), "line 2: the user u is in the account root already");
  EXPECT_EQ(refusal("Group - 'a'\n"), "line 1: the title Group is none of Cluster, QOS, Parent, Account, User");
}

TEST(AccountsFile, QosAreAddedToThoseAboveAndTakenFromThem) {
  auto read = read_accounts("Cluster - 'tux':QOS='normal,low'\n"
                            "Account - 'a':QOS='+high,-low'\n"
                            "Parent - 'a'\n"
                            "User - 'u':QOS-='normal'\n");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(find(*read, "a", "")->qos, ElementsAre("normal", "high"));
  EXPECT_THAT(find(*read, "a", "u")->qos, ElementsAre("high"));
}

TEST(AccountsFile, WithoutOneTheTraceHasThem) {
  auto trace = read_swf("1 0 0 1 1 -1 -1 1 -1 -1 1 7 2\n2 0 0 1 1 -1 -1 1 -1 -1 1 7 2\n3 0 0 1 1 -1 -1 1 -1 -1 1\n", {});
  ASSERT_TRUE(trace);
  const rpc::Entities e = accounts_of(*trace);
  EXPECT_TRUE(find(e, "group2", "user7"));
  EXPECT_TRUE(find(e, kNoAccount, kNoUser));
  EXPECT_EQ(e.associations.size(), 5u);
  EXPECT_THAT(find(e, "group2", "user7")->qos, ElementsAre("normal"));
}

}  // namespace
}  // namespace muster::sim::replay
