// scontrol hold and release of a job whose run has ended and that is on its way back into the queue. scontrol(1).
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

const Caller kUser{Uid(1000), Gid(1000), {}, {}};

// Between its run and the queue a job is COMPLETING: what is said of it then is about its next run.
struct OnItsWay : Bench {
  explicit OnItsWay(rpc::JobAction how = rpc::JobAction::kRequeue, const Caller& who = Caller::root()) : Bench("JobRequeue=1\n") {
    job = submit();
    plan();
    started(job);
    node = host(job);
    control(how, job, who);
    EXPECT_TRUE(get(job).finished() && (get(job).flags & kJobCompleting));
  }
  // Whether it is held when it is back.
  bool comes_back_held() {
    gone(job, node);
    EXPECT_EQ(state(job), JobState::kPending);
    expect_replay_equal();
    return get(job).priority == 0;
  }
  JobId job{};
  uint32_t node = 0;
};

TEST(OnTheWayBack, AHoldIsTakenAndKept) {
  for (const Caller& who : {kUser, Caller::root()}) {
    OnItsWay b;
    const Reason ended_with = b.get(b.job).reason;
    b.control(rpc::JobAction::kHold, b.job, who);
    EXPECT_TRUE(b.control_errors.empty());
    EXPECT_EQ(b.get(b.job).reason, ended_with) << "that is of the run before";
    EXPECT_TRUE(b.comes_back_held());
    EXPECT_EQ(b.get(b.job).reason, who.uid == kUser.uid ? Reason::kJobHeldUser : Reason::kJobHeldAdmin);
  }
}

TEST(OnTheWayBack, AReleaseIsTakenAndKept) {
  OnItsWay b;
  b.control(rpc::JobAction::kHold, b.job, kUser);
  b.control(rpc::JobAction::kRelease, b.job, kUser);
  EXPECT_TRUE(b.control_errors.empty());
  EXPECT_FALSE(b.comes_back_held());
  EXPECT_EQ(b.plan(), 1u);

  OnItsWay c(rpc::JobAction::kRequeueHold);
  c.control(rpc::JobAction::kRelease, c.job);
  EXPECT_TRUE(c.control_errors.empty());
  EXPECT_FALSE(c.comes_back_held());
  EXPECT_EQ(c.plan(), 1u);
}

TEST(OnTheWayBack, AnOperatorsHoldIsForOperatorsToRelease) {
  OnItsWay b(rpc::JobAction::kRequeueHold);
  b.control(rpc::JobAction::kHold, b.job, kUser);  // does not make it the user's own
  b.control(rpc::JobAction::kRelease, b.job, kUser);
  ASSERT_EQ(b.control_errors.size(), 1u);
  EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kAccessDenied));
  EXPECT_TRUE(b.comes_back_held());
  EXPECT_EQ(b.get(b.job).reason, Reason::kJobHeldAdmin);
}

TEST(OnTheWayBack, WhoRequeuesAndHoldsAnOwnJobMayReleaseIt) {
  OnItsWay b(rpc::JobAction::kRequeueHold, kUser);
  EXPECT_TRUE(b.comes_back_held());
  EXPECT_EQ(b.get(b.job).reason, Reason::kJobHeldUser);
  b.control(rpc::JobAction::kRelease, b.job, kUser);
  EXPECT_TRUE(b.control_errors.empty());
  EXPECT_GT(b.get(b.job).priority, 0u);
}

TEST(OnTheWayBack, WhatStaysEndedIsNotHeld) {
  Bench b;
  const JobId job = b.submit();
  b.plan();
  b.started(job);
  b.cancel(job);
  ASSERT_TRUE(b.get(job).flags & kJobCompleting);
  for (const auto action : {rpc::JobAction::kHold, rpc::JobAction::kRelease}) {
    b.control(action, job);
    ASSERT_EQ(b.control_errors.size(), 1u);
    EXPECT_EQ(b.control_errors[0].code, errc_number(Errc::kJobFinished));
  }
}

}  // namespace
}  // namespace muster::slurmctld
