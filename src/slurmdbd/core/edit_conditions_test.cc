// Which records an edit of sacctmgr means, names, and what questions then show.
#include "slurmdbd/core/edit_testing.h"

namespace muster::slurmdbd {
namespace {

TEST_F(EditTest, AnEditHitsOnlyWhatItsConditionsMean) {
  commit(account("old"));
  commit(account("new"));
  commit(user("alice", "old"));
  commit(user("alice", "new"));
  commit(user("bob", "new"));
  auto modify = [&](const std::function<void(EntityEdit&)>& fill) { return make(EditVerb::kModify, Entity::kUser, fill); };
  commit(modify([](EntityEdit& e) {
    e.where.accounts = {"old"};
    e.set.admin_level = AdminLevel::kOperator;
  }));
  EXPECT_EQ(level_of(d, "alice"), AdminLevel::kOperator);
  EXPECT_EQ(level_of(d, "bob"), AdminLevel::kNone);
  commit(modify([](EntityEdit& e) {
    e.where.admin_level = AdminLevel::kOperator;
    e.set.limits = {{LimitKind::kMaxJobs, "", ChangeOp::kSet, 3}};
  }));
  commit(modify([](EntityEdit& e) {
    e.where.default_accounts = {"old"};
    e.set.limits = {{LimitKind::kMaxSubmitJobs, "", ChangeOp::kSet, 4}};
  }));
  EXPECT_EQ(find("new", "alice").limits.size(), 2u);
  EXPECT_TRUE(find("new", "bob").limits.empty());
  // root is in no account "new": nobody whose default is another is asked to have it.
  auto moved = commit(modify([](EntityEdit& e) {
    e.where.default_accounts = {"old"};
    e.set.default_account = "new";
  }));
  ASSERT_EQ(moved.users.size(), 1u);
  EXPECT_EQ(moved.users[0].name, "alice");
  EXPECT_TRUE(find("new", "alice").is_default);
}

TEST_F(EditTest, AccountsAreMeantByWhatTheirRecordsAndTheirPlacesSay) {
  commit(account("a"));
  commit(account("b"));
  commit(account("c", "a"));
  auto modify = [&](const std::function<void(EntityEdit&)>& fill) { return make(EditVerb::kModify, Entity::kAccount, fill); };
  commit(modify([](EntityEdit& e) {
    e.where.organizations = {"b"};
    e.set.limits = {{LimitKind::kGrpJobs, "", ChangeOp::kSet, 1}};
  }));
  EXPECT_TRUE(find("a").limits.empty());
  EXPECT_EQ(find("b").limits.size(), 1u);
  commit(modify([](EntityEdit& e) {
    e.where.parents = {"a"};
    e.set.description = "below a";
  }));
  EXPECT_EQ(d.accounts.at("c").description, "below a");
  EXPECT_EQ(d.accounts.at("b").description, "b");
}

TEST_F(EditTest, AQosIsMeantByItsFlags) {
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) {
    e.where.qos = {"fast"};
    e.set.flags = {{ChangeOp::kSet, {"NoDecay"}}};
  }));
  auto gone = commit(remove(Entity::kQos, [](EntityFilter& w) { w.flags = {"NoDecay"}; }));
  ASSERT_EQ(gone.qos.size(), 1u);
  EXPECT_TRUE(find_live(d.qos, "normal"));
}

TEST_F(EditTest, AConditionThatIsNotHonouredIsRefused) {
  commit(account("a"));
  commit(user("alice", "a"));
  EXPECT_EQ(refused(remove(Entity::kUser,
                           [](EntityFilter& w) {
                             w.accounts = {"a"};
                             w.wckeys = {"w"};
                           })),
            Errc::kError);
  EXPECT_NE(said.find("WCKeys"), std::string::npos) << said;
  EXPECT_EQ(refused(remove(Entity::kCluster,
                           [](EntityFilter& w) {
                             w.clusters = {"alpha"};
                             w.accounts = {"a"};
                           })),
            Errc::kError);
  EXPECT_EQ(refused(make(EditVerb::kModify, Entity::kAccount,
                         [](EntityEdit& e) {
                           e.where.qos = {"normal"};
                           e.set.description = "x";
                         })),
            Errc::kError);
  EXPECT_NE(said.find("QOS"), std::string::npos) << said;
}

TEST_F(EditTest, ClustersKeepTheirFeaturesAndMayHaveADotInTheirName) {
  commit(make(EditVerb::kAdd, Entity::kCluster, [](EntityEdit& e) {
    e.where.clusters = {"c.example"};
    e.set.features = {{ChangeOp::kSet, {"a", "b"}}};
  }));
  EXPECT_EQ(d.clusters.at("c.example").features, "a,b");
  commit(make(EditVerb::kModify, Entity::kCluster, [](EntityEdit& e) {
    e.where.clusters = {"c.example"};
    e.set.features = {{ChangeOp::kSubtract, {"a"}}};
  }));
  EXPECT_EQ(d.clusters.at("c.example").features, "b");
}

TEST_F(EditTest, AUsersWckeyGoesAndTheUserStays) {
  commit(account("a"));
  commit(user("u", "a"));
  commit(make(EditVerb::kAdd, Entity::kWckey, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.wckeys = {"w", "x"};
  }));
  auto live = [&] { return std::ranges::count_if(d.wckeys, [](const auto& k) { return !k.second.deleted; }); };
  ASSERT_EQ(live(), 2);
  commit(remove(Entity::kUser, [](EntityFilter& f) {
    f.users = {"u"};
    f.wckeys = {"w"};
  }));
  EXPECT_EQ(live(), 1);
  EXPECT_TRUE(find_live(d.users, "u"));
  EXPECT_EQ(refused(remove(Entity::kUser, [](EntityFilter& f) { f.wckeys = {"x"}; })), Errc::kError);
  EXPECT_EQ(live(), 1);
  commit(remove(Entity::kUser, [](EntityFilter& f) { f.users = {"u"}; }));
  EXPECT_EQ(live(), 0) << "nobody has it any more";
}

TEST_F(EditTest, EveryUserOfAnAccountWithUsersAreCoordsIsListedAsItsCoordinator) {
  commit(account("top"));
  commit(account("below", "top"));
  commit(user("u", "top"));
  commit(make(EditVerb::kModify, Entity::kAccount, [](EntityEdit& e) {
    e.where.accounts = {"top"};
    e.set.flags = {{ChangeOp::kSet, {"UsersAreCoords"}}};
  }));
  rpc::QueryEntities q;
  q.what = Entity::kAccount;
  for (const AccountRecord& a : query(d, q, {}).accounts)
    EXPECT_EQ(a.coordinators, a.name == "root" ? std::vector<std::string>{} : std::vector<std::string>{"u"}) << a.name;
}

TEST_F(EditTest, BadNamesAreRefused) {
  for (std::string name : {"", "a b", "a,b", "a|b", "x'y", "p/q", "two\nlines"}) EXPECT_EQ(refused(account(name)), Errc::kBadName) << name;
  EXPECT_EQ(refused(account(std::string(201, 'x'))), Errc::kBadName);
}

TEST_F(EditTest, AUserIsRenamedEverywhere) {
  commit(account("a"));
  commit(user("alice", "a"));
  commit(make(EditVerb::kModify, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"alice"};
    e.set.new_name = "alicia";
  }));
  EXPECT_TRUE(find_live(d.users, "alicia"));
  EXPECT_FALSE(d.users.contains("alice"));
  EXPECT_TRUE(find("a", "alicia").is_default);
}

TEST_F(EditTest, PrivateDataHidesOthers) {
  commit(account("a"));
  commit(account("b"));
  commit(user("alice", "a"));
  commit(user("bob", "b"));
  rpc::QueryEntities q;
  q.what = Entity::kUser;
  Audience alice{"alice", false, true, true};
  EXPECT_EQ(query(d, q, alice).users.size(), 1u);
  q.what = Entity::kAccount;
  auto accounts = query(d, q, alice).accounts;
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0].name, "a");
  EXPECT_EQ(query(d, q, {}).accounts.size(), 3u);
}

TEST_F(EditTest, AJobThatNamedNoAccountIsOfItsUsersDefault) {
  commit(account("a"));
  commit(user("alice", "a"));
  commit(make(EditVerb::kAdd, Entity::kQos, [](EntityEdit& e) { e.where.qos = {"fast"}; }));
  rpc::StoreRecords m;
  m.cluster = "alpha";
  m.jobs.resize(3);
  m.jobs[0].user = m.jobs[1].user = "alice";
  m.jobs[1].account = "b";
  m.jobs[2].user = "stranger";
  fill_defaults(d, false, m);
  EXPECT_EQ(m.jobs[0].account, "a");
  EXPECT_EQ(m.jobs[0].qos, "normal");
  EXPECT_EQ(m.jobs[1].account, "b");
  EXPECT_EQ(m.jobs[2].account + m.jobs[2].qos, "");
  commit(make(EditVerb::kModify, Entity::kAccount, [](EntityEdit& e) {
    e.where.accounts = {"a"};
    e.set.qos = {{ChangeOp::kAdd, {"fast"}}};
    e.set.default_qos = "fast";
  }));
  m.jobs[0].qos.clear();
  fill_defaults(d, false, m);
  EXPECT_EQ(m.jobs[0].qos, "fast");
}

JobRecord finished(uint32_t id) {
  JobRecord r;
  r.key = {JobId(id), from_unix(1000), 0};
  r.uid = Uid(1000);
  r.state = JobState::kCompleted;
  r.started = from_unix(1010);
  r.ended = from_unix(1020);
  return r;
}

TEST(EditJobs, OwnersAndOperators) {
  rpc::EditJobRecords q;
  q.where.jobs.emplace_back().job = JobId(1);
  EXPECT_EQ(check_job_edit(q, true).error().code, Errc::kError);
  q.comment = "good";
  EXPECT_TRUE(check_job_edit(q, false));
  auto done = edit_jobs({finished(1)}, q, Uid(1000), false);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ((*done)[0].comment, "good");
  EXPECT_EQ(edit_jobs({finished(1)}, q, Uid(1001), false).error().code, Errc::kAccessDenied);
  q.admin_comment = "x";
  EXPECT_EQ(check_job_edit(q, false).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(check_job_edit(q, true));
  EXPECT_TRUE(edit_jobs({finished(1)}, q, Uid(1), true));
  q.where = {};
  EXPECT_EQ(check_job_edit(q, true).error().code, Errc::kError);  // not everybody's
}

TEST(EditJobs, AWckeyThatSomebodyNamesIsNotTheDefaultOne) {
  JobRecord r = finished(1);
  r.wckey = "grant";
  r.wckey_is_default = true;
  rpc::EditJobRecords q;
  q.where.jobs.emplace_back().job = JobId(1);
  for (const char* named : {"thesis", "grant"}) {
    q.wckey = named;
    auto done = edit_jobs({r}, q, Uid(0), true);
    ASSERT_TRUE(done);
    ASSERT_EQ(done->size(), 1u) << named;
    EXPECT_EQ((*done)[0].wckey, named);
    EXPECT_FALSE((*done)[0].wckey_is_default);
  }
}

TEST(EditJobs, ARunawayJobEndsWhenItWasLastHeardOf) {
  JobRecord r = finished(1);
  r.state = JobState::kRunning;
  r.ended = kTimeUnset;
  rpc::EditJobRecords q;
  q.where.jobs.emplace_back().job = JobId(1);
  q.end_as = JobState::kTimeout;
  EXPECT_FALSE(check_job_edit(q, true));
  q.end_as = JobState::kCompleted;
  auto done = edit_jobs({r, finished(2)}, q, Uid(0), true);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ((*done)[0].ended, r.started);
}

}  // namespace
}  // namespace muster::slurmdbd
