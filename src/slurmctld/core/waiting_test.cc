// What pending jobs wait for: holds, begin times, dependencies; and arrays.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/rows.h"

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

TEST(Hold, OfAnAdminStaysOneWhateverTheUserDoes) {
  Bench b;
  const Caller user{Uid(1000), {}, {}, {}};
  JobId j = b.submit();
  b.control(rpc::JobAction::kHold, j);
  b.control(rpc::JobAction::kHold, j, user);
  b.control(rpc::JobAction::kUserHold, j, user);
  rpc::UpdateJob zero;
  zero.job.job = j;
  zero.changes.push_back({"Priority", "=", "0"});
  b.turn([&] { (void)b.core.run(user, zero); });
  EXPECT_EQ(b.get(j).reason, Reason::kJobHeldAdmin);
  b.control(rpc::JobAction::kRelease, j, user);
  EXPECT_EQ(b.control_errors.size(), 1u);
  zero.changes[0].value = "1";
  b.turn([&] { EXPECT_FALSE(b.core.run(user, zero)); });
  EXPECT_EQ(b.plan(), 0u);
}

// What a hold takes away of a job's age is not given back: slurm.conf(5) PriorityFlags, ACCRUE_ALWAYS.
TEST(Hold, BeginsTheAgeAnew) {
  for (const bool by_priority : {false, true}) {
    Bench b;
    const JobId held = b.submit(), kept = b.submit();
    const JobId later = b.submit([&](JobRequest& r) { r.begin = b.now + minutes(60); });
    const Time submitted = b.now, begin = b.get(later).eligible;
    b.wait(minutes(10));
    for (JobId id : {held, later}) {
      if (by_priority) ASSERT_TRUE(b.update(id, "Priority", "0"));
      else b.control(rpc::JobAction::kHold, id);
    }
    EXPECT_EQ(b.get(held).eligible, kTimeUnset);
    b.wait(minutes(10));
    for (JobId id : {held, later}) {
      if (by_priority) ASSERT_TRUE(b.update(id, "Priority", "5"));
      else b.control(rpc::JobAction::kRelease, id);
    }
    EXPECT_EQ(b.get(held).eligible, b.now);
    EXPECT_EQ(b.get(kept).eligible, submitted);
    EXPECT_EQ(b.get(later).eligible, begin);
    b.wait(minutes(10));
    b.control(rpc::JobAction::kRelease, held);  // of a job that nobody holds
    EXPECT_EQ(b.get(held).eligible, b.now - minutes(10));
    b.expect_replay_equal();
  }
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
  EXPECT_EQ(d.b.state(d.second), JobState::kCancelled);  // still known, still failed
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
  d.b.wait(minutes(2));  // nothing but time has passed
  EXPECT_EQ(d.b.plan(), 1u);
}

// The minutes go on where the job that they are about is forgotten meanwhile, whatever makes the waiting job look again. Found by seed 276.
TEST(Dependency, MinutesGoOnAfterAForgottenJob) {
  Bench b;
  const JobId first = b.submit(), longer = b.submit(), other = b.submit();
  b.cancel(first);
  b.cancel(longer);
  const auto after = [&](JobId id, int delay) { return "after:" + std::to_string(id.value) + (delay ? "+" + std::to_string(delay) : ""); };
  const JobId all = b.submit([&](JobRequest& r) { r.dependency = after(first, 3) + "," + after(longer, 5) + "," + after(other, 0); });
  const JobId any = b.submit([&](JobRequest& r) { r.dependency = after(first, 3) + "?" + after(longer, 5); });
  b.wait(seconds(120));  // MinJobAge
  ASSERT_FALSE(b.exists(first));
  b.cancel(other);
  EXPECT_EQ(b.get(all).reason, Reason::kDependency) << "its minutes are not over";
  b.wait(seconds(70));
  EXPECT_FALSE(b.get(any).dependencies) << "three minutes are over";
  EXPECT_TRUE(b.get(all).dependencies) << "five are not";
  b.wait(minutes(2));
  EXPECT_FALSE(b.get(all).dependencies);
  b.expect_replay_equal();
}

// The task that started last may be forgotten while others of its array are not.
TEST(Dependency, MinutesGoOnAfterAForgottenTask) {
  Bench b;
  const JobId array = b.submit([&](JobRequest& r) {
    r.array = "0-1%1";
    r.time_limit_min = 30;
  });
  ASSERT_EQ(b.plan(), 1u);
  std::vector<JobId> running;
  const auto look = [&] {
    b.core.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
      if (j.state == JobState::kRunning && std::ranges::find(running, JobId(id)) == running.end()) running.emplace_back(id);
    });
  };
  look();
  b.started(running.at(0));
  b.wait(minutes(5));
  ASSERT_TRUE(b.update(array, "ArrayTaskThrottle", "2"));
  ASSERT_EQ(b.plan(), 1u);
  look();
  const JobId last = running.at(1);
  const JobId waits = b.submit([&](JobRequest& r) { r.dependency = "after:" + std::to_string(array.value) + "+3"; });
  const JobId other = b.submit();
  ASSERT_TRUE(b.update(waits, "Dependency", "after:" + std::to_string(array.value) + "+3,after:" + std::to_string(other.value)));
  b.started(last);
  b.ends(last);
  b.wait(seconds(120));  // MinJobAge
  ASSERT_FALSE(b.exists(last));
  b.cancel(other);
  EXPECT_TRUE(b.get(waits).dependencies) << "three minutes are not over";
  b.wait(seconds(70));
  EXPECT_FALSE(b.get(waits).dependencies);
  b.expect_replay_equal();
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
  EXPECT_EQ(b.plan(), 0u);  // %2
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

TEST(Array, TasksCancelledBeforeTheyStartLeaveNoRecord) {
  Bench b;
  JobId a = b.submit([](JobRequest& r) { r.array = "0-4"; });
  const auto depending = [&](const char* how) {
    return b.submit([&](JobRequest& r) { r.dependency = how + std::to_string(a.value) + "_2"; });
  };
  JobId ok = depending("afterok:"), any = depending("afterany:");
  b.cancel(a, "1-2");
  EXPECT_EQ(b.get(a).array_tasks->pending.to_ranges(), "0,3-4");
  EXPECT_EQ(b.core.cluster().jobs.size(), 3u);
  EXPECT_EQ(b.core.cluster().last_job_id, any);  // no number is used up
  EXPECT_EQ(b.get(ok).reason, Reason::kDependencyNeverSatisfied);
  EXPECT_EQ(b.get(any).reason, Reason::kNone);
  rpc::SignalJobs again;
  again.filter.jobs.push_back({.job = a, .array_task = 2});
  b.turn([&] {
    auto answer = b.core.run(Caller::root(), again);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->errors.size(), 1u);
    EXPECT_EQ(answer->errors[0].code, errc_number(Errc::kAlreadyDone));
  });
  b.expect_replay_equal();
}

// ---- requeue_delay
TEST(Requeue, WaitsForTheDelay) {
  for (const char* conf : {"", "SchedulerParameters=requeue_delay=30\n", "AuthInfo=cred_expire=30\n"}) {
    SCOPED_TRACE(conf);
    Bench b(std::string(conf) + "JobRequeue=1\n# requeue_delay\n");
    const Duration delay = *conf ? seconds(30) : seconds(120);
    JobId j = b.submit();
    b.plan();
    b.started(j);
    b.control(rpc::JobAction::kRequeue, j);
    b.gone(j, b.host(j));
    EXPECT_EQ(b.state(j), JobState::kPending);
    EXPECT_EQ(b.get(j).reason, Reason::kBeginTime);
    b.wait(delay - seconds(1));
    EXPECT_EQ(b.plan(), 0u);
    b.wait(seconds(1));
    EXPECT_EQ(b.get(j).reason, Reason::kNone);
    EXPECT_EQ(b.plan(), 1u);
    b.expect_replay_equal();
  }
}

TEST(Requeue, OneThatIsReleasedWaitsForTheRestOfTheDelay) {
  Bench b("JobRequeue=1\nSchedulerParameters=requeue_delay=60\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.control(rpc::JobAction::kRequeueHold, j);
  b.gone(j, b.host(j));
  b.control(rpc::JobAction::kRelease, j);
  EXPECT_EQ(b.get(j).reason, Reason::kBeginTime);
  b.wait(seconds(60));
  EXPECT_EQ(b.plan(), 1u);
}

// A task of the job may be the one that asked.
TEST(Requeue, IsAnsweredBeforeTheNodesAreToldToEndTheJob) {
  Bench b("JobRequeue=1\n");
  JobId j = b.submit();
  b.plan();
  b.started(j);
  b.control(rpc::JobAction::kRequeue, j);
  EXPECT_TRUE(b.orders<node_rpc::TerminateJob>().empty());
  EXPECT_LE(b.core.next_timer(), b.now + seconds(1));
  b.wait(seconds(1));
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 1u);
}

// ---- what keeps a job from its partition
TEST(Submit, WithoutEnforcePartLimitsAJobWaitsForTheListsOfItsPartition) {
  const std::string lists = "PartitionName=acc Nodes=ALL AllowAccounts=good\nPartitionName=qos Nodes=ALL DenyQos=bad\n";
  auto in = [](const char* partition) {
    return [partition](JobRequest& r) {
      r.partitions = {partition};
      r.account = r.qos = "bad";
    };
  };
  Bench b(lists);
  JobId account = b.submit(in("acc")), qos = b.submit(in("qos"));
  EXPECT_EQ(b.plan(), 0u);
  EXPECT_EQ(reason_shown(b.core.cluster(), b.get(account)), Reason::kAccountNotAllowed);
  EXPECT_EQ(reason_shown(b.core.cluster(), b.get(qos)), Reason::kQOSNotAllowed);
  ASSERT_TRUE(b.update(account, "Account", "good"));
  EXPECT_EQ(b.plan(), 1u);
  Bench enforced("EnforcePartLimits=ANY\n" + lists);
  for (const char* partition : {"acc", "qos"}) {
    const JobRequest r = Bench::request(in(partition));
    enforced.turn([&] { EXPECT_FALSE(enforced.core.run(Caller{r.uid, {}, {}, {}}, r)); });
  }
}

TEST(Submit, AJobForAPartitionWithoutNodesWaitsForThemUnlessLimitsAreEnforced) {
  const std::string lines = "NodeSet=cloud Feature=cloud\nPartitionName=cloud Nodes=cloud MaxNodes=2\n";
  const auto there = [](JobRequest& r) { r.partitions = {"cloud"}; };
  Bench b(lines);
  const JobId job = b.submit(there), wide = b.submit([&](JobRequest&r) { there(r), r.min_nodes = r.max_nodes = 3; });
  EXPECT_EQ(b.plan(), 0u);
  for (JobId id : {job, wide}) EXPECT_EQ(reason_shown(b.core.cluster(), b.get(id)), Reason::kPartitionConfig);
  // One that no partition with nodes could serve is not sent to the one without.
  b.turn([&] {
    const auto never = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([](JobRequest& r) { r.min_nodes = r.max_nodes = 99; }));
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().hint.find("cloud"), std::string::npos) << never.error().hint;
  });
  for (const char* how : {"ALL", "ANY"}) {
    Bench enforced("EnforcePartLimits=" + std::string(how) + "\n" + lines);
    enforced.turn([&] {
      const auto refused = enforced.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request(there));
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, Errc::kTooManyRequestedCpus);
      EXPECT_NE(refused.error().hint.find("partition cloud has no nodes"), std::string::npos) << refused.error().hint;
    });
  }
}

TEST(Submit, PartitionsAreTriedFromTheHighestTierOn) {
  Bench b("PartitionName=lo Nodes=ALL\nPartitionName=hi Nodes=ALL PriorityTier=9 DefaultTime=7\n");
  const auto both = [](JobRequest& r) {
    r.partitions = {"lo", "main", "hi"};
    r.time_limit_min.reset();
  };
  JobId j = b.submit(both);
  EXPECT_EQ(partition_text(b.core.cluster(), b.get(j)), "hi,lo,main");
  EXPECT_EQ(b.get(j).time_limit_min, 7u);
  ASSERT_TRUE(b.update(j, "Partition", "main,hi"));
  EXPECT_EQ(partition_text(b.core.cluster(), b.get(j)), "hi,main");
}

TEST(Submit, HeldIsTakenWhatNoNodeCanRunAndNotReleased) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) {
    r.hold = true;
    r.cpus_per_task = 100;
  });
  b.control(rpc::JobAction::kRelease, j);
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kRequestedPartConfigUnavailable));
  EXPECT_EQ(b.update(j, "Priority", "100").error().code, Errc::kRequestedPartConfigUnavailable);  // lets it go, too
  EXPECT_EQ(b.get(j).priority, 0u);
  ASSERT_TRUE(b.update(j, "CPUsPerTask", "2"));
  b.control(rpc::JobAction::kRelease, j);
  EXPECT_EQ(b.plan(), 1u);
}

TEST(Submit, ImmediateThatWouldWaitIsCancelled) {
  Bench b;
  b.submit([](JobRequest& r) { r.min_nodes = r.max_nodes = 4, r.exclusive = Exclusive::kNode; });
  EXPECT_EQ(b.plan(), 1u);
  JobId j = b.submit([](JobRequest& r) { r.immediate_seconds = 2; });
  b.wait(seconds(3));
  EXPECT_EQ(b.state(j), JobState::kCancelled);
}

TEST(Licenses, ThatAreTrackedAreTres) {
  for (bool tracked : {false, true}) {
    Bench b(std::string("Licenses=lic:10,other:10\n") + (tracked ? "AccountingStorageTRES=license/lic\n" : ""));
    const auto tres_of_job = [&](const std::function<void(JobRequest&)>& change) {
      const JobId id = b.submit(change);
      EXPECT_EQ(b.plan(), 1u);
      const Job& j = b.get(id);
      return std::pair(tres_text(tres_requested(b.core.cluster(), *j.request, j.partition)),
                       tres_text(tres_of(b.core.cluster(), *j.allocation)));
    };
    for (const auto& [asked, held] : {tres_of_job([](JobRequest& r) { r.tres_per_task = "license/lic:2", r.num_tasks = 2; }),
                                      tres_of_job([](JobRequest& r) { r.licenses = "lic:4,other:1"; })}) {
      EXPECT_EQ(asked.ends_with(",license/lic=4"), tracked) << asked;
      EXPECT_EQ(held.ends_with(",license/lic=4"), tracked) << held;
      EXPECT_EQ(asked.find("gres"), asked.npos);
    }
  }
}

TEST(Update, TresBind) {
  Bench b;
  JobId j = b.submit([](JobRequest& r) { r.hold = true; });
  ASSERT_TRUE(b.update(j, "TresBind", "gres/gpu:map:0,1"));
  EXPECT_EQ(b.get(j).request->tres_bind, "gres/gpu:map:0,1");
  for (const char* wrong : {"gpu:map:0", "gres/gpu", "gres/gpu:nosuch", "gres/gpu:closest+x"})
    EXPECT_FALSE(b.update(j, "TresBind", wrong)) << wrong;
}

}  // namespace
}  // namespace muster::slurmctld
