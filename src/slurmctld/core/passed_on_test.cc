// What counts of what a host with a certificate passes on: attacks of a node that was broken into, decided alone. test/security/test_tokens.py has
// them with real daemons.
#include "slurmctld/core/passed_on.h"

#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr Uid kAlice{1000}, kBob{2005}, kOp{2001};

struct Broken : Bench {
  Broken() : Bench("AccountingStorageType=accounting_storage/slurmdbd\nSchedulerParameters=enable_user_top\n") {
    ADirectory d;
    d.qos("normal").account("root").account("team");
    d.user("alice", "team")
        .user("bob", "team")
        .user("op", "team", AdminLevel::kOperator)
        .user("chief", "team", AdminLevel::kNone, {"team"});
    d.association("alice", "team", {"normal"}).association("bob", "team", {"normal"});
    turn([&] { core.learn_directory(d.entities()); });
    here = submit([](JobRequest& r) { r.user_name = "alice", r.required_nodes = "n0", r.alloc_node = "login"; });
    there = submit([](JobRequest& r) { r.user_name = "alice", r.required_nodes = "n1", r.alloc_node = "login"; });
    sent = submit([](JobRequest& r) { r.user_name = "alice", r.hold = true, r.alloc_node = "n0"; });
    bobs = submit([](JobRequest& r) { r.uid = kBob, r.user_name = "bob", r.account = "team", r.required_nodes = "n2"; });
    EXPECT_EQ(plan(), 3u);
    for (JobId id : {here, there, bobs}) started(id);
  }
  Caller by(Subject host, Uid uid, const std::string& name) {
    Caller who{uid, Gid{uid.value}, {}, host.name, name};
    who.through = host;
    if (const Node* n = core.cluster().node(host.name); n && host.kind == SubjectKind::kNode) who.through_node = n->id;
    return who;
  }
  Caller by_n0(Uid uid, const std::string& name) { return by({SubjectKind::kNode, "n0"}, uid, name); }
  template <class Request>
  Result<Caller> count(const Caller& who) {
    return count(row_of<Request>, who);
  }
  Result<Caller> count(const CommandRow& row, const Caller& who) {
    const bool has_job = who.through_node && has_job_on(core.cluster(), core.indexes(), *who.through_node, who.uid);
    return passed_on(settings, core.cluster().directory, row, who, has_job);
  }
  bool cancels(const Caller& who, JobId job) {
    auto as = count<rpc::SignalJobs>(who);
    if (!as) return false;
    rpc::SignalJobs c;
    c.filter.jobs.emplace_back().job = job;
    Result<rpc::SignalJobsAnswer> r;
    turn([&] { r = core.run(*as, c); });
    return r && r->errors.empty();
  }
  bool may(const Caller& who, Right right, JobId job) {
    auto as = count<rpc::QueryText>(who);
    return as && Rights(settings, core.cluster().directory, *as).may(right, core.cluster().jobs.at(job.value));
  }
  JobId here, there, sent, bobs;
};

TEST(PassedOn, AUserWithAJobThereCountsAsHimselfWithinReachOfTheNode) {
  Broken b;
  auto as = b.count<rpc::SubmitJob>(b.by_n0(kAlice, "alice"));
  ASSERT_TRUE(as) << as.error().message();
  EXPECT_EQ(as->uid, kAlice);
  for (const Right right : {Right::kReadContent, Right::kSignalJobs, Right::kUpdateJobs, Right::kRunSteps, Right::kChangeFiles}) {
    EXPECT_TRUE(b.may(*as, right, b.here));
    EXPECT_TRUE(b.may(*as, right, b.sent)) << "she has submitted it there";
    EXPECT_FALSE(b.may(*as, right, b.there)) << "her job of another node";
    EXPECT_FALSE(b.may(*as, right, b.bobs));
  }
  EXPECT_FALSE(b.cancels(*as, b.there));
  EXPECT_FALSE(b.cancels(*as, b.bobs));
  EXPECT_TRUE(b.cancels(*as, b.here));
}

TEST(PassedOn, WhoHasNoJobThereIsNobodyAndChangesNothing) {
  Broken b;
  const Caller bob = b.by_n0(kBob, "bob");
  for (const auto& no : {b.count<rpc::SubmitJob>(bob), b.count<rpc::SignalJobs>(bob), b.count<rpc::UpdateJob>(bob),
                         b.count<rpc::CreateStep>(bob), b.count<rpc::AskDatabase>(bob)}) {
    ASSERT_FALSE(no);
    EXPECT_EQ(no.error().code, Errc::kAccessDenied);
    EXPECT_NE(no.error().hint.find("node:n0"), std::string::npos) << no.error().hint;
  }
  auto as = b.count<rpc::QueryText>(bob);
  ASSERT_TRUE(as);
  EXPECT_EQ(as->uid, kNobody);
  EXPECT_FALSE(b.may(bob, Right::kReadContent, b.bobs));
  EXPECT_FALSE(b.cancels(bob, b.bobs));
}

TEST(PassedOn, NobodyWithMoreRightsCounts) {
  Broken b;
  b.submit([](JobRequest& r) { r.uid = kOp, r.user_name = "op", r.required_nodes = "n0"; });
  b.plan();
  for (const Subject& host : {Subject{SubjectKind::kNode, "n0"}, Subject{SubjectKind::kLogin, "l1"}})
    for (const auto& [uid, name] : {std::pair{Uid{0}, "root"}, std::pair{b.settings.slurm_user, "slurm"}, std::pair{kOp, "op"}}) {
      const Caller who = b.by(host, uid, name);
      EXPECT_FALSE(b.count<rpc::SubmitJob>(who)) << name;
      EXPECT_FALSE(b.cancels(who, b.there)) << name;
      EXPECT_FALSE(b.may(who, Right::kReadContent, b.there)) << name;
      EXPECT_FALSE(b.may(who, Right::kSeeHidden, b.there)) << name;
    }
  // Without a name nobody can say that it is no operator.
  EXPECT_FALSE(b.count<rpc::SubmitJob>(b.by({SubjectKind::kLogin, "l1"}, kAlice, "")));
}

TEST(PassedOn, ALoginHostSpeaksForOrdinaryUsers) {
  Broken b;
  const Caller alice = b.by({SubjectKind::kLogin, "l1"}, kAlice, "alice");
  auto as = b.count<rpc::SubmitJob>(alice);
  ASSERT_TRUE(as);
  EXPECT_EQ(as->uid, kAlice);
  EXPECT_TRUE(b.may(alice, Right::kReadContent, b.there));
  EXPECT_FALSE(b.may(alice, Right::kReadContent, b.bobs));
  EXPECT_FALSE(b.cancels(alice, b.bobs));
  EXPECT_TRUE(b.cancels(alice, b.there));
}

// A coordinator's rights reach over his account's jobs on all nodes: from a node they do not count.
TEST(PassedOn, ACoordinatorIsNoneFromANode) {
  Broken b;
  const JobId own = b.submit([](JobRequest& r) { r.uid = Uid(2003), r.user_name = "chief", r.account = "team", r.required_nodes = "n3"; });
  ASSERT_EQ(b.plan(), 1u);
  b.started(own);
  const Caller chief = b.by({SubjectKind::kNode, "n3"}, Uid(2003), "chief");
  ASSERT_TRUE(b.count<rpc::SignalJobs>(chief));
  EXPECT_FALSE(b.cancels(chief, b.bobs));
  EXPECT_TRUE(b.cancels(b.by({SubjectKind::kLogin, "l1"}, Uid(2003), "chief"), b.bobs))
      << "that is an ordinary user's right, where users are believed";
}

// Each request that there is: of a node nothing reaches further than its jobs, whoever has one there.
TEST(PassedOn, WhatReachesFurtherThanTheNodesJobsIsNotBelieved) {
  Broken b;
  const Caller alice = b.by_n0(kAlice, "alice"), at_login = b.by({SubjectKind::kLogin, "l1"}, kAlice, "alice");
  size_t refused = 0, looks = 0;
  for (const CommandRow& row : command_rows()) {
    const auto as = b.count(row, alice);
    switch (passed_on_row(row).reach) {
      case NodeReach::kCounts:
        EXPECT_EQ(as ? as->uid : Uid{}, kAlice) << row.name;
        EXPECT_TRUE(row.first == Right::kAsk) << row.name << ": by whom it may be asked does not depend on a job";
        break;
      case NodeReach::kLooks:
        ++looks;
        EXPECT_EQ(as ? as->uid : Uid{}, kNobody) << row.name;
        EXPECT_NE(row.kind, CommandKind::kChange) << row.name;
        break;
      case NodeReach::kRefused:
        ++refused;
        ASSERT_FALSE(as) << row.name;
        EXPECT_EQ(as.error().code, Errc::kAccessDenied);
        EXPECT_NE(as.error().hint.find(passed_on_row(row).why), std::string::npos) << as.error().hint;
        EXPECT_FALSE(b.count(row, b.by_n0(kBob, "bob"))) << row.name;
    }
    if (row.kind != CommandKind::kDaemon) EXPECT_EQ(b.count(row, at_login)->uid, kAlice) << row.name << ": a login host speaks for users";
  }
  EXPECT_GT(looks, 5u);
  EXPECT_GT(refused, 10u);
  for (const CommandRow* row : {&row_of<rpc::InstallCrontab>, &row_of<rpc::QueryCrontab>, &row_of<rpc::SetTrigger>,
                                &row_of<rpc::ClearTriggers>, &row_of<rpc::UpdateReservation>})
    EXPECT_FALSE(b.count(*row, alice)) << row->name;
  EXPECT_EQ(b.count<rpc::AskDatabase>(alice)->uid, kNobody);
}

// scontrol top moves all jobs of the user, of whichever node they are.
TEST(PassedOn, JobsAreNotPutFirstFromANode) {
  Broken b;
  rpc::ControlJobs top;
  top.jobs.emplace_back().job = b.submit([](JobRequest& r) { r.user_name = "alice", r.alloc_node = "n0"; });
  top.action = rpc::JobAction::kTop;
  auto as = b.count<rpc::ControlJobs>(b.by_n0(kAlice, "alice"));
  ASSERT_TRUE(as);
  Caller herself = *as;
  herself.through = {};
  for (const Caller& who : {*as, herself}) {
    Result<rpc::Messages> done;
    b.turn([&] { done = b.core.run(who, top); });
    ASSERT_TRUE(done);
    EXPECT_EQ(done->errors.size(), who.through.kind == SubjectKind::kNode ? 1u : 0u);
  }
}

// Until slurmdbd has said once who is who, anybody may be an administrator.
TEST(PassedOn, NobodyIsKnownToBeAMereUserBeforeTheFirstDirectory) {
  const Settings with = settings_of("AccountingStorageType=accounting_storage/slurmdbd\n"), without = settings_of();
  Caller alice{kAlice, Gid{1000}, {}, "l1", "alice"};
  alice.through = {SubjectKind::kLogin, "l1"};
  EXPECT_FALSE(passed_on(with, nullptr, row_of<rpc::SubmitJob>, alice, false));
  EXPECT_EQ(passed_on(with, nullptr, row_of<rpc::QueryJobs>, alice, false)->uid, kNobody);
  EXPECT_TRUE(passed_on(without, nullptr, row_of<rpc::SubmitJob>, alice, false))
      << "there is no slurmdbd, and so there are no administrators";
}

// What a node with a certificate is shown it could use.
TEST(PassedOn, CredentialsOfThoseWithMoreRightsAreForHostsWithTheKey) {
  Broken b;
  const Cluster& c = b.core.cluster();
  const auto alone = [&](JobId job, Uid asks) { return by_key_alone(c, b.settings, c.jobs.at(job.value), asks); };
  EXPECT_FALSE(alone(b.here, kAlice));
  EXPECT_TRUE(alone(b.here, Uid{0})) << "root asks for her job";
  const JobId op = b.submit([](JobRequest& r) { r.uid = kOp, r.user_name = "op", r.hold = true; });
  const JobId root = b.submit([](JobRequest& r) { r.uid = Uid{0}, r.user_name = "root", r.hold = true; });
  EXPECT_TRUE(alone(op, kOp));
  EXPECT_TRUE(alone(root, Uid{0}));
}

TEST(PassedOn, ANodeThatIsGoneSpeaksForNobody) {
  Broken b;
  Caller alice = b.by({SubjectKind::kNode, "n99"}, kAlice, "alice");
  EXPECT_FALSE(b.count<rpc::SubmitJob>(alice));
}

}  // namespace
}  // namespace muster::slurmctld
