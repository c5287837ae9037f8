#include "sched/request/least_wanted.h"

#include <algorithm>

namespace muster::sched {

TresCounts least_wanted(const Shape& s, const TresTable& table) {
  const uint64_t nodes = std::max(s.min_nodes, 1u);
  const uint64_t tasks = s.num_tasks ? s.num_tasks : nodes * std::max(s.tasks_per_node, 1u);
  const uint64_t cpus = s.overcommit ? nodes : mul_sat(tasks, s.cpus_per_task);
  TresCounts out;
  out.add(TresTable::kCpu, cpus);
  out.add(TresTable::kBilling, cpus);
  out.add(TresTable::kNode, nodes);
  uint64_t gpus = 0;
  auto devices = [&](const std::vector<GresNeed>& list, uint64_t times) {
    for (const GresNeed& g : list) {
      add_gres(out, table, g.name, g.type, mul_sat(g.count, times));
      if (g.name == "gpu") gpus += mul_sat(g.count, times);
    }
  };
  devices(s.per_node, nodes);
  devices(s.per_job, 1);
  devices(s.per_task, tasks);
  devices(s.per_socket, nodes);
  if (s.mem_consumable) {
    if (s.memory == MemoryMode::kPerNode) out.add(TresTable::kMem, mul_sat(s.mem_mb, nodes));
    if (s.memory == MemoryMode::kPerCpu) out.add(TresTable::kMem, mul_sat(s.mem_mb, cpus));
    if (s.memory == MemoryMode::kPerGpu) out.add(TresTable::kMem, mul_sat(s.mem_mb, gpus));
  }
  if (!s.licenses.any)
    for (const LicenseShare& l : s.licenses.list) add_license(out, table, l.name, l.count);
  return out;
}

}  // namespace muster::sched
