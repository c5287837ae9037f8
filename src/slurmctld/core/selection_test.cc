// What several selectors of one command mean together.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

rpc::JobSelector task(JobId job, uint32_t number) {
  rpc::JobSelector s;
  s.job = job;
  s.array_task = number;
  return s;
}
rpc::JobSelector tasks(JobId job, const std::string& numbers) {
  rpc::JobSelector s;
  s.job = job;
  s.array_tasks = numbers;
  return s;
}

struct Arrays : Bench {
  JobId array(const std::string& spec) {
    return submit([&](JobRequest& r) { r.array = spec; });
  }
  std::vector<rpc::PerJobError> hold(std::vector<rpc::JobSelector> jobs, rpc::JobAction action = rpc::JobAction::kHold) {
    rpc::ControlJobs c;
    c.action = action;
    c.jobs = std::move(jobs);
    Result<rpc::Messages> r;
    turn([&] { r = core.run(Caller::root(), c); });
    return r ? r->errors : std::vector<rpc::PerJobError>{};
  }
  rpc::SignalJobsAnswer scancel(std::vector<rpc::JobSelector> jobs) {
    rpc::SignalJobs c;
    c.filter.jobs = std::move(jobs);
    Result<rpc::SignalJobsAnswer> r;
    turn([&] { r = core.run(Caller::root(), c); });
    EXPECT_TRUE(r);
    return r ? *r : rpc::SignalJobsAnswer{};
  }
  uint32_t records_with(uint32_t number) {
    uint32_t n = 0;
    core.cluster().jobs.for_each([&](uint32_t, const Job& j) { n += j.array_task == number; });
    return n;
  }
};

TEST(Selection, ATaskThatIsNamedTwiceGetsOneRecord) {
  Arrays b;
  const JobId a = b.array("0-3");
  EXPECT_TRUE(b.hold({task(a, 1), task(a, 1), tasks(a, "1-2")}).empty());
  EXPECT_EQ(b.records_with(1), 1u);
  EXPECT_EQ(b.records_with(2), 1u);
  EXPECT_EQ(b.core.indexes().job_count(), 4u);
  EXPECT_TRUE(b.hold({task(a, 1), task(a, 2)}, rpc::JobAction::kRelease).empty());
  while (b.plan() > 0) {
  }
  EXPECT_EQ(b.core.cluster().arrays.at(a.value).running, 4u);
  b.expect_replay_equal();
}

TEST(Selection, TasksThatAreAllThereAreAreTheArray) {
  Arrays b;
  const JobId a = b.array("0-1"), held = b.array("0-1");
  EXPECT_EQ(b.scancel({task(a, 0), task(a, 1)}).matched, 1u);
  EXPECT_TRUE(b.get(a).finished());
  EXPECT_TRUE(b.hold({task(held, 0), task(held, 1)}).empty());
  EXPECT_EQ(b.get(held).reason, Reason::kJobHeldAdmin);
  EXPECT_EQ(b.get(held).array_tasks->pending.count(), 2u);
  b.expect_replay_equal();
}

// Two commands, one after the other: the second takes what is left.
TEST(Selection, WithItsLastTaskTheArrayEnds) {
  Arrays b;
  const JobId a = b.array("0-1");
  b.scancel({task(a, 0)});
  EXPECT_TRUE(b.get(a).pending());
  b.scancel({task(a, 1)});
  EXPECT_TRUE(b.get(a).finished());
  b.expect_replay_equal();
}

TEST(Selection, ARunningTaskThatIsNamedTwiceEndsOnce) {
  Arrays b;
  const JobId a = b.array("0-2");
  while (b.plan() > 0) {
  }
  const JobId after = b.submit([&](JobRequest& r) { r.dependency = "afterany:" + std::to_string(a.value); });
  EXPECT_EQ(b.scancel({task(a, 0), task(a, 0)}).matched, 1u);
  EXPECT_EQ(b.core.cluster().arrays.at(a.value).ended_bad, 1u);
  EXPECT_EQ(b.get(after).reason, Reason::kDependency);
}

TEST(Selection, WhatNobodyKnowsIsSaidOfEachSelector) {
  Arrays b;
  const JobId a = b.array("0-1");
  EXPECT_EQ(b.hold({task(a, 7), task(a, 7)}).size(), 2u);
  EXPECT_EQ(b.scancel({task(a, 7), task(a, 1)}).errors.size(), 1u);
}

// As many selectors as a message has, each of nearly all tasks.
TEST(Selection, ManyThatMeanTheSameCostOnce) {
  Arrays b;
  const JobId a = b.array("0-499");
  EXPECT_TRUE(b.hold(std::vector<rpc::JobSelector>(2000, tasks(a, "0-498"))).empty());
  EXPECT_EQ(b.core.cluster().jobs.size(), 500u);
  EXPECT_EQ(b.core.indexes().job_count(), 500u);
}

}  // namespace
}  // namespace muster::slurmctld
