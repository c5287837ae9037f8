// What pending jobs wait for: holds, begin times, dependencies; and arrays.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(Hold, KeepsAJobFromStartingUntilReleased) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.hold = true; });
  EXPECT_EQ(b.get(j).reason, Reason::kJobHeldUser);
  EXPECT_EQ(b.plan(), 0u);
  b.control(rpc::JobAction::kRelease, j, Caller{Uid(1000), {}, {}, {}});
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Hold, OfAnAdminIsNotTheUsersToRelease) {
  Bench b;
  JobId j = b.submit();
  b.control(rpc::JobAction::kHold, j);
  b.control(rpc::JobAction::kRelease, j, Caller{Uid(1000), {}, {}, {}});
  EXPECT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.get(j).reason, Reason::kJobHeldAdmin);
}

TEST(Begin, StartsWhenTheTimeHasCome) {
  Bench b;
  JobId j = b.submit([&](JobRequest& r) { r.begin = b.now + minutes(5); });
  EXPECT_EQ(b.get(j).reason, Reason::kBeginTime);
  EXPECT_EQ(b.plan(), 0u);
  b.wait(minutes(5));
  EXPECT_EQ(b.get(j).reason, Reason::kNone);
  EXPECT_EQ(b.plan(), 1u);
}

struct Dependent {
  Bench b;
  JobId first, second;
  Dependent(const std::string& kind, const std::string& conf = "", const std::string& after = "") : b(conf) {
    first = b.submit();
    second = b.submit([&](JobRequest& r) { r.dependency = kind + ":" + std::to_string(first.value) + after; });
    EXPECT_EQ(b.plan(), 1u);
    b.started(first);
  }
};

TEST(Dependency, AfterOkStartsOrCanNeverStart) {
  Dependent ok("afterok");
  ok.b.ends(ok.first);
  EXPECT_EQ(ok.b.plan(), 1u);
  Dependent bad("afterok");
  bad.b.ends(bad.first, 1 << 8);
  EXPECT_EQ(bad.b.plan(), 0u);
  EXPECT_EQ(bad.b.get(bad.second).reason, Reason::kDependencyNeverSatisfied);
}

TEST(Dependency, KillInvalidDependCancels) {
  Dependent d("afterok", "DependencyParameters=kill_invalid_depend\n");
  d.b.ends(d.first, 1 << 8);
  EXPECT_EQ(d.b.state(d.second), JobState::kCancelled);
  JobId late = d.b.submit([&](JobRequest& r) { r.dependency = "afterok:" + std::to_string(d.first.value); });
  EXPECT_EQ(d.b.state(late), JobState::kCancelled);
}

// Cancelled for its dependency, then brought back: the dependency is looked at anew, and ends it again.
TEST(Dependency, RequeuedJobLooksAtItsDependenciesAnew) {
  Dependent d("afterok", "DependencyParameters=kill_invalid_depend\nJobRequeue=1\n");
  d.b.ends(d.first, 1 << 8);
  d.b.wait(seconds(50));
  ASSERT_EQ(d.b.state(d.second), JobState::kCancelled);
  d.b.now += seconds(40);
  d.b.control(rpc::JobAction::kRequeueHold, d.second);
  EXPECT_EQ(d.b.state(d.second), JobState::kCancelled);   // still known, still failed
}

TEST(Dependency, ReleaseKeepsTheReasonThatItCanNeverStart) {
  Dependent d("afterok");
  d.b.ends(d.first, 1 << 8);
  d.b.control(rpc::JobAction::kHold, d.second);
  d.b.control(rpc::JobAction::kRelease, d.second);
  EXPECT_EQ(d.b.get(d.second).reason, Reason::kDependencyNeverSatisfied);
}

// Held from the start or not, a job looks again when the minutes after another one's start are over. Found by seed 1825.
TEST(Dependency, MinutesAfterAStartPassForHeldJobsToo) {
  Bench b;
  JobId first = b.submit();
  b.cancel(first);
  JobId second = b.submit([&](JobRequest& r) {
    r.dependency = "after:" + std::to_string(first.value) + "+3";
    r.hold = true;
  });
  b.wait(minutes(4));
  b.control(rpc::JobAction::kRelease, second);
  b.wait(minutes(1));
  EXPECT_FALSE(b.get(second).dependencies) << "nothing made it look again";
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Dependency, AfterWithMinutesWaitsForTheMinutesAlone) {
  Dependent d("after", "", "+5");
  d.b.wait(minutes(4));
  EXPECT_EQ(d.b.plan(), 0u);
  d.b.wait(minutes(2));   // nothing but time has passed
  EXPECT_EQ(d.b.plan(), 1u);
}

TEST(Dependency, CircularIsRefused) {
  Bench b;
  JobId one = b.submit([](JobRequest& r) { r.hold = true; });
  JobId two = b.submit([&](JobRequest& r) { r.dependency = "afterany:" + std::to_string(one.value); });
  for (JobId target : {one, two}) {
    auto r = b.update(one, "Dependency", "afterany:" + std::to_string(target.value));
    ASSERT_FALSE(r.has_value());
    EXPECT_EQ(r.error().code, target == one ? Errc::kDependency : Errc::kCircularDependency);
  }
}

// A singleton waits for the earlier jobs of its name: none of them may wait for it.
TEST(Dependency, CircularThroughASingletonIsRefused) {
  Bench b;
  auto named = [](JobRequest& r) { r.name = "one"; };
  JobId first = b.submit([&](JobRequest& r) { named(r), r.hold = true; });
  JobId second = b.submit([&](JobRequest& r) { named(r), r.dependency = "singleton"; });
  auto r = b.update(first, "Dependency", "afterany:" + std::to_string(second.value));
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().code, Errc::kCircularDependency);
}

TEST(Dependency, OnAnArrayWaitsForEveryTaskAlsoThoseCancelledTogether) {
  Bench b;
  JobId array = b.submit([](JobRequest& r) { r.array = "0-4"; });
  JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterany:" + std::to_string(array.value); });
  b.cancel(array, "0-1");
  EXPECT_EQ(b.get(after).reason, Reason::kDependency);
  b.cancel(array);
  EXPECT_EQ(b.get(after).reason, Reason::kNone);
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Array, IsOneRecordThatStartingTasksLeave) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) {
    r.array = "0-9%2";
    r.num_tasks = 1;
  });
  EXPECT_EQ(b.core.cluster().jobs.size(), 1u);
  EXPECT_EQ(b.core.indexes().job_count(), 10u);
  EXPECT_EQ(b.plan(), 2u);
  EXPECT_EQ(b.plan(), 0u);   // %2
  EXPECT_EQ(b.core.cluster().jobs.size(), 3u);
  EXPECT_EQ(b.get(a).array_tasks->pending.count(), 8u);
  EXPECT_EQ(b.core.indexes().job_count(), 10u);
  JobId task(a.value + 1);
  EXPECT_EQ(b.get(task).array_task, 0u);
  b.started(task);
  b.ends(task);
  EXPECT_EQ(b.plan(), 1u);
  b.expect_replay_equal();
}

// Two plans from one snapshot.
TEST(Array, LimitHoldsForAStalePlan) {
  Bench b;
  b.submit([](JobRequest& r) {
    r.array = "0-9%1";
    r.num_tasks = 1;
  });
  auto plan = b.planner.plan(*b.core.snapshot(), b.settings.sched, b.now, sched::Pass::kFull);
  ASSERT_EQ(plan.starts.size(), 1u);
  auto again = plan;
  again.starts[0].array_task = 5;
  auto allocation = std::make_shared<Allocation>(*again.starts[0].allocation);
  allocation->nodes[0].node = NodeId(3);
  again.starts[0].allocation = allocation;
  b.turn([&] { EXPECT_EQ(b.core.carry_out(plan), 1u); });
  b.turn([&] { EXPECT_EQ(b.core.carry_out(again), 0u); });
}

TEST(Array, CancelledTasksBecomeRecordsOfTheirOwn) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) { r.array = "0-4"; });
  b.cancel(a, "1-2");
  EXPECT_EQ(b.get(a).array_tasks->pending.to_ranges(), "0,3-4");
  EXPECT_EQ(b.core.cluster().jobs.size(), 3u);
  EXPECT_EQ(b.state(JobId(a.value + 1)), JobState::kCancelled);
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
