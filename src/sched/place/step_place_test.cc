#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

// A running job on its nodes.
struct Running {
  Cluster cluster;
  JobId id;
  Running(const ClusterBuilder& machine, const JobBuilder& b) : cluster(machine.build()) {
    id = submit(cluster, b, kNow);
    apply_starts(cluster, Planner().plan(cluster, {}, kNow, Pass::kFull), kNow);
  }
  const Job& job() const { return cluster.jobs.at(id.value); }
  uint32_t most_on_node = 512;
  Result<std::vector<StepShare>> place(const StepRequest& r) const { return place_step(cluster, job(), r, {40000, most_on_node}); }
  void run(const StepRequest& r, uint32_t step) {
    auto shares = place(r);
    ASSERT_TRUE(shares);
    Step s;
    s.id = StepId(step);
    s.request = std::make_shared<const StepRequest>(r);
    s.shares = *shares;
    s.overlap = r.overlap;
    cluster.jobs.edit(id.value)->steps.push_back(s);
  }
};

StepRequest step(uint32_t tasks = 0, uint32_t nodes = 0) {
  StepRequest r;
  r.num_tasks = tasks;
  r.min_nodes = r.max_nodes = nodes;
  return r;
}

std::vector<uint32_t> ranks(const StepShare& s) {
  if (!s.ranks.empty()) return s.ranks;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < s.task_count; ++i) out.push_back(s.first_task + i);
  return out;
}
using V = std::vector<uint32_t>;

TEST(PlaceStep, WithoutWishesItIsTheJobsLayout) {
  Running r(a_cluster().nodes(2).cpus(8), a_job().nodes(2).tasks(6));
  auto s = r.place(step());
  ASSERT_TRUE(s);
  ASSERT_EQ(s->size(), 2u);
  EXPECT_EQ((*s)[0].task_count, 5u);
  EXPECT_EQ((*s)[1].task_count, 1u);
  EXPECT_EQ((*s)[1].first_task, 5u);
  EXPECT_EQ((*s)[0].cpus.to_ranges(), "0-4");
}

// Nodes of 8, 4 and 2 CPUs: a full one is passed over, the others go on in turn.
TEST(PlaceStep, LayoutsOverUnequalNodes) {
  Running r(a_cluster().nodes(3).node([](Node& n, NodeSpec& s) { s.cpus = s.cores_per_socket = 8u >> n.id.value; }),
            a_job().nodes(3).exclusive());
  ASSERT_EQ(r.job().allocation->total_cpus(), 14u);
  auto ask = [&](const char* how, uint32_t tasks) {
    StepRequest q = step(tasks, 3);
    q.distribution = how;
    std::vector<V> out;
    const auto placed = r.place(q);
    if (!placed) return out;
    for (const StepShare& s : *placed) out.push_back(ranks(s));
    return out;
  };
  EXPECT_EQ(ask("plane=2", 12), (std::vector<V>{{0, 1, 6, 7, 10, 11}, {2, 3, 8, 9}, {4, 5}}));
  EXPECT_EQ(ask("cyclic", 12), (std::vector<V>{{0, 3, 6, 8, 10, 11}, {1, 4, 7, 9}, {2, 5}}));
  EXPECT_EQ(ask("block,pack", 12), (std::vector<V>{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10}, {11}}));
  EXPECT_EQ(ask("plane=3", 14), (std::vector<V>{{0, 1, 2, 8, 9, 10, 12, 13}, {3, 4, 5, 11}, {6, 7}}));
}

TEST(PlaceStep, BlockCyclicAndPlane) {
  Running r(a_cluster().nodes(3).cpus(8), a_job().nodes(3).exclusive());
  auto ask = [&](const char* how, uint32_t tasks) {
    StepRequest q = step(tasks, 3);
    q.distribution = how;
    return *r.place(q);
  };
  auto s = ask("block", 8);
  EXPECT_EQ(ranks(s[0]), (V{0, 1, 2}));
  EXPECT_EQ(ranks(s[1]), (V{3, 4, 5}));
  EXPECT_EQ(ranks(s[2]), (V{6, 7}));
  s = ask("cyclic", 8);
  EXPECT_EQ(ranks(s[0]), (V{0, 3, 6}));
  EXPECT_EQ(ranks(s[2]), (V{2, 5}));
  s = ask("plane=2", 8);
  EXPECT_EQ(ranks(s[0]), (V{0, 1, 6}));
  EXPECT_EQ(ranks(s[1]), (V{2, 3, 7}));
  EXPECT_EQ(ranks(s[2]), (V{4, 5}));
  s = ask("block,pack", 10);
  EXPECT_EQ(s[0].task_count, 8u);
  EXPECT_EQ(s[1].task_count, 1u);
}

TEST(PlaceStep, ArbitraryFollowsTheList) {
  Running r(a_cluster().nodes(2).cpus(8), a_job().nodes(2).exclusive());
  StepRequest q = step(4);
  q.distribution = "arbitrary";
  q.required_nodes = "n1,n0,n1*2";
  auto s = r.place(q);
  ASSERT_TRUE(s);
  EXPECT_EQ(ranks((*s)[0]), (V{1}));
  EXPECT_EQ(ranks((*s)[1]), (V{0, 2, 3}));
}

TEST(PlaceStep, ExactStepsShareTheJobOthersWait) {
  Running r(a_cluster().nodes(1).cpus(4), a_job().tasks(4));
  StepRequest one = step(1, 1);
  one.exact = true;
  r.run(one, 0);
  r.run(one, 1);
  EXPECT_EQ(r.job().steps[0].shares[0].cpus.to_ranges(), "0");
  EXPECT_EQ(r.job().steps[1].shares[0].cpus.to_ranges(), "1");
  StepRequest three = one;
  three.num_tasks = 3;
  EXPECT_EQ(r.place(three).error().code, Errc::kNodesBusy);
  three.overlap = true;
  EXPECT_TRUE(r.place(three));
  StepRequest five = one;
  five.num_tasks = 5;
  EXPECT_EQ(r.place(five).error().code, Errc::kTooManyRequestedCpus);
  five.overcommit = true;
  EXPECT_TRUE(r.place(five));
}

TEST(PlaceStep, AStepThatIsNotExactTakesTheWholeNode) {
  Running r(a_cluster().nodes(2).cpus(4), a_job().nodes(2).exclusive());
  r.run(step(1, 1), 0);
  EXPECT_EQ(r.job().steps[0].shares[0].cpus.count(), 4u);
  auto second = r.place(step(1, 1));
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)[0].node_index, 1u);
  EXPECT_EQ(r.place(step(2, 2)).error().code, Errc::kNodesBusy);
}

TEST(PlaceStep, RelativeNodelistAndExclude) {
  Running r(a_cluster().nodes(4).cpus(2), a_job().nodes(4).exclusive());
  StepRequest q = step(2, 2);
  q.relative = 2;
  auto s = r.place(q);
  ASSERT_TRUE(s);
  EXPECT_EQ((*s)[0].node_index, 2u);
  EXPECT_EQ((*s)[1].node_index, 3u);
  q = step(1);
  q.required_nodes = "n3";
  EXPECT_EQ((*r.place(q))[0].node_index, 3u);
  q = step(3, 3);
  q.excluded_nodes = "n0";
  EXPECT_EQ((*r.place(q))[0].node_index, 1u);
  q = step(5, 5);
  EXPECT_EQ(r.place(q).error().code, Errc::kRequestedNodeConfigUnavailable);
}

TEST(PlaceStep, GpusOfTheJobByDefaultOrAsAsked) {
  Running r(a_cluster().nodes(1).cpus(8).gres("gpu", "a100", 4), a_job().tasks(8).gpus(4));
  auto all = r.place(step(1));
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].gres[0].devices.to_ranges(), "0-3");
  StepRequest two = step(2);
  two.exact = true;
  two.tres_per_node = "gres/gpu:2";
  r.run(two, 0);
  EXPECT_EQ(r.job().steps[0].shares[0].gres[0].devices.to_ranges(), "0-1");
  r.run(two, 1);
  EXPECT_EQ(r.job().steps[1].shares[0].gres[0].devices.to_ranges(), "2-3");
  EXPECT_EQ(r.place(two).error().code, Errc::kNodesBusy);
  two.tres_per_node = "gres/gpu:5";
  EXPECT_EQ(r.place(two).error().code, Errc::kInvalidGres);
  two.tres_per_node = "none";
  auto none = r.place(two);
  ASSERT_TRUE(none);
  EXPECT_TRUE((*none)[0].gres.empty());
}

TEST(PlaceStep, TheTypeOfOneCountOfGpusHoldsForTheOthers) {
  Running r(a_cluster().nodes(1).cpus(8).gres("gpu", "a100", 2).gres("gpu", "l4", 2), a_job().exclusive().gpus(4));
  StepRequest s = step(2, 1);
  s.tres_per_node = "gres/gpu:2";
  s.tres_per_task = "gres/gpu:l4:1";
  auto placed = r.place(s);
  ASSERT_TRUE(placed) << placed.error().hint;
  ASSERT_EQ((*placed)[0].gres.size(), 1u);
  EXPECT_EQ((*placed)[0].gres[0].type, "l4");
  EXPECT_EQ((*placed)[0].gres[0].count, 2u);
  s.tres_per_node = "gres/gpu:3";
  EXPECT_EQ(r.place(s).error().code, Errc::kInvalidGres);  // the job has two of that type
}

// --gpus-per-node, --gpus and --gpus-per-task of one step, as its options or the job's variables say them.
TEST(PlaceStep, CountsOfGpusAreNotAdded) {
  Running r(a_cluster().nodes(2).cpus(8).gres("gpu", "", 4), a_job().nodes(2).exclusive().gpus(4));
  StepRequest s = step(4);
  s.tres_per_node = "gres/gpu:2";
  s.tres_per_task = "gres/gpu:1";
  auto spread = r.place(s);
  ASSERT_TRUE(spread) << spread.error().message();
  ASSERT_EQ(spread->size(), 2u);
  for (const StepShare& share : *spread) {
    EXPECT_EQ(share.task_count, 2u);
    EXPECT_EQ(share.gres[0].count, 2u);
  }
  s = step(1);
  s.tres_per_step = "gres/gpu:8";
  s.tres_per_task = "gres/gpu:1";
  auto one = r.place(s);
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ((*one)[0].gres[0].count, 1u);
}

TEST(PlaceStep, MemoryIsTakenWhereItIsAsked) {
  Running r(a_cluster().nodes(1).cpus(4).memory(1000), a_job().tasks(4).mem(800));
  StepRequest q = step(1);
  q.exact = true;
  q.mem_per_node_mb = 500;
  r.run(q, 0);
  EXPECT_EQ(r.job().steps[0].shares[0].mem_mb, 500u);
  EXPECT_EQ(r.place(q).error().code, Errc::kNodesBusy);
  q.mem_per_node_mb = 0;  // all of it, taken from nobody
  EXPECT_EQ((*r.place(q))[0].mem_mb, 800u);
  q.mem_per_node_mb = 900;
  EXPECT_EQ(r.place(q).error().code, Errc::kMemoryRequest);
}

// Six nodes in two blocks: a step of three stays in one, the next takes the other.
TEST(PlaceStep, NoNodeHasMoreTasksThanMaxTasksPerNode) {
  Running r(a_cluster().nodes(2).cpus(8), a_job().nodes(2).tasks(10));
  r.most_on_node = 3;
  auto spread = r.place(step(5, 2));
  ASSERT_TRUE(spread);
  EXPECT_EQ((*spread)[0].task_count + (*spread)[1].task_count, 5u);
  EXPECT_LE(std::max((*spread)[0].task_count, (*spread)[1].task_count), 3u);
  EXPECT_EQ(r.place(step(7, 2)).error().code, Errc::kInvalidTaskCount);
  EXPECT_EQ(r.place(step(4, 1)).error().code, Errc::kInvalidTaskCount);
  EXPECT_EQ(r.place(step()).error().code, Errc::kInvalidTaskCount);  // the layout of the job itself
  StepRequest crowded = step(8, 2);
  crowded.overcommit = true;
  EXPECT_EQ(r.place(crowded).error().code, Errc::kInvalidTaskCount);
}

TEST(PlaceStep, StaysInABlockThatHoldsIt) {
  Running r(a_cluster().nodes(6).cpus(1), a_job().nodes(6).exclusive());
  give_blocks(r.cluster, 2, 3, {3});
  r.run(step(2, 2), 0);
  auto other = r.place(step(3, 3));
  ASSERT_TRUE(other);
  EXPECT_EQ((V{(*other)[0].node_index, (*other)[1].node_index, (*other)[2].node_index}), (V{3, 4, 5}));
  auto small = r.place(step(1, 1));
  ASSERT_TRUE(small);
  EXPECT_EQ((*small)[0].node_index, 2u) << "the one with the least to spare";
}

TEST(PlaceStep, TasksPerGpuSayHowManyGpusThereAre) {
  Running r(a_cluster().nodes(1).cpus(8).gres("gpu", "", 4), a_job().tasks(8).gpus(4));
  StepRequest four = step(4);
  four.ntasks_per_gpu = 2;
  auto s = r.place(four);
  ASSERT_TRUE(s);
  ASSERT_EQ((*s)[0].gres.size(), 1u);
  EXPECT_EQ((*s)[0].gres[0].count, 2u);
}

// A job that has its nodes whole has all GPUs, wherever it wanted some to stand; a step with a wish of its own does not.
TEST(PlaceStep, GpusPerSocketOfAWholeNodeAreAllOfThem) {
  auto job = a_job().tasks(2).exclusive().with([](JobRequest& r) {
    r.tres_per_socket = "gres/gpu:1";
    r.sockets_per_node = 1;
  });
  Running r(a_cluster().nodes(1).layout(2, 2, 1).gres("gpu", "", 4, true), job);
  StepRequest same = step(2);
  same.tres_per_socket = "gres/gpu:1";
  same.sockets_per_node = 1;
  auto all = r.place(same);
  ASSERT_TRUE(all);
  EXPECT_EQ((*all)[0].gres.at(0).count, 4u);
  same.tres_per_socket = "gres/gpu:2";
  auto own = r.place(same);
  ASSERT_TRUE(own);
  EXPECT_EQ((*own)[0].gres.at(0).count, 2u);
}

}  // namespace
}  // namespace muster::sched
