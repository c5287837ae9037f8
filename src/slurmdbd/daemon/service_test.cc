// What slurmdbd answers to whom: messages over real channels, with peers of our choice, on an SQLite file.
#include "slurmdbd/daemon/service.h"

#include <gtest/gtest.h>

#include <future>
#include <map>

#include "slurmdbd/daemon/service_testing.h"
#include "store/event_log.h"

namespace muster::slurmdbd {
namespace {

TEST_F(ServiceTest, OnlyDaemonsStore) {
  EXPECT_EQ(store(kAlice, 1, 1).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kAlice, rpc::RegisterCluster{}).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(jobs(kSlurm).empty());
  auto stored = store(kSlurm, 1, 2);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->position, 5u);
  auto all = jobs(kAlice);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].cluster, "test");
  EXPECT_EQ(steps, 2u);
}

// A controller hears of every change, and nobody else may wait for them.
TEST_F(ServiceTest, AControllerWaitsForAnotherDirectory) {
  register_cluster();
  EXPECT_EQ(ask(kAlice, rpc::AwaitDirectory{}).error().code, Errc::kAccessDenied);
  auto first = ask(kSlurm, rpc::AwaitDirectory{});
  ASSERT_TRUE(first);
  EXPECT_NE(first->version, 0u);
  net::ChannelPtr waiting = connect(kSlurm);
  uint64_t heard = 0;
  waiting->request(wire::number_of<rpc::AwaitDirectory>, wire::encoded(rpc::AwaitDirectory{first->version}), net::kNoTimeout,
                   [&](Result<net::Frame> frame) {
                     rpc::DirectoryVersion v;
                     ASSERT_TRUE(frame && wire::decode(frame->payload, v));
                     heard = v.version;
                     f.loop.stop();
                   });
  ASSERT_TRUE(ask(kSlurm, add_account(false)));  // shown, not made
  EXPECT_EQ(ask(kSlurm, rpc::AwaitDirectory{})->version, first->version);
  EXPECT_EQ(heard, 0u);
  net::ChannelPtr editor = connect(kSlurm);
  editor->request(wire::number_of<rpc::EditEntities>, wire::encoded(add_account(true)), seconds(20), [](Result<net::Frame>) {});
  f.run();
  EXPECT_NE(heard, 0u);
  EXPECT_NE(heard, first->version);
  EXPECT_EQ(ask(kSlurm, rpc::AwaitDirectory{})->version, heard);
  waiting->close();
  editor->close();
}

TEST_F(ServiceTest, ALongAnswerComesInParts) {
  for (uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(store(0, 1 + i * 1000, 1000));
  auto all = jobs(kAlice);
  ASSERT_EQ(all.size(), 4000u);
  for (uint32_t i = 0; i < 4000; ++i) ASSERT_EQ(all[i].key.id.value, i + 1);
  EXPECT_EQ(steps, 4000u);
}

TEST_F(ServiceTest, AQuestionWithTooLongAListIsRefusedByItsName) {
  rpc::QueryRecords q;
  q.filter.accounts.assign(65'537, "a");
  auto done = ask(kAlice, q);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "accounts: 65537 are named; at most 65536 may be");
}

TEST_F(ServiceTest, PrivateDataJobs) {
  ASSERT_TRUE(store(0, 1, 10));
  settings.private_jobs = true;
  EXPECT_EQ(jobs(kAlice).size(), 5u);
  rpc::JobRecordFilter f;
  f.users = {Uid(kBob)};
  for (const JobRecord& r : jobs(kAlice, f)) EXPECT_EQ(r.uid.value, kAlice);
  EXPECT_EQ(jobs(kSlurm).size(), 10u);
}

TEST_F(ServiceTest, AnEditIsShownFirstThenMadeAndStays) {
  register_cluster();
  auto shown = ask(0, add_account(false));
  ASSERT_TRUE(shown) << shown.error().message();
  ASSERT_EQ(shown->changed.size(), 1u);
  EXPECT_EQ(shown->changed[0].accounts.size(), 1u);
  EXPECT_EQ(entities(0, Entity::kAccount).accounts.size(), 1u);
  EXPECT_TRUE(entities(0, Entity::kTransaction).transactions.empty());
  ASSERT_TRUE(ask(0, add_account(true)));
  EXPECT_EQ(entities(kAlice, Entity::kAccount).accounts.size(), 2u);
  service.reset();
  open();
  EXPECT_EQ(entities(0, Entity::kAssociation).associations.size(), 3u);
  auto done = entities(0, Entity::kTransaction).transactions;
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].action, "Add Accounts");
  EXPECT_EQ(done[0].actor, "root");
}

TEST_F(ServiceTest, UsersEditNothing) {
  register_cluster();
  EXPECT_EQ(ask(kAlice, add_account(true)).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kAlice, rpc::Reconfigure{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kAlice, rpc::Shutdown{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(reconfigured + shut_down, 0);
  EXPECT_TRUE(ask(kSlurm, rpc::Reconfigure{}));
  EXPECT_TRUE(ask(0, rpc::Shutdown{}));
  EXPECT_EQ(reconfigured, 1);
  EXPECT_EQ(shut_down, 1);
}

TEST_F(ServiceTest, JobsOfARecordAreEditedByTheirOwners) {
  ASSERT_TRUE(store(0, 1, 2));
  rpc::EditJobRecords m;
  m.commit = true;
  m.where.jobs.emplace_back().job = JobId(2);
  m.comment = "fine";
  EXPECT_EQ(ask(kBob, m).error().code, Errc::kAccessDenied);
  auto done = ask(kAlice, m);
  ASSERT_TRUE(done) << done.error().message();
  ASSERT_EQ(done->jobs.size(), 1u);
  EXPECT_EQ(jobs(0, m.where)[0].comment, "fine");
  m.where.users = {Uid(kBob)};
  m.comment = "meant for another";
  EXPECT_EQ(ask(kAlice, m).error().code, Errc::kAccessDenied);
  m.where.users.clear();
  EXPECT_EQ(jobs(0, m.where)[0].comment, "fine") << "his own jobs are not those of the user whom he named";
}

TEST_F(ServiceTest, WhatIsInUseIsFoundInTheDatabase) {
  register_cluster();
  ASSERT_TRUE(ask(0, add_account(true)));
  rpc::StoreRecords s;
  s.cluster = "test";
  JobRecord r;
  r.key = {JobId(9), from_unix(2000), 0};
  r.eligible = from_unix(2000);
  r.position = 1;
  r.account = "team-a";
  r.user = "alice";
  r.state = JobState::kRunning;
  r.started = from_unix(2010);
  s.jobs = {r};
  ASSERT_TRUE(ask(0, s));
  rpc::EditEntities m = add_account(true);
  m.edits[0].verb = EditVerb::kDelete;
  auto refused = ask(0, m);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kJobsActiveOnRemove);
  s.jobs[0].state = JobState::kPending;  // held
  s.jobs[0].eligible = s.jobs[0].started = kTimeUnset;
  s.jobs[0].position = 2;
  ASSERT_TRUE(ask(0, s));
  refused = ask(0, m);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kJobsActiveOnRemove);
  s.jobs[0].state = JobState::kCompleted;
  s.jobs[0].ended = from_unix(2020);
  s.jobs[0].position = 3;
  ASSERT_TRUE(ask(0, s));
  EXPECT_TRUE(ask(0, m));
}

// slurmctld passes on what users ask where there is no slurmdbd: it is judged as theirs.
TEST_F(ServiceTest, WhatADaemonPassesOnIsJudgedAsTheUsersOwn) {
  register_cluster();
  rpc::StoreRecords s;
  s.cluster = "test";
  for (uint32_t id : {1, 2}) {
    JobRecord& r = s.jobs.emplace_back();
    r.key = {JobId(id), from_unix(2000), 0};
    r.eligible = from_unix(2000);
    r.uid = Uid(id == 1 ? kAlice : kBob);
    r.position = id;
  }
  ASSERT_TRUE(ask(0, s));
  settings.private_jobs = true;
  auto passed_on = [&](uint32_t daemon, uint32_t user, const auto& request, std::vector<JobRecord>* found = nullptr) {
    rpc::Relay relay;
    relay.uid = Uid(user);
    relay.message = wire::number_of<std::decay_t<decltype(request)>>;
    wire::encode(request, relay.payload);
    return ask(daemon, relay, [&](std::string bytes) {
      rpc::JobRecords part;
      ASSERT_TRUE(wire::decode(bytes, part));
      if (found) std::ranges::copy(part.jobs, std::back_inserter(*found));
    });
  };
  std::vector<JobRecord> found;
  ASSERT_TRUE(passed_on(kSlurm, kAlice, rpc::QueryRecords{}, &found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].uid, Uid(kAlice));
  found.clear();
  ASSERT_TRUE(passed_on(kSlurm, 0, rpc::QueryRecords{}, &found));
  EXPECT_EQ(found.size(), 2u);
  EXPECT_EQ(passed_on(kSlurm, kAlice, add_account(true)).error().code, Errc::kAccessDenied);
  EXPECT_EQ(passed_on(kSlurm, kAlice, rpc::Shutdown{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(shut_down, 0);
  // Whoever is no daemon passes on nothing, and what daemons say for themselves is never said by somebody else.
  EXPECT_EQ(passed_on(kAlice, kBob, rpc::QueryRecords{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(passed_on(kSlurm, 0, s).error().code, Errc::kAccessDenied);
  EXPECT_EQ(passed_on(kSlurm, 0, rpc::RegisterCluster{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(passed_on(kSlurm, kAlice, rpc::Relay{}).error().code, Errc::kUnexpectedMessage);
  rpc::Relay large;
  large.uid = Uid(kAlice);
  large.message = wire::number_of<rpc::QueryRecords>;
  large.payload.assign(wire::largest_request(large.message, 0) + 1, 'x');
  EXPECT_EQ(ask(kSlurm, large).error().code, Errc::kResultTooLarge);
}

// The connection of ask() is closed when it is answered: the controller is away then.
TEST_F(ServiceTest, TheTimeThatAControllerIsAwayIsAnEventOfItsCluster) {
  auto away = [this] {
    std::vector<EventRecord> events;
    rpc::QueryEvents query;
    query.of_clusters = true;
    query.until = kTimeInfinite;
    EXPECT_TRUE(ask(0, query, [&](std::string bytes) {
      rpc::EventRecords part;
      ASSERT_TRUE(wire::decode(bytes, part));
      for (const EventRecord& event : part.events)
        if (event.state == NodeState::kDown) events.push_back(event);
    }));
    return events;
  };
  register_cluster();
  EXPECT_TRUE(away().empty()) << "nobody asked to have it counted";
  settings.tracks_controllers = true;
  register_cluster();
  for (int questions = 0; questions < 10'000 && away().empty(); ++questions) {
  }  // until the writer thread has it on disk
  ASSERT_EQ(away().size(), 1u);
  EXPECT_EQ(away()[0].reason, "slurmctld disconnect");
  EXPECT_EQ(away()[0].ended, kTimeUnset);
  net::ChannelPtr there = connect(kSlurm);
  rpc::RegisterCluster again;
  again.cluster.name = "Test";
  there->request(wire::number_of<rpc::RegisterCluster>, wire::encoded(again), seconds(20), [this](const Result<net::Frame>& answer) {
    EXPECT_TRUE(answer);
    f.loop.stop();
  });
  f.run();
  ASSERT_EQ(away().size(), 1u);
  EXPECT_NE(away()[0].ended, kTimeUnset);
  service->close_all();
}

TEST_F(ServiceTest, OperatorsSeeWhatWasDoneForWhom) {
  ASSERT_TRUE(store(kSlurm, 1, 1));
  ASSERT_TRUE(ask(kAlice, rpc::Ping{}));
  EXPECT_EQ(ask(kAlice, rpc::StoreRecords{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kAlice, rpc::QueryDatabaseStatistics{}).error().code, Errc::kAccessDenied);
  auto told = ask(0, rpc::QueryDatabaseStatistics{});
  ASSERT_TRUE(told);
  std::string requests;
  for (const rpc::RequestCount& row : told->requests) requests += row.name + "=" + std::to_string(row.work.count) + " ";
  EXPECT_EQ(requests, "Ping=1 StoreRecords=1 ") << "what was refused is no work";
  ASSERT_EQ(told->callers.size(), 2u);
  EXPECT_EQ(told->callers[1].uid, Uid(kAlice));
  EXPECT_EQ(told->callers[1].work.count, 1u);
  told = ask(0, rpc::QueryDatabaseStatistics{true});
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->requests.empty());
}

struct ContentTest : ServiceTest {
  // Two jobs of Alice for account team-a, which Bob coordinates, and one of her that is for no account.
  void fill() {
    register_cluster();
    rpc::EditEntities edits = add_account(true);
    EntityEdit& user = edits.edits.emplace_back();
    user.entity = Entity::kUser;
    user.where.users = {std::to_string(kBob)};
    user.where.accounts = {"team-a"};
    EntityEdit& coordinator = edits.edits.emplace_back(user);
    coordinator.entity = Entity::kCoordinator;
    ASSERT_TRUE(ask(0, edits));
    rpc::StoreRecords records;
    records.cluster = "test";
    for (uint32_t id : {1, 2, 3}) {
      JobRecord& job = records.jobs.emplace_back();
      job.key = {JobId(id), from_unix(2000), 0};
      job.uid = Uid(kAlice);
      job.position = id;
      if (id != 3) job.account = "team-a";
      if (id != 2) job.script_hash = store::blob_hash(kScript);
    }
    const auto stored = ask(kSlurm, records);
    ASSERT_TRUE(stored);
    ASSERT_EQ(stored->missing, std::vector{store::blob_hash(kScript)});
    ASSERT_TRUE(ask(kSlurm, rpc::StoreContent{store::blob_hash(kScript), kScript.size(), kScript}));
  }
  // "1:script 2: 3!": 3 was refused.
  std::string seen(uint32_t uid, std::vector<uint32_t> ids = {1, 2, 3}) {
    rpc::QueryContent query;
    for (uint32_t id : ids) query.filter.jobs.emplace_back().job = JobId(id);
    std::string out;
    const auto done = ask(uid, query, [&](std::string bytes) {
      rpc::ContentPart part;
      ASSERT_TRUE(wire::decode(bytes, part));
      EXPECT_EQ(part.job.script_hash, "");
      if (part.first()) out += (out.empty() ? "" : " ") + std::to_string(part.job.key.id.value) + (part.refused ? "!" : ":");
      out += part.bytes.size() < 100 ? part.bytes : "…";
    });
    return done ? out : std::string(done.error().message());
  }
  const std::string kScript = "#!/bin/sh\nexport TOKEN=x\n";
};

TEST_F(ContentTest, ScriptsAreForOwnersCoordinatorsAndOperators) {
  fill();
  const std::string all = "1:" + kScript + " 2: 3:" + kScript;
  EXPECT_EQ(seen(kAlice), all);
  EXPECT_EQ(seen(0), all);
  EXPECT_EQ(seen(kBob), "1:" + kScript + " 2: 3!");
  EXPECT_EQ(seen(3'000'000'003), "1! 2! 3!");
  settings.coordinators = false;
  EXPECT_EQ(seen(kBob), "1! 2! 3!");
  settings.private_jobs = true;
  EXPECT_EQ(seen(3'000'000'003), "");
  EXPECT_EQ(seen(kAlice), all);
  EXPECT_NE(seen(kAlice, {}).find("none is named"), std::string::npos);
}

TEST_F(ContentTest, PrivateJobsAreSeenByTheirOwnersAndTheirCoordinators) {
  fill();
  settings.private_jobs = true;
  rpc::JobRecordFilter any;
  any.ineligible = true;
  EXPECT_EQ(jobs(kAlice, any).size(), 3u);
  EXPECT_EQ(jobs(kBob, any).size(), 2u) << "those of the account that he coordinates";
  EXPECT_TRUE(jobs(3'000'000'003, any).empty());
  rpc::JobRecordFilter of_alice = any;
  of_alice.users = {Uid(kAlice)};
  EXPECT_EQ(jobs(kBob, of_alice).size(), 2u);
  EXPECT_EQ(seen(kBob), "1:" + kScript + " 2:") << "the third is not there for him";
  settings.coordinators = false;
  EXPECT_TRUE(jobs(kBob, any).empty());
}

TEST_F(ContentTest, OnlyDaemonsStoreThem) {
  fill();
  const std::string other = "#!/bin/sh\nrm -rf /\n";
  for (uint32_t uid : {kAlice, kBob})
    EXPECT_EQ(ask(uid, rpc::StoreContent{store::blob_hash(other), other.size(), other}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kSlurm, rpc::StoreContent{store::blob_hash(kScript), other.size(), other}).error().code, Errc::kInvalidArgument);
}

TEST_F(ServiceTest, NamesAreKeptAndFoundInLowerCase) {
  rpc::StoreRecords s;
  s.cluster = "test";
  JobRecord& r = s.jobs.emplace_back();
  r.key = {JobId(9), from_unix(2000), 0};
  r.eligible = from_unix(2000);
  r.position = 1;
  r.account = "Physics";
  r.qos = "Fast";
  r.wckey = "Grant-7";
  ASSERT_TRUE(ask(0, s));
  rpc::JobRecordFilter f;
  f.accounts = {"PHYSICS"};
  f.qos = {"fasT"};
  f.wckeys = {"GRANT-7"};
  auto found = jobs(0, f);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].account + found[0].qos + found[0].wckey, "physicsfastgrant-7");
  settings.tracks_wckeys = true;
  rpc::EditJobRecords m;
  m.where = f;
  m.wckey = "Grant-8";
  auto edited = ask(0, m);
  ASSERT_TRUE(edited);
  ASSERT_EQ(edited->jobs.size(), 1u);
  EXPECT_EQ(edited->jobs[0].wckey, "grant-8");
  m.commit = true;
  ASSERT_TRUE(ask(0, m));
  s.jobs[0].wckey.clear();
  s.jobs[0].position = 2;
  ASSERT_TRUE(ask(0, s));
  found = jobs(0, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].wckey, "grant-8");
  EXPECT_FALSE(found[0].wckey_is_default) << "it was named, although the job itself names none";
}

TEST_F(ServiceTest, AJobStaysWithTheDefaultAccountThatItBeganWith) {
  register_cluster();
  rpc::EditEntities m = add_account(true);
  m.edits[0].where.accounts = {"team-a", "team-b"};
  EntityEdit& user = m.edits.emplace_back();
  user.entity = Entity::kUser;
  user.where.users = {"alice"};
  user.where.accounts = {"team-a", "team-b"};
  auto added = ask(0, m);
  ASSERT_TRUE(added) << added.error().message();
  rpc::StoreRecords s;
  s.cluster = "test";
  JobRecord& r = s.jobs.emplace_back();
  r.key = {JobId(9), from_unix(2000), 0};
  r.eligible = from_unix(2000);
  r.user = "alice";
  r.position = 1;
  ASSERT_TRUE(ask(0, s));
  rpc::EditEntities move;
  move.commit = true;
  move.edits.emplace_back().verb = EditVerb::kModify;
  move.edits[0].entity = Entity::kUser;
  move.edits[0].where.users = {"alice"};
  move.edits[0].set.default_account = "team-b";
  ASSERT_TRUE(ask(0, move));
  r.position = 2;
  r.name = "later";
  ASSERT_TRUE(ask(0, s));
  auto found = jobs(0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "later");
  EXPECT_EQ(found[0].account, "team-a");
  EXPECT_EQ(found[0].qos, "normal");
}

TEST_F(ServiceTest, AUserCannotMakeItHoldMuch) {
  ASSERT_TRUE(store(0, 1, 2));
  rpc::EditJobRecords all;
  all.comment = "x";
  EXPECT_EQ(ask(kAlice, all).error().code, Errc::kError);  // everybody's jobs are not even looked for
  all.where.jobs.resize(2);
  all.where.jobs[0].job = JobId(1);
  all.where.jobs[1].job = JobId(2);
  auto own = ask(kAlice, all);
  ASSERT_TRUE(own) << own.error().message();
  EXPECT_EQ(own->jobs.size(), 1u);
  all.comment = std::string(kMostEditBytes, 'x');
  EXPECT_EQ(ask(kAlice, all).error().code, Errc::kResultTooLarge);
  EXPECT_TRUE(ask(kSlurm, all));
}

TEST_F(ServiceTest, AnEditHoldsSoMuchTextAndNoMore) {
  rpc::StoreRecords s;
  s.cluster = "test";
  for (uint32_t id = 1; id <= 100; ++id) {
    JobRecord& r = s.jobs.emplace_back();
    r.key = {JobId(id), from_unix(2000), 0};
    r.eligible = from_unix(2000);
    r.position = 1;
    r.uid = Uid(kAlice);
  }
  ASSERT_TRUE(ask(0, s));
  rpc::EditJobRecords all;
  all.where.users = {Uid(kAlice)};
  all.comment = std::string(kMostEditBytes - 1000, 'x');
  EXPECT_EQ(ask(kAlice, all).error().code, Errc::kResultTooLarge) << "a hundred times that";
  EXPECT_EQ(ask(kSlurm, all).error().code, Errc::kResultTooLarge);
  all.where.jobs.emplace_back().job = JobId(1);
  EXPECT_TRUE(ask(kAlice, all));
}

TEST_F(ServiceTest, AUsersEditsWaitInALineThatEnds) {
  std::promise<void> open;
  before_settings = [gate = open.get_future().share()] { gate.wait(); };  // the writer's first edit stays here
  net::ChannelPtr c = connect(kAlice);
  std::string payload;
  wire::encode(add_account(false), payload);
  std::vector<Errc> answers;
  for (size_t i = 0; i <= kMostQueuedEdits; ++i)
    c->request_stream(wire::number_of<rpc::EditEntities>, payload, seconds(20), {}, [&](Result<net::Frame> frame) {
      answers.push_back(frame ? Errc::kOk : frame.error().code);
      if (answers.size() == 1) open.set_value();
      if (answers.size() == kMostQueuedEdits + 1) f.loop.stop();
    });
  f.run();
  c->close();
  ASSERT_EQ(answers.size(), kMostQueuedEdits + 1);
  EXPECT_EQ(answers[0], Errc::kTryAgainLater);
  EXPECT_EQ(std::ranges::count(answers, Errc::kTryAgainLater), 1);
}

TEST_F(ServiceTest, WhoeverRanNothingIsForgotten) {
  register_cluster();
  rpc::EditEntities m = add_account(true);
  EntityEdit& user = m.edits.emplace_back();
  user.entity = Entity::kUser;
  user.where.users = {"alice", "bob"};
  user.where.accounts = {"team-a"};
  ASSERT_TRUE(ask(0, m));
  rpc::StoreRecords s;
  s.cluster = "test";
  JobRecord& r = s.jobs.emplace_back();
  r.key = {JobId(9), net::Loop::now(), 0};
  r.user = "alice";
  r.account = "team-a";
  r.position = 1;
  r.state = JobState::kCompleted;
  r.started = r.ended = net::Loop::now() + seconds(5);
  ASSERT_TRUE(ask(0, s));
  m.edits.erase(m.edits.begin());
  m.edits[0].verb = EditVerb::kDelete;
  auto gone = ask(0, m);
  ASSERT_TRUE(gone) << gone.error().message();
  service.reset();
  auto storage = sql::Storage::open(std::move(*sql::open_sqlite(dir.path() + "/a.db")));
  ASSERT_TRUE(storage);
  auto directory = load_directory(**storage, from_unix(1000));
  ASSERT_TRUE(directory);
  ASSERT_TRUE(directory->association("test", "team-a", "alice"));
  EXPECT_TRUE(directory->association("test", "team-a", "alice")->deleted);
  EXPECT_FALSE(directory->association("test", "team-a", "bob"));
}

TEST_F(ServiceTest, NonsenseIsRefused) {
  EXPECT_EQ(ask(0, rpc::QueryNodes{}).error().code, Errc::kUnexpectedMessage);
  EXPECT_EQ(ask(0,
                rpc::QueryText{
                    "weather",
                    JobId(),
                })
                .error()
                .code,
            Errc::kNotFound);
  auto config = ask(kAlice, rpc::QueryText{"config", JobId()});
  ASSERT_TRUE(config);
  EXPECT_NE(config->text.find("StorageType=accounting_storage/sqlite"), std::string::npos);
  EXPECT_EQ(config->text.find("StoragePass="), std::string::npos);
}

TEST_F(ServiceTest, WhatOthersUsedIsPrivateIfTheSiteSaysSo) {
  const Time now = net::Loop::now();
  rpc::RegisterCluster registration;
  registration.cluster.name = "Test";
  registration.cluster.tres = TresAmounts::from_text("cpu=8");
  ASSERT_TRUE(ask(kSlurm, registration));
  rpc::StoreRecords m;
  m.cluster = "Test";
  for (const uint32_t uid : {kAlice, kBob}) {
    JobRecord r;
    r.key = {JobId(uid % 10), now - minutes(60), 0};
    r.position = 1;
    r.uid = Uid(uid);
    r.user = std::to_string(uid);  // as nameless users are called
    r.account = "team";
    r.state = JobState::kCompleted;
    r.started = now - minutes(30);
    r.ended = now - minutes(10);
    r.tres_allocated = TresAmounts::from_text("cpu=2");
    m.jobs.push_back(r);
  }
  ASSERT_TRUE(ask(kSlurm, m));
  EXPECT_FALSE(ask(kAlice, m)) << "records come from SlurmUser alone";

  // CPU-seconds by user, and of jobs by their sizes.
  auto used = [&](uint32_t uid) {
    rpc::QueryUsage q;
    q.from = now - minutes(180);
    q.until = now + minutes(120);
    q.parts = kUsageUser;
    std::map<std::string, uint64_t> out;
    EXPECT_TRUE(ask(uid, q, [&](std::string bytes) {
      rpc::UsageAnswer part;
      ASSERT_TRUE(wire::decode(bytes, part));
      for (const UsageEntry& e : part.usage.entries) out[e.key.user] += e.used.cpus.value_or(0);
    }));
    rpc::QueryJobSizes sizes;
    sizes.filter.from = q.from;
    sizes.filter.until = q.until;
    EXPECT_TRUE(ask(uid, sizes, [&](std::string bytes) {
      rpc::JobSizes part;
      ASSERT_TRUE(wire::decode(bytes, part));
      for (const rpc::JobSize& size : part.sizes) out["jobs"] += size.jobs;
    }));
    return out;
  };
  using Used = std::map<std::string, uint64_t>;
  const std::string alice = std::to_string(kAlice), bob = std::to_string(kBob);
  EXPECT_EQ(used(kAlice), (Used{{alice, 2400}, {bob, 2400}, {"jobs", 2}}));
  settings.private_usage = true;
  EXPECT_EQ(used(kAlice), (Used{{alice, 2400}, {"jobs", 1}}));
  EXPECT_EQ(used(kSlurm), (Used{{alice, 2400}, {bob, 2400}, {"jobs", 2}}));

  rpc::QueryEvents events;
  size_t found = 0;
  auto count = [&](const std::string& bytes) {
    rpc::EventRecords part;
    ASSERT_TRUE(wire::decode(bytes, part));
    for (const EventRecord& e : part.events) found += e.tres.cpus == 8u;
  };
  EXPECT_TRUE(ask(kAlice, events, count));
  EXPECT_EQ(found, 1u) << "what the cluster is made of";
  settings.private_events = settings.private_reservations = true;
  EXPECT_FALSE(ask(kAlice, events, count));
  EXPECT_FALSE(ask(kAlice, rpc::QueryReservationUsage{}, [](const std::string&) {}));
  EXPECT_TRUE(ask(kSlurm, rpc::QueryReservationUsage{}, [](const std::string&) {}));
}

}  // namespace
}  // namespace muster::slurmdbd
