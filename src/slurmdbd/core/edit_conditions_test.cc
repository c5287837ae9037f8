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
  Audience alice{{.all = false, .user = "alice"}, true, true};
  EXPECT_EQ(query(d, q, alice).users.size(), 1u);
  q.what = Entity::kAccount;
  auto accounts = query(d, q, alice).accounts;
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0].name, "a");
  EXPECT_EQ(query(d, q, {}).accounts.size(), 3u);
  q.what = Entity::kAssociation;
  auto seen = [&](const Audience& who) {
    std::string out;
    for (const AssociationRecord& a : query(d, q, who).associations) out += a.account + "/" + a.user + " ";
    return out;
  };
  EXPECT_EQ(seen(alice), "a/ a/alice ");
  // A coordinator sees the associations of the users in the account, and lists no user but himself.
  alice.who.accounts["alpha"] = {"b"};
  EXPECT_EQ(seen(alice), "a/ a/alice b/ b/bob ");
  q.what = Entity::kUser;
  EXPECT_EQ(query(d, q, alice).users.size(), 1u);
  q.what = Entity::kAccount;
  EXPECT_EQ(query(d, q, alice).accounts.size(), 2u);
  TransactionRecord t;
  t.actor = "bob";
  EXPECT_FALSE(sees(alice, t));
  EXPECT_TRUE(sees({}, t));
  t.actor = "alice";
  EXPECT_TRUE(sees(alice, t));
}

TEST_F(EditTest, UsersOfAnAccountAreItsCoordinatorsWhileTheFlagIsSet) {
  commit(account("top"));
  commit(account("below", "top"));
  commit(account("other"));
  commit(make(EditVerb::kAdd, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.accounts = {"top"};
    e.where.partitions = {"p"};
  }));
  auto flags = [&](const char* word) {
    return make(EditVerb::kModify, Entity::kAccount, [&](EntityEdit& e) {
      e.where.accounts = {"top"};
      e.set.flags = {{ChangeOp::kSet, {word}}};
    });
  };
  EXPECT_FALSE(coordinates(d, "u", "alpha", "below"));
  commit(flags("usersarecoords"));
  EXPECT_EQ(d.accounts.at("top").flags, std::vector<std::string>{"UsersAreCoords"}) << "as it is spelled";
  EXPECT_TRUE(coordinates(d, "u", "alpha", "below")) << "also whose association is of one partition";
  EXPECT_FALSE(coordinates(d, "u", "alpha", "other"));
  commit(account("sub", "below"), "u", AdminLevel::kNone);
  EXPECT_EQ(refused(flags("NoUsersAreCoords"), "u", AdminLevel::kNone), Errc::kAccessDenied);
  rpc::QueryEntities q;
  q.what = Entity::kUser;
  q.filter.users = {"u"};
  q.with_coordinators = true;
  EXPECT_EQ(query(d, q, {}).users.at(0).coordinator_of, (std::vector<std::string>{"below", "sub", "top"}));
  q.what = Entity::kAccount;
  EXPECT_EQ(query(d, q, {}).accounts.size(), 3u) << "those that he coordinates";
  q.what = Entity::kUser;
  q.with_coordinators = false;
  EXPECT_TRUE(query(d, q, {}).users.at(0).coordinator_of.empty()) << "slurmctld is told what was given by name";
  commit(flags("NoUsersAreCoords"));
  EXPECT_TRUE(d.accounts.at("top").flags.empty());
  EXPECT_FALSE(coordinates(d, "u", "alpha", "below"));
  EXPECT_EQ(refused(flags("UsersAreKings")), Errc::kError);
  commit(flags("UsersAreCoords"));
  for (auto& [id, a] : d.associations)
    if (a.user == "u") a.deleted = true;
  EXPECT_FALSE(coordinates(d, "u", "alpha", "below")) << "who was taken out of the account is none of its users";
}

// The records of its old jobs, and their scripts, are for the coordinators of an account.
TEST_F(EditTest, ACoordinatorBringsBackNoAccountThatWasNotHis) {
  commit(account("top"));
  commit(account("sub", "top"));
  commit(account("other"));
  commit(user("u", "top"));
  d.users.at("u").coordinator_of = {"top"};
  now += kForgottenWithin;
  for (const char* name : {"sub", "other"}) commit(remove(Entity::kAccount, [&](EntityFilter& f) { f.accounts = {name}; }));
  EXPECT_TRUE(find("other").deleted);
  EXPECT_EQ(refused(account("other", "top"), "u", AdminLevel::kNone), Errc::kAccessDenied);
  commit(account("sub", "top"), "u", AdminLevel::kNone);
  commit(account("fresh", "top"), "u", AdminLevel::kNone);
  commit(account("other", "top"));
}

TEST_F(EditTest, AccountsStandSoDeepAndNoDeeper) {
  std::string above = "root";
  for (int depth = 2; depth <= 100; ++depth) {
    const std::string name = "a" + std::to_string(depth);
    commit(account(name.c_str(), above.c_str()));
    above = name;
  }
  EXPECT_EQ(refused(account("b", above.c_str())), Errc::kInvalidParentAccount);
  commit(account("top"));
  commit(account("below", "top"));
  const auto move = [&](const char* name, const char* parent) {
    return make(EditVerb::kModify, Entity::kAccount, [&](EntityEdit& e) {
      e.where.accounts = {name};
      e.set.parent = parent;
    });
  };
  EXPECT_EQ(refused(move("top", "a99")), Errc::kInvalidParentAccount) << "what is below would be too deep";
  commit(move("top", "a98"));
}

TEST_F(EditTest, ADefaultWckeyIsOneOfTheUsersOwn) {
  commit(account("a"));
  commit(make(EditVerb::kAdd, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.accounts = {"a"};
    e.set.default_wckey = "W";
  }));
  EXPECT_EQ(d.users.at("u").default_wckey, "w");
  rpc::QueryEntities q;
  q.what = Entity::kWckey;
  auto keys = [&] {
    std::string out;
    for (const WckeyRecord& k : query(d, q, {}).wckeys) out += (k.is_default ? "*" : "") + k.name + " ";
    return out;
  };
  EXPECT_EQ(keys(), "*w ") << "it was given with it";
  auto choose = [&](const char* key) {
    return make(EditVerb::kModify, Entity::kUser, [&](EntityEdit& e) {
      e.where.users = {"u"};
      e.set.default_wckey = key;
    });
  };
  EXPECT_EQ(refused(choose("x"), "u", AdminLevel::kNone), Errc::kInvalidWckey);
  auto give = [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.wckeys = {"x"};
  };
  auto marked = give;
  EXPECT_EQ(refused(make(EditVerb::kAdd, Entity::kWckey, [&](EntityEdit& e) { marked(e), e.where.wckeys = {"*x"}; })), Errc::kBadName);
  commit(make(EditVerb::kAdd, Entity::kWckey, give));
  commit(choose("x"), "u", AdminLevel::kNone);
  EXPECT_EQ(keys(), "w *x ");
  EXPECT_EQ(commit(choose("x"), "u", AdminLevel::kNone).users.size(), 1u) << "Slurm says that it is modified then too";
  q.filter.only_defaults = true;
  EXPECT_EQ(keys(), "*x ");
  q.filter.only_defaults = false;
  q.filter.with_deleted = true;
  commit(make(EditVerb::kDelete, Entity::kWckey, give));
  EXPECT_EQ(keys(), "w ") << "it was young and never used";
  EXPECT_EQ(d.users.at("u").default_wckey, "");
  now += kForgottenWithin;
  commit(make(EditVerb::kDelete, Entity::kWckey, [](EntityEdit& e) { e.where.wckeys = {"w"}; }));
  EXPECT_EQ(keys(), "w ") << "marked as deleted";
  q.filter.with_deleted = false;
  EXPECT_EQ(keys(), "");
}

TEST_F(EditTest, WhoIsThereAlreadyAndGetsADefaultWckeyIsToldOfIt) {
  commit(account("a"));
  commit(user("u", "a"));
  commit(make(EditVerb::kAdd, Entity::kWckey, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.wckeys = {"w"};
  }));
  const auto with_default = make(EditVerb::kAdd, Entity::kUser, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.set.default_wckey = "w";
  });
  auto done = attempt({with_default});
  ASSERT_TRUE(done);
  ASSERT_EQ(done->answer.changed.at(0).wckeys.size(), 1u);
  EXPECT_EQ(done->answer.changed[0].wckeys[0].name, "w");
  commit(with_default);
  EXPECT_EQ(d.users.at("u").default_wckey, "w");
}

TEST_F(EditTest, AClusterThatIsAddedAgainBeginsAnew) {
  commit(limit(Entity::kCluster, "alpha", {LimitKind::kMaxJobs, "", ChangeOp::kSet, 3}));
  const uint32_t id = find("root").id;
  commit(remove(Entity::kCluster, [](EntityFilter& f) { f.clusters = {"alpha"}; }));
  EXPECT_TRUE(find("root").deleted);
  commit(make(EditVerb::kAdd, Entity::kCluster, [](EntityEdit& e) { e.where.clusters = {"alpha"}; }));
  const AssociationRecord& root = find("root");
  EXPECT_EQ(root.id, id);
  EXPECT_FALSE(root.deleted);
  EXPECT_TRUE(root.limits.empty());
  EXPECT_EQ(root.qos, std::vector<std::string>{"normal"});
  EXPECT_TRUE(find("root", "root").is_default) << "account root is the default of user root";
  EXPECT_EQ(find("root", "root").parent_id, id);
}

TEST_F(EditTest, ATransactionNamesWhoseWckeysItWasAbout) {
  commit(account("a"));
  commit(user("u", "a"));
  auto done = attempt({make(EditVerb::kAdd, Entity::kWckey, [](EntityEdit& e) {
    e.where.users = {"u"};
    e.where.wckeys = {"w"};
  })});
  ASSERT_TRUE(done);
  ASSERT_EQ(done->transactions.size(), 1u);
  EXPECT_EQ(done->transactions[0].users, std::vector<std::string>{"u"});
  EXPECT_EQ(done->transactions[0].clusters, std::vector<std::string>{"alpha"});
}

TEST_F(EditTest, WhereWckeysAreTrackedAJobWithoutOneIsOfTheDefaultOne) {
  d.users["u"].name = "u";
  d.users["u"].default_wckey = "w";
  rpc::StoreRecords m;
  m.cluster = "alpha";
  m.jobs.resize(3);
  m.jobs[0].user = m.jobs[1].user = "u";
  m.jobs[1].wckey = "x";
  m.jobs[2].user = "stranger";
  fill_defaults(d, false, m);
  EXPECT_EQ(m.jobs[0].wckey, "");
  fill_defaults(d, true, m);
  EXPECT_EQ(m.jobs[0].wckey, "w");
  EXPECT_TRUE(m.jobs[0].wckey_is_default);
  EXPECT_EQ(m.jobs[1].wckey, "x");
  EXPECT_FALSE(m.jobs[1].wckey_is_default);
  EXPECT_EQ(m.jobs[2].wckey, "");
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

const Directory none;

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
  EXPECT_EQ(check_job_edit(q, true, {}, none).error().code, Errc::kError);
  q.comment = "good";
  EXPECT_TRUE(check_job_edit(q, false, {}, none));
  auto done = edit_jobs({finished(1)}, q, Uid(1000), false);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ((*done)[0].comment, "good");
  EXPECT_EQ(edit_jobs({finished(1)}, q, Uid(1001), false).error().code, Errc::kAccessDenied);
  q.admin_comment = "x";
  EXPECT_EQ(check_job_edit(q, false, {}, none).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(check_job_edit(q, true, {}, none));
  EXPECT_TRUE(edit_jobs({finished(1)}, q, Uid(1), true));
  q.where = {};
  EXPECT_EQ(check_job_edit(q, true, {}, none).error().code, Errc::kError);  // not everybody's
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
  EXPECT_FALSE(check_job_edit(q, true, {}, none));
  q.end_as = JobState::kCompleted;
  auto done = edit_jobs({r, finished(2)}, q, Uid(0), true);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ((*done)[0].ended, r.started);
  JobRecord part = r;  // of a run that went on with fewer nodes
  part.flags = kJobResizing;
  part.ended = from_unix(1015);
  done = edit_jobs({r, part}, q, Uid(0), true);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->size(), 1u) << "it has ended";
}

TEST(EditJobs, TresThatAreNamedChangeAndOthersStay) {
  const Directory known = initial_directory(from_unix(1));
  JobRecord r = finished(1);
  r.tres_allocated = TresAmounts::from_text("cpu=4,mem=8G,node=1");
  rpc::EditJobRecords q;
  q.where.jobs.emplace_back().job = JobId(1);
  q.tres_allocated = TresAmounts::from_text("cpu=2,energy=100");
  EXPECT_EQ(check_job_edit(q, false, {}, known).error().code, Errc::kAccessDenied);
  ASSERT_TRUE(check_job_edit(q, true, {}, known));
  auto done = edit_jobs({r}, q, Uid(0), true);
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ(tres_text((*done)[0].tres_allocated), "cpu=2,mem=8G,energy=100,node=1");
  q.tres_allocated = TresAmounts::from_text("gres/nosuch=2");
  EXPECT_EQ(check_job_edit(q, true, {}, known).error().message(), "TRES 'gres/nosuch' is not known");
  q.tres_allocated = TresAmounts();
  EXPECT_FALSE(check_job_edit(q, true, {}, known));
}

TEST(EditJobs, NewWCKeyNeedsThatTheyAreTracked) {
  rpc::EditJobRecords q;
  q.where.wckeys = {"old"};
  q.wckey = "new";
  Settings settings;
  const auto refused = check_job_edit(q, true, settings, none);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("TrackWCKey"), std::string_view::npos);
  settings.tracks_wckeys = true;
  EXPECT_TRUE(check_job_edit(q, true, settings, none));
  for (const char* name : {"*new", "a,b", "a b"}) {
    q.wckey = name;
    const auto bad = check_job_edit(q, true, settings, none);
    ASSERT_FALSE(bad) << name;
    EXPECT_EQ(bad.error().code, Errc::kBadName);
  }
  q.wckey = "";
  EXPECT_TRUE(check_job_edit(q, true, settings, none)) << "takes it away";
  q.where.jobs.emplace_back().has_step = true;
  EXPECT_FALSE(check_job_edit(q, true, settings, none)) << "the job would be changed, and not the step";
}

TEST(EditJobs, OfATimeThoseThatBeganAndEndedInIt) {
  rpc::EditJobRecords q;
  q.where.users = {Uid(1000)};
  q.comment = "x";
  auto changed = [&] { return edit_jobs({finished(1)}, q, Uid(0), true)->size(); };  // 1010 to 1020
  EXPECT_EQ(changed(), 1u);
  q.where.from = from_unix(1010);
  q.where.until = from_unix(1021);
  EXPECT_EQ(changed(), 1u);
  q.where.from = from_unix(1011);
  EXPECT_EQ(changed(), 0u);
  q.where.from = {};
  q.where.until = from_unix(1020);
  EXPECT_EQ(changed(), 0u);
}

}  // namespace
}  // namespace muster::slurmdbd
