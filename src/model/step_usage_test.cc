#include "model/step_usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace muster {
namespace {

StepUsage usage_of(const std::string& node, std::vector<TaskUsage> tasks) {
  StepUsage u;
  for (const TaskUsage& t : tasks) add_task(u, t, node);
  return u;
}
TaskUsage task(uint32_t rank, int64_t user, int64_t system, uint64_t rss) {
  TaskUsage t;
  t.task = rank;
  t.user_time = seconds(user);
  t.system_time = seconds(system);
  t.rss = Bytes(rss);
  t.pages = rank;
  return t;
}
const std::string& node_of(const StepUsage& u, TaskPlace p) { return u.nodes.at(p.node); }

TEST(StepUsage, SumsAndExtremesOfTasks) {
  const StepUsage u = usage_of("n1", {task(0, 10, 1, 300), task(1, 20, 2, 100), task(2, 5, 0, 200)});
  EXPECT_EQ(u.tasks, 3u);
  EXPECT_EQ(u.user_time, seconds(35));
  EXPECT_EQ(u.system_time, seconds(3));
  EXPECT_EQ(u.cpu.total, seconds(38));
  EXPECT_EQ(u.cpu.max, seconds(22));
  EXPECT_EQ(u.cpu.max_at.task, 1u);
  EXPECT_EQ(u.cpu.min, seconds(5));
  EXPECT_EQ(u.cpu.min_at.task, 2u);
  EXPECT_EQ(u.rss.max, Bytes(300));
  EXPECT_EQ(average(u.rss, u.tasks), Bytes(200));
  EXPECT_EQ(average(u.pages, u.tasks), 1u);
  EXPECT_EQ(average(u.rss, 0), Bytes(0));
}

TEST(StepUsage, OfSeveralNodesInAnyOrder) {
  std::vector<StepUsage> parts = {usage_of("n1", {task(0, 1, 0, 50), task(1, 1, 0, 70)}), usage_of("n2", {task(2, 4, 0, 70)}),
                                  usage_of("n3", {task(3, 2, 0, 10)})};
  std::vector<size_t> order = {0, 1, 2};
  do {
    StepUsage all;
    for (size_t i : order) merge(all, parts[i]);
    EXPECT_EQ(all.tasks, 4u);
    EXPECT_EQ(all.rss.total, Bytes(200));
    EXPECT_EQ(all.rss.max_at.task, 1u);  // of equal ones the lower task
    EXPECT_EQ(node_of(all, all.rss.max_at), "n1");
    EXPECT_EQ(node_of(all, all.cpu.max_at), "n2");
    EXPECT_EQ(node_of(all, all.rss.min_at), "n3");
  } while (std::ranges::next_permutation(order).found);
}

TEST(StepUsage, NamesAreKeptOnlyWhereAPlacePointsToThem) {
  StepUsage all;
  for (uint32_t i = 0; i < 100; ++i) merge(all, usage_of("n" + std::to_string(i), {task(i, i, 0, i)}));
  EXPECT_LE(all.nodes.size(), 2u);
  EXPECT_EQ(node_of(all, all.rss.max_at), "n99");
}

TEST(StepUsage, AnEmptyPartChangesNothing) {
  StepUsage u = usage_of("n1", {task(0, 1, 1, 5)});
  const StepUsage before = u;
  merge(u, {});
  EXPECT_EQ(u, before);
  StepUsage none;
  merge(none, before);
  EXPECT_EQ(none, before);
  EXPECT_EQ(merged(nullptr, nullptr), nullptr);
}

TEST(StepUsage, SumsThatAreTooLargeStayAtTheMost) {
  StepUsage u = usage_of("n1", {task(0, 1, 1, UINT64_MAX - 1)});
  merge(u, usage_of("n1", {task(1, 1, 1, 10)}));
  EXPECT_EQ(u.rss.total, Bytes(UINT64_MAX));
}

TEST(StepUsage, APlaceThatPointsNowhereIsOfNoNode) {
  StepUsage hostile = usage_of("n1", {task(7, 1, 1, 9)});
  hostile.rss.max_at.node = 4'000'000'000;
  StepUsage u;
  merge(u, hostile);
  EXPECT_EQ(node_of(u, u.rss.max_at), "");
}

TEST(StepUsage, GpusOfSomeTasksAndEnergyOfNodes) {
  TaskUsage with = task(0, 1, 0, 10);
  with.gpu_util = 80;
  with.gpu_memory = Bytes(7);
  StepUsage n1 = usage_of("n1", {with}), n2 = usage_of("n2", {task(1, 1, 0, 20)}), n3 = usage_of("n3", {task(2, 1, 0, 5)});
  add_energy(n1, 500, "n1");
  add_energy(n3, 300, "n3");
  for (const auto& order : {std::array{&n1, &n2, &n3}, std::array{&n3, &n2, &n1}, std::array{&n2, &n3, &n1}}) {
    StepUsage all;
    for (const StepUsage* part : order) merge(all, *part);
    EXPECT_EQ(all.gpu_util.parts, 1u);
    EXPECT_EQ(all.gpu_util.min, 80u);
    EXPECT_EQ(node_of(all, all.gpu_util.max_at), "n1");
    EXPECT_EQ(average(all.gpu_memory, all.gpu_memory.parts), Bytes(7));
    EXPECT_EQ(all.energy.parts, 2u);
    EXPECT_EQ(all.energy.total, 800u);
    EXPECT_EQ(node_of(all, all.energy.max_at), "n1");
    EXPECT_EQ(node_of(all, all.energy.min_at), "n3");
  }
}

TEST(StepUsage, ANodeSpeaksForItself) {
  auto lie = std::make_shared<StepUsage>(usage_of("n2", {task(0, 1, 1, 9)}));
  merge(*lie, usage_of("n3", {task(1, 2, 1, 99)}));
  const StepUsagePtr own = on_node(lie, "n1");
  EXPECT_EQ(own->nodes, std::vector<std::string>{"n1"});
  EXPECT_EQ(node_of(*own, own->rss.max_at), "n1");
  EXPECT_EQ(on_node(own, "n1"), own);
  EXPECT_EQ(on_node(nullptr, "n1"), nullptr);
}

TEST(StepUsage, ClocksOfTasksWhereTheyAreKnown) {
  TaskUsage known = task(0, 1, 0, 1), unknown = task(1, 1, 0, 1), other = task(2, 1, 0, 1);
  known.clock = 3'000'000;
  other.clock = 1'000'000;
  StepUsage all = usage_of("n1", {known, unknown});
  merge(all, usage_of("n2", {other}));
  EXPECT_EQ(all.clock.parts, 2u);
  EXPECT_EQ(average(all.clock, all.clock.parts), 2'000'000u);
  EXPECT_EQ(node_of(all, all.clock.min_at), "n2");
  EXPECT_EQ(usage_of("n1", {unknown}).clock.parts, 0u);
}

}  // namespace
}  // namespace muster
