// Victims for a gang on a full cluster of 10,000 nodes: a quick pass whose only waiting job has to preempt. Aim: 64 nodes in 50 ms. Run:
// build/…/sched_bench --benchmark_filter=Victims
#include <benchmark/benchmark.h>

#include "sched/bench/bench_worlds.h"

namespace muster::sched {
namespace {

constexpr uint32_t kNodes = 10'000;

// 10,000 full nodes of a low tier with so many jobs on each, and a high tier over the same nodes.
Cluster full_cluster(uint32_t jobs_each, const Params& params) {
  Cluster c = bench_nodes(kNodes).gres("gpu", "h100", 8, true).build();
  Partition high = c.partitions.at(0);
  high.name = "high";
  high.is_default = false;
  high.priority_tier = 2;
  ClusterBuilder::add_partition(c, high);
  for (uint32_t i = 0; i < kNodes * jobs_each; ++i)
    submit(c, a_job().nodes(1).tasks(64 / jobs_each).gpus(8 / jobs_each).minutes(60 + i % 100), kBenchNow);
  apply_starts(c, Planner().plan(c, params, kBenchNow, Pass::kQuick), kBenchNow);
  return c;
}

void victims(benchmark::State& state, const JobBuilder& gang) {
  Params params = bench_site();
  Cluster c = full_cluster(static_cast<uint32_t>(state.range(0)), params);
  params.preempt.by = PreemptRules::By::kPartition;
  params.preempt.modes.how = PreemptHow::kRequeue;
  Planner planner;
  planner.plan(c, params, kBenchNow, Pass::kQuick);
  submit(c, gang, kBenchNow);
  size_t found = 0;
  for (auto _ : state) {
    const Plan p = planner.plan(c, params, kBenchNow, Pass::kQuick);
    found = p.preemptions.empty() ? 0 : p.preemptions[0].victims.size();
  }
  state.counters["victims"] = static_cast<double>(found);
}

void VictimsForWholeNodes(benchmark::State& state) { victims(state, a_job().nodes(64).exclusive().in(1)); }
BENCHMARK(VictimsForWholeNodes)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

void VictimsForGpus(benchmark::State& state) { victims(state, a_job().nodes(64).tasks(512).gpus(4).in(1)); }
BENCHMARK(VictimsForGpus)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::sched
