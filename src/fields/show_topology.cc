#include "fields/show_topology.h"

#include <algorithm>

#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

std::string list_of(const TopologyView& view, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> out;
  for (uint32_t n : nodes)
    if (n < view.names.size() && !view.names[n].empty()) out.push_back(view.names[n]);
  return compress_hosts(out);
}

// One line of the answer: its text, and the nodes it is about.
struct Row {
  std::string name, text;
  std::vector<uint32_t> nodes;  // ascending
};

std::vector<uint32_t> sorted(std::vector<uint32_t> nodes) {
  std::erase(nodes, kNoNode);
  std::ranges::sort(nodes);
  return nodes;
}

std::vector<Row> tree_rows(const TopologyView& view, const Topology& topology) {
  std::vector<Row> out;
  const std::vector<uint32_t> level = switch_levels(topology);
  const uint32_t top = level.empty() ? 0 : *std::ranges::max_element(level);
  for (uint32_t height = 0; height <= top; ++height)
    for (uint32_t i = 0; i < level.size(); ++i) {
      if (level[i] != height) continue;
      const TopologyUnit& u = topology.units[i];
      Row row{u.name, {}, nodes_below(topology, i)};
      row.text = "SwitchName=" + u.name + " Level=" + std::to_string(height) + " LinkSpeed=" + (u.link_speed.empty() ? "1" : u.link_speed) +
                 " Nodes=" + list_of(view, row.nodes);
      std::vector<std::string> below;
      for (uint32_t c : u.children) below.push_back(topology.units[c].name);
      if (!below.empty()) row.text += " Switches=" + compress_hosts(below);
      out.push_back(std::move(row));
    }
  return out;
}

std::vector<Row> block_rows(const TopologyView& view, const Topology& topology) {
  std::vector<Row> out;
  auto add = [&](const char* what, std::string name, std::vector<uint32_t> nodes, uint32_t size) {
    Row row{name, {}, std::move(nodes)};
    row.text = std::string(what) + "=" + name + " BlockIndex=" + std::to_string(out.size()) + " Nodes=" + list_of(view, row.nodes) +
               " BlockSize=" + std::to_string(size);
    out.push_back(std::move(row));
  };
  const uint32_t base = topology.block_sizes.empty() ? 1 : topology.block_sizes.front();
  for (const TopologyUnit& u : topology.units) add("BlockName", u.name, u.nodes, base);
  for (size_t l = 1; l < topology.block_sizes.size(); ++l)
    for (size_t first = 0, each = topology.block_sizes[l] / base; first < topology.units.size(); first += each) {
      std::vector<std::string> names;
      std::vector<uint32_t> nodes;
      for (size_t i = first; i < std::min(first + each, topology.units.size()); ++i) {
        names.push_back(topology.units[i].name);
        nodes.insert(nodes.end(), topology.units[i].nodes.begin(), topology.units[i].nodes.end());
      }
      add("AggregatedBlock", compress_hosts(names), sorted(std::move(nodes)), topology.block_sizes[l]);
    }
  return out;
}

std::vector<Row> ring_rows(const TopologyView& view, const Topology& t) {
  std::vector<Row> out;
  for (const TopologyUnit& u : t.units)
    out.push_back({u.name,
                   "RingName=" + u.name + " RingIndex=" + std::to_string(out.size()) + " Nodes=" + list_of(view, u.nodes) +
                       " RingSize=" + std::to_string(u.nodes.size()),
                   sorted(u.nodes)});
  return out;
}

std::string cell_text(const Cell3d& c) { return std::to_string(c.x) + "x" + std::to_string(c.y) + "x" + std::to_string(c.z); }

std::vector<Row> torus_rows(const TopologyView& view, const Topology& t) {
  std::vector<Row> out;
  for (const TopologyUnit& u : t.units) {
    std::string shapes;
    for (const TorusPlacement& p : u.placements) shapes += (shapes.empty() ? "" : ",") + cell_text(p.dims);
    out.push_back({u.name,
                   "TorusName=" + u.name + " Dims=" + cell_text(u.dims) + " Nodes=" + list_of(view, u.nodes) + " Placements=" + shapes,
                   sorted(u.nodes)});
  }
  return out;
}

std::vector<Row> rows_of(const TopologyView& view, const Topology& t) {
  switch (t.kind) {
    case TopologyKind::kFlat: break;
    case TopologyKind::kTree: return tree_rows(view, t);
    case TopologyKind::kBlock: return block_rows(view, t);
    case TopologyKind::kRing: return ring_rows(view, t);
    case TopologyKind::kTorus3d: return torus_rows(view, t);
  }
  return {};
}

// ---- topology.yaml

std::string cell_yaml(const Cell3d& c) {
  return "{x: " + std::to_string(c.x) + ", y: " + std::to_string(c.y) + ", z: " + std::to_string(c.z) + "}";
}

void unit_yaml(const TopologyView& view, const Topology& topology, const TopologyUnit& unit, std::string& out) {
  if (topology.kind == TopologyKind::kTorus3d) {
    out += "      - name: " + unit.name + "\n        dims: " + cell_yaml(unit.dims) + "\n";
    const bool full = std::ranges::find(unit.nodes, kNoNode) == unit.nodes.end();
    if (full) {
      out += "        nodes: " + list_of(view, unit.nodes) + "\n";
    } else {  // cell by cell, because a list would fill the empty cells
      out += "        regions:\n";
      for (uint32_t i = 0; i < unit.nodes.size(); ++i)
        if (unit.nodes[i] != kNoNode)
          out += "          - {anchor: " + cell_yaml({i % unit.dims.x, i / unit.dims.x % unit.dims.y, i / unit.dims.x / unit.dims.y}) +
                 ", dims: {x: 1, y: 1, z: 1}, nodes: " + list_of(view, {unit.nodes[i]}) + "}\n";
    }
    out += "        placements:\n";
    for (const TorusPlacement& p : unit.placements) {
      out += "          - dims: " + cell_yaml(p.dims) + "\n";
      if (!(p.anchor_seed == Cell3d{})) out += "            anchor_seed: " + cell_yaml(p.anchor_seed) + "\n";
      if (!(p.anchor_spacing == p.dims)) out += "            anchor_spacing: " + cell_yaml(p.anchor_spacing) + "\n";
    }
    return;
  }
  out += "      - " + std::string(topology_unit_name(topology.kind)) + ": " + unit.name + "\n";
  if (!unit.children.empty()) {
    std::vector<std::string> below;
    for (uint32_t c : unit.children) below.push_back(topology.units[c].name);
    out += "        children: " + compress_hosts(below) + "\n";
  } else {
    out += "        nodes: " + list_of(view, unit.nodes) + "\n";
  }
}

}  // namespace

Result<std::string> show_topology(const TopologyView& view, const TopologyWanted& wanted) {
  const Topology* topology = wanted.topology.empty() ? view.topologies.cluster_default() : view.topologies.find(wanted.topology);
  if (!topology && !wanted.topology.empty()) return fail(Errc::kNotFound, "there is no topology " + wanted.topology);
  if (!topology || topology->kind == TopologyKind::kFlat) return std::string();  // nothing to show
  std::vector<uint32_t> held;
  for (const std::string& name : wanted.nodes) {
    auto at = std::ranges::find(view.names, name);
    if (name.empty() || at == view.names.end()) return fail(Errc::kInvalidNodeName, "Node " + name + " not found");
    held.push_back(static_cast<uint32_t>(at - view.names.begin()));
  }
  std::string out;
  for (const Row& row : rows_of(view, *topology)) {
    if (!wanted.unit.empty() && row.name != wanted.unit) continue;
    const bool holds = std::ranges::all_of(held, [&](uint32_t n) { return std::ranges::binary_search(row.nodes, n); });
    if (!holds) continue;
    out += wanted.line_length ? row.text.substr(0, wanted.line_length) : row.text;
    out += '\n';
  }
  if (!out.empty()) return out;
  const std::string what(topology_unit_name(topology->kind));
  if (!wanted.unit.empty()) return fail(Errc::kNotFound, "topology " + topology->name + " has no " + what + " " + wanted.unit);
  return fail(Errc::kNotFound, "no " + what + " of topology " + topology->name + " holds " + compress_hosts(wanted.nodes));
}

std::string show_topoconf(const TopologyView& view) {
  std::string out = "---\n";
  if (view.topologies.all.empty()) return out + "- topology: default\n  cluster_default: true\n  flat: true\n";
  constexpr const char* kLists[] = {"", "switches", "blocks", "rings", "toruses"};
  for (const Topology& topology : view.topologies.all) {
    out += "- topology: " + topology.name + "\n  cluster_default: " + (topology.cluster_default ? "true" : "false") + "\n  " +
           std::string(topology_kind_name(topology.kind)) + ":";
    if (topology.kind == TopologyKind::kFlat) {
      out += topology.alpha_step_rank ? "\n    alpha_step_rank: true\n" : " true\n";
      continue;
    }
    out += "\n";
    if (!topology.block_sizes.empty()) out += "    block_sizes:\n";
    for (uint32_t n : topology.block_sizes) out += "      - " + std::to_string(n) + "\n";
    out += "    " + std::string(kLists[static_cast<size_t>(topology.kind)]) + ":\n";
    for (const TopologyUnit& u : topology.units) unit_yaml(view, topology, u, out);
  }
  return out;
}

}  // namespace muster::fields
