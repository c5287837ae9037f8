// SchedulerParameters=bf_*, each against a queue that it changes.
#include <gtest/gtest.h>

#include "model/account_directory_testing.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

// One CPU of eight busy for an hour; the first job waits for all eight; behind it come `behind`.
struct Queue {
  Cluster c = a_cluster().cpus(8).build();
  JobId first{};
  std::vector<JobId> behind;

  explicit Queue(const std::vector<JobBuilder>& jobs, uint32_t priority = 9000, Time eligible = kNow - minutes(10)) {
    submit(c, a_job().tasks(1).minutes(60), kNow);
    apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
    first = submit(c, a_job().tasks(8).priority(priority), eligible);
    for (const JobBuilder& j : jobs) behind.push_back(submit(c, j, kNow));
  }
  // Of those behind the first, which start: "101".
  std::string starts(const Params& p, Pass pass = Pass::kFull) {
    const Plan plan = Planner().plan(c, p, kNow, pass);
    std::string out;
    for (JobId id : behind) out += start_of(plan, id) ? '1' : '0';
    return out;
  }
  Time expected(const Params& p) {
    const Plan plan = Planner().plan(c, p, kNow, Pass::kFull);
    const Verdict* v = verdict_of(plan, first);
    return v ? v->expected_start : Time{};
  }
};

JobBuilder small(uint32_t user) { return a_job().tasks(1).minutes(10).user(user).priority(10); }
JobBuilder longer() { return a_job().tasks(1).minutes(600).priority(10); }

TEST(BackfillLimits, JobsLookedAtAndStarted) {
  Queue q({small(1), small(1), small(2)});
  EXPECT_EQ(q.starts({}), "111");
  struct {
    uint32_t BackfillRules::*word;
    uint32_t value;
    const char* starts;
  } const cases[] = {
      {&BackfillRules::max_start, 1, "100"},     {&BackfillRules::max_test, 2, "110"},           {&BackfillRules::max_user, 1, "101"},
      {&BackfillRules::max_partition, 2, "110"}, {&BackfillRules::max_user_partition, 1, "101"},
  };
  for (const auto& at : cases) {
    Params p;
    p.bf.*at.word = at.value;
    EXPECT_EQ(q.starts(p), at.starts) << at.value;
  }
}

TEST(BackfillLimits, AUserOfTwoAssociationsIsCountedInEach) {
  Queue q({small(1), small(1), small(1)});
  const uint32_t associations[] = {5, 5, 6};
  for (size_t i = 0; i < q.behind.size(); ++i) q.c.jobs.edit(q.behind[i].value)->association = associations[i];
  Params p;
  p.bf.max_association = 1;
  EXPECT_EQ(q.starts(p), "101");
}

TEST(BackfillLimits, WhoIsLeftOutSaysWhich) {
  Queue q({small(1), small(1)});
  Params p;
  p.bf.max_user = 1;
  const Plan plan = Planner().plan(q.c, p, kNow, Pass::kFull);
  const Verdict* v = verdict_of(plan, q.behind[1]);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->reason, Reason::kPriority);
  EXPECT_NE(v->detail.view().find("bf_max_job_user=1"), std::string_view::npos) << v->detail.view();
}

TEST(BackfillLimits, OnlySomeHaveAPlaceKept) {
  Queue q({longer()});
  EXPECT_EQ(q.starts({}), "0");
  EXPECT_EQ(q.starts({}, Pass::kQuick), "0");
  Params p;
  p.bf.min_priority_reserve = 9001;
  EXPECT_EQ(q.starts(p), "1");
  EXPECT_EQ(q.starts(p, Pass::kQuick), "1");
  EXPECT_NE(q.expected(p), Time{}) << "it is still told";
  p.bf.min_priority_reserve = 9000;
  EXPECT_EQ(q.starts(p), "0");
  p = {};
  p.bf.min_age_reserve = minutes(11);
  EXPECT_EQ(q.starts(p), "1");
  p.bf.min_age_reserve = minutes(10);
  EXPECT_EQ(q.starts(p), "0");
}

// NoReserve and MinPrioThreshold of a QOS.
TEST(BackfillLimits, AQosSaysWhetherItsJobsHaveAPlaceKept) {
  Queue q({longer()});
  auto give = [&](const std::vector<std::string>& flags, std::vector<Limit> limits) {
    ADirectory d;
    d.qos("standby");
    d.entities().qos[0].flags = flags;
    d.entities().qos[0].limits = std::move(limits);
    q.c.directory = std::make_shared<const AccountDirectory>(d.make());
  };
  Job& job = *q.c.jobs.edit(q.first.value);
  JobRequest r = job.whole_request();
  r.qos = "standby";
  job.ask(r);
  give({}, {});
  EXPECT_EQ(q.starts({}), "0");
  give({"NoReserve"}, {});
  EXPECT_EQ(q.starts({}), "1");
  give({}, {{LimitKind::kMinPriority, "", 9001}});
  EXPECT_EQ(q.starts({}), "1");
  give({}, {{LimitKind::kMinPriority, "", 9000}});
  Params p;
  p.bf.min_priority_reserve = 9001;
  EXPECT_EQ(q.starts(p), "0") << "the QOS's takes the place of bf_min_prio_reserve";
}

TEST(BackfillLimits, PlacesBeyondTheWindowAreToldOnly) {
  Queue q({longer()});
  Params p;
  p.bf.window_min = 30;
  EXPECT_EQ(q.starts(p), "1");
  EXPECT_GE(q.expected(p), kNow + minutes(60));
  p.bf.window_min = 61;
  EXPECT_EQ(q.starts(p), "0");
}

TEST(BackfillLimits, SoManyOfAPartition) {
  Cluster c = a_cluster().nodes(2).cpus(2).build();
  submit(c, a_job().nodelist("n0").nodes(1).exclusive().minutes(60), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
  submit(c, a_job().nodelist("n0").nodes(1).exclusive().priority(90), kNow);
  submit(c, a_job().nodes(2).exclusive().priority(80), kNow);
  const JobId last = submit(c, a_job().nodelist("n1").tasks(1).minutes(600).priority(10), kNow);
  EXPECT_FALSE(start_of(Planner().plan(c, {}, kNow, Pass::kFull), last));
  Params p;
  p.bf.reserve_per_partition = 1;
  EXPECT_TRUE(start_of(Planner().plan(c, p, kNow, Pass::kFull), last));
}

TEST(BackfillLimits, StartsOfAQuickPass) {
  Cluster c = a_cluster().cpus(8).build();
  for (int i = 0; i < 5; ++i) submit(c, a_job().tasks(1), kNow);
  Params p;
  p.quick_starts = 2;
  EXPECT_EQ(Planner().plan(c, p, kNow, Pass::kQuick).starts.size(), 2u);
  EXPECT_EQ(Planner().plan(c, p, kNow, Pass::kFull).starts.size(), 5u);
}

TEST(BackfillLimits, TasksOfAnArrayThatHavePlacesKept) {
  Cluster c = a_cluster().cpus(1).build();
  submit(c, a_job().tasks(1).minutes(60), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
  submit_array(c, a_job().tasks(1).minutes(60).priority(90), 5, 0, kNow);
  const JobId behind = submit(c, a_job().tasks(1).minutes(60).priority(10), kNow);
  auto expected = [&](uint32_t tasks) {
    Params p;
    p.bf.array_tasks = tasks;
    return verdict_of(Planner().plan(c, p, kNow, Pass::kFull), behind)->expected_start;
  };
  EXPECT_EQ(expected(3) - expected(1), minutes(120));
  EXPECT_EQ(expected(1) - expected(0), minutes(60));
}

TEST(BackfillLimits, PlacesOnNodesInUse) {
  Cluster c = a_cluster().nodes(3).cpus(2).build();
  submit(c, a_job().nodelist("n1").nodes(1).exclusive().minutes(60), kNow);
  submit(c, a_job().nodelist("n2").nodes(1).exclusive().minutes(60), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
  const JobId waits = submit(c, a_job().nodelist("n2").nodes(2, 2).exclusive().priority(90), kNow);
  auto nodes = [&](const Params& p) { return verdict_of(Planner().plan(c, p, kNow, Pass::kFull), waits)->expected_nodes; };
  EXPECT_EQ(nodes({}), "n[0,2]");
  Params p;
  p.bf.busy_nodes = true;
  EXPECT_EQ(nodes(p), "n[1-2]");
}

TEST(BackfillLimits, TimeMinAsSoftLimit) {
  Cluster c = a_cluster().cpus(2).build();
  JobBuilder job = a_job().tasks(2).minutes(600);
  job.request.time_min_min = 60;
  const JobId first = submit(c, job, kNow);
  Params p;
  p.soft_time_min = true;
  Planner planner;
  Plan plan = planner.plan(c, p, kNow, Pass::kFull);
  ASSERT_TRUE(start_of(plan, first));
  EXPECT_FALSE(start_of(plan, first)->time_limit_min) << "the limit stays";
  apply_starts(c, plan, kNow);
  const JobId waits = submit(c, a_job().tasks(2), kNow);
  auto expected = [&](Time now) {
    const Plan again = planner.plan(c, p, now, Pass::kFull);
    return verdict_of(again, waits)->expected_start;
  };
  EXPECT_LT(expected(kNow), kNow + minutes(62));
  EXPECT_GT(expected(kNow + minutes(61)), kNow + minutes(590)) << "it runs on";
}

TEST(Placement, SerialJobsAtTheEnd) {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  const JobId serial = submit(c, a_job().tasks(1), kNow), other = submit(c, a_job().tasks(2), kNow);
  Params p;
  p.serial_at_end = true;
  const Plan plan = Planner().plan(c, p, kNow, Pass::kQuick);
  EXPECT_EQ(start_of(plan, serial)->allocation->nodes[0].node, NodeId(2));
  EXPECT_EQ(start_of(plan, other)->allocation->nodes[0].node, NodeId(2)) << "where least is left over";
}

// The next task has its turn when one that runs has ended; that is known as long as those have limits.
TEST(ArrayLimit, TheNextTaskIsExpectedWhenOneEnds) {
  Cluster c = a_cluster().cpus(8).build();
  const JobId array = submit_array(c, a_job().tasks(1).minutes(60), 4, 2, kNow);
  Planner planner;
  apply_starts(c, planner.plan(c, {}, kNow, Pass::kFull), kNow);
  const Time later = kNow + minutes(20);
  const Plan plan = planner.plan(c, {}, later, Pass::kFull);
  const Verdict* v = verdict_of(plan, array);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->reason, Reason::kJobArrayTaskLimit);
  EXPECT_GE(v->expected_start, kNow + minutes(60));
  EXPECT_LT(v->expected_start, kNow + minutes(62));
  EXPECT_EQ(v->expected_nodes, "n0");
  Cluster endless = a_cluster().cpus(8).build();
  JobBuilder job = a_job().tasks(1);
  job.request.time_limit_min = kUnlimited32;
  const JobId other = submit_array(endless, job, 4, 2, kNow);
  Planner again;
  apply_starts(endless, again.plan(endless, {}, kNow, Pass::kFull), kNow);
  const Plan unknown = again.plan(endless, {}, later, Pass::kFull);
  ASSERT_TRUE(verdict_of(unknown, other));
  EXPECT_EQ(verdict_of(unknown, other)->expected_start, Time{});
}

}  // namespace
}  // namespace muster::sched
