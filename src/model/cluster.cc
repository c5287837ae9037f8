#include "model/cluster.h"

#include <algorithm>
#include <optional>

namespace muster {
namespace {

std::optional<uint32_t> find_name(
    const std::shared_ptr<const std::unordered_map<std::string, uint32_t>>& names, std::string_view name) {
  if (!names) return std::nullopt;
  auto it = names->find(std::string(name));
  if (it == names->end()) return std::nullopt;
  return it->second;
}

}  // namespace

const Node* Cluster::node(std::string_view name) const {
  auto key = find_name(node_names, name);
  return key ? nodes.find(*key) : nullptr;
}

const Partition* Cluster::partition(std::string_view name) const {
  auto key = find_name(partition_names, name);
  return key ? partitions.find(*key) : nullptr;
}

uint64_t Cluster::license_used(const std::string& name) const {
  if (!licenses_used) return 0;
  auto it = licenses_used->find(name);
  return it == licenses_used->end() ? 0 : it->second;
}

void Cluster::count_licenses(const Job& job, bool held) {
  if (!job.allocation || job.allocation->licenses.empty()) return;
  auto next = licenses_used ? std::make_shared<std::map<std::string, uint64_t>>(*licenses_used)
                            : std::make_shared<std::map<std::string, uint64_t>>();
  for (const LicenseShare& l : job.allocation->licenses) {
    uint64_t& used = (*next)[l.name];
    used = held ? used + l.count : used - std::min(used, l.count);
    if (used == 0) next->erase(l.name);
  }
  licenses_used = std::move(next);
}

void Cluster::recount_licenses() {
  licenses_used = nullptr;
  jobs.for_each([&](uint32_t, const Job& j) {
    if (!j.pending() && !j.finished()) count_licenses(j, true);
  });
}

}  // namespace muster
