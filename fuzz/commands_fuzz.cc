// Any sequence of commands to the controller core: submissions, cancellations, holds, updates, plans, node reports, time
// passing. Whatever comes, the indexes are what a rebuild gives and a rollback restores what was.
#include <cstdint>
#include <cstdlib>

#include "config/load.h"
#include "slurmctld/core/core.h"
#include "wire/cluster_codec.h"

namespace {

using namespace muster;
using namespace muster::slurmctld;

constexpr char kConf[] =
    "ClusterName=f\nSlurmctldHost=h\nAuthType=auth/slurm\nMaxArraySize=64\nMaxJobCount=200\nMinJobAge=10\n"
    "NodeName=n[1-4] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\n";

struct Input {
  const uint8_t* data;
  size_t size;
  uint8_t next() { return size ? (--size, *data++) : 0; }
  bool empty() const { return size == 0; }
};

JobRequest request(Input& in) {
  JobRequest r;
  r.uid = Uid(in.next() % 3);
  r.name = std::string(1, static_cast<char>('a' + in.next() % 3));
  r.min_nodes = in.next() % 6;
  r.num_tasks = in.next() % 20;
  r.hold = in.next() % 5 == 0;
  if (in.next() % 4 == 0) r.array = "0-" + std::to_string(in.next() % 80) + (in.next() % 2 ? "%2" : "");
  if (in.next() % 4 == 0) r.dependency = "afterok:" + std::to_string(in.next() % 16);
  r.time_limit_min = in.next() % 70;
  if (in.next() % 3 == 0) r.kind = JobKind::kAllocation;
  return r;
}

void command(Core& core, sched::Planner& planner, Input& in, Time now) {
  Caller who{Uid(in.next() % 3), {}, {}, {}};
  rpc::JobSelector job;
  job.job = JobId(in.next() % 24);
  if (in.next() % 3 == 0) job.array_task = in.next() % 8;
  switch (in.next() % 9) {
    case 0:
    case 1: (void)core.submit(who, request(in)); break;
    case 2: {
      rpc::SignalJobs c;
      if (in.next() % 4) c.filter.jobs.push_back(job);
      c.signal = in.next() % 3 ? 0 : 15;
      (void)core.signal(who, c);
      break;
    }
    case 3: {
      rpc::ControlJobs c;
      c.action = static_cast<rpc::JobAction>(in.next() % 8);
      c.jobs.push_back(job);
      (void)core.control(who, c);
      break;
    }
    case 4: {
      static constexpr const char* kKeys[] = {"TimeLimit", "Priority", "Partition", "Dependency", "NumNodes", "Nice", "Bogus", "Name"};
      rpc::UpdateJob c;
      c.job = job;
      c.changes.push_back({kKeys[in.next() % 8], "=", std::to_string(in.next())});
      (void)core.update_job(who, c);
      break;
    }
    case 5: core.carry_out(planner.plan(core.cluster(), core.settings().sched, now, in.next() % 2 ? sched::Pass::kQuick : sched::Pass::kFull)); break;
    case 6: {
      node_rpc::BatchFinished r;
      r.job = job.job;
      r.generation = in.next() % 2;
      r.exit_status = in.next() % 2 ? 0 : 256;
      r.gone = in.next() % 2;
      core.report(NodeId(in.next() % 5), r);
      break;
    }
    case 7: core.report(NodeId(in.next() % 5), node_rpc::JobGone{job.job, static_cast<uint32_t>(in.next() % 2), {}}); break;
    case 8: {
      rpc::UpdateNode c;
      c.nodes = "n" + std::to_string(in.next() % 6);
      static constexpr const char* kStates[] = {"drain", "down", "resume", "idle"};
      c.changes = {{"State", "=", kStates[in.next() % 4]}, {"Reason", "=", "x"}};
      (void)core.update_node(who, c);
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kLoaded = [] {
    config::MemoryFiles files;
    files.put("/c/slurm.conf", kConf);
    return std::make_shared<const config::LoadedConfig>(*config::load_config(files, "/c/slurm.conf"));
  }();
  Settings settings = make_settings(kLoaded, Uid{0}, false);
  Core core(settings);
  sched::Planner planner;
  Time now = from_unix(1795250940);
  core.begin(now);
  core.configure(settings);
  for (uint32_t n = 0; n < 4; ++n) {
    node_rpc::Register r;
    r.node = "n" + std::to_string(n + 1);
    r.hardware.cpus = r.hardware.sockets = 4;
    r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
    r.hardware.real_memory_mb = 1000;
    core.report(NodeId(n), r);
  }
  core.housekeep();
  core.commit();
  (void)core.take_effects(now);
  Input in{data, size};
  while (!in.empty()) {
    now += seconds(in.next());
    auto before = encode_cluster(core.cluster());
    core.begin(now);
    for (int i = in.next() % 4; i >= 0; --i) command(core, planner, in, now);
    core.housekeep();
    if (in.next() % 8 == 0) {
      core.rollback();
      if (encode_cluster(core.cluster()) != before) std::abort();
    } else {
      core.commit();
      (void)core.take_effects(now);
    }
    if (!core.indexes().same_as(rebuild_indexes(core.cluster(), settings.config().min_job_age))) std::abort();
  }
  return 0;
}
