#include "cli/sacctmgr/load_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A cluster tux with the account lab, in which ann is; QOS normal and high.
rpc::Entities database() {
  rpc::Entities out;
  out.clusters.resize(1);
  out.clusters[0].name = "tux";
  for (const char* name : {"normal", "high"}) out.qos.emplace_back().name = name;
  for (const char* name : {"root", "lab"}) {
    AccountRecord& a = out.accounts.emplace_back();
    a.name = a.description = a.organization = name;
  }
  out.users.resize(2);
  out.users[0].name = "root";
  out.users[0].admin_level = AdminLevel::kAdministrator;
  out.users[1].name = "ann";
  auto add = [&](std::string account, std::string user, std::string above) -> AssociationRecord& {
    AssociationRecord& a = out.associations.emplace_back();
    a.id = static_cast<uint32_t>(out.associations.size());
    a.cluster = "tux";
    a.account = std::move(account);
    a.user = std::move(user);
    a.parent_account = std::move(above);
    a.is_default = !a.user.empty();
    return a;
  };
  add("root", "", "").qos = {"normal"};
  add("root", "root", "root");
  add("lab", "", "root").limits = {{LimitKind::kMaxJobs, {}, 4}};
  add("lab", "ann", "lab");
  return out;
}

LoadPlan plan(std::string_view text, const LoadChoices& choices = {}) {
  auto file = config::read_accounts_file(text);
  EXPECT_TRUE(file) << file.error().message();
  auto out = plan_load(*file, choices, database());
  EXPECT_TRUE(out) << out.error().message();
  return out ? std::move(*out) : LoadPlan{};
}
std::string refusal(std::string_view text) {
  auto file = config::read_accounts_file(text);
  EXPECT_TRUE(file) << file.error().message();
  auto out = plan_load(*file, {}, database());
  return out ? "planned" : std::string(out.error().message());
}

TEST(LoadPlan, NothingWhereEverythingIsSo) {
  const LoadPlan p =
      plan("QOS - 'normal'\nCluster - 'tux':Fairshare=1:QOS='normal'\nParent - 'root'\nUser - "
           "'root':DefaultAccount='root':AdminLevel=Administrator\n"
           "Account - 'lab':Description='LAB':Fairshare=1:MaxJobs=4\nParent - 'lab'\nUser - 'ann':DefaultAccount='lab':Fairshare=1\n");
  EXPECT_THAT(p.edits, IsEmpty());
  EXPECT_THAT(p.changed, IsEmpty());
}

TEST(LoadPlan, ChangesWhatDiffersAndLeavesTheRest) {
  const LoadPlan p = plan("Cluster - 'tux'\nAccount - 'lab':Fairshare=9:Organization='org'\n");
  ASSERT_EQ(p.edits.size(), 1u);
  EXPECT_EQ(p.edits[0].verb, EditVerb::kModify);
  EXPECT_THAT(p.edits[0].where.accounts, ElementsAre("lab"));
  ASSERT_EQ(p.edits[0].set.limits.size(), 1u) << "MaxJobs is not in the file, and stays";
  EXPECT_EQ(p.edits[0].set.limits[0].value, 9u);
  EXPECT_THAT(p.changed, ElementsAre(" Changed organization          for Account lab             lab -> org\n",
                                     " Changed fairshare             for Account lab               1 -> 9\n"));
}

TEST(LoadPlan, UsersWhoseLinesSayTheSameShareAnEdit) {
  std::string text = "Cluster - 'tux'\nAccount - 'new'\nParent - 'new'\n";
  for (int i = 0; i < 2500; ++i) text += "User - 'u" + std::to_string(i) + "':Fairshare=1:DefaultAccount='new'\n";
  const LoadPlan p = plan(text + "User - 'last':MaxJobs=2\n");
  ASSERT_EQ(p.edits.size(), 5u) << "the account, three lists of at most 1000 users, and the one who differs";
  EXPECT_EQ(p.edits[0].entity, Entity::kAccount);
  EXPECT_EQ(p.edits[1].where.users.size(), 1000u);
  EXPECT_EQ(p.edits[3].where.users.size(), 500u);
  EXPECT_THAT(p.edits[4].where.users, ElementsAre("last"));
}

TEST(LoadPlan, TheDefaultAccountComesLast) {
  const LoadPlan p =
      plan("Cluster - 'tux'\nAccount - 'a'\nAccount - 'b'\nParent - 'a'\nUser - 'new':DefaultAccount='b'\nParent - 'b'\nUser - 'new'\n");
  ASSERT_EQ(p.edits.size(), 5u);
  EXPECT_EQ(p.edits[4].verb, EditVerb::kModify);
  EXPECT_EQ(p.edits[4].set.default_account, "b");
  EXPECT_FALSE(p.edits[2].set.default_account) << "slurmdbd would add the user to that account too, with the limits of this one";
}

TEST(LoadPlan, RefusesWhatIsNotThere) {
  EXPECT_EQ(refusal("Account - 'a'\n"), " You need to specify a cluster name first with 'Cluster - $NAME' in your file");
  EXPECT_EQ(refusal("Cluster - 'tux'\nAccount - 'a':QOS='nosuch'\n"), "line 2: QOS: You gave a bad qos 'nosuch'");
  EXPECT_EQ(refusal("Cluster - 'tux'\nAccount - 'a':DefaultQOS='nosuch'\n"), "line 2: DefaultQOS: You gave a bad qos 'nosuch'");
  EXPECT_EQ(refusal("Cluster - 'tux'\nUser - 'u':DefaultAccount='lab'\n"), "line 2: DefaultAccount=lab: user u is not in that account");
  EXPECT_EQ(refusal("Cluster - 'tux'\nUser - 'u':Coordinator='x'\n"), "line 2: Coordinator=x: there is no such account");
  EXPECT_EQ(refusal("QOS - 'own':Preempt='high'\nCluster - 'tux'\nAccount - 'a':QOS='own,high'\n"), "planned");
}

TEST(LoadPlan, CleanRemovesTheClusterFirst) {
  LoadChoices choices;
  choices.clean = choices.clean_accounts = choices.clean_users = choices.clean_qos = true;
  const LoadPlan p = plan("Cluster - 'tux':MaxJobs=3\nAccount - 'lab'\n", choices);
  ASSERT_EQ(p.edits.size(), 6u);
  EXPECT_EQ(p.edits[0].entity, Entity::kCluster);
  EXPECT_EQ(p.edits[0].verb, EditVerb::kDelete);
  EXPECT_THAT(p.edits[1].where.users, ElementsAre("ann")) << "root stays";
  EXPECT_THAT(p.edits[2].where.accounts, ElementsAre("lab"));
  EXPECT_THAT(p.edits[3].where.qos, ElementsAre("high"));
  EXPECT_EQ(p.edits[4].verb, EditVerb::kAdd);
  EXPECT_EQ(p.edits[5].verb, EditVerb::kAdd);
  EXPECT_THAT(p.edits[5].where.accounts, ElementsAre("lab"));
}

TEST(LoadPlan, AnotherClusterThanTheFiles) {
  LoadChoices choices;
  choices.cluster = "Other";
  const LoadPlan p = plan("Cluster - 'tux'\nAccount - 'lab':MaxJobs=1\n", choices);
  ASSERT_EQ(p.edits.size(), 2u);
  EXPECT_THAT(p.edits[0].where.clusters, ElementsAre("other"));
  EXPECT_EQ(p.edits[1].verb, EditVerb::kAdd) << "the account is there, and not on that cluster";
}

TEST(LoadPlan, FlagsOfAnAccountAreSet) {
  LoadPlan p = plan("Cluster - 'tux'\nAccount - 'lab':Flags='UsersAreCoords'\nAccount - 'new':Flags='UsersAreCoords'\n");
  ASSERT_EQ(p.edits.size(), 2u);
  for (const EntityEdit& edit : p.edits) {
    ASSERT_EQ(edit.set.flags.size(), 1u);
    EXPECT_THAT(edit.set.flags[0].names, ElementsAre("UsersAreCoords"));
  }
  EXPECT_EQ(p.edits[1].verb, EditVerb::kAdd);
}

}  // namespace
}  // namespace muster::cli
