// One placement decision for a gang of 64 whole nodes on 16,384 nodes with a topology, a third of them busy
// here and there. The aim: under 1 ms. Run: build/…/sched_bench --benchmark_filter=Gang
#include <benchmark/benchmark.h>

#include <random>

#include "sched/placement.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

constexpr uint32_t kNodes = 16'384;
const Time kNow = from_unix(1'000'020);

Cluster machine() {
  Cluster c = a_cluster().nodes(kNodes).layout(2, 32, 1).memory(256'000).build();
  std::mt19937 rng(3);
  for (uint32_t i = 0; i < kNodes / 3; ++i) {
    Node& n = *c.nodes.edit(rng() % kNodes);
    n.whole_node_jobs = n.jobs_running = 1;
    n.cpus_used.set_range(0, 64);
  }
  return c;
}

// Leaves of 32, 16 of them to a switch, all under one.
void three_levels(Cluster& c) {
  Topology t{.name = "default", .kind = TopologyKind::kTree};
  TopologyUnit root{.name = "root"};
  for (uint32_t l = 0; l < kNodes / 32; ++l) {
    TopologyUnit leaf{.name = "l" + std::to_string(l)};
    for (uint32_t i = 0; i < 32; ++i) leaf.nodes.push_back(l * 32 + i);
    t.units.push_back(std::move(leaf));
  }
  for (uint32_t m = 0; m < kNodes / 512; ++m) {
    TopologyUnit mid{.name = "m" + std::to_string(m)};
    for (uint32_t i = 0; i < 16; ++i) mid.children.push_back(m * 16 + i);
    root.children.push_back(static_cast<uint32_t>(t.units.size()));
    t.units.push_back(std::move(mid));
  }
  t.units.push_back(std::move(root));
  Topologies all;
  all.all.push_back(std::move(t));
  c.topologies = std::make_shared<const Topologies>(std::move(all));
}

void run(benchmark::State& state, const Cluster& c, const JobBuilder& job) {
  Params params;
  params.allocate_cores = true;
  Availability nodes;
  nodes.update(c.nodes, params);
  RequestClass wanted;
  wanted.shape = *make_shape(job.request, c.partitions.at(0), params);
  wanted.resolve(c, nodes, c.partitions.at(0));
  size_t placed = 0;
  for (auto _ : state) {
    Placement p = place(nodes, wanted, params, nullptr, {});
    placed += std::holds_alternative<Placed>(p);
  }
  state.counters["placed"] = static_cast<double>(placed) / static_cast<double>(state.iterations());
}

void GangFlat(benchmark::State& state) { run(state, machine(), a_job().nodes(64).exclusive()); }
BENCHMARK(GangFlat)->Unit(benchmark::kMicrosecond);

void GangInATree(benchmark::State& state) {
  Cluster c = machine();
  three_levels(c);
  run(state, c, a_job().nodes(static_cast<uint32_t>(state.range(0))).exclusive());
}
BENCHMARK(GangInATree)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void GangOfGpuNodesInATree(benchmark::State& state) {
  Cluster c = machine();
  three_levels(c);
  run(state, c, a_job().nodes(64).tasks_per_node(8).cpus_per_task(4));
}
BENCHMARK(GangOfGpuNodesInATree)->Unit(benchmark::kMicrosecond);

void GangInBlocks(benchmark::State& state) {
  Cluster c = machine();
  give_blocks(c, kNodes / 18, 18, {18, 72, 144, 288});
  run(state, c, a_job().nodes(static_cast<uint32_t>(state.range(0))).exclusive());
}
BENCHMARK(GangInBlocks)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

void GangOfSegments(benchmark::State& state) {
  Cluster c = machine();
  give_blocks(c, kNodes / 18, 18, {18, 72, 144, 288});
  run(state, c, a_job().nodes(64).exclusive().with([](JobRequest& r) { r.segment = 8; }));
}
BENCHMARK(GangOfSegments)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::sched
