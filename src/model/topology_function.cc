#include "model/topology_function.h"

#include <algorithm>

namespace muster {
namespace {

template <class Matches>
Bitmap units_where(const Topologies& all, TopologyKind kind, Matches&& matches) {
  Bitmap out;
  for (const Topology& t : all.all) {
    if (t.kind != kind) continue;
    for (uint32_t u = 0; u < t.units.size(); ++u)
      if (matches(t.units[u]))
        for (uint32_t n : nodes_below(t, u)) out.set(n);
  }
  return out;
}

}  // namespace

std::optional<TopologyFunction> topology_function(std::string_view name) {
  const bool with = name.ends_with("with");
  if (with) name.remove_suffix(4);
  for (TopologyKind kind : {TopologyKind::kTree, TopologyKind::kBlock, TopologyKind::kRing, TopologyKind::kTorus3d})
    if (topology_unit_name(kind) == name) return TopologyFunction{kind, with};
  return std::nullopt;
}

Bitmap nodes_of_unit(const Topologies& all, TopologyKind kind, std::string_view unit) {
  return units_where(all, kind, [&](const TopologyUnit& u) { return u.name == unit; });
}

Bitmap nodes_beside(const Topologies& all, TopologyKind kind, uint32_t node) {
  return units_where(all, kind,
                     [&](const TopologyUnit& u) { return u.children.empty() && std::ranges::find(u.nodes, node) != u.nodes.end(); });
}

}  // namespace muster
