#include "sched/request/least_wanted.h"

#include <algorithm>

namespace muster::sched {
namespace {

// Of a whole that is spread over so many nodes one has at least this.
uint64_t part(uint64_t whole, uint32_t nodes) { return nodes == kUnlimited32 ? std::min<uint64_t>(whole, 1) : (whole + nodes - 1) / nodes; }

// What the job has to take on one of its nodes, however it is spread over as many as it may have. `all`: without licences. What a node is
// billed follows from what stands there together: a part of the whole bill, or that of what is on each node.
TresCounts least_on_a_node(const Shape& shape, uint64_t tasks, const TresCounts& all, const Partition& partition, const Cluster& cluster) {
  const TresTable& table = cluster.tres_table();
  auto bill = [&](const TresCounts& of) { return billing_of(partition.tres_billing_weights, cluster.billing(), of, table); };
  TresCounts out, spread;
  const uint32_t most = std::min<uint64_t>(shape.max_nodes, std::max<uint64_t>(tasks, std::max(shape.min_nodes, 1u)));
  for (uint32_t tres = 0; tres < all.size(); ++tres)
    if (const TresKind kind = table.what(tres).kind; kind == TresKind::kCpu || kind == TresKind::kGres)
      spread.add(tres, part(all[tres], most));
  const uint64_t tasks_here = std::max<uint64_t>(shape.num_tasks ? 1 : std::max(shape.tasks_per_node, 1u), part(tasks, most));
  out.add(TresTable::kNode, 1);
  if (!shape.overcommit) out.add(TresTable::kCpu, std::max<uint64_t>(mul_sat(tasks_here, shape.cpus_per_task), shape.min_cpus_per_node));
  for (const GresNeed& g : shape.per_node) add_gres(out, table, g.name, g.type, g.count);
  for (const GresNeed& g : shape.per_task) add_gres(out, table, g.name, g.type, mul_sat(g.count, tasks_here));
  for (const GresNeed& g : shape.per_socket) add_gres(out, table, g.name, g.type, g.count);
  out.add(TresTable::kBilling, bill(out));
  spread.add(TresTable::kBilling, bill(all) / most);
  out.raise(spread);
  if (!shape.mem_consumable) return out;
  if (shape.memory == MemoryMode::kPerNode) out.add(TresTable::kMem, shape.mem_mb);
  if (shape.memory == MemoryMode::kPerCpu) out.add(TresTable::kMem, mul_sat(shape.mem_mb, out[TresTable::kCpu]));
  return out;
}

}  // namespace

Least least_wanted(const Shape& shape, const Partition& partition, const Cluster& cluster) {
  const TresTable& table = cluster.tres_table();
  const uint64_t nodes = std::max(shape.min_nodes, 1u);
  const uint64_t tasks = shape.num_tasks ? shape.num_tasks : nodes * std::max(shape.tasks_per_node, 1u);
  const uint64_t cpus = shape.overcommit ? nodes : mul_sat(tasks, shape.cpus_per_task);
  TresCounts out;
  out.add(TresTable::kCpu, cpus);
  out.add(TresTable::kNode, nodes);
  uint64_t gpus = 0;
  auto devices = [&](const std::vector<GresNeed>& list, uint64_t times) {
    for (const GresNeed& g : list) {
      add_gres(out, table, g.name, g.type, mul_sat(g.count, times));
      if (g.name == "gpu") gpus += mul_sat(g.count, times);
    }
  };
  devices(shape.per_node, nodes);
  devices(shape.per_job, 1);
  devices(shape.per_task, tasks);
  devices(shape.per_socket, nodes);
  if (shape.mem_consumable) {
    if (shape.memory == MemoryMode::kPerNode) out.add(TresTable::kMem, mul_sat(shape.mem_mb, nodes));
    if (shape.memory == MemoryMode::kPerCpu) out.add(TresTable::kMem, mul_sat(shape.mem_mb, cpus));
    if (shape.memory == MemoryMode::kPerGpu) out.add(TresTable::kMem, mul_sat(shape.mem_mb, gpus));
  }
  TresCounts each_node = least_on_a_node(shape, tasks, out, partition, cluster);
  if (!shape.licenses.any)
    for (const LicenseShare& l : shape.licenses.list) add_license(out, table, l.name, l.count);
  out.add(TresTable::kBilling, billing_of(partition.tres_billing_weights, cluster.billing(), out, table));
  return {out, std::move(each_node)};
}

}  // namespace muster::sched
