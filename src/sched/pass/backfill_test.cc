#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);  // on the grid of 60 s

Plan full(Cluster& c, const Params& params = {}, Time now = kNow) { return Planner().plan(c, params, now, Pass::kFull); }

// n0 busy for an hour, n1 free.
Cluster half_busy() {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  submit(c, a_job().nodes(1).exclusive().minutes(60), kNow);
  apply_starts(c, full(c), kNow);
  return c;
}

TEST(Backfill, AShortJobSlipsInFrontALongOneDoesNot) {
  Cluster c = half_busy();
  JobId wide = submit(c, a_job().nodes(2).exclusive().minutes(30).priority(2000));
  JobId slow = submit(c, a_job().tasks(4).minutes(61));
  JobId fast = submit(c, a_job().tasks(4).minutes(60));
  Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, fast);
  EXPECT_EQ(verdict_of(p, wide)->reason, Reason::kResources);
  EXPECT_EQ(verdict_of(p, wide)->expected_start, kNow + minutes(60));
  EXPECT_EQ(verdict_of(p, wide)->expected_nodes, "n[0-1]");
  EXPECT_EQ(verdict_of(p, slow)->reason, Reason::kPriority);
  EXPECT_EQ(verdict_of(p, slow)->expected_start, kNow + minutes(90));
}

// sinfo(1) PLANNED: what is kept is said of the node, for as long as the job waits and something of the node is free.
TEST(Backfill, SaysWhichNodesItKeepsForWhom) {
  Cluster c = half_busy();
  JobId wide = submit(c, a_job().nodes(2).exclusive().minutes(30).priority(2000));
  submit(c, a_job().tasks(4).minutes(61));  // behind it, on the same nodes, later
  const Plan plan = full(c);
  const PlannedNodes::Promise* kept = plan.planned->kept(c, c.nodes.at(1));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->job, wide);
  EXPECT_EQ(kept->start, kNow + minutes(60));
  EXPECT_EQ(plan.planned->flag(c, c.nodes.at(1)), kNodePlanned);
  EXPECT_FALSE(plan.planned->kept(c, c.nodes.at(0))) << "nothing of it is free";
  EXPECT_FALSE(Planner().plan(c, {}, kNow, Pass::kQuick).planned) << "a quick pass does not know";
  c.nodes.edit(1)->flags |= kNodeDrain;
  EXPECT_FALSE(plan.planned->kept(c, c.nodes.at(1)));
  c.nodes.edit(1)->flags = 0;
  c.jobs.edit(wide.value)->state = JobState::kCancelled;
  EXPECT_FALSE(plan.planned->kept(c, c.nodes.at(1))) << "its job waits no more";
}

// A place that is only told is nobody's.
TEST(Backfill, APlaceThatIsNotKeptIsNotPlanned) {
  Cluster c = half_busy();
  submit(c, a_job().nodes(2).exclusive().minutes(30).priority(2000));
  Params params;
  params.bf.window_min = 30;
  EXPECT_FALSE(full(c, params).planned->kept(c, c.nodes.at(1)));
  params.backfill = false;
  EXPECT_FALSE(full(c, params).planned->kept(c, c.nodes.at(1)));
}

JobBuilder for_user(uint32_t uid, uint32_t cpus, uint32_t minutes) { return a_job().tasks(cpus).minutes(minutes).user(uid); }
JobBuilder kept(JobBuilder job) {
  return job.with([](JobRequest& r) { r.exclusive = Exclusive::kUser; });
}

// n0 full for half an hour; who is first in the queue needs a CPU of both nodes.
struct HalfHour {
  explicit HalfHour(const std::vector<JobBuilder>& running = {}) {
    submit(c, for_user(9, 8, 30).nodelist("n0"), kNow);
    for (const JobBuilder& job : running) submit(c, job, kNow);
    apply_starts(c, full(c), kNow);
    first = submit(c, a_job().nodes(2).tasks(2).minutes(30).user(2).priority(5000), kNow);
  }
  Cluster c = a_cluster().nodes(2).cpus(8).build();
  JobId first{};
};

TEST(Backfill, ANodeIsNotKeptFromWhoHasAPlaceThere) {
  HalfHour w;
  JobId longer = submit(w.c, kept(for_user(1, 1, 60)), kNow), shorter = submit(w.c, kept(for_user(1, 1, 30)), kNow);
  Plan p = full(w.c);
  EXPECT_EQ(verdict_of(p, w.first)->expected_start, kNow + minutes(30));
  EXPECT_FALSE(start_of(p, longer));
  EXPECT_TRUE(start_of(p, shorter));
}

TEST(Backfill, ANodeIsNotKeptLongerByWhoComesToItsUser) {
  HalfHour w({kept(for_user(1, 1, 30)).nodelist("n1")});
  JobId longer = submit(w.c, for_user(1, 1, 60), kNow), shorter = submit(w.c, for_user(1, 1, 30), kNow);
  Plan p = full(w.c);
  EXPECT_EQ(verdict_of(p, w.first)->expected_start, kNow + minutes(30));
  EXPECT_FALSE(start_of(p, longer));
  EXPECT_TRUE(start_of(p, shorter));
}

TEST(Backfill, ANodeIsKeptUntilTheLastThatIsPromisedToItsLabelHasGone) {
  Cluster c = a_cluster().nodes(1).cpus(8).build();
  auto red = [](uint32_t minutes, Exclusive exclusive = Exclusive::kDefault) {
    return a_job().tasks(4).minutes(minutes).with([=](JobRequest& r) { r.mcs_label = "red", r.exclusive = exclusive; });
  };
  submit(c, red(30, Exclusive::kMcs), kNow);
  submit(c, red(10), kNow);
  apply_starts(c, full(c), kNow);
  JobId his = submit(c, red(60), kNow), other = submit(c, a_job().tasks(4).minutes(10), kNow);
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, his)->expected_start, kNow + minutes(10));
  EXPECT_EQ(verdict_of(p, other)->expected_start, kNow + minutes(70));
}

// One node of 4 CPUs where two jobs may share a CPU; jobs of 4 tasks for so many minutes.
struct Shared {
  explicit Shared(OverSubscribe how)
      : c(a_cluster().cpus(4).partition([=](Partition& p) { p.oversubscribe = how, p.oversubscribe_count = 2; }).build()) {}
  JobId job(uint32_t minutes, Exclusive exclusive = Exclusive::kOversubscribe) {
    return submit(c, a_job().tasks(4).minutes(minutes).with([=](JobRequest& r) { r.exclusive = exclusive; }), kNow);
  }
  void runs(std::vector<uint32_t> limits) {
    for (uint32_t m : limits) job(m);
    const Plan p = full(c);
    ASSERT_EQ(p.starts.size(), limits.size());
    apply_starts(c, p, kNow);
  }
  Cluster c;
};

TEST(Backfill, WhoSharesIsExpectedWhenTheFirstOfThoseThereEnds) {
  Shared w(OverSubscribe::kForce);
  w.runs({30, 60});
  JobId first = w.job(60), second = w.job(60), third = w.job(60);
  Plan p = full(w.c);
  EXPECT_EQ(verdict_of(p, first)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, second)->expected_start, kNow + minutes(60));
  EXPECT_EQ(verdict_of(p, third)->expected_start, kNow + minutes(90));
}

TEST(Backfill, SeveralThatShareAreExpectedAtOnce) {
  Shared w(OverSubscribe::kForce);
  w.runs({30, 30});
  JobId first = w.job(60), second = w.job(60);
  Plan p = full(w.c);
  EXPECT_EQ(verdict_of(p, first)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, second)->expected_start, kNow + minutes(30));
}

TEST(Backfill, CpusThatTwoJobsShareComeBackWithTheLast) {
  Shared w(OverSubscribe::kYes);
  w.runs({10, 30});
  JobId alone = w.job(10, Exclusive::kDefault), shares = w.job(60);
  Plan p = full(w.c);
  EXPECT_EQ(verdict_of(p, alone)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, shares)->expected_start, kNow + minutes(40));  // it must not be in the way
}

// Cores 4-7 are kept for the GPU's jobs; 4 others hold what is left, or the GPU's job does.
TEST(Backfill, CoresKeptForGpusAreNoneThatOthersWaitFor) {
  Cluster c = a_cluster().layout(2, 4, 1).gres("gpu", "", 2, true).node([](Node&, NodeSpec& s) { s.restricted_cores_per_gpu = 2; }).build();
  submit(c, a_job().tasks(4).minutes(60).gpus(1), kNow);  // cores 0-3
  submit(c, a_job().tasks(2).minutes(30), kNow);          // 4-5: all that is open of the other socket
  apply_starts(c, full(c), kNow);
  JobId two = submit(c, a_job().tasks(2).minutes(30), kNow), four = submit(c, a_job().tasks(4).minutes(30), kNow);
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, two)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, four)->expected_start, kNow + minutes(60));
}

TEST(Backfill, EveryPendingJobGetsAStart) {
  Cluster c = half_busy();
  std::vector<JobId> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(submit(c, a_job().nodes(2).exclusive().minutes(10)));
  Plan p = full(c);
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(verdict_of(p, ids[i])->expected_start, kNow + minutes(60 + 10 * static_cast<int>(i)));
}

TEST(Backfill, PartsOfNodesAreBookedToo) {
  Cluster c = a_cluster().nodes(1).cpus(4).gres("gpu", "", 2).build();
  submit(c, a_job().tasks(3).gpus(1).minutes(10), kNow);
  apply_starts(c, full(c), kNow);
  JobId big = submit(c, a_job().tasks(4).minutes(10)), two_gpus = submit(c, a_job().tasks(1).gpus(2).minutes(10));
  JobId small = submit(c, a_job().tasks(1).minutes(10));
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, big)->expected_start, kNow + minutes(10));
  EXPECT_EQ(verdict_of(p, two_gpus)->expected_start, kNow + minutes(20));
  EXPECT_TRUE(start_of(p, small));
}

TEST(Backfill, AGangThatFitsPartlyOnEveryNodeIsPromisedAStart) {
  Cluster c = a_cluster().nodes(4).cpus(4).build();
  submit(c, a_job().tasks(1).minutes(60), kNow);
  apply_starts(c, full(c), kNow);
  JobId wide = submit(c, a_job().nodes(4).tasks(16).minutes(60));
  JobId slow = submit(c, a_job().tasks(1).minutes(61)), fast = submit(c, a_job().tasks(1).minutes(60));
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, wide)->reason, Reason::kResources);
  EXPECT_EQ(verdict_of(p, wide)->expected_start, kNow + minutes(60));
  EXPECT_EQ(verdict_of(p, wide)->expected_nodes, "n[0-3]");
  EXPECT_FALSE(start_of(p, slow));  // it would keep the gang waiting
  EXPECT_TRUE(start_of(p, fast));
}

void only_for_user(JobRequest& r) { r.exclusive = Exclusive::kUser; }

TEST(Backfill, NodesOfAnotherUserAreOutOfReachUntilTheyAreLeft) {
  Cluster c = a_cluster().nodes(1).cpus(8).build();
  submit(c, a_job().tasks(1).minutes(120).user(1001).with(only_for_user), kNow);
  apply_starts(c, full(c), kNow);
  JobId other = submit(c, a_job().tasks(2).user(1002).minutes(10));
  JobId alone = submit(c, a_job().tasks(1).user(1003).minutes(10).with(only_for_user));
  Plan p = full(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, other)->expected_start, kNow + minutes(120));
  EXPECT_EQ(verdict_of(p, alone)->expected_start, kNow + minutes(130));
}

TEST(Backfill, APlainJobSharesTheNodeItsUserHolds) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  submit(c, a_job().tasks(1).minutes(120).user(1001).with(only_for_user), kNow);
  apply_starts(c, full(c), kNow);
  JobId other = submit(c, a_job().tasks(1).user(1002).minutes(10));
  JobId same = submit(c, a_job().tasks(1).user(1001).minutes(10));
  JobId wide = submit(c, a_job().tasks(3).user(1001).minutes(10));  // one CPU too many by then
  Plan p = full(c);
  EXPECT_FALSE(start_of(p, other));
  EXPECT_TRUE(start_of(p, same));
  EXPECT_FALSE(start_of(p, wide));
}

// Two leaves of four nodes; two nodes of each are busy for two hours.
struct Leaves {
  Params params;
  Cluster c = a_cluster().nodes(8).cpus(2).build();
  Leaves() {
    give_tree(c, 2, 4);
    params.topology.max_switch_wait = minutes(10'000);
    for (const char* busy : {"n[0-1]", "n[4-5]"}) submit(c, a_job().nodes(2).exclusive().minutes(120).nodelist(busy), kNow);
    apply_starts(c, full(c, params), kNow);
  }
  JobId ask(Duration wait) {
    auto one_switch = [&](JobRequest& r) { r.switches = 1, r.switches_wait = wait; };
    return submit(c, a_job().nodes(4).exclusive().minutes(60).priority(2000).with(one_switch), kNow);
  }
};

TEST(Backfill, AJobWithinOneSwitchIsPromisedOneLeaf) {
  Leaves l;
  JobId one = l.ask(minutes(300)), mid = submit(l.c, a_job().nodes(4).exclusive().minutes(60), kNow);
  Plan p = full(l.c, l.params);
  EXPECT_EQ(verdict_of(p, one)->expected_start, kNow + minutes(120));
  EXPECT_EQ(verdict_of(p, one)->expected_nodes, "n[0-3]");
  EXPECT_TRUE(start_of(p, mid));
}

TEST(Backfill, AJobWithinOneSwitchIsPromisedAnyNodesAfterItsPatience) {
  Leaves l;
  JobId one = l.ask(minutes(30)), mid = submit(l.c, a_job().nodes(4).exclusive().minutes(60), kNow);
  JobId small = submit(l.c, a_job().nodes(4).exclusive().minutes(30), kNow);
  Plan p = full(l.c, l.params);
  EXPECT_EQ(verdict_of(p, one)->expected_start, kNow + minutes(30));
  EXPECT_EQ(verdict_of(p, one)->expected_nodes, "n[2-3,6-7]");
  EXPECT_FALSE(start_of(p, mid));
  EXPECT_TRUE(start_of(p, small));
}

TEST(Backfill, AJobThatNeverFitsIsNotSaidToWaitForNodes) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  JobId never = submit(c, a_job().nodes(1).tasks(5), kNow);
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, never)->reason, Reason::kBadConstraints);
  EXPECT_EQ(verdict_of(p, never)->detail, "it would not fit on the nodes of its partitions if all were idle");
}

TEST(Backfill, SpreadTasksWaitForEnoughCpusTogether) {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  for (int i = 0; i < 3; ++i) submit(c, a_job().tasks(4).minutes(10 * (i + 1)), kNow);
  apply_starts(c, full(c), kNow);
  JobId eight = submit(c, a_job().tasks(8).minutes(5));
  JobId twelve = submit(c, a_job().tasks(12).minutes(5));
  Plan p = full(c);
  EXPECT_EQ(verdict_of(p, eight)->expected_start, kNow + minutes(20));
  EXPECT_EQ(verdict_of(p, twelve)->expected_start, kNow + minutes(30));
}

TEST(Backfill, LaterJobsDoNotMoveAPromise) {
  Cluster c = half_busy();
  std::vector<JobId> first;
  for (int i = 0; i < 6; ++i) first.push_back(submit(c, a_job().nodes(1 + i % 2).exclusive().minutes(20 + 7 * i).priority(5000)));
  Plan before = full(c);
  for (int i = 0; i < 40; ++i) submit(c, a_job().tasks(1 + i % 4).minutes(3 + i));
  Plan after = full(c);
  for (JobId id : first) {
    const StartItem *a = start_of(before, id), *b = start_of(after, id);
    ASSERT_EQ(a == nullptr, b == nullptr);
    if (!a) {
      EXPECT_EQ(verdict_of(before, id)->expected_start, verdict_of(after, id)->expected_start);
    }
  }
}

TEST(Backfill, WithoutItTheFirstBlockedJobEndsThePass) {
  Cluster c = half_busy();
  submit(c, a_job().nodes(2).exclusive().priority(2000));
  submit(c, a_job().tasks(1).minutes(1));
  Params builtin;
  builtin.backfill = false;
  EXPECT_TRUE(full(c, builtin).starts.empty());
}

TEST(WillRun, TellsWhenAndWhereBehindTheQueue) {
  Cluster c = half_busy();
  JobId queued = submit(c, a_job().nodes(2).exclusive().minutes(30));
  Planner planner;
  auto now = planner.will_run(c, {}, a_job().tasks(2).minutes(10).request, kNow);
  ASSERT_TRUE(now);
  EXPECT_EQ(now->start, kNow);
  EXPECT_EQ(now->allocation->nodes[0].node.value, 1u);
  auto later = planner.will_run(c, {}, a_job().nodes(2).minutes(10).request, kNow);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->start, kNow + minutes(90));
  EXPECT_EQ(later->allocation->nodes.size(), 2u);
  EXPECT_EQ(planner.will_run(c, {}, a_job().nodes(3).request, kNow).error().code, Errc::kInvalidNodeCount);
  EXPECT_TRUE(c.jobs.at(queued.value).pending());
}

}  // namespace
}  // namespace muster::sched
