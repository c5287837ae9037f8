#include "sched/explain/explain.h"

#include <gtest/gtest.h>

#include "sched/explain/changes.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);  // a whole minute: the planner's grid

Params gpu_params() {
  Params p;
  p.memory_consumable = true;
  return p;
}

// Plans, starts what can start, keeps the verdicts of the rest, as the controller does.
void let_run(Cluster& c, const Params& params, Time now = kNow) {
  Plan plan = Planner().plan(c, params, now, Pass::kFull);
  apply_starts(c, plan, now);
  for (const auto& [id, verdict] : plan.verdicts) c.moment.verdicts.set(id.value, verdict);
}

std::string census(const PartitionView& p) {
  std::string out;
  for (const NodesLeftOut& n : p.causes)
    out += std::string(node_cause_name(n.cause)) + "=" + std::to_string(n.count) + (n.nodes.empty() ? "" : ":" + n.nodes) + " ";
  return out;
}

JobExplanation explained(const Cluster& c, JobId id, const Params& params = gpu_params()) {
  return explain_job(c, params, kNow, c.jobs.at(id.value));
}

TEST(Explain, CountsNodesByTheirCause) {
  Cluster c = a_cluster()
                  .nodes(10)
                  .cpus(8)
                  .memory(1000)
                  .gres("gpu", "h100", 4)
                  .features({"fast"})
                  .node([](Node& n, NodeSpec& s) {
                    if (n.id.value == 0) n.flags = kNodeDrain, n.reason = "bad GPU";
                    if (n.id.value == 1) n.admin = NodeState::kDown, n.reason = "Not responding";
                    if (n.id.value == 2) s.features = {};
                    if (n.id.value == 3) s.gres.clear();
                    if (n.id.value == 4) s.real_memory_mb = 100;
                    if (n.id.value == 5) s.sockets = s.cores_per_socket = s.cpus = 1;
                  })
                  .build();
  submit(c, a_job().nodelist("n6").nodes(1).gpus(4).mem(10).minutes(60));
  submit(c, a_job().nodelist("n7").nodes(1).tasks(6).mem(10).minutes(120));
  submit(c, a_job().nodelist("n8").nodes(1).tasks(1).mem(900).minutes(30));
  let_run(c, gpu_params());
  JobId id = submit(c, a_job().nodes(4).tasks_per_node(1).cpus_per_task(4).gpus(2).mem(500).on("fast"));
  let_run(c, gpu_params());
  JobExplanation e = explained(c, id);
  EXPECT_EQ(e.reason, Reason::kResources);
  ASSERT_EQ(e.partitions.size(), 1u);
  EXPECT_EQ(census(e.partitions[0]), "features=1:n2 too_few_cpus=1:n5 too_little_memory=1:n4 too_few_devices=1:n3 down=1:n1 drained=1:n0 "
                                     "cpus_in_use=1:n7 memory_in_use=1:n8 devices_in_use=1:n6 free=1:n9 ");
  for (const NodesLeftOut& n : e.partitions[0].causes) {
    EXPECT_TRUE(n.cause != NodeCause::kDrained || n.detail == "bad GPU");
    EXPECT_TRUE(n.cause != NodeCause::kDevicesInUse || n.first == kNow + minutes(60));
    EXPECT_TRUE(n.cause != NodeCause::kCpusInUse || n.last == kNow + minutes(120));
  }
  EXPECT_EQ(e.partitions[0].needed, 4u);
  EXPECT_EQ(e.holder_count, 3u);
  EXPECT_EQ(e.holders[0].id, JobId(3));  // ends first
  EXPECT_EQ(e.ahead_count, 0u);
  EXPECT_EQ(e.expected_start, kNow + minutes(120));
}

TEST(Explain, NodesThatSayOtherThingsInTheirExtra) {
  Params params;
  params.extra_constraints = true;
  Cluster c = a_cluster()
                  .nodes(4)
                  .cpus(4)
                  .node([](Node& n, NodeSpec& s) {
                    if (n.id.value == 0) n.flags = kNodeDrain;
                    if (n.id.value == 1) s.sockets = s.cores_per_socket = s.cpus = 1;
                    n.extra = n.id.value == 3 ? "a note" : R"({"load": 0.7})";
                  })
                  .build();
  const JobId id = submit(c, a_job().cpus_per_task(2).nodes(1).with([](JobRequest& r) { r.extra_constraint = "load<0.5"; }));
  EXPECT_EQ(census(explained(c, id, params).partitions[0]), "extra=4:n[0-3] free=0 ");
  c.nodes.edit(0)->extra = c.nodes.edit(1)->extra = R"({"load": 0.2})";
  const JobExplanation e = explained(c, id, params);
  EXPECT_EQ(census(e.partitions[0]), "too_few_cpus=1:n1 drained=1:n0 extra=2:n[2-3] free=0 ");
  EXPECT_NE(e.asks.find("--extra=load<0.5"), std::string::npos) << e.asks;
  ASSERT_FALSE(e.alternatives.empty());
  EXPECT_EQ(e.alternatives[0].change, "without --extra=load<0.5");
  EXPECT_EQ(e.alternatives[0].command, "scontrol update JobId=" + std::to_string(id.value) + " Extra=");
}

TEST(Explain, FreeNodesArePromisedToThoseAhead) {
  Cluster c = a_cluster().nodes(4).cpus(4).build();
  submit(c, a_job().nodes(3).tasks_per_node(4).minutes(60));
  let_run(c, {});
  JobId first = submit(c, a_job().nodes(4).tasks_per_node(4).minutes(60));
  JobId second = submit(c, a_job().nodes(1).tasks_per_node(4).minutes(600));
  let_run(c, {});
  JobExplanation e = explained(c, second, {});
  EXPECT_EQ(census(e.partitions[0]), "cpus_in_use=3:n[0-2] promised=1:n3 free=0 ");
  EXPECT_EQ(e.reason, Reason::kPriority);
  EXPECT_EQ(e.ahead_count, 1u);
  EXPECT_EQ(e.ahead[0].id, first);
  EXPECT_EQ(e.ahead[0].start, kNow + minutes(60));
  EXPECT_EQ(e.expected_start, kNow + minutes(120));
  // It fits before the first one's start if it is short.
  ASSERT_FALSE(e.alternatives.empty());
  EXPECT_TRUE(e.alternatives[0].at_once);
  EXPECT_EQ(e.alternatives[0].change, "--time=1:00:00 instead of 10:00:00");
  EXPECT_EQ(e.alternatives[0].command, "scontrol update JobId=" + std::to_string(second.value) + " TimeLimit=1:00:00");
  // Which is true.
  c.jobs.edit(second.value)->time_limit_min = 60;
  Plan plan = Planner().plan(c, {}, kNow, Pass::kFull);
  EXPECT_NE(start_of(plan, second), nullptr);
}

TEST(Explain, ChangesThatHelp) {
  Cluster c = a_cluster()
                  .nodes(4)
                  .cpus(8)
                  .gres("gpu", "h100", 8)
                  .node([](Node& n, NodeSpec& s) {
                    if (n.id.value < 2) s.features = {"new"};
                    if (n.id.value == 3) s.gres[0].type = "a100";
                  })
                  .partition([](Partition& p) { p.nodes.reset(3); })
                  .build();
  Partition other;
  other.name = "old";
  other.nodes = Bitmap(4);
  other.nodes.set(3);
  ClusterBuilder::add_partition(c, other);
  Partition closed = other;
  closed.name = "closed";
  closed.allow_groups = {"staff"};
  ClusterBuilder::add_partition(c, closed);
  submit(c, a_job().nodelist("n[0-1]").nodes(2).tasks_per_node(8).minutes(600));
  submit(c, a_job().nodelist("n2").nodes(1).gpus(4).minutes(600));
  let_run(c, {});
  auto changes = [&](const JobBuilder& b) {
    Cluster copy = c;
    JobId id = submit(copy, b);
    let_run(copy, {});
    std::string out;
    for (const Alternative& a : explained(copy, id, {}).alternatives) out += a.change + (a.at_once ? "" : " later") + "\n";
    return out;
  };
  EXPECT_EQ(changes(a_job().nodes(1).gpus(2).on("new").minutes(300)), "without --constraint=new\n");
  EXPECT_EQ(changes(a_job().nodes(1).gpus(8).minutes(300)), "--partition=old\n--gpus-per-node=4 instead of 8\n");
  EXPECT_EQ(changes(a_job().nodes(1).gres("gres/gpu:h100:8").minutes(300)), "--gpus-per-node=4 instead of 8\n");
  EXPECT_EQ(changes(a_job().nodes(2).tasks_per_node(1).minutes(300)), "--nodes=1 instead of 2\n");
  EXPECT_EQ(changes(a_job().nodes(1).exclusive().minutes(300)), "without --exclusive\n--partition=old\n");
}

// n1 and n3 are free, n0 and n2 are not. Why `b` waits, or what it does instead.
std::string together(bool tree, const JobBuilder& b) {
  const Params params;
  Cluster c = a_cluster().nodes(4).cpus(4).build();
  if (tree) give_tree(c, 2, 2);
  submit(c, a_job().nodelist("n0").nodes(1).tasks_per_node(4));
  submit(c, a_job().nodelist("n2").nodes(1).tasks_per_node(4));
  let_run(c, params);
  const JobId id = submit(c, b);
  let_run(c, params);
  const JobExplanation e = explained(c, id, params);
  return e.partitions.empty() ? std::string(job_state_name(e.job.state)) : e.partitions[0].together;
}

TEST(Explain, FreeNodesThatDoNotGoTogether) {
  auto four_each = [] { return a_job().nodes(2).tasks_per_node(4); };
  EXPECT_EQ(together(true, four_each().with([](JobRequest& r) { r.switches = 1; })),
            "the free nodes are not within 1 leaf switches (--switches)");
  EXPECT_EQ(together(false, four_each().with([](JobRequest& r) { r.contiguous = true; })),
            "the free nodes do not follow each other (--contiguous)");
  EXPECT_EQ(together(false, a_job().nodes(1, 2).tasks(9)), "the free nodes have room for 8 of 9 tasks");
}

TEST(Explain, WhatBarsIt) {
  Cluster c = a_cluster().nodes(2).cpus(4).partition([](Partition& p) { p.max_time_min = 60; }).build();
  JobId id = submit(c, a_job().nodes(1).minutes(120));
  let_run(c, {});
  JobExplanation e = explained(c, id, {});
  EXPECT_EQ(e.reason, Reason::kPartitionTimeLimit);
  EXPECT_EQ(e.partitions[0].barred, Reason::kPartitionTimeLimit);
  ASSERT_EQ(e.alternatives.size(), 1u);
  EXPECT_EQ(e.alternatives[0].change, "--time=1:00:00 instead of 2:00:00");
}

TEST(Explain, NeverOnTheseNodes) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  JobId id = submit(c, a_job().nodes(3).minutes(10));
  let_run(c, {});
  JobExplanation e = explained(c, id, {});
  EXPECT_NE(e.partitions[0].never.find("of the 2 nodes of partition main: 2 are left; at least 3 are needed"), std::string::npos)
      << e.partitions[0].never;
  ASSERT_FALSE(e.alternatives.empty());
  EXPECT_EQ(e.alternatives[0].change, "--nodes=2 instead of 3");
}

TEST(Explain, LimitsNameTheirHolders) {
  Cluster c = a_cluster().nodes(4).cpus(4).partition([](Partition& p) { p.max_cpus_per_user = 8; }).build();
  JobId big = submit(c, a_job().nodes(2).tasks_per_node(4).user(7));
  let_run(c, {});
  JobId id = submit(c, a_job().nodes(1).tasks_per_node(4).user(7));
  let_run(c, {});
  JobExplanation e = explained(c, id, {});
  EXPECT_EQ(e.reason, Reason::kQOSMaxCpuPerUserLimit);
  ASSERT_EQ(e.limits.size(), 1u);
  EXPECT_EQ(e.limits[0].name, "MaxCPUsPerUser of partition main");
  EXPECT_EQ(e.limits[0].used, 8u);
  EXPECT_EQ(e.limits[0].wanted, 4u);
  ASSERT_EQ(e.limits[0].holders.size(), 1u);
  EXPECT_EQ(e.limits[0].holders[0].id, big);
}

TEST(Explain, HeldAndDependentJobsAreNotForecast) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  JobId held = submit(c, a_job().priority(0));
  c.jobs.edit(held.value)->flags = kJobHeldByUser;
  JobExplanation e = explained(c, held, {});
  EXPECT_EQ(e.reason, Reason::kJobHeldUser);
  EXPECT_FALSE(e.forecast);
  EXPECT_TRUE(e.partitions.empty());
  JobId waits = submit(c, a_job());
  auto d = std::make_shared<Dependencies>();
  d->list.push_back({DependencyType::kAfterOk, held, kNoArrayTask, 0, DependencyState::kUnfulfilled});
  c.jobs.edit(waits.value)->dependencies = d;
  e = explained(c, waits, {});
  EXPECT_EQ(e.reason, Reason::kDependency);
  ASSERT_EQ(e.dependencies.size(), 1u);
  EXPECT_EQ(e.dependencies[0].text, "afterok:1");
  EXPECT_EQ(e.dependencies[0].state, "job 1 is PENDING");
}

TEST(Explain, ANodeAndWhatIsThere) {
  Cluster c = a_cluster().nodes(2).cpus(8).memory(1000).gres("gpu", "h100", 4).build();
  JobId id = submit(c, a_job().nodelist("n1").nodes(1).tasks(2).gpus(3).mem(400).minutes(60));
  let_run(c, gpu_params());
  NodeExplanation e = explain_node(c, gpu_params(), kNow, c.nodes.at(1));
  EXPECT_EQ(e.name, "n1");
  EXPECT_TRUE(e.usable);
  EXPECT_EQ(e.cpus_free, 6u);
  EXPECT_EQ(e.mem_free_mb, 600u);
  EXPECT_EQ(e.gres_free, "gpu:h100:1");
  ASSERT_EQ(e.jobs.size(), 1u);
  EXPECT_EQ(e.jobs[0].id, id);
  EXPECT_EQ(e.idle_at, kNow + minutes(60));
  EXPECT_EQ(explain_node(c, gpu_params(), kNow, c.nodes.at(0)).job_count, 0u);
}

TEST(Explain, ANodeThatIsKeptNamesThePromise) {
  Cluster c = a_cluster().nodes(2).cpus(8).memory(1000).gres("gpu", "h100", 4).build();
  submit(c, a_job().nodelist("n1").nodes(1).tasks(8).minutes(60));
  let_run(c, gpu_params());
  JobId waits = submit(c, a_job().nodes(2).tasks(16).minutes(60));
  const PlannedNodesPtr planned = Planner().plan(c, gpu_params(), kNow, Pass::kFull).planned;
  NodeExplanation e = explain_node(c, gpu_params(), kNow, c.nodes.at(0), planned.get());
  EXPECT_EQ(e.state, "IDLE+PLANNED");
  EXPECT_EQ(e.job_count, 0u);
  ASSERT_EQ(e.jobs.size(), 1u);
  EXPECT_EQ(e.jobs[0].id, waits);
  EXPECT_EQ(e.jobs[0].state, JobState::kPending);
  EXPECT_GE(e.jobs[0].start, kNow + minutes(60));
  EXPECT_EQ(explain_node(c, gpu_params(), kNow, c.nodes.at(1), planned.get()).state, "ALLOCATED");
}

// Work is bounded whatever the job asks for.
TEST(Explain, ForecastsAreCounted) {
  Cluster c = a_cluster().nodes(8).cpus(64).memory(100000).gres("gpu", "h100", 64).build();
  for (int i = 0; i < 12; ++i) {
    Partition p;
    p.name = "p" + std::to_string(i);
    p.nodes = Bitmap(8, true);
    ClusterBuilder::add_partition(c, p);
  }
  submit(c, a_job().nodes(8).exclusive().minutes(kUnlimited32));
  let_run(c, gpu_params());
  JobId id = submit(c, a_job().nodes(8).tasks(64).cpus_per_task(64).gpus(64).mem(90000).minutes(100000).with([](JobRequest& r) {
    r.contiguous = true;
    r.switches = 1;
    r.excluded_nodes = "n7";
    r.exclusive = Exclusive::kNode;
  }));
  let_run(c, gpu_params());
  Job job = c.jobs.at(id.value);
  WhatIf queue(c, gpu_params(), kNow, job);
  Alternatives found = find_alternatives(c, job, queue, kNow, std::nullopt, 0);
  EXPECT_LE(found.tried, kMaxForecasts);
  EXPECT_GT(found.tried, 10u);
}

TEST(Explain, NodesThatAreNotWoken) {
  Cluster c = a_cluster().nodes(8).cpus(4).build();
  Params params = gpu_params();
  params.max_powered_nodes = 2;
  for (uint32_t id = 2; id < 8; ++id) c.nodes.edit(id)->flags |= kNodePoweredDown;
  const JobId job = submit(c, a_job().nodes(3).exclusive().minutes(60), kNow);
  let_run(c, params);
  const JobExplanation why = explained(c, job, params);
  ASSERT_EQ(why.partitions.size(), 1u);
  EXPECT_EQ(census(why.partitions[0]), "not_woken=6:n[2-7] free=2:n[0-1] ");
}

}  // namespace
}  // namespace muster::sched
