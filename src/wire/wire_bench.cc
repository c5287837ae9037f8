// Measures ns per encode and decode. Built on request: ninja wire_bench.
#include <benchmark/benchmark.h>

#include "wire/accounting_instances.h"
#include "wire/cluster_codec.h"
#include "wire/event_codec.h"
#include "wire/instances.h"

namespace muster {
namespace {

event::JobSubmitted submitted() {
  return {.job = JobId(123456),
          .request = RequestId(42),
          .time = from_unix(1769000000),
          .eligible = from_unix(1769000000),
          .priority = 4294901000u,
          .reason = Reason::kPriority,
          .time_limit_min = 60,
          .partition = 1};
}

JobRequest request() {
  JobRequest r;
  r.uid = Uid(1000);
  r.gid = Gid(1000);
  r.user_name = "alice";
  r.account = "physics";
  r.name = "train.sh";
  r.partitions = {"gpu"};
  r.min_nodes = r.max_nodes = 4;
  r.num_tasks = 32;
  r.cpus_per_task = 8;
  r.mem_per_node_mb = 512000;
  r.tres_per_node = "gres/gpu:h100:8";
  r.time_limit_min = 1440;
  r.script_hash = std::string(64, 'a');
  r.environment_hash = std::string(64, 'b');
  r.argv = {"/home/alice/train.sh", "--epochs=10"};
  r.work_dir = "/home/alice/run";
  r.std_out = "slurm-%j.out";
  r.submit_line = "sbatch -N4 --gpus-per-node=8 train.sh --epochs=10";
  r.alloc_node = "login1";
  r.alloc_sid = 4711;
  return r;
}

void BM_EncodeSubmitted(benchmark::State& state) {
  const Event e = submitted();
  std::string out;
  for (auto _ : state) {
    out.clear();
    encode_event(e, out);
    benchmark::DoNotOptimize(out.data());
  }
}
void BM_DecodeSubmitted(benchmark::State& state) {
  const std::string bytes = encode_event(submitted());
  for (auto _ : state) benchmark::DoNotOptimize(decode_event(bytes));
}
void BM_EncodeRequest(benchmark::State& state) {
  const JobRequest r = request();
  std::string out;
  for (auto _ : state) {
    out.clear();
    wire::encode(r, out);
    benchmark::DoNotOptimize(out.data());
  }
}
void BM_DecodeRequest(benchmark::State& state) {
  std::string bytes;
  wire::encode(request(), bytes);
  JobRequest r;
  for (auto _ : state) benchmark::DoNotOptimize(wire::decode(bytes, r));
}

Cluster pending(uint32_t jobs) {
  Cluster c;
  c.requests.set(1, {std::make_shared<const RequestBody>(request()), PackedOwn(request()), jobs});
  for (uint32_t i = 1; i <= jobs; ++i) {
    Job j;
    j.id = JobId(i);
    j.request_id = RequestId(1);
    j.priority = i;
    j.submitted = j.eligible = from_unix(1769000000);
    c.jobs.set(i, j);
  }
  return c;
}
void BM_EncodeCluster100k(benchmark::State& state) {
  const Cluster c = pending(100'000);
  for (auto _ : state) benchmark::DoNotOptimize(encode_cluster(c));
}
void BM_DecodeCluster100k(benchmark::State& state) {
  const auto chunks = encode_cluster(pending(100'000));
  for (auto _ : state) benchmark::DoNotOptimize(decode_cluster(chunks));
}

BENCHMARK(BM_EncodeSubmitted);
BENCHMARK(BM_DecodeSubmitted);
BENCHMARK(BM_EncodeRequest);
BENCHMARK(BM_DecodeRequest);
BENCHMARK(BM_EncodeCluster100k)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DecodeCluster100k)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster
