// A full plan of 50,000 mixed jobs on 10,000 full nodes: a start for each, cold; and again with the planner's memory after one event. Aims:
// 1 s cold, 0.1 s after an event. Run: build/…/sched_bench --benchmark_filter=FullPlan
#include <benchmark/benchmark.h>

#include <random>
#include <unordered_map>

#include "sched/bench/bench_worlds.h"

namespace muster::sched {
namespace {

constexpr uint32_t kNodes = 10'000;
constexpr uint32_t kJobs = 50'000;

// Six tenths of the nodes have CPUs only, three tenths 8 GPUs of one type, one tenth 4 of another.
Cluster mixed_machine() {
  return bench_nodes(kNodes)
      .node([](Node& n, NodeSpec& s) {
        if (n.id.value >= 9'000) s.gres = {{"gpu", "a100", 4, 0, false, {}, {}, {}, 0, false}};
        else if (n.id.value >= 6'000) s.gres = {{"gpu", "h100", 8, 0, false, {}, {}, {}, 0, false}};
      })
      .build();
}

// Jobs of part of a node, typed GPUs, gangs of whole nodes and of GPU nodes, and arrays.
struct MixedQueue {
  std::mt19937 rng{11};

  uint32_t pick(std::initializer_list<uint32_t> of) { return *(of.begin() + rng() % of.size()); }
  void submit_one(Cluster& c) {
    const double x = std::uniform_real_distribution<double>(0, 1)(rng);
    JobBuilder job = a_job();
    job.minutes(pick({10, 30, 60, 120, 240, 480, 1440, 2880}));
    if (x < 0.55) job.tasks(pick({1, 2, 4, 8, 16, 32, 64}));
    else if (x < 0.70) job.nodes(1).cpus_per_task(4).gres("gres/gpu:h100:" + std::to_string(pick({1, 2, 4, 8})));
    else if (x < 0.75) job.nodes(1).cpus_per_task(8).gres("gres/gpu:a100:" + std::to_string(pick({1, 2, 4})));
    else if (x < 0.93) job.nodes(pick({1, 2, 4, 8})).exclusive();
    else if (x < 0.95) job.nodes(pick({16, 32, 64})).exclusive();
    else if (x < 0.98) job.nodes(pick({2, 4, 8})).tasks_per_node(8).cpus_per_task(4).gres("gres/gpu:h100:8");
    else return void(submit_array(c, job.tasks(pick({1, 2, 4})), 100, 0, kBenchNow));
    submit(c, job, kBenchNow);
  }
};

// Every node is full; the ends are spread over two days.
Cluster busy_cluster() {
  Cluster c = mixed_machine();
  std::mt19937 rng(7);
  for (uint32_t i = 0; i < kNodes; ++i) submit(c, a_job().nodes(1).exclusive().minutes(1 + rng() % 2880), kBenchNow);
  apply_starts(c, Planner().plan(c, bench_site(), kBenchNow, Pass::kFull), kBenchNow);
  MixedQueue queue;
  for (uint32_t i = 0; i < kJobs; ++i) queue.submit_one(c);
  return c;
}

using Starts = std::unordered_map<uint32_t, std::pair<Time, std::string>>;

Starts starts_of(const Plan& p) {
  Starts out;
  for (const auto& [id, v] : p.verdicts)
    if (v.expected_start != Time{}) out[id.value] = {v.expected_start, std::string(v.expected_nodes.str())};
  return out;
}

void count(benchmark::State& state, const Plan& p) {
  state.counters["with_start"] = static_cast<double>(starts_of(p).size());
  state.counters["classes"] = p.classes;
  state.counters["horizon_h"] = static_cast<double>(to_seconds(p.horizon)) / 3600;
}

void FullPlanCold(benchmark::State& state) {
  const Cluster c = busy_cluster();
  Plan p;
  for (auto _ : state) p = Planner().plan(c, bench_site(), kBenchNow, Pass::kFull);
  count(state, p);
}
BENCHMARK(FullPlanCold)->Unit(benchmark::kMillisecond);

// `event` changes the cluster once more each time.
template <class Event>
void after(benchmark::State& state, Event&& event) {
  Cluster c = busy_cluster();
  Planner planner;
  Plan p = planner.plan(c, bench_site(), kBenchNow, Pass::kFull);
  size_t moved = 0, other_nodes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Starts before = starts_of(p);
    event(c);
    state.ResumeTiming();
    p = planner.plan(c, bench_site(), kBenchNow, Pass::kFull);
    state.PauseTiming();
    for (const auto& [id, is] : starts_of(p)) {
      auto was = before.find(id);
      moved += was == before.end() || was->second.first != is.first;
      other_nodes += was != before.end() && was->second.first == is.first && was->second.second != is.second;
    }
    apply_starts(c, p, kBenchNow);
    state.ResumeTiming();
  }
  count(state, p);
  state.counters["moved"] = benchmark::Counter(static_cast<double>(moved), benchmark::Counter::kAvgIterations);
  state.counters["other_nodes"] = benchmark::Counter(static_cast<double>(other_nodes), benchmark::Counter::kAvgIterations);
}

void FullPlanAfterAJobEnded(benchmark::State& state) {
  uint32_t next = 5;
  after(state, [&](Cluster& c) {
    end_job(c, JobId(next), kBenchNow);
    c.jobs.erase(next++);
  });
}
BENCHMARK(FullPlanAfterAJobEnded)->Unit(benchmark::kMillisecond);

void FullPlanAfterASubmission(benchmark::State& state) {
  MixedQueue queue{std::mt19937(5)};
  after(state, [&](Cluster& c) { queue.submit_one(c); });
}
BENCHMARK(FullPlanAfterASubmission)->Unit(benchmark::kMillisecond);

void FullPlanAfterADrain(benchmark::State& state) {
  uint32_t next = 3;
  after(state, [&](Cluster& c) {
    c.nodes.edit(next)->flags |= kNodeDrain;
    ++c.nodes_epoch;
    next += 997;
  });
}
BENCHMARK(FullPlanAfterADrain)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::sched
