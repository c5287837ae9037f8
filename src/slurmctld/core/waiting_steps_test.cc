// Steps of srun --async whose resources are busy: they have a number, wait, and get their nodes when they ask again.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const Caller kOwner{Uid(1000), {}, {}, {}};

struct Steps : Bench {
  JobId job;
  Steps() {
    job = submit([](JobRequest& r) { r.num_tasks = 4; });
    plan();
    started(job);
  }
  Result<rpc::StepCreated> ask(uint32_t tasks, bool queue, std::optional<uint32_t> waiting = {}) {
    rpc::CreateStep c;
    c.job = job;
    c.request.num_tasks = tasks;
    c.request.cpus_per_task = 1;
    c.request.exact = true;
    c.queue = queue;
    c.waiting_step = waiting;
    Result<rpc::StepCreated> r;
    turn([&] { r = core.run(kOwner, c); });
    return r;
  }
  void finish(StepId step) {
    turn([&] { EXPECT_TRUE(core.run(kOwner, rpc::FinishStep{job, step, 0})); });
  }
};

TEST(WaitingSteps, HaveANumberAndStartWhenThereIsRoom) {
  Steps b;
  auto first = b.ask(4, true);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->waiting);
  EXPECT_EQ(b.ask(4, false).error().code, Errc::kNodesBusy) << "without --async srun asks again itself";
  auto second = b.ask(4, true);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->waiting);
  EXPECT_TRUE(second->nodes.empty());
  EXPECT_EQ(second->step, StepId(1));
  ASSERT_EQ(b.get(b.job).steps.size(), 2u);
  EXPECT_EQ(b.get(b.job).steps[1].state, StepState::kPending);
  EXPECT_EQ(b.ask(0, false, 1).error().code, Errc::kNodesBusy);
  b.finish(first->step);
  auto placed = b.ask(0, false, 1);
  ASSERT_TRUE(placed) << placed.error().message();
  EXPECT_EQ(placed->step, StepId(1));
  EXPECT_EQ(placed->num_tasks, 4u);
  ASSERT_EQ(b.get(b.job).steps.size(), 1u);
  EXPECT_EQ(b.get(b.job).steps[0].state, StepState::kRunning);
  EXPECT_EQ(b.ask(0, false, 1)->num_tasks, 4u) << "who lost the answer asks again and gets the same";
  EXPECT_EQ(b.ask(4, true)->step, StepId(2)) << "numbers are not used twice";
}

TEST(WaitingSteps, WhatCanNeverFitIsRefusedAtOnce) {
  Steps b;
  auto r = b.ask(400, true);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().code, Errc::kNodesBusy);
  EXPECT_TRUE(b.get(b.job).steps.empty());
}

TEST(WaitingSteps, AreCancelledBeforeTheyRun) {
  Steps b;
  ASSERT_TRUE(b.ask(4, true));
  ASSERT_TRUE(b.ask(4, true)->waiting);
  rpc::SignalJobs cancel;
  cancel.filter.jobs.push_back({.job = b.job, .has_step = true, .step = StepId(1)});
  cancel.signal = 10;
  b.turn([&] { EXPECT_TRUE(b.core.run(kOwner, cancel)); });
  EXPECT_EQ(b.get(b.job).steps.size(), 2u) << "a signal that ends nothing has nobody to go to";
  cancel.signal = 0;
  b.turn([&] { EXPECT_TRUE(b.core.run(kOwner, cancel)); });
  ASSERT_EQ(b.get(b.job).steps.size(), 1u);
  EXPECT_EQ(b.ask(0, false, 1).error().code, Errc::kAlreadyDone);
}

}  // namespace
}  // namespace muster::slurmctld
