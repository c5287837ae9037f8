// aftercorr between arrays, and the times of arrays that others wait for.
#include "model/dependency.h"
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

struct Pair {
  Bench b;
  JobId first, second;
  explicit Pair(const std::string& one, const std::string& two, const std::string& conf = "") : b(conf + "JobRequeue=1\n") {
    first = b.submit([&](JobRequest& r) { small(r), r.array = one; });
    second = after(two);
  }
  static void small(JobRequest& r) {
    r.num_tasks = 1;
    r.mem_per_node_mb = 100;
  }
  JobId after(const std::string& tasks, const std::string& more = "") {
    return b.submit([&](JobRequest& r) {
      small(r);
      r.array = tasks;
      r.dependency = "aftercorr:" + std::to_string(first.value) + more;
    });
  }
  // The record that has this task now.
  const Job* task(JobId array, uint32_t number) const {
    const Job* found = nullptr;
    b.core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
      const bool has = j.array_task == number || (j.array_tasks && j.array_tasks->pending.test(number));
      if (j.array_job_id == array && has) found = &j;
    });
    return found;
  }
  void start() {
    b.plan();
    std::vector<JobId> begun;
    b.core.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
      if (j.state == JobState::kRunning && !j.launched) begun.push_back(JobId(id));
    });
    for (JobId id : begun) b.started(id);
  }
  void end(uint32_t number, int32_t status = 0) { b.ends(task(first, number)->id, status); }
  // "1+ 2+ 3never 4wait": each task of the second array.
  std::string stands(JobId array) const {
    std::string out;
    for (uint32_t i = 0; i < 10; ++i) {
      const Job* j = task(array, i);
      if (!j) continue;
      out += (out.empty() ? "" : " ") + std::to_string(i);
      if (j->finished()) out += "over";
      else if (!j->pending()) out += "runs";
      else if (!j->dependencies) out += "+";
      else out += j->reason == Reason::kDependencyNeverSatisfied ? "never" : "wait";
    }
    return out;
  }
  std::string stands() const { return stands(second); }
};

TEST(AfterCorr, EachTaskWaitsForTheOneOfItsNumber) {
  Pair p("1-4", "1-4");
  p.start();
  EXPECT_EQ(p.stands(), "1wait 2wait 3wait 4wait");
  p.end(1);
  EXPECT_EQ(p.stands(), "1+ 2wait 3wait 4wait");
  p.end(3, 1 << 8);
  EXPECT_EQ(p.stands(), "1+ 2wait 3never 4wait");
  EXPECT_EQ(format_dependencies(*p.task(p.second, 3)->dependencies), "aftercorr:" + std::to_string(p.first.value) + "_*(failed)");
  EXPECT_EQ(p.b.get(p.second).array_tasks->pending.to_ranges(), "2,4");
  p.start();
  EXPECT_EQ(p.stands(), "1runs 2wait 3never 4wait");
  p.end(2);
  p.end(4);
  EXPECT_EQ(p.stands(), "1runs 2+ 3never 4+");
  p.start();
  EXPECT_EQ(p.stands(), "1runs 2runs 3never 4runs");
  p.b.expect_replay_equal();
}

TEST(AfterCorr, TasksThatStandAlikeShareARecord) {
  Pair p("1-6", "1-6");
  p.start();
  const size_t records = p.b.core.cluster().jobs.size();
  p.end(1);
  p.end(2);
  EXPECT_EQ(p.task(p.second, 1), p.task(p.second, 2));
  p.end(3, 1 << 8);
  EXPECT_EQ(p.task(p.second, 3)->array_task, 3u);
  p.end(4, 1 << 8);
  EXPECT_EQ(p.task(p.second, 3), p.task(p.second, 4));
  EXPECT_EQ(p.task(p.second, 3)->array_tasks->pending.to_ranges(), "3-4");
  EXPECT_EQ(p.b.core.cluster().jobs.size(), records + 2);
  p.b.wait(minutes(6));  // a step of PriorityCalcPeriod: those that come now are younger
  p.end(5);
  EXPECT_NE(p.task(p.second, 1), p.task(p.second, 5));
  p.b.expect_replay_equal();
}

TEST(AfterCorr, ManyAtOnceAreFewRecords) {
  Pair p("1-100000", "1-100000", "MaxArraySize=100001\nMaxJobCount=400000\n");
  p.b.cancel(p.first, "1-99990");
  EXPECT_EQ(p.b.get(p.second).array_tasks->pending.count(), 10u);
  EXPECT_EQ(p.task(p.second, 5)->array_tasks->pending.count(), 99'990u);
  EXPECT_EQ(p.task(p.second, 5)->reason, Reason::kDependencyNeverSatisfied);
  EXPECT_EQ(p.b.core.cluster().jobs.size(), 3u);
  p.b.cancel(p.first);
  EXPECT_EQ(p.b.get(p.second).reason, Reason::kDependencyNeverSatisfied);
  EXPECT_LE(p.b.core.cluster().jobs.size(), 3u);
  p.b.expect_replay_equal();
}

// As Slurm 22.05 does.
TEST(AfterCorr, ATaskWithoutOneOfItsNumberWaitsForAll) {
  Pair good("1-2", "1-4"), bad("1-2", "1-4");
  for (Pair* p : {&good, &bad}) {
    p->start();
    p->end(1);
    EXPECT_EQ(p->stands(), "1+ 2wait 3wait 4wait");
  }
  good.end(2);
  EXPECT_EQ(good.stands(), "1+ 2+ 3+ 4+");
  bad.end(2, 1 << 8);
  EXPECT_EQ(bad.stands(), "1+ 2never 3never 4never");
}

TEST(AfterCorr, OnWhatIsOverIsSettledAtOnceEvenIfForgotten) {
  Pair p("1-4", "1");
  p.start();
  p.end(1);
  p.b.wait(seconds(200));  // MinJobAge
  EXPECT_EQ(p.task(p.first, 1), nullptr);
  EXPECT_EQ(p.stands(p.after("1-4")), "1+ 2wait 3wait 4wait");
  p.end(2, 1 << 8);
  EXPECT_EQ(p.stands(p.after("1-4")), "1+ 2never 3wait 4wait");
  p.b.expect_replay_equal();
}

TEST(AfterCorr, AnArrayAfterAJobAndAJobAfterAnArrayWaitForAll) {
  Pair p("1-2", "1-2");
  const JobId job = p.b.submit([&](JobRequest& r) { r.dependency = "aftercorr:" + std::to_string(p.first.value); });
  const JobId array = p.b.submit([&](JobRequest& r) {
    r.array = "1-2";
    r.dependency = "aftercorr:" + std::to_string(job.value);
  });
  p.start();
  p.end(1);
  EXPECT_TRUE(p.b.get(job).dependencies);
  p.end(2);
  EXPECT_FALSE(p.b.get(job).dependencies);
  EXPECT_EQ(p.stands(array), "1wait 2wait");
  p.b.cancel(job);
  EXPECT_EQ(p.stands(array), "1never 2never");
}

TEST(AfterCorr, ATaskThatComesBackIsWaitedFor) {
  Pair p("1-2", "1-2");
  p.start();
  p.b.control(rpc::JobAction::kRequeue, p.task(p.first, 1)->id);
  EXPECT_EQ(p.stands(), "1wait 2wait");
  p.b.gone(p.task(p.first, 1)->id, p.b.host(p.task(p.first, 1)->id));
  EXPECT_EQ(p.stands(), "1wait 2wait");
  p.start();
  p.end(1);
  EXPECT_EQ(p.stands(), "1+ 2wait");
  p.b.expect_replay_equal();
}

TEST(AfterCorr, EndsThoseAloneThatNeverCanStart) {
  Pair p("1-3", "1-3", "DependencyParameters=kill_invalid_depend\n");
  p.start();
  p.end(2, 1 << 8);
  EXPECT_EQ(p.stands(), "1wait 2over 3wait");
  EXPECT_EQ(p.task(p.second, 2)->reason, Reason::kDependencyNeverSatisfied);
  p.end(1);
  p.end(3);
  p.start();
  EXPECT_EQ(p.stands(), "1runs 2over 3runs");
  p.b.expect_replay_equal();
}

TEST(AfterCorr, WithAnotherDependencyBothHaveToHold) {
  Pair p("1-3", "1");
  const JobId job = p.b.submit(Pair::small);
  const JobId both = p.after("1-3", ",afterok:" + std::to_string(job.value));
  const JobId either = p.after("1-3", "?afterok:" + std::to_string(job.value));
  p.start();
  p.end(1);
  p.end(2, 1 << 8);
  EXPECT_EQ(p.stands(both), "1wait 2never 3wait");
  EXPECT_EQ(p.stands(either), "1+ 2wait 3wait");
  p.b.ends(job);
  EXPECT_EQ(p.stands(both), "1+ 2never 3wait");
  EXPECT_EQ(p.stands(either), "1+ 2+ 3+");
  p.b.expect_replay_equal();
}

TEST(AfterCorr, HoldsForATaskWithARecordOfItsOwnAndForAnUpdate) {
  Pair p("1-3", "1-3");
  rpc::ControlJobs hold;
  hold.action = rpc::JobAction::kHold;
  hold.jobs.push_back({.job = p.second, .array_task = 2});
  p.b.turn([&] { ASSERT_TRUE(p.b.core.run(Caller::root(), hold)); });
  p.start();
  p.end(2);
  p.end(1);
  EXPECT_EQ(p.stands(), "1+ 2+ 3wait");
  EXPECT_EQ(p.task(p.second, 2)->reason, Reason::kJobHeldAdmin);
  const JobId later = p.b.submit([](JobRequest& r) {
    r.array = "1-3";
    r.begin = from_unix(1'800'000'000);
  });
  ASSERT_TRUE(p.b.update(later, "Dependency", "aftercorr:" + std::to_string(p.first.value)));
  EXPECT_EQ(p.stands(later), "1+ 2+ 3wait");
  p.b.expect_replay_equal();
}

// A controller that starts anew knows of each task what the one before knew.
TEST(AfterCorr, StandsAsItWasAfterARestart) {
  Pair p("1-3", "1-3");
  p.start();
  p.end(1);
  p.end(2, 1 << 8);
  Core again(p.b.settings);
  again.restore(p.b.core.cluster());
  EXPECT_TRUE(again.indexes().same_as(rebuild_indexes(p.b.core.cluster(), p.b.settings.config().min_job_age)));
  const JobId last = p.task(p.first, 3)->id;
  again.begin(p.b.now);
  again.report(NodeId(p.b.host(last)), node_rpc::BatchFinished{last, 0, 0, true, false});
  again.housekeep();
  again.commit();
  EXPECT_FALSE(again.cluster().jobs.at(p.second.value).dependencies);
  EXPECT_EQ(p.stands(), "1+ 2never 3wait") << "the first one saw nothing of that";
}

// sbatch(1) after:job_id+time: so many minutes after the job has started; of an array, after the last of its tasks has.
TEST(After, TheMinutesOfAnArrayCountFromItsLastStart) {
  Bench b;
  const JobId array = b.submit([](JobRequest& r) { Pair::small(r), r.array = "1-2%1"; });
  const JobId then = b.submit([&](JobRequest& r) { Pair::small(r), r.dependency = "after:" + std::to_string(array.value) + "+3"; });
  EXPECT_EQ(b.plan(), 1u);
  b.wait(minutes(5));
  JobId first{};
  b.core.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.array_task == 1) first = JobId(id);
  });
  b.started(first);
  b.ends(first);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_TRUE(b.get(then).dependencies) << "the last task has just started";
  b.wait(minutes(2));
  EXPECT_TRUE(b.get(then).dependencies);
  b.wait(minutes(1));
  EXPECT_FALSE(b.get(then).dependencies);
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
