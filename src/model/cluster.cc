#include "model/cluster.h"

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

}  // namespace muster
