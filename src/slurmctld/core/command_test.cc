// The table of what can be asked, and the one way into the core.
#include "slurmctld/core/command.h"

#include <gtest/gtest.h>

#include <set>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/served.h"
#include "slurmctld/core/waits.h"

namespace muster::slurmctld {
namespace {

const Caller kUser{Uid(1000), {}, {}, {}}, kOther{Uid(1001), {}, {}, {}};

TEST(Commands, EachMessageToTheControllerHasARow) {
  std::set<uint16_t> numbers;
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  if (number < 200) {                                       \
    EXPECT_TRUE(command_row(number)) << #request;           \
    numbers.insert(number);                                 \
  }
#include "model/messages.def"
#undef MUSTER_MESSAGE
  EXPECT_EQ(command_rows().size(), numbers.size());
  for (const CommandRow& row : command_rows()) EXPECT_EQ(command_row(row.number)->name, std::string_view(row.name));
  EXPECT_FALSE(command_row(200));
  EXPECT_FALSE(command_row(0));
}

// A command is none of whose job nothing is asked, but for those that mean no job or a new one.
TEST(Commands, WhatChangesJobsIsAskedForEach) {
  const std::set<std::string_view> without = {"SubmitJob",         "Allocate",     "WillRun",          "RunWithoutJob",
                                              "UpdateNode",        "ControlNodes", "UpdatePartition",  "UpdateConfig",
                                              "UpdateReservation", "SubmitHetJob", "AllocateHetJob",   "InstallCrontab",
                                              "ClearTriggers",     "JoinNode",     "StartMaintenance", "ControlMaintenance"};
  for (const CommandRow& row : command_rows()) {
    if (row.kind != CommandKind::kChange) continue;
    EXPECT_EQ(row.of_job == Right::kAsk, without.contains(row.name)) << row.name;
  }
}

TEST(Commands, TheRightThatComesFirstIsAskedBeforeTheRequestIsLookedAt) {
  Bench b;
  Result<rpc::Messages> nodes, partitions;
  Result<rpc::StepCreated> step;
  b.turn([&] {
    nodes = b.core.run(kUser, rpc::UpdateNode{"nosuch", {}});
    partitions = b.core.run(kUser, rpc::UpdatePartition{});
    step = b.core.run(kUser, rpc::RunWithoutJob{});
  });
  EXPECT_EQ(nodes.error(), Error(Errc::kAccessDenied, {}, "only administrators may change, create and delete nodes"));
  EXPECT_EQ(partitions.error().code, Errc::kAccessDenied);
  EXPECT_EQ(step.error(), Error(Errc::kAccessDenied, {}, "only root and SlurmUser may run on nodes without an allocation"));
  b.turn([&] { nodes = b.core.run(Caller::root(), rpc::UpdateNode{"nosuch", {}}); });
  EXPECT_EQ(nodes.error().code, Errc::kInvalidNodeName);
}

TEST(Commands, AnyOfThemIsRunAsTheOneItIs) {
  Bench b;
  JobId job;
  b.turn([&] {
    auto answer = b.core.run(kUser, Command(Bench::request()));
    ASSERT_TRUE(answer);
    job = std::get<rpc::JobSubmitted>(*answer).job;
  });
  EXPECT_TRUE(b.exists(job));
  rpc::SignalJobs cancel;
  cancel.filter.jobs.emplace_back().job = job;
  b.turn([&] {
    auto refused = b.core.run(kOther, Command(cancel));
    ASSERT_TRUE(refused);
    EXPECT_EQ(std::get<rpc::SignalJobsAnswer>(*refused).errors.size(), 1u);
  });
  EXPECT_EQ(b.state(job), JobState::kPending);
  b.turn([&] { ASSERT_TRUE(b.core.run(kUser, Command(cancel))); });
  EXPECT_EQ(b.state(job), JobState::kCancelled);
  b.turn([&] { EXPECT_FALSE(b.core.run(kUser, Command(rpc::UpdateNode{"n0", {}}))); });
}

TEST(Commands, ATestOnlyLeavesNothing) {
  Bench b;
  b.turn([&] {
    EXPECT_TRUE(b.core.run(kUser, TestOnly{Bench::request()}));
    EXPECT_TRUE(b.core.events().empty());
    EXPECT_EQ(b.core.run(kOther, TestOnly{Bench::request()}).error().code, Errc::kUserIdMissing);
  });
}

// ---- served.h
struct Served : Bench {
  Privacy privacy(const Caller& who) const { return {settings, core.cluster().directory, who}; }
  Rights rights(const Caller& who) const { return {settings, core.cluster().directory, who}; }
};

TEST(Served, AnAllocationIsItsOwnersAndRoots) {
  Served b;
  const JobId waits = b.submit(), none(99);
  auto attach = [&](const Caller& who, JobId job) { return attach_allocation(b.core.cluster(), b.privacy(who), b.rights(who), {job}); };
  EXPECT_EQ(attach(kUser, waits).error().code, Errc::kJobPending);
  EXPECT_EQ(attach(kOther, waits).error().code, Errc::kAccessDenied);
  EXPECT_EQ(attach(kUser, none).error().code, Errc::kInvalidJobId);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_TRUE(attach(kUser, waits));
  EXPECT_TRUE(attach(Caller::root(), waits));
}

TEST(Served, ContentIsNotForOthersAndPasswordsAreNotForUsers) {
  Served b;
  const JobId job = b.submit([](JobRequest& r) { r.script_hash = "abc"; });
  auto text = [&](const Caller& who, const char* subject) {
    return text_wanted(b.core.cluster(), b.privacy(who), b.rights(who), {subject, job});
  };
  EXPECT_EQ(text(kUser, "script")->hash, "abc");
  EXPECT_EQ(text(kOther, "script").error().code, Errc::kUserIdMissing);
  EXPECT_EQ(text(kUser, "environment").error().code, Errc::kNotFound);
  EXPECT_EQ(text(kUser, "nosuch").error().code, Errc::kInvalidArgument);
  EXPECT_FALSE(text(kUser, "slurm.conf")->passwords);
  EXPECT_TRUE(text(Caller::root(), "slurm.conf")->passwords);
}

TEST(Served, CountersAreResetByOperators) {
  Served b;
  EXPECT_TRUE(may_query(b.rights(kUser), {.reset = false}));
  EXPECT_EQ(may_query(b.rights(kUser), {.reset = true}).error().code, Errc::kAccessDenied);
  EXPECT_TRUE(may_query(b.rights(Caller::root()), {.reset = true}));
}

// ---- waits.h
TEST(Waits, AJobIsOverWhenItEndedAndReadyWhenItRuns) {
  Served b;
  const JobId job = b.submit();
  JobWait end({job, false}, b.privacy(kUser)), ready({job, true}, b.privacy(kUser));
  auto look = [&](JobWait& w) { return w.look(b.core.cluster(), b.core.cluster().jobs.find(job.value)); };
  EXPECT_FALSE(look(end));
  EXPECT_FALSE(look(ready));
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  EXPECT_FALSE(look(end));
  ASSERT_TRUE(look(ready) && *look(ready));
  b.ends(job, 256);
  ASSERT_TRUE(look(end) && *look(end));
  EXPECT_EQ((*look(end))->exit_status, 256);
  JobWait nothing({JobId(99), false}, b.privacy(kUser));
  EXPECT_EQ(nothing.look(b.core.cluster(), nullptr)->error().code, Errc::kInvalidJobId);
}

TEST(Waits, WhoWaitsForAnothersJobIsToldNothingOfAHiddenOne) {
  struct Hidden : Bench {
    Hidden() : Bench("PrivateData=jobs\n") {}
  } b;
  const JobId job = b.submit();
  JobWait wait({job, false}, Privacy(b.settings, nullptr, kOther));
  EXPECT_EQ(wait.look(b.core.cluster(), &b.get(job))->error().code, Errc::kInvalidJobId);
}

TEST(Waits, ForStepsOfOnesOwnJobThatRuns) {
  Served b;
  const JobId job = b.submit();
  auto look = [&](const Caller& who) { return StepsWait(b.privacy(who), b.rights(who)).look(b.core.cluster(), &b.get(job)); };
  EXPECT_EQ(look(kUser)->error().code, Errc::kJobPending);
  EXPECT_EQ(look(kOther)->error().code, Errc::kAccessDenied);
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  EXPECT_TRUE(*look(kUser));  // it has none
  rpc::CreateStep c;
  c.job = job;
  Result<rpc::StepCreated> step;
  b.turn([&] { step = b.core.run(kUser, c); });
  ASSERT_TRUE(step);
  StepsWait wait(b.privacy(kUser), b.rights(kUser));
  EXPECT_FALSE(wait.look(b.core.cluster(), &b.get(job)));
  b.turn([&] { EXPECT_TRUE(b.core.run(kUser, rpc::FinishStep{job, step->step, 0, false})); });
  auto over = wait.look(b.core.cluster(), &b.get(job));
  EXPECT_TRUE(over && *over);
}

TEST(Waits, AnAllocationThatEndsBeforeItBeganIsRevoked) {
  Served b;
  const JobId job = b.submit([](JobRequest& r) { r.kind = JobKind::kAllocation; });
  AllocationWait wait;
  std::optional<std::string> nodes;
  EXPECT_FALSE(wait.look(b.core.cluster(), &b.get(job), nodes));
  b.cancel(job);
  EXPECT_EQ(wait.look(b.core.cluster(), &b.get(job), nodes)->error().code, Errc::kAllocationRevoked);
  EXPECT_FALSE(nodes);
}

}  // namespace
}  // namespace muster::slurmctld
