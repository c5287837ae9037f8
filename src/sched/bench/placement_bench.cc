// Placements a second on 10,000 idle nodes with 100,000 pending jobs, and what many jobs of one class cost. Run:
// build/…/sched_bench --benchmark_filter='Place|OneClass'
#include <benchmark/benchmark.h>

#include <random>

#include "sched/bench/bench_worlds.h"

namespace muster::sched {
namespace {

constexpr uint32_t kNodes = 10'000, kJobs = 100'000;
constexpr uint32_t kLimits = 100;  // time limits: request classes

// Measures a quick pass over the whole queue when the nodes come up; the planner knows the jobs already.
void place_all(benchmark::State& state, Cluster c, const std::function<JobBuilder(uint32_t)>& job) {
  for (uint32_t i = 0; i < kJobs; ++i) submit(c, job(i).minutes(60 + i % kLimits), kBenchNow);
  const Params params = bench_site();
  size_t starts = 0, passes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Planner planner;
    Cluster down = c;
    for (uint32_t id = 0; id < kNodes; ++id) down.nodes.edit(id)->flags |= kNodeDrain;
    planner.plan(down, params, kBenchNow, Pass::kQuick);
    state.ResumeTiming();
    const Plan p = planner.plan(c, params, kBenchNow, Pass::kQuick);
    starts += p.starts.size();
    ++passes;
  }
  state.counters["starts"] = static_cast<double>(starts / std::max<size_t>(passes, 1));
  state.counters["placements/s"] = benchmark::Counter(static_cast<double>(starts), benchmark::Counter::kIsRate);
}

void PlaceOneCpuJobs(benchmark::State& state) {
  place_all(state, bench_nodes(kNodes).build(), [](uint32_t) { return a_job().tasks(1); });
}
BENCHMARK(PlaceOneCpuJobs)->Unit(benchmark::kMillisecond);

void PlaceJobsOfEightGpus(benchmark::State& state) {
  place_all(state, bench_nodes(kNodes).gres("gpu", "h100", 8, true).build(),
            [](uint32_t) { return a_job().nodes(1).tasks(8).cpus_per_task(2).gres("gres/gpu:h100:8"); });
}
BENCHMARK(PlaceJobsOfEightGpus)->Unit(benchmark::kMillisecond);

void PlaceGangsInATree(benchmark::State& state) {
  Cluster c = bench_nodes(kNodes).build();
  give_three_levels(c, kNodes);
  place_all(state, std::move(c), [](uint32_t) { return a_job().nodes(64).exclusive(); });
}
BENCHMARK(PlaceGangsInATree)->Unit(benchmark::kMillisecond);

void PlaceGangsInBlocks(benchmark::State& state) {
  Cluster c = bench_nodes(kNodes).build();
  give_blocks(c, kNodes / 32 + 1, 32, {32, 64, 128}, kNodes);
  place_all(state, std::move(c), [](uint32_t) { return a_job().nodes(64).exclusive(); });
}
BENCHMARK(PlaceGangsInBlocks)->Unit(benchmark::kMillisecond);

// On full nodes one job ends, and a quick pass gives its place to one of so many jobs of one class.
void OneClass(benchmark::State& state) {
  const Params params = bench_site();
  Cluster c = bench_nodes(1'000).build();
  const auto jobs = static_cast<uint32_t>(state.range(0));
  for (uint32_t i = 0; i < 1'000 + jobs; ++i) submit(c, a_job().nodes(1).exclusive().minutes(60), kBenchNow);
  Planner planner;
  apply_starts(c, planner.plan(c, params, kBenchNow, Pass::kQuick), kBenchNow);
  uint32_t next = 1;
  for (auto _ : state) {
    state.PauseTiming();
    end_job(c, JobId(next), kBenchNow);
    c.jobs.erase(next++);
    submit(c, a_job().nodes(1).exclusive().minutes(60), kBenchNow);
    state.ResumeTiming();
    const Plan p = planner.plan(c, params, kBenchNow, Pass::kQuick);
    state.PauseTiming();
    apply_starts(c, p, kBenchNow);
    state.ResumeTiming();
  }
}
BENCHMARK(OneClass)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::sched
