#include "slurmctld/core/tres_totals.h"

#include <algorithm>

#include "base/tres_mem.h"

namespace muster::slurmctld {

void TresTotals::add(uint64_t cpus, uint64_t mem_mb, const std::vector<GresShare>& gres) {
  cpus_ += cpus;
  mem_mb_ += mem_mb;
  ++nodes_;
  for (const GresShare& g : gres) add_gres(g.name, g.type, g.count);
}

void TresTotals::add_gres(const std::string& name, const std::string& type, uint64_t count) {
  by_name_[name] += count;
  if (!type.empty()) by_type_[{name, type}] += count;
}

void TresTotals::configure(const NodeSpec& node) {
  add(node.cpus, node.real_memory_mb, {});
  for (const GresDevices& g : node.gres) add_gres(g.name, g.type, g.count);
}

void TresTotals::hold(const NodeShare& share) { add(share.counted_cpus(), share.mem_mb, share.gres); }
void TresTotals::hold(const StepShare& share) { add(share.cpus.count(), share.mem_mb, share.gres); }
void TresTotals::use(const Node& node) { add(node.cpus_allocated(), node.mem_used_mb, node.gres_used); }

void TresTotals::add_license(const std::string& name, uint64_t count) { licenses_.emplace_back(name, count); }

void TresTotals::want(uint64_t cpus, uint64_t mem_mb, uint64_t nodes) {
  cpus_ += cpus;
  mem_mb_ += mem_mb;
  nodes_ += nodes;
}

void TresTotals::keep_gres(const std::vector<std::string>& tres) {
  auto unknown = [&](const std::string& name) { return std::ranges::find(tres, "gres/" + name) == tres.end(); };
  std::erase_if(by_name_, [&](const auto& g) { return unknown(g.first); });
  std::erase_if(by_type_, [&](const auto& g) { return unknown(g.first.first + ":" + g.first.second); });
}

std::string TresTotals::text(uint32_t listed) const {
  const std::string cpus = std::to_string(cpus_);
  std::string out = "cpu=" + cpus;
  if (mem_mb_ || (listed & kMem)) out += ",mem=" + format_tres_mem(mem_mb_);
  if (listed & kNodes) out += ",node=" + std::to_string(nodes_);
  if (listed & kBilling) out += ",billing=" + cpus;
  for (const auto& [name, count] : by_name_) out += ",gres/" + name + "=" + std::to_string(count);
  for (const auto& [key, count] : by_type_) out += ",gres/" + key.first + ":" + key.second + "=" + std::to_string(count);
  for (const auto& [name, count] : licenses_) out += ",license/" + name + "=" + std::to_string(count);
  return out;
}

}  // namespace muster::slurmctld
