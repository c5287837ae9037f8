// Passes beside a thousand reservations: what they add to the passes of sched_bench.cc, and what a new one costs.
#include <benchmark/benchmark.h>

#include <random>

#include "sched/bench/bench_worlds.h"
#include "sched/reserve/choose.h"

namespace muster::sched {
namespace {

const Time kNow = kBenchNow;

// Ten nodes each, an hour long, spread over two days.
void reserve(Cluster& c, uint32_t nodes, int64_t count) {
  std::mt19937 rng(3);
  for (uint32_t i = 1; i <= count; ++i) {
    Reservation r;
    r.id = i;
    r.name = "r" + std::to_string(i);
    r.start = kNow + minutes(static_cast<int64_t>(rng() % 2880));
    r.end = r.start + minutes(60);
    r.nodes = Bitmap(nodes);
    const uint32_t first = static_cast<uint32_t>(rng() % (nodes - 10));
    r.nodes.set_range(first, first + 10);
    r.users.names = {"u"};
    c.reservations.set(i, std::move(r));
  }
}

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

void BackfillBesideReservations(benchmark::State& state) {
  constexpr uint32_t kNodes = 10'000;
  Cluster c = bench_nodes(kNodes).build();
  std::mt19937 rng(7);
  for (uint32_t i = 0; i < kNodes; ++i) submit(c, a_job().nodes(1).exclusive().minutes(1 + rng() % 2880), kNow);
  apply_starts(c, Planner().plan(c, bench_site(), kNow, Pass::kFull), kNow);
  for (int i = 0; i < 10'000; ++i) submit(c, mixed(rng));
  reserve(c, kNodes, state.range(0));
  size_t with_start = 0;
  for (auto _ : state) {
    Plan p = Planner().plan(c, bench_site(), kNow, Pass::kFull);
    with_start = 0;
    for (const auto& [id, v] : p.verdicts) with_start += v.expected_start != Time{};
  }
  state.counters["with_start"] = static_cast<double>(with_start);
}
BENCHMARK(BackfillBesideReservations)->Arg(0)->Arg(1'000)->Unit(benchmark::kMillisecond);

void QuickPassBesideReservations(benchmark::State& state) {
  Cluster c = bench_nodes(10'000).build();
  reserve(c, 10'000, state.range(0));
  Planner planner;
  planner.plan(c, bench_site(), kNow, Pass::kQuick);
  for (auto _ : state) {
    state.PauseTiming();
    JobId id = submit(c, a_job().tasks(4));
    state.ResumeTiming();
    Plan p = planner.plan(c, bench_site(), kNow, Pass::kQuick);
    state.PauseTiming();
    apply_starts(c, p, kNow);
    end_job(c, id, kNow);
    c.jobs.erase(id.value);
    state.ResumeTiming();
  }
}
BENCHMARK(QuickPassBesideReservations)->Arg(0)->Arg(1'000)->Unit(benchmark::kMicrosecond);

void ChooseNodesForOne(benchmark::State& state) {
  Cluster c = bench_nodes(10'000).build();
  reserve(c, 10'000, state.range(0));
  Reservation r;
  r.id = 100'000;
  r.start = kNow + minutes(600);
  r.end = r.start + minutes(60);
  const Params params = bench_site();
  ReservationWish wish{.cluster = c, .params = params, .now = kNow, .reservation = r};
  wish.count = 100;
  wish.held = [](const Node&, Time) { return HeldFrom{}; };
  for (auto _ : state) benchmark::DoNotOptimize(choose_for_reservation(wish));
}
BENCHMARK(ChooseNodesForOne)->Arg(0)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::sched
