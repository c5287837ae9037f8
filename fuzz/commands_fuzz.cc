// Any sequence of commands to the controller core: messages of any kind with any bytes, and beside them submissions, cancellations, holds, updates, plans, node reports, time
// passing. Whatever comes, the indexes are what a rebuild gives and a rollback restores what was.
#include "controller.h"

namespace {

using namespace muster;
using namespace muster::slurmctld;

constexpr char kConf[] = "ClusterName=f\nSlurmctldHost=h\nAuthType=auth/slurm\nMaxArraySize=64\nMaxJobCount=200\nMinJobAge=10\n"
                         "NodeName=n[1-4] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\n";

struct Input {
  const uint8_t* data;
  size_t size;
  uint8_t next() { return size ? (--size, *data++) : 0; }
  std::string_view bytes(size_t most) {
    const std::string_view out(reinterpret_cast<const char*>(data), std::min(most, size));
    data += out.size();
    size -= out.size();
    return out;
  }
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

void command(FuzzController& controller, Input& in) {
  Core& core = controller.core;
  Caller who{Uid(in.next() % 3), {}, {}, {}};
  rpc::JobSelector job;
  job.job = JobId(in.next() % 24);
  if (in.next() % 3 == 0) job.array_task = in.next() % 8;
  switch (in.next() % 10) {
    case 0:
    case 1: (void)core.run(who, request(in)); break;
    case 2: {
      rpc::SignalJobs c;
      if (in.next() % 4) c.filter.jobs.push_back(job);
      c.signal = in.next() % 3 ? 0 : 15;
      (void)core.run(who, c);
      break;
    }
    case 3: {
      rpc::ControlJobs c;
      c.action = static_cast<rpc::JobAction>(in.next() % 8);
      c.jobs.push_back(job);
      (void)core.run(who, c);
      break;
    }
    case 4: {
      static constexpr const char* kKeys[] = {"TimeLimit", "Priority", "Partition", "Dependency", "NumNodes", "Nice", "Bogus", "Name"};
      rpc::UpdateJob c;
      c.job = job;
      c.changes.push_back({kKeys[in.next() % 8], "=", std::to_string(in.next())});
      (void)core.run(who, c);
      break;
    }
    case 5: controller.plan(in.next() % 2 ? sched::Pass::kQuick : sched::Pass::kFull); break;
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
      (void)core.run(who, c);
      break;
    }
    case 9: {
      const size_t row = in.next() % command_rows().size();
      const std::string_view bytes = in.bytes(in.next());
      if (const auto any = command_of(row, bytes, who)) (void)core.run(who, *any);
      if (auto any = query_of(row, bytes)) (void)controller.ask(who, std::move(*any));
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzController controller(kConf, Uid{0});
  Input in{data, size};
  while (!in.empty()) {
    controller.now += seconds(in.next());
    auto commands = [&, count = in.next() % 4] {
      for (int i = count; i >= 0; --i) command(controller, in);
    };
    if (in.next() % 8 == 0) controller.failing_turn(commands);
    else controller.turn(commands);
  }
  return 0;
}
