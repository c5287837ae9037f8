// What is told of edits, as Debian's sacctmgr 22.05 tells it.
#include "cli/sacctmgr/told.h"

#include <gtest/gtest.h>

#include "cli/sacctmgr/specs.h"

namespace muster::cli {
namespace {

AssociationRecord association(std::string account, std::string user = "", std::string partition = "") {
  AssociationRecord a;
  a.cluster = "oracle";
  a.account = std::move(account);
  a.user = std::move(user);
  a.partition = std::move(partition);
  return a;
}

EntityEdit edit(EditVerb verb, Entity e, const std::vector<std::string>& settings = {}) {
  EntityEdit out;
  out.verb = verb;
  out.entity = e;
  for (const Spec& s : parse_specs(settings)) EXPECT_TRUE(add_setting(e, s, out.set)) << s.text;
  return out;
}

TEST(Told, NewAccounts) {
  rpc::Entities e;
  e.accounts.resize(1);
  e.accounts[0].name = "team-a";
  e.associations = {association("team-a")};
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kAccount, {"Description=team a", "Organization=research"}), e, true),
            " Adding Account(s)\n  team-a\n Settings\n  Description     = team a\n  Organization    = research\n Associations\n"
            "  A = team-a     C = oracle    \n Settings\n  Parent        = root\n");
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kAccount), e, false),
            " Adding Account(s)\n  team-a\n Settings\n  Description     = Account Name\n  Organization    = Parent/Account Name\n"
            " Associations\n  A = team-a     C = oracle    \n");
  EXPECT_NE(told(edit(EditVerb::kAdd, Entity::kAccount, {"fairshare=-1"}), e, true).find("  Fairshare     = NONE\n"), std::string::npos);
  EXPECT_NE(told(edit(EditVerb::kAdd, Entity::kAccount,
                      {"Parent=top", "fairshare=5", "grptres=gres/gpu=3,cpu=10", "maxwall=1-0", "qos=normal,high", "defaultqos=normal",
                       "MaxJobs=3"}),
                 e, true)
                .find(" Settings\n  GrpTRES       = cpu=10,gres/gpu=3\n  MaxJobs       = 3\n  MaxWall       = 1-00:00:00\n"
                      "  Fairshare     = 5\n  Parent        = top\n  QOS           = high,normal\n  DefQOS        = normal\n"),
            std::string::npos);
}

TEST(Told, NewUsersAndNewAssociationsOfOld) {
  rpc::Entities e;
  e.users.resize(1);
  e.users[0].name = "u1";
  e.associations = {association("b5", "u1", "main")};
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kUser, {"fairshare=parent", "adminlevel=operator"}), e, true),
            " Adding User(s)\n  u1\n Settings =\n  Admin Level     = Operator\n Associations =\n"
            "  U = u1        A = b5         C = oracle     P = main      \n Non Default Settings\n  Fairshare     = parent\n");
  e.users.clear();
  e.associations = {association("b1", "u1")};
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kUser), e, false),
            " Associations =\n  U = u1        A = b1         C = oracle    \n Non Default Settings\n");
}

TEST(Told, NewQosClustersAndCoordinators) {
  rpc::Entities e;
  e.qos.resize(1);
  e.qos[0].name = "team-a-qos";
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kQos, {"GrpTRESMins=gres/gpu=43200"}), e, true),
            " Adding QOS(s)\n  team-a-qos\n Settings\n  Description    = team-a-qos\n  GrpTRESMins              = gres/gpu=43200\n");
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kQos,
                      {"maxtresperuser=cpu=4", "gracetime=1", "preemptmode=requeue", "usagefactor=2.5", "preempt=low,high"}),
                 e, true),
            " Adding QOS(s)\n  team-a-qos\n Settings\n  Description    = team-a-qos\n  GraceTime                = 1\n"
            "  MaxTRESPerUser           = cpu=4\n  Preempt                  = high,low\n  PreemptMode              = REQUEUE\n"
            "  UsageFactor              = 2.5000\n");
  rpc::Entities c;
  c.clusters.resize(1);
  c.clusters[0].name = "oracle";
  EXPECT_EQ(told(edit(EditVerb::kAdd, Entity::kCluster), c, false), " Adding Cluster(s)\n  Name           = oracle\n");
  rpc::Entities a;
  a.accounts.resize(1);
  a.accounts[0].name = "b5";
  EntityEdit who = edit(EditVerb::kAdd, Entity::kCoordinator);
  who.where.users = {"u1"};
  EXPECT_EQ(told(who, a, false), " Adding Coordinator User(s)\n  u1\n To Account(s) and all sub-accounts\n  b5\n");
  who.verb = EditVerb::kDelete;
  EXPECT_EQ(told(who, a, false), " Removing Coordinators with user name\n  u1\n From Account(s)\n  b5\n"
                                 " Removed Coordinators (sub accounts not listed)...\n  U = u1        A = b5        \n");
}

TEST(Told, Changes) {
  rpc::Entities e;
  e.associations = {association("team-a"), association("team-a", "root"), association("b5", "u2", "main")};
  e.associations[0].parent_account = "root";
  EXPECT_EQ(told(edit(EditVerb::kModify, Entity::kAccount, {"qos=x"}), e, true),
            " Modified account associations...\n  C = oracle     A = team-a of root\n"
            "  C = oracle     A = team-a               U = root     \n"
            "  C = oracle     A = b5                   U = u2        P = main\n");
  rpc::Entities u;
  u.users.resize(1);
  u.users[0].name = "u1";
  EXPECT_EQ(told(edit(EditVerb::kModify, Entity::kUser, {"adminlevel=none"}), u, true), " Modified users...\n  u1\n");
  rpc::Entities c;
  c.clusters.resize(1);
  c.clusters[0].name = "oracle";
  c.associations = {association("root")};
  EXPECT_EQ(told(edit(EditVerb::kModify, Entity::kCluster, {"fairshare=4", "classification=Capacity"}), c, true),
            " Setting\n  Classification = Capacity\n  Default Limits:\n  Fairshare     = 4\n Modified cluster...\n  oracle\n"
            " Modified cluster defaults for associations...\n  C = oracle     A = root\n");
}

TEST(Told, Deletions) {
  rpc::Entities e;
  e.accounts.resize(1);
  e.accounts[0].name = "b6";
  e.associations = {association("b6")};
  EXPECT_EQ(told(edit(EditVerb::kDelete, Entity::kAccount), e, false), " Deleting accounts...\n  b6\n");
  EntityEdit on = edit(EditVerb::kDelete, Entity::kAccount);  // of one cluster: what goes are the associations there
  on.where.clusters = {"oracle"};
  AssociationRecord gone;
  gone.cluster = "oracle";
  gone.account = "b6";
  e.associations = {gone};
  EXPECT_EQ(told(on, e, false), " Deleting account associations...\n  C = oracle     A = b6        \n");
  rpc::Entities u;
  u.associations = {association("b6", "u2", "main")};
  EXPECT_EQ(told(edit(EditVerb::kDelete, Entity::kUser), u, false),
            " Deleting user associations...\n  C = oracle     A = b6         U = u2        P = main\n");
}

TEST(Told, NothingIsNothing) {
  for (Entity e : {Entity::kAccount, Entity::kUser, Entity::kQos, Entity::kCluster, Entity::kCoordinator})
    for (EditVerb v : {EditVerb::kAdd, EditVerb::kModify, EditVerb::kDelete}) EXPECT_EQ(told(edit(v, e), {}, false), "");
  EntityEdit nothing;
  EXPECT_EQ(told_nothing(nothing), " Nothing new added.\n");
  nothing.entity = Entity::kCluster;
  nothing.where.clusters = {"test"};
  EXPECT_EQ(told_nothing(nothing), " This cluster test already exists.  Not adding.\n");
}

}  // namespace
}  // namespace muster::cli
