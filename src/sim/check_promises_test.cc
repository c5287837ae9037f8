#include "sim/check_promises.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sim {
namespace {

using namespace muster::sched;

const Time kNow = from_unix(1'000'000);

// A full node, and two jobs that wait for it.
struct Queue {
  Cluster cluster = a_cluster().nodes(1).cpus(4).build();
  JobId runs = submit(cluster, a_job().tasks(4).minutes(30));
  JobId first{}, second{};
  PromiseWatch watch;

  Queue() {
    apply_start(cluster, Planner().plan(cluster, {}, kNow, Pass::kFull).starts.at(0), kNow);
    first = submit(cluster, a_job().tasks(4).priority(9));
    second = submit(cluster, a_job().tasks(4).priority(8));
    promise(first, minutes(30));
    promise(second, minutes(90));
  }
  void promise(JobId job, Duration from_now) {
    cluster.moment.verdicts.set(job.value, Verdict{Reason::kResources, kNow + from_now, "n0", {}});
  }
  std::string look(Duration later) { return watch.look(cluster, {}, kNow + later); }
};

TEST(Promises, OfTheFirstNeverMovesLater) {
  Queue q;
  EXPECT_EQ(q.look({}), "");
  q.promise(q.first, minutes(31));
  q.promise(q.second, minutes(200));  // of those behind it nothing is said
  EXPECT_EQ(q.look(minutes(1)), "");
  q.promise(q.first, minutes(32) + seconds(1));  // by steps that each are small enough
  EXPECT_NE(q.look(minutes(2)).find("job 2, the first in the queue"), std::string::npos);
}

TEST(Promises, AStartBehindItIsNoReason) {
  Queue q;
  EXPECT_EQ(q.look({}), "");
  event::JobStarted behind;
  behind.job = q.second;
  q.watch.take(behind, q.cluster);
  q.watch.take(event::JobSubmitted{}, q.cluster);
  q.promise(q.first, minutes(60));
  EXPECT_NE(q.look(minutes(1)), "");
}

TEST(Promises, WhatMayMoveOneIsForgiven) {
  const std::function<void(Queue&)> reasons[] = {
      [](Queue& q) { q.watch.take(event::NodeStateChanged{}, q.cluster); },
      [](Queue& q) { q.watch.take(event::ReservationSet{}, q.cluster); },
      [](Queue& q) { q.watch.forget(); },
      [](Queue& q) {
        event::JobStarted before;
        before.job = submit(q.cluster, a_job().priority(10));
        q.watch.take(before, q.cluster);
      },
      [](Queue& q) {
        event::JobChanged longer;
        longer.job = q.runs;
        q.watch.take(longer, q.cluster);
      },
  };
  for (const auto& happens : reasons) {
    Queue q;
    EXPECT_EQ(q.look({}), "");
    happens(q);
    q.promise(q.first, minutes(60));
    EXPECT_EQ(q.look(minutes(1)), "");
    q.promise(q.first, minutes(90));  // but from then on the next promise counts
    EXPECT_NE(q.look(minutes(2)), "");
  }
}

TEST(Promises, NothingIsSaidWhileAJobOverstays) {
  Queue q;
  EXPECT_EQ(q.look({}), "");
  q.promise(q.first, minutes(60));
  EXPECT_EQ(q.look(minutes(30)), "");
}

}  // namespace
}  // namespace muster::sim
