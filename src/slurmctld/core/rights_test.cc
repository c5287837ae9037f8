// Operators, administrators and coordinators by what slurmdbd says: what each may do, and what stays root's or the owner's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "model/account_directory_testing.h"
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {
namespace {

const Caller kAlice{Uid(1000), {}, {}, {}, "alice"}, kOperator{Uid(2001), {}, {}, {}, "op"}, kAdministrator{Uid(2002), {}, {}, {}, "adm"},
    kCoordinator{Uid(2003), {}, {}, {}, "chief"}, kElsewhere{Uid(2004), {}, {}, {}, "boss"}, kBob{Uid(2005), {}, {}, {}, "bob"};

struct Staff : Bench {
  explicit Staff(const std::string& more = "") : Bench("AccountingStorageType=accounting_storage/slurmdbd\n" + more) {
    ADirectory d;
    d.qos("normal").account("root").account("top").account("team", "top").account("other");
    d.user("alice", "team").user("op", "other", AdminLevel::kOperator).user("adm", "other", AdminLevel::kAdministrator);
    d.user("chief", "other", AdminLevel::kNone, {"top"}).user("boss", "other", AdminLevel::kNone, {"other"}).user("bob", "team");
    d.association("alice", "team", {"normal"});
    turn([&] { core.learn_directory(d.entities()); });
    held = submit([](JobRequest& r) { r.user_name = "alice", r.hold = true; });
    running = submit([](JobRequest& r) { r.user_name = "alice"; });
    EXPECT_EQ(plan(), 1u);
    started(running);
  }
  bool may_control(const Caller& who, rpc::JobAction action, JobId job) {
    control(action, job, who);
    return control_errors.empty();
  }
  bool may_update(const Caller& who, JobId job, const std::string& key, const std::string& value) {
    rpc::UpdateJob c;
    c.job.job = job;
    c.changes.push_back({key, "=", value});
    Result<rpc::Messages> r;
    turn([&] { r = core.run(who, c); });
    return r.has_value();
  }
  bool may_cancel(const Caller& who, JobId job) {
    rpc::SignalJobs c;
    c.filter.jobs.emplace_back().job = job;
    Result<rpc::SignalJobsAnswer> r;
    turn([&] { r = core.run(who, c); });
    return r && r->errors.empty();
  }
  bool may_update_node(const Caller& who) {
    Result<rpc::Messages> r;
    turn([&] { r = core.run(who, rpc::UpdateNode{"n3", {{"State", "=", "DRAIN"}, {"Reason", "=", "x"}}}); });
    return r.has_value();
  }
  bool may_update_partition(const Caller& who) {
    rpc::UpdatePartition c;
    c.name = "main";
    c.changes.push_back({"State", "=", "UP"});
    Result<rpc::Messages> r;
    turn([&] { r = core.run(who, c); });
    return r.has_value();
  }
  JobId held, running;
};

// ---- the table: each row with each kind of caller
struct Kind {
  const char* name;
  Caller who;
  std::vector<RightLevel> of_the_job, of_any_job;  // what it has
};

std::vector<Kind> kinds() {
  using L = RightLevel;
  const std::vector<RightLevel> operators = {L::kAnyone, L::kOwnerOrOperator, L::kManager, L::kCoordinator, L::kOperator};
  std::vector<RightLevel> administrators = operators, all = operators;
  administrators.push_back(L::kAdministrator);
  all.insert(all.end(), {L::kOwner, L::kAdministrator, L::kRoot});
  return {{"a user", kBob, {L::kAnyone}, {L::kAnyone}},
          {"a user without a name", Caller{Uid(2001), {}, {}, {}}, {L::kAnyone}, {L::kAnyone}},
          {"the owner", kAlice, {L::kAnyone, L::kOwner, L::kOwnerOrOperator, L::kManager}, {L::kAnyone}},
          {"a coordinator of the account", kCoordinator, {L::kAnyone, L::kManager, L::kCoordinator}, {L::kAnyone}},
          {"a coordinator of another account", kElsewhere, {L::kAnyone}, {L::kAnyone}},
          {"an operator", kOperator, operators, operators},
          {"an administrator", kAdministrator, administrators, administrators},
          {"SlurmUser", Caller{Uid(64030), {}, {}, {}}, all, all},
          {"root", Caller::root(), all, all}};
}

TEST(RightsTable, EachRowIsForWhomItsLevelNames) {
  Staff b;
  const Job& job = b.get(b.running);
  for (const Kind& kind : kinds()) {
    const Rights rights(b.settings, b.core.cluster().directory, kind.who);
    for (size_t i = 0; i < right_rows().size(); ++i) {
      const auto right = static_cast<Right>(i);
      const RightRow& row = right_row(right);
      auto has = [&](const std::vector<RightLevel>& levels) { return std::ranges::find(levels, row.level) != levels.end(); };
      EXPECT_EQ(rights.may(right, job), has(kind.of_the_job)) << kind.name << ", of a job: " << row.name;
      EXPECT_EQ(rights.may(right), has(kind.of_any_job)) << kind.name << ": " << row.name;
    }
  }
}

TEST(RightsTable, WithoutAccountingNobodyHasMoreThanAnOwner) {
  Staff b;
  for (const Caller* who : {&kOperator, &kAdministrator, &kCoordinator}) {
    const Rights rights(b.settings, nullptr, *who);
    for (size_t i = 0; i < right_rows().size(); ++i) {
      const auto right = static_cast<Right>(i);
      EXPECT_EQ(rights.may(right, b.get(b.running)), right_row(right).level == RightLevel::kAnyone) << who->name << right_row(right).name;
    }
  }
}

// ---- docs/security.md shows the table
TEST(RightsTable, IsTheOneThatTheDocumentationShows) {
  const char* path = "docs/security.md";
  const std::string begin = "<!-- rights.def: written by rights_test -->\n", end = "<!-- rights.def ends -->\n";
  std::string table = "| may | who | documented |\n|---|---|---|\n";
  for (const RightRow& row : right_rows())
    table += std::string("| ") + row.words + " | " + std::string(who_has(row.level)) + " | " + (*row.page ? row.page : "—") + " |\n";
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  const std::string page = read.str();
  const size_t from = page.find(begin), to = page.find(end);
  ASSERT_TRUE(from != page.npos && to != page.npos) << path << " (tests run in the repository's root)";
  const std::string ours = page.substr(0, from + begin.size()) + table + page.substr(to);
  if (std::getenv("MUSTER_UPDATE")) {
    std::ofstream(path) << ours;
  } else {
    EXPECT_EQ(page, ours) << "MUSTER_UPDATE=1 slurmctld_core_test --gtest_filter='RightsTable*' writes it";
  }
}

// ---- decisions
TEST(Rights, CoordinatorsManageJobsOfTheirAccounts) {
  Staff b;
  for (const Caller* who : {&kCoordinator, &kOperator, &kAdministrator}) {
    EXPECT_TRUE(b.may_control(*who, rpc::JobAction::kRelease, b.held)) << who->name;
    EXPECT_TRUE(b.may_control(*who, rpc::JobAction::kUserHold, b.held)) << who->name;
    EXPECT_TRUE(b.may_update(*who, b.held, "Comment", "x")) << who->name;
    EXPECT_TRUE(b.may_control(*who, rpc::JobAction::kSuspend, b.running)) << who->name;
    EXPECT_TRUE(b.may_control(*who, rpc::JobAction::kResume, b.running)) << who->name;
  }
  for (const Caller* who : {&kElsewhere, &kBob}) {
    EXPECT_FALSE(b.may_control(*who, rpc::JobAction::kRelease, b.held)) << who->name;
    EXPECT_FALSE(b.may_control(*who, rpc::JobAction::kHold, b.held)) << who->name;
    EXPECT_FALSE(b.may_update(*who, b.held, "Comment", "x")) << who->name;
    EXPECT_FALSE(b.may_cancel(*who, b.running)) << who->name;
    EXPECT_FALSE(b.may_control(*who, rpc::JobAction::kSuspend, b.running)) << who->name;
  }
  EXPECT_FALSE(b.may_control(kAlice, rpc::JobAction::kSuspend, b.running));  // an owner is none
  EXPECT_TRUE(b.may_cancel(kCoordinator, b.running));
}

// What groups open is for those who are in them.
TEST(Rights, ACoordinatorsGroupsOpenNothingForTheJobsOfOthers) {
  Staff b("PartitionName=closed Nodes=n0 MaxTime=60 AllowGroups=friends\n");
  Caller chief = kCoordinator, alice = kAlice;
  chief.groups = alice.groups = {"friends"};
  EXPECT_FALSE(b.may_update(chief, b.held, "Partition", "closed"));
  EXPECT_TRUE(b.may_update(alice, b.held, "Partition", "closed"));
  EXPECT_TRUE(b.may_update(kCoordinator, b.held, "Account", "team"));  // it is there rightly
  EXPECT_TRUE(b.may_update(kOperator, b.held, "Partition", "main,closed"));
}

TEST(Rights, AHoldIsAnOperatorsOrAUsers) {
  Staff b;
  EXPECT_TRUE(b.may_control(kCoordinator, rpc::JobAction::kHold, b.held));
  EXPECT_EQ(b.get(b.held).reason, Reason::kJobHeldUser);
  EXPECT_TRUE(b.may_control(kOperator, rpc::JobAction::kHold, b.held));
  EXPECT_EQ(b.get(b.held).reason, Reason::kJobHeldAdmin);
  EXPECT_FALSE(b.may_control(kCoordinator, rpc::JobAction::kRelease, b.held));
  EXPECT_FALSE(b.may_control(kAlice, rpc::JobAction::kRelease, b.held));
  EXPECT_TRUE(b.may_control(kOperator, rpc::JobAction::kRelease, b.held));
}

TEST(Rights, OperatorsSetPrioritiesAndCoordinatorsDoNot) {
  Staff b;
  EXPECT_FALSE(b.may_update(kCoordinator, b.held, "Nice", "-5"));
  EXPECT_TRUE(b.may_update(kOperator, b.held, "Nice", "-5"));
  EXPECT_FALSE(b.may_update(kCoordinator, b.held, "AdminComment", "x"));
  EXPECT_TRUE(b.may_update(kOperator, b.held, "AdminComment", "x"));
}

TEST(Rights, WhatRunsInAUsersNameIsTheOwnersOnly) {
  Staff b;
  for (const Caller* who : {&kCoordinator, &kOperator, &kAdministrator}) {
    rpc::CreateStep step;
    step.job = b.running;
    Result<rpc::StepCreated> r;
    b.turn([&] { r = b.core.run(*who, step); });
    EXPECT_FALSE(r) << who->name;
    rpc::AskCredential ask;
    ask.job = b.running;
    b.turn([&] { r = b.core.run(*who, ask); });
    EXPECT_FALSE(r) << who->name;
    Result<rpc::Empty> notified;
    b.turn([&] { notified = b.core.run(*who, rpc::NotifyJob{b.running, "x"}); });
    EXPECT_FALSE(notified) << who->name;
    for (const char* key : {"StdOut", "StdErr", "StdIn", "WorkDir"})
      EXPECT_FALSE(b.may_update(*who, b.held, key, "/tmp/x")) << who->name << " " << key;
  }
  for (const char* key : {"StdOut", "StdErr", "StdIn", "WorkDir"}) EXPECT_TRUE(b.may_update(kAlice, b.held, key, "/tmp/x")) << key;
}

TEST(Rights, NodesAndPartitionsAreAdministrators) {
  Staff b;
  for (const Caller* who : {&kAlice, &kCoordinator, &kOperator}) {
    EXPECT_FALSE(b.may_update_node(*who)) << who->name;
    EXPECT_FALSE(b.may_update_partition(*who)) << who->name;
  }
  EXPECT_TRUE(b.may_update_node(kAdministrator));
  EXPECT_TRUE(b.may_update_partition(kAdministrator));
}

TEST(Rights, RunningWithoutAJobAndActingForOthersStaysRoots) {
  Staff b;
  for (const Caller* who : {&kOperator, &kAdministrator}) {
    rpc::RunWithoutJob run;
    run.request.required_nodes = "n0";
    Result<rpc::StepCreated> step;
    b.turn([&] { step = b.core.run(*who, run); });
    EXPECT_FALSE(step) << who->name;
    Result<rpc::JobSubmitted> submitted = fail(Errc::kError);
    b.turn([&] { submitted = b.core.run(*who, Bench::request([](JobRequest& r) { r.user_name = "alice"; })); });
    EXPECT_EQ(submitted.error().code, Errc::kUserIdMissing) << who->name;
    rpc::UpdateJob c;
    c.job.job = b.held;
    c.as_uid = 1000;
    c.changes.push_back({"Comment", "=", "x"});
    Result<rpc::Messages> r;
    b.turn([&] { r = b.core.run(*who, c); });
    EXPECT_FALSE(r) << who->name;
  }
}

// Whom the database does not know by a name that the connection proved is nobody.
TEST(Rights, NothingIsKnownOfWhoHasNoName) {
  Staff b;
  EXPECT_FALSE(b.may_cancel(Caller{Uid(2001), {}, {}, {}}, b.running));
  Bench off;
  JobId job = off.submit();
  off.control(rpc::JobAction::kHold, job, kOperator);
  EXPECT_FALSE(off.control_errors.empty());
}

TEST(Rights, PrivateDataIsOpenToOperatorsAndOfJobsToCoordinators) {
  Staff b("PrivateData=jobs,nodes\n");
  auto privacy = [&](const Caller& who) { return Privacy(b.settings, b.core.cluster().directory, who); };
  const Job& job = b.get(b.running);
  for (const Caller* who : {&kAlice, &kCoordinator, &kOperator, &kAdministrator}) EXPECT_TRUE(privacy(*who).shows(job)) << who->name;
  for (const Caller* who : {&kBob, &kElsewhere}) EXPECT_FALSE(privacy(*who).shows(job)) << who->name;
  EXPECT_TRUE(privacy(kOperator).may_ask_for_nodes());
  EXPECT_FALSE(privacy(kCoordinator).may_ask_for_nodes());
}

// Guide mcs: an association with the account, and not for one partition alone, opens its jobs.
TEST(Rights, JobsOfAnAccountAreOpenToWhoIsInItWhereLabelsAreAccounts) {
  Staff b("PrivateData=jobs\nMCSPlugin=mcs/account\nMCSParameters=enforced,select,privatedata\n");
  const Job& job = b.get(b.running);
  EXPECT_EQ(job.request->mcs_label, "team");
  auto shows = [&] { return Privacy(b.settings, b.core.cluster().directory, kBob).shows(job); };
  EXPECT_FALSE(shows());
  ADirectory d;
  d.account("root").account("team").user("bob", "team").association("bob", "team", {}, "", "main");
  b.turn([&] { b.core.learn_directory(d.entities()); });
  EXPECT_FALSE(shows());
  b.turn([&] { b.core.learn_directory(d.association("bob", "team", {}).entities()); });
  EXPECT_TRUE(shows());
}

}  // namespace
}  // namespace muster::slurmctld
