// Federations as sacctmgr(1) makes, changes and deletes them, and what is shown of them.
#include "slurmdbd/core/edit_testing.h"

namespace muster::slurmdbd {
namespace {

struct Federations : EditTest {
  Federations() {
    for (const char* name : {"beta", "gamma"})
      commit(make(EditVerb::kAdd, Entity::kCluster, [&](EntityEdit& e) { e.where.clusters = {name}; }));
  }
  EntityEdit federation(EditVerb verb, const std::string& name, ChangeOp op = ChangeOp::kSet, std::vector<std::string> clusters = {}) {
    return make(verb, Entity::kFederation, [&](EntityEdit& e) {
      e.where.federations = {name};
      if (!clusters.empty() || op == ChangeOp::kClear) e.set.clusters = {{op, std::move(clusters)}};
    });
  }
  EntityEdit cluster(const std::string& name, const std::function<void(EntityChange&)>& set) {
    return make(EditVerb::kModify, Entity::kCluster, [&](EntityEdit& e) {
      e.where.clusters = {name};
      set(e.set);
    });
  }
  // "alpha1 beta2" of a federation, as it is shown.
  std::string members(const std::string& name) {
    rpc::QueryEntities q;
    q.what = Entity::kFederation;
    q.filter.federations = {name};
    std::string out;
    for (const ClusterRecord& c : query(d, q, {}).clusters) out += (out.empty() ? "" : " ") + c.name + std::to_string(c.fed_id);
    return out;
  }
};

TEST_F(Federations, ClustersComeAndGo) {
  EXPECT_EQ(commit(federation(EditVerb::kAdd, "Fed", ChangeOp::kSet, {"Alpha", "beta"})).federations.at(0).name, "fed");
  EXPECT_EQ(members("fed"), "alpha1 beta2");
  EXPECT_EQ(d.clusters.at("beta").fed_state, "ACTIVE");
  commit(federation(EditVerb::kModify, "fed", ChangeOp::kSubtract, {"alpha"}));
  EXPECT_EQ(d.clusters.at("alpha").federation, "");
  EXPECT_EQ(d.clusters.at("alpha").fed_state, "");
  commit(federation(EditVerb::kModify, "fed", ChangeOp::kAdd, {"gamma"}));  // the lowest number that is free
  EXPECT_EQ(members("fed"), "gamma1 beta2");
  commit(federation(EditVerb::kModify, "fed", ChangeOp::kSet, {"alpha"}));
  EXPECT_EQ(members("fed"), "alpha1");
  commit(federation(EditVerb::kModify, "fed", ChangeOp::kClear));
  EXPECT_EQ(members("fed"), "");
  EXPECT_TRUE(commit(federation(EditVerb::kModify, "fed", ChangeOp::kClear)).federations.empty()) << "nothing changed";
}

TEST_F(Federations, AClusterIsInOneAtATime) {
  commit(federation(EditVerb::kAdd, "fed", ChangeOp::kSet, {"alpha"}));
  EXPECT_EQ(refused(federation(EditVerb::kAdd, "other", ChangeOp::kSet, {"alpha"})), Errc::kError);
  EXPECT_NE(said.find("cluster 'alpha' is in federation 'fed'"), std::string::npos) << said;
  commit(federation(EditVerb::kAdd, "other"));
  commit(cluster("alpha", [](EntityChange& c) { c.federation = "Other"; }));
  EXPECT_EQ(members("fed"), "");
  EXPECT_EQ(members("other"), "alpha1");
  commit(cluster("alpha", [](EntityChange& c) { c.federation = ""; }));
  EXPECT_EQ(members("other"), "");
}

TEST_F(Federations, AClustersState) {
  EXPECT_EQ(refused(cluster("alpha", [](EntityChange& c) { c.fed_state = "DRAIN"; })), Errc::kError);
  EXPECT_NE(said.find("is in no federation"), std::string::npos) << said;
  commit(federation(EditVerb::kAdd, "fed", ChangeOp::kSet, {"alpha"}));
  commit(cluster("alpha", [](EntityChange& c) { c.fed_state = "drain"; }));
  EXPECT_EQ(d.clusters.at("alpha").fed_state, "DRAIN");
  EXPECT_EQ(refused(cluster("alpha", [](EntityChange& c) { c.fed_state = "asleep"; })), Errc::kError);
  commit(cluster("alpha", [](EntityChange& c) { c.fed_state = "DRAIN+REMOVE"; }));
  EXPECT_EQ(members("fed"), "") << "it has no federated jobs to wait for";
}

TEST_F(Federations, WhatIsNotKnownIsRefused) {
  EXPECT_EQ(refused(federation(EditVerb::kAdd, "fed", ChangeOp::kSet, {"nosuch"})), Errc::kInvalidClusterName);
  EXPECT_EQ(refused(cluster("alpha", [](EntityChange& c) { c.federation = "nosuch"; })), Errc::kNotFound);
  EXPECT_EQ(refused(federation(EditVerb::kAdd, "a=b")), Errc::kBadName);
  EXPECT_EQ(refused(make(EditVerb::kDelete, Entity::kFederation, [](EntityEdit&) {})), Errc::kError);
  EXPECT_EQ(refused(federation(EditVerb::kAdd, "fed"), "eve", AdminLevel::kNone), Errc::kAccessDenied);
}

TEST_F(Federations, OneThatIsDeletedLetsItsClustersGo) {
  commit(federation(EditVerb::kAdd, "young", ChangeOp::kSet, {"alpha"}));
  commit(federation(EditVerb::kAdd, "old", ChangeOp::kSet, {"beta"}));
  d.federations.at("old").created = now - minutes(48 * 60);
  EXPECT_EQ(commit(federation(EditVerb::kDelete, "young")).federations.size(), 1u);
  commit(federation(EditVerb::kDelete, "old"));
  EXPECT_EQ(d.clusters.at("alpha").federation + d.clusters.at("beta").federation, "");
  EXPECT_FALSE(d.federations.contains("young")) << "it was younger than a day";
  EXPECT_TRUE(d.federations.at("old").deleted);
  commit(federation(EditVerb::kAdd, "old"));
  EXPECT_FALSE(d.federations.at("old").deleted);
  commit(cluster("alpha", [](EntityChange& c) { c.federation = "old"; }));
  commit(make(EditVerb::kDelete, Entity::kCluster, [](EntityEdit& e) { e.where.clusters = {"alpha"}; }));
  EXPECT_EQ(members("old"), "");
}

// What the conditions of listings look at.
TEST_F(Federations, UsersByTheirKeysAndTresByTheirNames) {
  commit(account("one"));
  commit(user("ann", "one"));
  commit(user("bob", "one"));
  commit(make(EditVerb::kAdd, Entity::kWckey, [](EntityEdit& e) {
    e.where.users = {"ann"};
    e.where.wckeys = {"key"};
    e.where.clusters = {"alpha"};
  }));
  rpc::QueryEntities q;
  q.what = Entity::kUser;
  q.filter.wckeys = {"key"};
  auto users = query(d, q, {}).users;
  ASSERT_EQ(users.size(), 1u);
  EXPECT_EQ(users[0].name, "ann");
  q.filter.wckeys = {"nosuch"};
  EXPECT_TRUE(query(d, q, {}).users.empty());
  rpc::QueryEntities t;
  t.what = Entity::kTres;
  t.filter.tres = {"gpu"};
  auto tres = query(d, t, {}).tres;
  ASSERT_EQ(tres.size(), 1u);
  EXPECT_EQ(tres[0].type, "gres");
}

TEST(Settings, WhoIsTheBackup) {
  Settings s;
  s.host = "db1";
  EXPECT_FALSE(is_backup(s, "db2"));
  s.backup_host = "db2";
  EXPECT_TRUE(is_backup(s, "db2"));
  EXPECT_TRUE(is_backup(s, "DB2.example.org"));
  EXPECT_FALSE(is_backup(s, "db1"));
  EXPECT_FALSE(is_backup(s, "elsewhere"));
  s.backup_host = "db2.example.org";
  EXPECT_TRUE(is_backup(s, "db2"));
  EXPECT_FALSE(is_backup(s, "db2.elsewhere.org"));
  s.backup_host = "db2";
  s.host = "db2";
  EXPECT_FALSE(is_backup(s, "db2"));
}

}  // namespace
}  // namespace muster::slurmdbd
