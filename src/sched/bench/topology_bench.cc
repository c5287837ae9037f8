// One placement decision for a gang of 64 whole nodes on 16,384 nodes with a topology, a third of them busy
// here and there. The aim: under 1 ms. Run: build/…/sched_bench --benchmark_filter=Gang
#include <benchmark/benchmark.h>

#include <random>

#include "sched/bench/bench_worlds.h"
#include "sched/place/placement.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

constexpr uint32_t kNodes = 16'384;

Cluster machine() {
  Cluster c = bench_nodes(kNodes).build();
  std::mt19937 rng(3);
  for (uint32_t i = 0; i < kNodes / 3; ++i) {
    Node& n = *c.nodes.edit(rng() % kNodes);
    n.whole_node_jobs = n.jobs_running = 1;
    n.cpus_used.set_range(0, 64);
  }
  return c;
}

void run(benchmark::State& state, const Cluster& c, const JobBuilder& job) {
  const Params params = bench_site();
  Availability nodes;
  nodes.update(c.nodes, params);
  RequestClass wanted;
  wanted.shape = *make_shape(job.request, c.partitions.at(0), params);
  resolve(wanted, c, nodes, c.partitions.at(0));
  size_t found = 0;
  for (auto _ : state) {
    Placement p = place(nodes, wanted, params, nullptr, {});
    found += placed(p) != nullptr;
  }
  state.counters["placed"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}

void GangFlat(benchmark::State& state) { run(state, machine(), a_job().nodes(64).exclusive()); }
BENCHMARK(GangFlat)->Unit(benchmark::kMicrosecond);

void GangInATree(benchmark::State& state) {
  Cluster c = machine();
  give_three_levels(c, kNodes);
  run(state, c, a_job().nodes(static_cast<uint32_t>(state.range(0))).exclusive());
}
BENCHMARK(GangInATree)->Arg(16)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void GangOfGpuNodesInATree(benchmark::State& state) {
  Cluster c = machine();
  give_three_levels(c, kNodes);
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
