// The rules of sacctmgr's edits.
#include "slurmdbd/core/edit_testing.h"

namespace muster::slurmdbd {
namespace {

TEST_F(EditTest, ANewDatabaseHasRootNormalAndTheTresThatAlwaysAre) {
  EXPECT_TRUE(find_live(d.accounts, "root"));
  EXPECT_TRUE(find_live(d.users, "root"));
  EXPECT_EQ(d.qos.at("normal").id, 1u);
  EXPECT_TRUE(find_live(d.clusters, "alpha"));
  EXPECT_EQ(tres_name(d.tres.at(1001)), "gres/gpu");
  EXPECT_EQ(d.tres.size(), 9u);
  auto t = tree();
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t[0].account, "root");
  EXPECT_EQ(t[0].lineage, "/");
  EXPECT_EQ(t[1].user, "root");
  EXPECT_EQ(t[1].qos, (std::vector<std::string>{"normal"}));
}

TEST_F(EditTest, RegisteringAgainTouchesNothing) {
  rpc::RegisterCluster r;
  r.cluster.name = "alpha";
  r.cluster.control_host = "ctl";
  r.tracked_tres = {"gres/gpu"};
  Touched t;
  register_cluster(d, r, "", now, t);
  EXPECT_TRUE(t.keys.empty());
  r.cluster.control_port = 7;
  register_cluster(d, r, "", now, t);
  EXPECT_EQ(t.keys.size(), 1u);
}

TEST_F(EditTest, AnAccountGetsAnAssociationOnEveryCluster) {
  commit(make(EditVerb::kAdd, Entity::kCluster, [](EntityEdit& e) { e.where.clusters = {"beta"}; }));
  auto changed = commit(make(EditVerb::kAdd, Entity::kAccount, [](EntityEdit& e) {
    e.where.accounts = {"Team-A"};
    e.set.description = "Team A";
    e.set.organization = "research";
  }));
  ASSERT_EQ(changed.accounts.size(), 1u);
  EXPECT_EQ(changed.accounts[0].name, "team-a");
  EXPECT_EQ(changed.accounts[0].description, "Team A");
  EXPECT_EQ(changed.associations.size(), 2u);
  // There already: nothing changes.
  auto again = attempt({account("team-a")});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->touched.keys.empty());
  EXPECT_TRUE(again->transactions.empty());
}

TEST_F(EditTest, WithoutAClusterThereIsNothingToPutAnAccountOn) {
  d = initial_directory(now);
  EXPECT_EQ(refused(account("a")), Errc::kInvalidClusterName);
}

TEST_F(EditTest, AUserNeedsAnAccountAndTheFirstIsHisDefault) {
  EXPECT_EQ(refused(user("alice", "")), Errc::kError);
  EXPECT_EQ(refused(user("alice", "team-a")), Errc::kInvalidAccount);
  commit(account("team-a"));
  commit(account("team-b"));
  auto changed = commit(user("Alice", "team-a"));
  ASSERT_EQ(changed.users.size(), 1u);
  EXPECT_EQ(changed.users[0].name, "alice");
  EXPECT_EQ(changed.users[0].default_account, "team-a");
  EXPECT_TRUE(find("team-a", "alice").is_default);
  commit(user("alice", "team-b"));
  EXPECT_FALSE(find("team-b", "alice").is_default);
  commit(make(EditVerb::kModify, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"alice"};
    e.set.default_account = "team-b";
  }));
  EXPECT_TRUE(find("team-b", "alice").is_default);
  EXPECT_FALSE(find("team-a", "alice").is_default);
  EXPECT_EQ(refused(make(EditVerb::kModify, Entity::kUser,
                         [](EntityEdit& e) {
                           e.where.users = {"alice"};
                           e.set.default_account = "none";
                         })),
            Errc::kInvalidAccount);
}

TEST_F(EditTest, TheTreeIsListedUsersFirst) {
  commit(account("science"));
  commit(account("physics", "science"));
  commit(account("arts"));
  commit(user("bob", "science"));
  commit(user("eve", "physics"));
  std::string lines;
  for (const auto& a : tree()) lines += std::string(a.depth, ' ') + a.lineage + "\n";
  EXPECT_EQ(lines, "/\n"
                   " /0-root/\n"
                   " /arts/\n"
                   " /science/\n"
                   "  /science/0-bob/\n"
                   "  /science/physics/\n"
                   "   /science/physics/0-eve/\n");
  EXPECT_EQ(find("physics").parent_id, find("science").id);
  EXPECT_EQ(d.accounts.at("physics").organization, "science") << "that of the account above, unless another is given";
  EXPECT_EQ(d.accounts.at("arts").organization, "arts");
  auto some = tree(false, [](rpc::QueryEntities& q) { q.filter.accounts = {"science"}; });
  EXPECT_EQ(some.size(), 2u);
  some = tree(false, [](rpc::QueryEntities& q) {
    q.filter.accounts = {"science"};
    q.filter.with_sub_accounts = true;
  });
  EXPECT_EQ(some.size(), 4u);
}

TEST_F(EditTest, TheAnswerNamesTheAccountAbove) {
  commit(account("science"));
  EXPECT_EQ(commit(account("physics", "science")).associations.at(0).parent_account, "science");
  EXPECT_EQ(commit(user("bob", "physics")).associations.at(0).parent_account, "");  // of accounts alone
}

TEST_F(EditTest, AnAccountMovesButNotBelowItself) {
  commit(account("a"));
  commit(account("b", "a"));
  auto move = [&](const std::string& name, const std::string& parent) {
    return make(EditVerb::kModify, Entity::kAccount, [&](EntityEdit& e) {
      e.where.accounts = {name};
      e.set.parent = parent;
    });
  };
  EXPECT_EQ(refused(move("a", "b")), Errc::kInvalidParentAccount);
  EXPECT_EQ(refused(move("a", "a")), Errc::kInvalidParentAccount);
  EXPECT_EQ(refused(move("b", "nowhere")), Errc::kInvalidParentAccount);
  EXPECT_EQ(commit(move("b", "root")).associations.size(), 1u);
  EXPECT_EQ(find("b").parent_id, find("root").id);
}

TEST_F(EditTest, LimitsAreSetAddedToAndClearedOneTresAtATime) {
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) {
    e.where.qos = {"team-a-qos"};
    e.set.limits = {{LimitKind::kGrpTresMins, "gres/gpu", ChangeOp::kSet, 43200}, {LimitKind::kGrpTresMins, "cpu", ChangeOp::kSet, 10}};
  }));
  commit(limit(Entity::kQos, "team-a-qos", {LimitKind::kGrpTresMins, "gres/gpu", ChangeOp::kAdd, 800}));
  commit(limit(Entity::kQos, "team-a-qos", {LimitKind::kGrpTresMins, "cpu", ChangeOp::kSubtract, 100}));
  const QosRecord& q = d.qos.at("team-a-qos");
  EXPECT_EQ(find_limit(q.limits, LimitKind::kGrpTresMins, "gres/gpu"), 44000u);
  EXPECT_EQ(find_limit(q.limits, LimitKind::kGrpTresMins, "cpu"), 0u);
  commit(limit(Entity::kQos, "team-a-qos", {LimitKind::kGrpTresMins, "cpu", ChangeOp::kClear, 0}));
  EXPECT_FALSE(find_limit(d.qos.at("team-a-qos").limits, LimitKind::kGrpTresMins, "cpu"));
  EXPECT_EQ(refused(limit(Entity::kQos, "team-a-qos", {LimitKind::kGrpTresMins, "gres/fpga", ChangeOp::kSet, 1})), Errc::kError);
  EXPECT_NE(said.find("gres/fpga"), std::string::npos);
  EXPECT_EQ(refused(limit(Entity::kQos, "team-a-qos", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 1})), Errc::kError);
}

TEST_F(EditTest, LimitsAndQosAreInherited) {
  commit(account("a"));
  commit(user("alice", "a"));
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) { e.where.qos = {"fast"}; }));
  commit(limit(Entity::kAccount, "a", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 5}));
  commit(limit(Entity::kAccount, "a", {LimitKind::kGrpJobs, "", ChangeOp::kSet, 9}));
  commit(make(EditVerb::kModify, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"alice"};
    e.set.qos = {{ChangeOp::kAdd, {"fast"}}};
  }));
  auto shown = tree().back();
  EXPECT_EQ(shown.user, "alice");
  EXPECT_EQ(find_limit(shown.limits, LimitKind::kMaxJobs), 5u);
  EXPECT_FALSE(find_limit(shown.limits, LimitKind::kGrpJobs));
  EXPECT_EQ(shown.qos, (std::vector<std::string>{"normal", "fast"}));
  shown = tree(true).back();
  EXPECT_TRUE(shown.limits.empty());
  EXPECT_EQ(shown.qos, (std::vector<std::string>{"+fast"}));
  EXPECT_EQ(refused(make(EditVerb::kModify, Entity::kAccount,
                         [](EntityEdit& e) {
                           e.where.accounts = {"a"};
                           e.set.qos = {{ChangeOp::kSet, {"nothing"}}};
                         })),
            Errc::kInvalidQos);
}

TEST_F(EditTest, WhatIsInUseStaysAndTheJobsAreNamed) {
  commit(account("a"));
  commit(user("alice", "a"));
  JobRecord running;
  running.key.id = JobId(77);
  running.state = JobState::kRunning;
  running.cluster = "alpha";
  running.account = "a";
  running.user = "alice";
  jobs = {running};
  EXPECT_EQ(refused(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"a"}; })), Errc::kJobsActiveOnRemove);
  EXPECT_NE(said.find("\n  JobID = 77         C = alpha      A = a          U = alice    "), std::string::npos) << said;
  jobs[0].state = JobState::kCompleted;
  auto gone = commit(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"a"}; }));
  EXPECT_EQ(gone.associations.size(), 2u);
  // It was used: it stays, marked.
  EXPECT_FALSE(find_live(d.accounts, "a"));
  EXPECT_TRUE(d.accounts.at("a").deleted);
  EXPECT_TRUE(tree().size() == 2);
  EXPECT_EQ(tree(false, [](rpc::QueryEntities& q) { q.filter.with_deleted = true; }).size(), 4u);
  uint32_t id = find("a").id;
  commit(account("a"));
  EXPECT_EQ(find("a").id, id);
}

TEST_F(EditTest, WhatWasNeverUsedGoesWithoutATrace) {
  commit(account("a"));
  commit(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"a"}; }));
  EXPECT_FALSE(d.accounts.contains("a"));
  commit(account("a"));
  now += std::chrono::hours(25);
  commit(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"a"}; }));
  EXPECT_TRUE(d.accounts.at("a").deleted);
}

TEST_F(EditTest, OthersJobsAreNotHisAndAnAccountIsAskedAboutOnce) {
  commit(account("a"));
  for (std::string name : {"alice", "bob", "carol"}) commit(user(name, "a"));
  JobRecord done;
  done.state = JobState::kCompleted;
  done.account = "a";
  done.user = "alice";
  jobs = {done};
  asked = 0;
  commit(remove(Entity::kUser, [](EntityFilter& w) { w.users = {"alice", "bob", "carol"}; }));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(find("a", "alice").deleted);
  EXPECT_FALSE(d.association("alpha", "a", "bob"));
}

TEST_F(EditTest, ADefaultAccountGoesLast) {
  commit(account("a"));
  commit(account("b"));
  commit(user("alice", "a"));
  commit(user("alice", "b"));
  EXPECT_EQ(refused(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"a"}; })), Errc::kCanNotRemoveDefaultAccount);
  EXPECT_NE(said.find("alice"), std::string::npos);
  EXPECT_EQ(refused(remove(Entity::kUser,
                           [](EntityFilter& w) {
                             w.users = {"alice"};
                             w.accounts = {"a"};
                           })),
            Errc::kCanNotRemoveDefaultAccount);
  commit(remove(Entity::kUser, [](EntityFilter& w) { w.users = {"alice"}; }));
  EXPECT_FALSE(find_live(d.users, "alice"));
}

TEST_F(EditTest, RootAndNormalStay) {
  EXPECT_EQ(refused(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"root"}; })), Errc::kError);
  EXPECT_EQ(refused(remove(Entity::kUser, [](EntityFilter& w) { w.users = {"root"}; })), Errc::kError);
  EXPECT_EQ(refused(remove(Entity::kQos, [](EntityFilter& w) { w.qos = {"normal"}; })), Errc::kError);
  EXPECT_EQ(refused(remove(Entity::kAccount, [](EntityFilter&) {})), Errc::kError);
}

TEST_F(EditTest, ADefaultQosIsInUse) {
  commit(account("a"));
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) { e.where.qos = {"fast"}; }));
  commit(make(EditVerb::kModify, Entity::kAccount, [](EntityEdit& e) {
    e.where.accounts = {"a"};
    e.set.default_qos = "fast";
    e.set.qos = {{ChangeOp::kSet, {"fast", "normal"}}};
  }));
  EXPECT_EQ(refused(remove(Entity::kQos, [](EntityFilter& w) { w.qos = {"fast"}; })), Errc::kInvalidQos);
  commit(make(EditVerb::kModify, Entity::kAccount, [](EntityEdit& e) {
    e.where.accounts = {"a"};
    e.set.default_qos = "";
  }));
  commit(remove(Entity::kQos, [](EntityFilter& w) { w.qos = {"fast"}; }));
  EXPECT_EQ(find("a").qos, (std::vector<std::string>{"normal"}));
}

TEST_F(EditTest, RightsFollowTheActor) {
  commit(account("a"));
  commit(account("b"));
  commit(user("carol", "a"));
  EXPECT_EQ(refused(account("c"), "carol", AdminLevel::kNone), Errc::kAccessDenied);
  EXPECT_EQ(refused(user("dave", "a"), "carol", AdminLevel::kNone), Errc::kAccessDenied);
  commit(make(EditVerb::kAdd, Entity::kCoordinator, [](EntityEdit& e) {
    e.where.users = {"carol"};
    e.where.accounts = {"a"};
  }));
  commit(user("dave", "a"), "carol", AdminLevel::kNone);
  EXPECT_EQ(refused(user("dave", "b"), "carol", AdminLevel::kNone), Errc::kAccessDenied);
  commit(account("a-sub", "a"), "carol", AdminLevel::kNone);
  commit(limit(Entity::kAccount, "a", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 5}));
  commit(limit(Entity::kUser, "dave", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 4}), "carol", AdminLevel::kNone);
  EXPECT_EQ(refused(limit(Entity::kUser, "dave", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 6}), "carol", AdminLevel::kNone),
            Errc::kAccessDenied);
  auto promote = make(EditVerb::kModify, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"carol"};
    e.set.admin_level = AdminLevel::kAdministrator;
  });
  EXPECT_EQ(refused(promote, "olga", AdminLevel::kOperator), Errc::kAccessDenied);
  commit(promote);
  EXPECT_EQ(level_of(d, "carol"), AdminLevel::kAdministrator);
  EXPECT_EQ(level_of(d, "nobody"), AdminLevel::kNone);
}

TEST_F(EditTest, AllOrNothing) {
  auto done = attempt({account("a"), user("alice", "nowhere")});
  EXPECT_FALSE(done);
  EXPECT_FALSE(find_live(d.accounts, "a"));
  done = attempt({account("a"), user("alice", "a")});
  ASSERT_TRUE(done);
  ASSERT_EQ(done->answer.changed.size(), 2u);
  EXPECT_EQ(done->transactions.size(), 2u);
  EXPECT_EQ(done->transactions[0].action, "Add Accounts");
  EXPECT_EQ(done->transactions[1].users, (std::vector<std::string>{"alice"}));
}

TEST_F(EditTest, ADefaultQosIsOneThatMayBeUsed) {
  commit(account("a"));
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) { e.where.qos = {"high"}; }));
  auto change = [&](const std::vector<NamesChange>& qos) {
    return make(EditVerb::kModify, Entity::kAccount, [&](EntityEdit& e) {
      e.where.accounts = {"a"};
      e.set.qos = qos;
      e.set.default_qos = "high";
    });
  };
  EXPECT_EQ(refused(change({})), Errc::kInvalidQos);
  EXPECT_NE(said.find("\n  DefQOS = high       C = alpha      A = a "), std::string::npos) << said;
  EXPECT_EQ(commit(change({{ChangeOp::kAdd, {"high"}}})).associations.at(0).default_qos, "high");
}

TEST_F(EditTest, RawUsageIsSetToNothingAndToNothingElse) {
  commit(account("team-a"));
  auto reset = [&](Entity entity, double to) {
    return make(EditVerb::kModify, entity, [&](EntityEdit& e) {
      (entity == Entity::kQos ? e.where.qos : e.where.accounts) = {entity == Entity::kQos ? "normal" : "team-a"};
      e.set.raw_usage = to;
    });
  };
  const auto first = commit(reset(Entity::kAccount, 0));
  ASSERT_EQ(first.associations.size(), 1u);
  EXPECT_GE(first.associations[0].usage_reset, now);
  const auto second = commit(reset(Entity::kAccount, 0));
  ASSERT_EQ(second.associations.size(), 1u);
  EXPECT_GT(second.associations[0].usage_reset, first.associations[0].usage_reset) << "in the same moment it is another one";
  EXPECT_GE(commit(reset(Entity::kQos, 0)).qos.at(0).usage_reset, now);
  EXPECT_EQ(refused(reset(Entity::kAccount, 7)), Errc::kError);
  EXPECT_EQ(refused(reset(Entity::kAccount, 0), "alice", AdminLevel::kNone), Errc::kAccessDenied);
}

}  // namespace
TEST_F(EditTest, ADefaultQosIsThatOfTheNearestAboveAndARingOfParentsEndsTheSearch) {
  commit(account("a"));
  commit(account("b", "a"));
  commit(user("u", "b"));
  const uint32_t a = find("a").id, b = find("b").id;
  const AssociationRecord* of_user = &find("b", "u");
  EXPECT_EQ(d.default_qos(of_user, "normal"), "normal");
  d.associations.at(a).default_qos = "far";
  EXPECT_EQ(d.default_qos(of_user, ""), "far");
  d.associations.at(b).default_qos = "near";
  EXPECT_EQ(d.default_qos(of_user, ""), "near");
  EXPECT_EQ(d.default_qos(nullptr, "normal"), "normal");
  d.associations.at(a).default_qos = d.associations.at(b).default_qos = "";
  d.associations.at(a).parent_id = b;
  EXPECT_EQ(d.default_qos(of_user, "normal"), "normal");
}

// Edits of one request find what those before them made, moved and took away, as if each came alone.
TEST_F(EditTest, ManyEditsInOneRequestAreAsOneByOne) {
  auto rename = [&](const std::string& from, const std::string& to) {
    return make(EditVerb::kModify, Entity::kUser, [&](EntityEdit& e) {
      e.where.users = {from};
      e.set.new_name = to;
    });
  };
  auto remove_user = [&](const std::string& name) { return remove(Entity::kUser, [&](EntityFilter& w) { w.users = {name}; }); };
  std::vector<EntityEdit> edits = {account("top"), account("a", "top"), account("b", "a"), user("x", "a"), user("x", "b"), user("x", "a")};
  edits.push_back(rename("x", "y"));
  edits.push_back(user("x", "b"));  // another one: the first is y now
  edits.push_back(user("y", "top"));
  edits.push_back(remove_user("x"));
  edits.push_back(user("x", "a"));
  edits.push_back(remove(Entity::kAccount, [](EntityFilter& w) { w.accounts = {"b"}; }));
  edits.push_back(account("b", "top"));
  edits.push_back(user("y", "b"));
  for (int i = 0; i < 50; ++i) edits.push_back(user("u" + std::to_string(i % 40), i % 3 ? "a" : "b"));

  const Directory before = d;
  auto together = attempt(edits);
  ASSERT_TRUE(together) << together.error().message();
  for (const EntityEdit& e : edits) commit(e);
  EXPECT_FALSE(d.associations.empty());
  EXPECT_EQ(together->directory.associations, d.associations);
  EXPECT_EQ(together->directory.users, d.users);
  EXPECT_EQ(together->directory.accounts, d.accounts);
  EXPECT_NE(before.associations, d.associations);
}

}  // namespace muster::slurmdbd
