#include <gtest/gtest.h>

#include "sched/place/gang_chooser.h"
#include "sched/place/placement.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

std::string where(const Allocation& a) {
  std::string out;
  for (const NodeShare& s : a.nodes)
    out += (out.empty() ? "" : " ") + std::to_string(s.node.value) + ":" + s.cpus.to_ranges() + "/" + std::to_string(s.tasks);
  return out;
}

AllocationPtr placed(Cluster& c, const JobBuilder& b, const Params& params = {}) {
  submit(c, b, kNow);
  Plan p = Planner().plan(c, params, kNow, Pass::kFull);
  const AllocationPtr a = p.starts.empty() ? nullptr : p.starts.back().allocation;
  apply_starts(c, p, kNow);
  return a;
}
std::string lone(const ClusterBuilder& machine, const JobBuilder& b, const Params& params = {}) {
  Cluster c = machine.build();
  AllocationPtr a = placed(c, b, params);
  return a ? where(*a) : "none";
}
Params cores() {
  Params p;
  p.allocate_cores = true;
  return p;
}

// The examples of the guide cpu_management: nodes of two sockets with four cores.
const ClusterBuilder kRegular = a_cluster().nodes(3).layout(2, 4, 1);

TEST(Placement, GuideExamples) {
  EXPECT_EQ(lone(kRegular, a_job().nodes(1).tasks(2).cpus_per_task(3), cores()), "0:0-2,4-6/2");  // 2
  EXPECT_EQ(lone(kRegular, a_job().nodes(3).tasks(3).cpus_per_task(3), cores()),
            "0:0-2/1 1:0-2/1 2:0-2/1");                                          // 3
  EXPECT_EQ(lone(kRegular, a_job().tasks(12), cores()), "0:0-7/8 1:0-1,4-5/4");  // 4
  auto block = a_job().tasks(12).with([](JobRequest& r) { r.distribution = "block:block"; });
  EXPECT_EQ(lone(kRegular, block, cores()), "0:0-7/8 1:0-3/4");
  EXPECT_EQ(lone(kRegular, a_job().nodes(2).tasks(6).tasks_per_node(3).cpus_per_task(2), cores()),
            "0:0-5/3 1:0-5/3");  // 5
  EXPECT_EQ(lone(kRegular, a_job().nodes(3).tasks(8).cpus_per_task(2), cores()),
            "0:0-7/4 1:0-5/3 2:0-1/1");  // 6
  const ClusterBuilder hyper = a_cluster().nodes(1).layout(2, 4, 2);
  auto single = a_job().tasks(8).with([](JobRequest& r) { r.hint = "nomultithread"; });
  EXPECT_EQ(lone(hyper, single), "0:0,2,4,6,8,10,12,14/8");  // 9
}

TEST(Placement, CoresAreHandedOutWhole) {
  const ClusterBuilder hyper = a_cluster().nodes(1).layout(1, 4, 2);
  EXPECT_EQ(lone(hyper, a_job().tasks(3), cores()), "0:0-3/3");
  EXPECT_EQ(lone(hyper, a_job().tasks(3)), "0:0-2/3");
  auto apart = a_job().tasks(3).with([](JobRequest& r) { r.threads_per_core = 1; });
  EXPECT_EQ(lone(hyper, apart, cores()), "0:0-5/3");
}

TEST(Placement, MemoryPerCpuCountsUsableThreads) {  // the two examples of sbatch(1) --mem-per-cpu
  Params params = cores();
  params.memory_consumable = true;
  Cluster c = a_cluster().nodes(1).layout(1, 4, 2).memory(1000).build();
  EXPECT_EQ(placed(c, a_job().tasks(3).mem_per_cpu(100), params)->nodes[0].mem_mb, 400u);
  c = a_cluster().nodes(1).layout(1, 4, 2).memory(1000).build();
  auto one = a_job().tasks(3).mem_per_cpu(100).with([](JobRequest& r) { r.threads_per_core = 1; });
  AllocationPtr a = placed(c, one, params);
  EXPECT_EQ(a->nodes[0].mem_mb, 300u);
  EXPECT_EQ(a->nodes[0].cpus.count(), 6u);
}

TEST(Placement, MemoryHoldsJobsApartOnlyWhereItIsConsumable) {
  Params memory;
  memory.memory_consumable = true;
  Cluster c = a_cluster().nodes(1).cpus(4).memory(1000).build();
  EXPECT_TRUE(placed(c, a_job().tasks(1).mem(600), memory));
  EXPECT_FALSE(placed(c, a_job().tasks(1).mem(600), memory));
  c = a_cluster().nodes(1).cpus(4).memory(1000).build();
  EXPECT_TRUE(placed(c, a_job().tasks(1).mem(600)));
  EXPECT_TRUE(placed(c, a_job().tasks(1).mem(600)));
  EXPECT_FALSE(placed(c, a_job().tasks(1).mem(1001)));
  c = a_cluster().nodes(1).cpus(4).memory(1000).build();
  EXPECT_EQ(placed(c, a_job().tasks(1).mem(0), memory)->nodes[0].mem_mb, 1000u);
}

TEST(Placement, ExclusiveTakesAllCpusAndDevicesButTheMemoryAskedFor) {
  Cluster c = a_cluster().nodes(2).cpus(8).memory(1000).gres("gpu", "h100", 4).build();
  AllocationPtr a = placed(c, a_job().nodes(2).tasks(4).mem(100).exclusive());
  ASSERT_TRUE(a);
  EXPECT_EQ(where(*a), "0:0-7/2 1:0-7/2");
  EXPECT_TRUE(a->whole_nodes);
  EXPECT_EQ(a->nodes[0].gres[0].devices.to_ranges(), "0-3");
  EXPECT_EQ(a->nodes[0].mem_mb, 100u);
}

TEST(Placement, DevicesComeWithTheCoresBesideThem) {
  Cluster c = a_cluster().nodes(1).layout(2, 8, 1).gres("gpu", "h100", 8, true).build();
  AllocationPtr first = placed(c, a_job().tasks(1).gpus(4));
  EXPECT_EQ(first->nodes[0].gres[0].devices.to_ranges(), "0-3");
  EXPECT_EQ(first->nodes[0].cpus.to_ranges(), "0");
  AllocationPtr second = placed(c, a_job().tasks(2).gpus(2));
  EXPECT_EQ(second->nodes[0].gres[0].devices.to_ranges(), "4-5");
  EXPECT_EQ(second->nodes[0].cpus.to_ranges(), "8-9");
}

TEST(Placement, EnforceBindingWaitsForTheRightCores) {
  Cluster c = a_cluster().nodes(1).layout(2, 4, 1).gres("gpu", "", 2, true).build();
  EXPECT_EQ(where(*placed(c, a_job().tasks(4).with([](JobRequest& r) { r.distribution = "*:block"; }))), "0:0-3/4");
  auto strict = a_job().tasks(1).gpus(2).with([](JobRequest& r) { r.gres_flags = "enforce-binding"; });
  auto five = a_job().tasks(5).gpus(1).with([](JobRequest& r) { r.gres_flags = "enforce-binding"; });
  EXPECT_FALSE(placed(c, five));
  EXPECT_FALSE(placed(c, strict)) << "no core is free at the first GPU";
  Cluster idle = a_cluster().nodes(1).layout(2, 4, 1).gres("gpu", "", 2, true).build();
  EXPECT_EQ(placed(idle, strict)->nodes[0].cpus.to_ranges(), "0,4") << "one at each";
}

// The GPUs of a node stand at its first socket, which has too few cores for all tasks: a GPU each on two nodes.
TEST(Placement, EnforceBindingTakesMoreNodesWhereOneHasTooFewCoresAtItsGpus) {
  auto machine = a_cluster().nodes(2).layout(2, 2, 1);
  auto bound = a_job().tasks(3).job_gpus(2).with([](JobRequest& r) { r.gres_flags = "enforce-binding"; });
  Cluster apart = machine.gres("gpu", "", 2, true).build();
  EXPECT_EQ(placed(apart, bound)->nodes.size(), 1u);
  Cluster together = machine
                         .node([](Node&, NodeSpec& s) {
                           for (GresDevices& g : s.gres) {
                             g.cores = Bitmap();
                             g.cores.set_range(0, 2);
                           }
                         })
                         .build();
  AllocationPtr a = placed(together, bound);
  ASSERT_TRUE(a);
  EXPECT_EQ(a->nodes.size(), 2u);
}

// Each node takes four tasks with both of its GPUs, two with one: the job has three GPUs, so one node takes the two.
TEST(Placement, ANodeWhoseLayoutRefusesTakesFewerTasks) {
  Cluster c = a_cluster().nodes(2).layout(2, 2, 1).gres("gpu", "", 2, true).build();
  AllocationPtr a = placed(c, a_job().tasks(6).job_gpus(3).with([](JobRequest& r) {
    r.gres_flags = "enforce-binding";
    r.distribution = "cyclic";
  }));
  ASSERT_TRUE(a);
  ASSERT_EQ(a->nodes.size(), 2u);
  EXPECT_EQ(a->nodes[0].tasks + a->nodes[1].tasks, 6u);
  EXPECT_EQ(std::min(a->nodes[0].tasks, a->nodes[1].tasks), 2u);
}

TEST(Placement, TypedAndUntypedDevices) {
  Cluster c = a_cluster().nodes(1).cpus(8).gres("gpu", "a", 2).gres("gpu", "b", 2).build();
  AllocationPtr a = placed(c, a_job().gres("gres/gpu:b:1,gres/gpu:2"));
  ASSERT_TRUE(a);
  uint64_t count = 0;
  for (const GresShare& g : a->nodes[0].gres) count += g.count;
  EXPECT_EQ(count, 3u);
  EXPECT_FALSE(placed(c, a_job().gres("gres/gpu:a:1")));
  EXPECT_TRUE(placed(c, a_job().gres("gres/gpu:b:1")));
}

TEST(Placement, GpusOfTheJobSpreadOverNodes) {
  Cluster c = a_cluster().nodes(3).cpus(8).gres("gpu", "", 4).build();
  AllocationPtr a = placed(c, a_job().job_gpus(6));
  ASSERT_TRUE(a);
  ASSERT_EQ(a->nodes.size(), 2u);
  EXPECT_EQ(a->nodes[0].gres[0].count, 4u);
  EXPECT_EQ(a->nodes[1].gres[0].count, 2u);
  c = a_cluster().nodes(3).cpus(8).gres("gpu", "", 4).build();
  a = placed(c, a_job().tasks(6).task_gpus(1));
  ASSERT_EQ(a->nodes.size(), 2u);
  EXPECT_EQ(a->nodes[0].tasks, 4u);
  EXPECT_EQ(a->nodes[0].gres[0].count, 4u);
}

TEST(Placement, CpusPerGpuAndTasksPerGpu) {
  Cluster c = a_cluster().nodes(1).cpus(16).gres("gpu", "", 4).build();
  AllocationPtr a = placed(c, a_job().gpus(2).with([](JobRequest& r) { r.cpus_per_gpu = 3; }));
  EXPECT_EQ(a->nodes[0].cpus.count(), 6u);
  a = placed(c, a_job().gpus(2).with([](JobRequest& r) { r.ntasks_per_gpu = 2; }));
  EXPECT_EQ(a->nodes[0].tasks, 4u);
}

TEST(Placement, FeaturesDecide) {
  auto machine = a_cluster().nodes(6).cpus(2).node([](Node& n, NodeSpec& s) {
    s.features = {n.id.value < 3 ? "rack1" : "rack2"};
    if (n.id.value % 2) s.features.push_back("fast");
  });
  EXPECT_EQ(lone(machine, a_job().nodes(1).on("rack2&fast")), "3:0/1");
  EXPECT_EQ(lone(machine, a_job().nodes(4).on("rack2|fast")), "1:0/1 3:0/1 4:0/1 5:0/1");
  EXPECT_EQ(lone(machine, a_job().nodes(4).on("[rack1|rack2]")), "none");
  EXPECT_EQ(lone(machine, a_job().nodes(3).on("[rack1|rack2]")), "0:0/1 1:0/1 2:0/1");
  EXPECT_EQ(lone(machine, a_job().on("[rack1*1&rack2*2]")), "0:0/1 3:0/1 4:0/1");
  EXPECT_EQ(lone(machine, a_job().nodes(3).on("fast*3")), "1:0/1 3:0/1 5:0/1");
}

Params extras_decide() {
  Params p;
  p.extra_constraints = true;
  return p;
}
JobBuilder wanting(const char* extra) {
  return a_job().with([&](JobRequest& r) { r.extra_constraint = extra; });
}
void say(Cluster& c, uint32_t node, const char* extra) {
  c.nodes.edit(node)->extra = extra;
  ++c.nodes_epoch;
}

TEST(Placement, ExtraDecides) {
  auto machine = a_cluster().nodes(4).cpus(2).node([](Node& n, NodeSpec&) {
    constexpr const char* kSaid[] = {R"({"load": 0.9, "ssd": true})", R"({"load": 0.2})", "by the door", R"({"load": 0.4, "ssd": true})"};
    n.extra = kSaid[n.id.value];
  });
  EXPECT_EQ(lone(machine, wanting("load<0.5"), extras_decide()), "1:0/1");
  EXPECT_EQ(lone(machine, wanting("load<0.5&ssd=true"), extras_decide()), "3:0/1");
  EXPECT_EQ(lone(machine, wanting("load<0.5").nodes(2), extras_decide()), "1:0/1 3:0/1");
  EXPECT_EQ(lone(machine, wanting("load<0.5").nodes(3), extras_decide()), "none");
  EXPECT_EQ(lone(machine, wanting("load<0.5")), "0:0/1") << "a note, where the site did not make it a constraint";
  EXPECT_EQ(lone(machine, a_job().nodes(1, 4), extras_decide()), "0:0/1 1:0/1 2:0/1 3:0/1");
}

// A planner that keeps what it knows of the nodes notices what they say, also of nodes that nothing else happened to.
TEST(Placement, AJobWaitsForAnotherExtra) {
  Cluster c = a_cluster().nodes(2).cpus(2).build();
  Planner kept;
  const JobId id = submit(c, wanting("load<0.5"), kNow);
  const JobId other = submit(c, a_job().tasks(2), kNow);
  EXPECT_TRUE(can_ever_run(c, extras_decide(), *c.jobs.at(id.value).request, 0)) << "whatever the nodes say now";
  Plan p = kept.plan(c, extras_decide(), kNow, Pass::kFull);
  ASSERT_TRUE(verdict_of(p, id));
  EXPECT_EQ(verdict_of(p, id)->reason, Reason::kResources);
  EXPECT_EQ(verdict_of(p, id)->detail, "no start within sight: too few of its nodes say in their Extra what --extra wants");
  EXPECT_TRUE(start_of(p, other)) << "it keeps no place from others";
  say(c, 1, R"({"load": 0.7})");
  EXPECT_FALSE(start_of(kept.plan(c, extras_decide(), kNow, Pass::kFull), id));
  say(c, 1, R"({"load": 0.3})");
  p = kept.plan(c, extras_decide(), kNow, Pass::kFull);
  ASSERT_TRUE(start_of(p, id));
  EXPECT_EQ(where(*start_of(p, id)->allocation), "1:0/1");
  const StartItem item = *start_of(p, id);
  EXPECT_TRUE(still_fits(c, extras_decide(), *c.jobs.at(id.value).request, item, from_unix(1000000), 60));
  say(c, 1, R"({"load": 0.8})");
  const auto late = still_fits(c, extras_decide(), *c.jobs.at(id.value).request, item, from_unix(1000000), 60);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().hint, "n1: its Extra no longer says what --extra wants");
}

TEST(Placement, ListsOfNodes) {
  const ClusterBuilder four = a_cluster().nodes(4).cpus(2);
  EXPECT_EQ(lone(four, a_job().nodelist("n[2-3]")), "2:0/1 3:0/1");
  EXPECT_EQ(lone(four, a_job().nodes(3).nodelist("n3")), "0:0/1 1:0/1 3:0/1");
  EXPECT_EQ(lone(four, a_job().nodes(1).nodelist("n[2-3]")), "2:0/1");
  EXPECT_EQ(lone(four, a_job().nodes(2).exclude("n0,n2")), "1:0/1 3:0/1");
}

TEST(Placement, WeightBeforeNumberAndFit) {
  auto machine = a_cluster().nodes(3).cpus(4).node([](Node& n, NodeSpec& s) { s.weight = 3 - n.id.value; });
  EXPECT_EQ(lone(machine, a_job().tasks(1)), "2:0/1");
  EXPECT_EQ(lone(machine, a_job().nodes(2)), "1:0/1 2:0/1");
}

TEST(Placement, LeastLoadedNode) {
  Params lln;
  lln.lln = true;
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  EXPECT_EQ(where(*placed(c, a_job().tasks(1), lln)), "0:0/1");
  EXPECT_EQ(where(*placed(c, a_job().tasks(1), lln)), "1:0/1");
}

TEST(Placement, ARangeOfNodesTakesWhatThereIs) {
  const ClusterBuilder three = a_cluster().nodes(3).cpus(2);
  EXPECT_EQ(lone(three, a_job().nodes(1, 8)), "0:0/1 1:0/1 2:0/1");
  EXPECT_EQ(lone(three, a_job().nodes(1, 8).with([](JobRequest& r) { r.use_min_nodes = true; })), "0:0/1");
}

TEST(Placement, ContiguousNodesStayTogether) {
  Cluster c = a_cluster().nodes(6).cpus(2).build();
  placed(c, a_job().nodelist("n1").exclusive());
  auto together = a_job().nodes(3).with([](JobRequest& r) { r.contiguous = true; });
  EXPECT_EQ(where(*placed(c, together)), "2:0/1 3:0/1 4:0/1");
}

TEST(Placement, OversubscribedPartitionsShareCpus) {
  auto machine = a_cluster().nodes(1).cpus(2).partition([](Partition& p) {
    p.oversubscribe = OverSubscribe::kForce;
    p.oversubscribe_count = 2;
  });
  Cluster c = machine.build();
  EXPECT_TRUE(placed(c, a_job().tasks(2)));
  EXPECT_TRUE(placed(c, a_job().tasks(2)));
  EXPECT_FALSE(placed(c, a_job().tasks(2)));
}

TEST(Placement, AUserKeepsOthersOffHisNodes) {
  auto mine = [](uint32_t uid) { return a_job().tasks(1).user(uid).with([](JobRequest& r) { r.exclusive = Exclusive::kUser; }); };
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  EXPECT_EQ(where(*placed(c, mine(1))), "0:0/1");
  EXPECT_EQ(where(*placed(c, mine(2))), "1:0/1");
  EXPECT_EQ(where(*placed(c, mine(1))), "0:1/1");
  EXPECT_FALSE(placed(c, a_job().tasks(1).user(3)));
}

TEST(Placement, PartitionLimitsCpusOfANode) {
  auto machine = a_cluster().nodes(2).cpus(8).partition([](Partition& p) { p.max_cpus_per_node = 4; });
  EXPECT_EQ(lone(machine, a_job().tasks(6)), "0:0-3/4 1:0-1/2");
}

TEST(Placement, SpecialisedCpusAreNeverHandedOut) {
  auto machine = a_cluster().nodes(1).cpus(4).node([](Node&, NodeSpec& s) { s.specialized_cpus.set(0); });
  EXPECT_EQ(lone(machine, a_job().tasks(3)), "0:1-3/3");
  EXPECT_EQ(lone(machine, a_job().tasks(4)), "none");
}

// A core of which the system keeps a thread is no core for a task of its own.
TEST(Placement, TasksOnCoresOfTheirOwnWantWholeOnes) {
  auto machine = a_cluster().nodes(1).layout(2, 2, 2).node([](Node&, NodeSpec& s) {
    s.specialized_cpus.set(0);
    s.specialized_cpus.set(2);
  });
  auto apart = [](uint32_t tasks) { return a_job().exclusive().tasks(tasks).with([](JobRequest& r) { r.ntasks_per_core = 1; }); };
  EXPECT_EQ(lone(machine, apart(2)), "0:1,3-7/2");
  EXPECT_EQ(lone(machine, apart(3)), "none");
}

TEST(Placement, TasksGoByWhatTheJobLeavesToTheSystem) {
  auto machine = a_cluster().nodes(1).layout(1, 8, 1).node([](Node&, NodeSpec& s) {
    s.specialized_cpus.set(0);
    s.specialized_cpus.set(1);
  });
  Params params = cores();
  params.job_core_spec = true;
  auto leaving = [](uint32_t spec, uint32_t tasks) { return a_job().tasks(tasks).with([=](JobRequest& r) { r.core_spec = spec; }); };
  EXPECT_EQ(lone(machine, leaving(1, 7), params), "0:1-7/7");
  EXPECT_EQ(lone(machine, leaving(1, 8), params), "none");
  EXPECT_EQ(lone(machine, leaving(6, 2), params), "0:2-3/2");
  EXPECT_EQ(lone(machine, leaving(6, 3), params), "none");
  Cluster c = machine.build();  // a node in use has nothing for it
  ASSERT_TRUE(placed(c, a_job().tasks(1), params));
  EXPECT_FALSE(placed(c, leaving(1, 1), params));
}

TEST(Placement, TasksPerSocketSpreadsOverSockets) {
  auto job = a_job().nodes(1).tasks(2).with([](JobRequest& r) {
    r.ntasks_per_socket = 1;
    r.distribution = "*:block";
  });
  EXPECT_EQ(lone(kRegular, job), "0:0,4/2");
}

TEST(SpreadTasks, BlockAndCyclic) {
  using V = std::vector<uint32_t>;
  EXPECT_EQ(spread_tasks({4, 4, 4}, 8, false), (V{4, 3, 1}));
  EXPECT_EQ(spread_tasks({4, 4, 4}, 8, true), (V{3, 3, 2}));
  EXPECT_EQ(spread_tasks({1, 9, 9}, 9, true), (V{1, 4, 4}));
  EXPECT_EQ(spread_tasks({2, 2}, 2, false), (V{1, 1}));
}

// FORCE:1 allows one job of each partition on a CPU: a job of the second finds room though the first alone holds the node.
TEST(Placement, PartitionsOfOneTierShareEachJobOfTheOthers) {
  Cluster c = a_cluster()
                  .nodes(1)
                  .cpus(4)
                  .partition([](Partition& p) { p.oversubscribe = OverSubscribe::kForce, p.oversubscribe_count = 1; })
                  .build();
  Partition other = c.partitions.at(0);
  other.name = "other";
  ClusterBuilder::add_partition(c, other);
  const Time now = from_unix(1'000'020);
  submit(c, a_job().tasks(4), now);
  apply_starts(c, Planner().plan(c, {}, now, Pass::kFull), now);
  const JobId beside = submit(c, a_job().tasks(4).in(1), now), again = submit(c, a_job().tasks(4), now);
  const Plan plan = Planner().plan(c, {}, now, Pass::kFull);
  EXPECT_TRUE(start_of(plan, beside));
  EXPECT_FALSE(start_of(plan, again));
}

}  // namespace
}  // namespace muster::sched
