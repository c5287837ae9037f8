// The aims of planner.h, measured. Run: build/…/sched_bench
#include <benchmark/benchmark.h>

#include <random>

#include "sched/bench/bench_worlds.h"

namespace muster::sched {
namespace {

const Time kNow = kBenchNow;

Params site() { return bench_site(); }

// Many sub-node jobs, some of several nodes, a few big ones: the mix of the project's cluster benchmark.
JobBuilder mixed(std::mt19937& rng) {
  auto pick = [&](std::initializer_list<uint32_t> of) { return *(of.begin() + rng() % of.size()); };
  const double x = std::uniform_real_distribution<double>(0, 1)(rng);
  JobBuilder job = a_job();
  job.minutes(pick({10, 30, 60, 120, 240, 480, 1440, 2880}));
  if (x < 0.70) job.tasks(pick({1, 2, 4, 8, 16, 32, 64}));
  else if (x < 0.95) job.nodes(pick({1, 2, 4, 8})).exclusive();
  else job.nodes(pick({16, 32, 64, 128})).exclusive();
  return job;
}

Cluster machine(uint32_t nodes) { return bench_nodes(nodes).build(); }

// Every node full; the ends are spread over two days.
Cluster full_machine(uint32_t nodes) {
  Cluster c = machine(nodes);
  std::mt19937 rng(7);
  for (uint32_t i = 0; i < nodes; ++i) submit(c, a_job().nodes(1).exclusive().minutes(1 + rng() % 2880), kNow);
  apply_starts(c, Planner().plan(c, site(), kNow, Pass::kFull), kNow);
  return c;
}

void MixedJobsOnIdleNodes(benchmark::State& state) {
  Cluster c = machine(10'000);
  std::mt19937 rng(1);
  for (int i = 0; i < 9'000; ++i) submit(c, mixed(rng));
  size_t starts = 0;
  uint64_t cpus = 0;
  for (auto _ : state) {
    Plan p = Planner().plan(c, site(), kNow, Pass::kFull);
    starts = p.starts.size();
    cpus = 0;
    for (const StartItem& s : p.starts) cpus += s.allocation->total_cpus();
  }
  state.counters["starts"] = static_cast<double>(starts);
  state.counters["cpus_used_percent"] = 100.0 * static_cast<double>(cpus) / 640'000;
}
BENCHMARK(MixedJobsOnIdleNodes)->Unit(benchmark::kMillisecond);

void BackfillOnFullNodes(benchmark::State& state) {
  Cluster c = full_machine(static_cast<uint32_t>(state.range(0)));
  std::mt19937 rng(1);
  for (int i = 0; i < 10'000; ++i) submit(c, mixed(rng));
  size_t with_start = 0;
  for (auto _ : state) {
    Plan p = Planner().plan(c, site(), kNow, Pass::kFull);
    with_start = 0;
    for (const auto& [id, v] : p.verdicts) with_start += v.expected_start != Time{};
  }
  state.counters["with_start"] = static_cast<double>(with_start);
}
BENCHMARK(BackfillOnFullNodes)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// On GPU nodes, jobs that share them: one to eight GPUs of a node, gangs of whole sets of GPUs, tasks spread freely.
void BackfillGpus(benchmark::State& state) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  Cluster c = bench_nodes(nodes).gres("gpu", "h100", 8, true).build();
  std::mt19937 rng(7);
  auto limit = [&] { return static_cast<uint32_t>(10 * (1 + rng() % 200)); };
  for (uint32_t i = 0; i < nodes; ++i) submit(c, a_job().nodes(1).tasks(8).cpus_per_task(8).gpus(8).minutes(limit()), kNow);
  apply_starts(c, Planner().plan(c, site(), kNow, Pass::kFull), kNow);
  for (int i = 0; i < 10'000; ++i) {
    const uint32_t kind = rng() % 4;
    JobBuilder job = a_job().minutes(limit());
    if (kind < 2) job.nodes(1).cpus_per_task(4).gpus(1u << rng() % 4);
    else if (kind == 2) job.nodes(1u << rng() % 5).tasks_per_node(8).cpus_per_task(4).gpus(8);
    else job.tasks(1 + rng() % 256);
    submit(c, job);
  }
  size_t with_start = 0;
  for (auto _ : state) {
    Plan p = Planner().plan(c, site(), kNow, Pass::kFull);
    with_start = 0;
    for (const auto& [id, v] : p.verdicts) with_start += v.expected_start != Time{};
    state.counters["classes"] = p.classes;
  }
  state.counters["with_start"] = static_cast<double>(with_start);
}
BENCHMARK(BackfillGpus)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// The same with the planner's caches warm and one more job each time.
void BackfillOneMoreJob(benchmark::State& state) {
  Cluster c = full_machine(static_cast<uint32_t>(state.range(0)));
  std::mt19937 rng(1);
  for (int i = 0; i < 10'000; ++i) submit(c, mixed(rng));
  Planner planner;
  planner.plan(c, site(), kNow, Pass::kFull);
  for (auto _ : state) {
    submit(c, mixed(rng));
    benchmark::DoNotOptimize(planner.plan(c, site(), kNow, Pass::kFull));
  }
}
BENCHMARK(BackfillOneMoreJob)->Arg(10'000)->Unit(benchmark::kMillisecond);

// One job arrives, starts and ends on a big idle machine, as the controller's event-driven pass sees it.
void QuickPassOfOneJob(benchmark::State& state) {
  Cluster c = machine(10'000);
  Planner planner;
  planner.plan(c, site(), kNow, Pass::kQuick);
  for (auto _ : state) {
    state.PauseTiming();
    JobId id = submit(c, a_job().tasks(4));
    state.ResumeTiming();
    Plan p = planner.plan(c, site(), kNow, Pass::kQuick);
    state.PauseTiming();
    apply_starts(c, p, kNow);
    end_job(c, id, kNow);
    c.jobs.erase(id.value);
    state.ResumeTiming();
  }
}
BENCHMARK(QuickPassOfOneJob)->Unit(benchmark::kMicrosecond);

// The same on full nodes, with 10,000 jobs waiting ahead.
void QuickPassBehindAQueue(benchmark::State& state) {
  Cluster c = full_machine(10'000);
  std::mt19937 rng(1);
  for (int i = 0; i < 10'000; ++i) submit(c, mixed(rng));
  Planner planner;
  planner.plan(c, site(), kNow, Pass::kQuick);
  for (auto _ : state) {
    state.PauseTiming();
    submit(c, a_job().tasks(4));
    state.ResumeTiming();
    benchmark::DoNotOptimize(planner.plan(c, site(), kNow, Pass::kQuick));
  }
}
BENCHMARK(QuickPassBehindAQueue)->Unit(benchmark::kMicrosecond);

void CanEverRun(benchmark::State& state) {
  Cluster c = machine(10'000);
  JobRequest r = a_job().nodes(64).exclusive().request;
  for (auto _ : state) benchmark::DoNotOptimize(can_ever_run(c, site(), r, 0));
}
BENCHMARK(CanEverRun)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::sched

BENCHMARK_MAIN();
