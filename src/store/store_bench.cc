// Measures what storage costs: commits per second by batch size, the spread of their latency, blobs, snapshots, replay. Runs in $TMPDIR
// (a tmpfs there would measure nothing).
#include <benchmark/benchmark.h>

#include <chrono>

#include "store/store_testing.h"

namespace muster::store {
namespace {

std::unique_ptr<EventLog> must_open(const std::string& directory) {
  auto log = open_sqlite_log(directory);
  MUSTER_CHECK(log);
  return std::move(*log);
}

void report_latency(benchmark::State& state, std::vector<double>& us) {
  std::ranges::sort(us);
  auto at = [&](double q) { return us[static_cast<size_t>(q * static_cast<double>(us.size() - 1))]; };
  state.counters["p50_us"] = at(0.50);
  state.counters["p99_us"] = at(0.99);
  state.counters["p99.9_us"] = at(0.999);
  state.counters["max_us"] = at(1);
}

// Appends batches of `batch` records of 200 bytes, and calls `before` ahead of each.
template <class Before>
void append_batches(benchmark::State& state, size_t batch, Before before) {
  using Clock = std::chrono::steady_clock;
  TempDir dir;
  auto log = must_open(dir.path());
  Records records(batch, std::string(200, 'r'));
  std::vector<double> us;
  us.reserve(1 << 20);
  for (auto _ : state) {
    auto start = Clock::now();
    before(*log);
    MUSTER_CHECK(log->append(1, records));
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  state.counters["records"] = benchmark::Counter(static_cast<double>(us.size() * batch), benchmark::Counter::kIsRate);
  report_latency(state, us);
}

void BM_Append(benchmark::State& state) {
  append_batches(state, static_cast<size_t>(state.range(0)), [](EventLog&) {});
}
BENCHMARK(BM_Append)->Arg(1)->Arg(16)->Arg(256)->Arg(4096)->UseRealTime()->MinTime(4);

// Each append holds one record and puts one new script of `size` bytes.
void BM_AppendWithBlob(benchmark::State& state) {
  std::string script(static_cast<size_t>(state.range(0)), '#');
  uint64_t n = 0;
  append_batches(state, 1, [&](EventLog& log) {
    std::string id = std::to_string(++n);
    script.replace(0, id.size(), id);
    MUSTER_CHECK(log.put_blob(script));
  });
}
BENCHMARK(BM_AppendWithBlob)->Arg(1 << 10)->Arg(16 << 10)->UseRealTime()->MinTime(2);

// 64 new scripts in each append of 64 records: what a burst of sbatch looks like.
void BM_AppendBurstWithBlobs(benchmark::State& state) {
  std::string script(2048, '#');
  uint64_t n = 0;
  append_batches(state, 64, [&](EventLog& log) {
    for (int i = 0; i < 64; ++i) {
      std::string id = std::to_string(++n);
      script.replace(0, id.size(), id);
      MUSTER_CHECK(log.put_blob(script));
    }
  });
}
BENCHMARK(BM_AppendBurstWithBlobs)->UseRealTime()->MinTime(2);

// The same script again: no write at all.
void BM_PutKnownBlob(benchmark::State& state) {
  TempDir dir;
  auto log = must_open(dir.path());
  std::string script(2048, '#');
  MUSTER_CHECK(log->put_blob(script));
  MUSTER_CHECK(log->append(1, Records{"r"}));
  for (auto _ : state) benchmark::DoNotOptimize(log->put_blob(script));
}
BENCHMARK(BM_PutKnownBlob);

void BM_SaveSnapshot(benchmark::State& state) {
  TempDir dir;
  auto log = must_open(dir.path());
  EventLog::Snapshot snapshot;
  snapshot.chunks.assign(static_cast<size_t>(state.range(0)), std::string(1 << 20, 's'));
  for (auto _ : state) {
    MUSTER_CHECK(log->append(1, Records{"r"}));
    ++snapshot.position;
    MUSTER_CHECK(log->save_snapshot(1, snapshot));
  }
  state.SetBytesProcessed(state.iterations() * (state.range(0) << 20));
}
BENCHMARK(BM_SaveSnapshot)->Arg(1)->Arg(16)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

constexpr int kReplayBatches = 2000;

void BM_Replay(benchmark::State& state) {
  TempDir dir;
  auto log = must_open(dir.path());
  Records records(256, std::string(200, 'r'));
  for (int i = 0; i < kReplayBatches; ++i) MUSTER_CHECK(log->append(1, records));
  for (auto _ : state) {
    uint64_t bytes = 0;
    MUSTER_CHECK(log->read(0, [&](Position, std::string_view r) -> Result<> {
      bytes += r.size();
      return {};
    }));
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * kReplayBatches * 256);
}
BENCHMARK(BM_Replay)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_Trim(benchmark::State& state) {
  Records records(256, std::string(200, 'r'));
  for (auto _ : state) {
    state.PauseTiming();
    TempDir dir;
    auto log = must_open(dir.path());
    for (int i = 0; i < kReplayBatches; ++i) MUSTER_CHECK(log->append(1, records));
    MUSTER_CHECK(log->save_snapshot(1, {.position = log->last_position(), .chunks = {"s"}}));
    state.ResumeTiming();
    MUSTER_CHECK(log->trim());
    state.PauseTiming();
    log.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_Trim)->UseRealTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::store
