#include "sched/fit/shortage.h"

#include <algorithm>

#include "base/text.h"

namespace muster::sched {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 20, kPlentyMb = uint64_t{1} << 50;

bool takes(const Shape& s, const Kind& k, uint32_t units, uint64_t mem_mb, const std::vector<uint64_t>& gres) {
  const uint32_t tasks = count_tasks(s, k, {units, mem_mb, gres});
  return tasks != kNoTasks && (s.num_tasks != 0 || tasks >= s.tasks_per_node);
}

// The option or parameter that sets the memory of one task.
std::string_view memory_option(const RequestBody& r, const Shape& s) {
  if (r.mem_per_node_mb) return "--mem";
  if (r.mem_per_cpu_mb) return "--mem-per-cpu";
  if (r.mem_per_gpu_mb) return "--mem-per-gpu";
  if (s.memory == MemoryMode::kPerGpu) return "DefMemPerGPU";
  return s.memory == MemoryMode::kPerCpu ? "DefMemPerCPU" : "DefMemPerNode";
}

}  // namespace

Shortage shortage_on(const Shape& shape, const Kind& kind) {
  std::vector<uint64_t> gres(kind.gres.size());
  free_gres(kind, {}, gres.data());
  if (takes(shape, kind, kind.units, kind.mem_mb, gres)) return Shortage::kNone;
  // A kind that lacks the device altogether has no entry that could be made plentiful.
  for (const auto* needs : {&shape.per_node, &shape.per_job, &shape.per_task, &shape.per_socket})
    for (const GresNeed& need : *needs)
      if (gres_available(need, kind, gres) == 0) return Shortage::kDevices;
  const std::vector<uint64_t> many(kind.gres.size(), kPlenty);
  Kind roomy = kind;  // counting looks at what the kind has, too
  roomy.units = roomy.cpus = roomy.cores = kPlenty;
  roomy.mem_mb = kPlentyMb;
  Kind wide = roomy, deep = kind;
  wide.mem_mb = kind.mem_mb;
  deep.mem_mb = kPlentyMb;
  if (!takes(shape, deep, kind.units, kPlentyMb, many)) return Shortage::kCpus;
  if (!takes(shape, wide, kPlenty, kind.mem_mb, many)) return Shortage::kMemory;
  if (!takes(shape, roomy, kPlenty, kPlentyMb, gres)) return Shortage::kDevices;
  return Shortage::kTogether;
}

std::string task_asks(const RequestBody& request, const Shape& shape, const Kind& kind) {
  const bool one = shape.num_tasks || shape.tasks_per_node <= 1;
  const uint32_t tasks = one ? 1 : shape.tasks_per_node;
  uint64_t gpus = shape.gpus_per_node() + mul_sat(shape.gpus_per_task(), tasks);
  for (const GresNeed& g : shape.per_job) gpus += g.name == "gpu";
  const uint32_t units = units_for(shape, kind, tasks, gpus);
  const uint64_t cpus = shape.whole_cores ? uint64_t{units} * kind.threads : units;
  std::string out = (one ? std::string("one task asks") : std::to_string(tasks) + " tasks ask") + " for " + std::to_string(cpus) +
                    (cpus == 1 ? " CPU" : " CPUs");
  if (shape.memory == MemoryMode::kAll) {
    out += ", all memory of a node";
  } else if (shape.memory != MemoryMode::kNone) {
    const uint64_t mb = memory_for(shape, kind, units, gpus);
    // Stated in M, because people compare it with the memory of nodes.
    out += ", " + std::to_string(mb) + "M (" + (mb == shape.mem_mb ? "" : std::to_string(shape.mem_mb) + "M ") + "by " +
           std::string(memory_option(request, shape)) + ")";
  }
  for (const GresNeed& need : needs_on_node(shape, tasks, {std::vector<uint64_t>(shape.per_job.size(), 1)}))
    out += ", gres/" + gres_text(need.name, need.type, need.count);
  return out;
}

}  // namespace muster::sched
