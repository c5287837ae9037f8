#include "muster/fabric_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fields/show_topology.h"
#include "hostlist/hostlist.h"

namespace muster::front {
namespace {

GpuFabric fabric_of(const rpc::TopologyAnswer& site, uint32_t node) {
  return node < site.fabrics.size() ? site.fabrics[node] : GpuFabric{};  // a slurmctld of before says nothing of fabrics
}

std::string name_of(const rpc::TopologyAnswer& site, uint32_t node) { return node < site.nodes.size() ? site.nodes[node] : ""; }

std::string names_of(const rpc::TopologyAnswer& site, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> names;
  for (uint32_t n : nodes)
    if (std::string name = name_of(site, n); !name.empty()) names.push_back(std::move(name));
  return compress_hosts(names);
}

std::string counted_nodes(size_t n) { return std::to_string(n) + (n == 1 ? " node" : " nodes"); }

Topology& first_of_blocks(Topologies& topologies) {
  auto found = std::ranges::find(topologies.all, TopologyKind::kBlock, &Topology::kind);
  if (found != topologies.all.end()) return *found;
  Topology fresh{.name = "nvlink", .kind = TopologyKind::kBlock, .cluster_default = topologies.all.empty()};
  while (topologies.find(fresh.name)) fresh.name += "-blocks";
  return topologies.all.emplace_back(std::move(fresh));
}

std::optional<size_t> unit_with(const Topology& topology, uint32_t node) {
  for (size_t i = 0; i < topology.units.size(); ++i)
    if (std::ranges::binary_search(topology.units[i].nodes, node)) return i;
  return std::nullopt;
}

// "blockN" that no unit has, from `number` on, which then is the next one.
std::string free_name(const Topology& topology, size_t& number) {
  for (;;)
    if (std::string name = "block" + std::to_string(number++); !topology.unit(name)) return name;
}

// The sizes stay if the first is what a block has but for its spares: no block is smaller, and the smallest has less than two of them.
void fit_sizes(Topology& topology) {
  size_t smallest = SIZE_MAX;
  for (const TopologyUnit& u : topology.units) smallest = std::min(smallest, u.nodes.size());
  const auto most = static_cast<uint32_t>(smallest);
  const uint32_t base = topology.block_sizes.empty() ? 0 : topology.block_sizes.front();
  if (base > most || base <= most / 2) topology.block_sizes = {most};
}

// The first block that a node of the clique is in and that no clique before it has taken.
std::optional<size_t> free_unit(const Topology& topology, const Clique& clique, const std::set<size_t>& taken) {
  for (uint32_t n : clique.nodes)
    if (std::optional<size_t> at = unit_with(topology, n); at && !taken.contains(*at)) return at;
  return std::nullopt;
}

void place_cliques(Topology& topology, const rpc::TopologyAnswer& site, const std::vector<Clique>& cliques) {
  const Topology now = topology;
  for (TopologyUnit& u : topology.units) std::erase_if(u.nodes, [&](uint32_t n) { return fabric_of(site, n).known(); });
  std::set<size_t> taken;
  size_t number = 1;
  for (const Clique& clique : cliques) {
    std::optional<size_t> at = free_unit(now, clique, taken);
    if (!at) {
      at = topology.units.size();
      topology.units.push_back({.name = free_name(topology, number)});
    }
    taken.insert(*at);
    std::vector<uint32_t>& nodes = topology.units[*at].nodes;
    nodes.insert(nodes.end(), clique.nodes.begin(), clique.nodes.end());
    std::ranges::sort(nodes);
  }
  std::erase_if(topology.units, [](const TopologyUnit& u) { return u.nodes.empty(); });
}

std::string comments(const rpc::TopologyAnswer& site) {
  std::string out = "# Proposed by muster topology: a block for each NVLink clique that nodes tell of.\n";
  for (const Clique& c : cliques_of(site)) out += "#   " + c.fabric.text() + ": " + counted_nodes(c.nodes.size()) + "\n";
  std::vector<uint32_t> silent;
  for (uint32_t n = 0; n < site.nodes.size(); ++n)
    if (!site.nodes[n].empty() && !fabric_of(site, n).known()) silent.push_back(n);
  if (!silent.empty()) out += "# " + counted_nodes(silent.size()) + " without, left where they are: " + names_of(site, silent) + "\n";
  return out;
}

// The nodes of a list by what `part` says of each: "n[1-2] in X, n3 in Y".
template <class Key, class Part, class Text>
std::string by_part(const rpc::TopologyAnswer& site, const std::vector<uint32_t>& nodes, Part part, Text text, size_t& parts) {
  std::map<Key, std::vector<uint32_t>> groups;
  for (uint32_t n : nodes)
    if (std::optional<Key> key = part(n)) groups[*key].push_back(n);
  std::string out;
  for (const auto& [key, members] : groups) out += (out.empty() ? "" : ", ") + names_of(site, members) + " in " + text(key);
  parts = groups.size();
  return out;
}

void check_units(const rpc::TopologyAnswer& site, const Topology& topology, const std::string& where, std::vector<Finding>& out) {
  for (const TopologyUnit& u : topology.units) {
    size_t cliques = 0;
    const auto fabric = [&](uint32_t n) {
      const GpuFabric f = fabric_of(site, n);
      return f.known() ? std::optional(f) : std::nullopt;
    };
    const std::string parts = by_part<GpuFabric>(
        site, u.nodes, fabric, [](const GpuFabric& f) { return f.text(); }, cliques);
    if (cliques > 1)
      out.push_back({Level::kWarning, where, 0, "block " + u.name, "spans " + std::to_string(cliques) + " NVLink cliques: " + parts,
                     "jobs that count on NVLink within a block go slowly or fail; muster topology proposes blocks that fit"});
  }
}

void check_clique(const rpc::TopologyAnswer& site, const Topology& topology, const Clique& clique, const std::string& where,
                  std::vector<Finding>& out) {
  constexpr size_t kNowhere = SIZE_MAX;
  size_t places = 0;
  const auto unit = [&](uint32_t n) { return std::optional(unit_with(topology, n).value_or(kNowhere)); };
  const auto text = [&](size_t i) { return i == kNowhere ? "no block" : "block " + topology.units[i].name; };
  const std::string parts = by_part<size_t>(site, clique.nodes, unit, text, places);
  if (places > 1)
    out.push_back({Level::kWarning, where, 0, "NVLink clique " + clique.fabric.text(), "is not in one block: " + parts,
                   "jobs of more nodes than its largest part do not get them; muster topology proposes blocks that fit"});
}

}  // namespace

std::vector<Clique> cliques_of(const rpc::TopologyAnswer& site) {
  std::vector<Clique> out;
  std::map<GpuFabric, size_t> at;
  for (uint32_t n = 0; n < site.nodes.size(); ++n) {
    const GpuFabric fabric = fabric_of(site, n);
    if (site.nodes[n].empty() || !fabric.known()) continue;
    auto [found, fresh] = at.try_emplace(fabric, out.size());
    if (fresh) out.push_back({fabric, {}});
    out[found->second].nodes.push_back(n);
  }
  return out;
}

Topologies with_fabric_blocks(const rpc::TopologyAnswer& site) {
  Topologies out = site.topologies;
  const std::vector<Clique> cliques = cliques_of(site);
  if (cliques.empty()) return out;
  Topology& blocks = first_of_blocks(out);
  place_cliques(blocks, site, cliques);
  fit_sizes(blocks);
  return out;
}

std::string proposed_yaml(const rpc::TopologyAnswer& site) {
  return comments(site) + fields::show_topoconf({with_fabric_blocks(site), site.nodes});
}

std::string proposed_conf(const rpc::TopologyAnswer& site) {
  Topologies all = with_fabric_blocks(site);
  const Topology& blocks = first_of_blocks(all);
  std::string out = comments(site);
  for (const TopologyUnit& u : blocks.units) out += "BlockName=" + u.name + " Nodes=" + names_of(site, u.nodes) + "\n";
  std::string sizes;
  for (uint32_t n : blocks.block_sizes) sizes += (sizes.empty() ? "" : ",") + std::to_string(n);
  return out + "BlockSizes=" + sizes + "\n";
}

FabricCheck check_blocks(const rpc::TopologyAnswer& site) {
  FabricCheck out;
  const std::vector<Clique> cliques = cliques_of(site);
  for (const Topology& t : site.topologies.all) {
    if (t.kind != TopologyKind::kBlock) continue;
    const std::string where = out.topologies.emplace_back("topology " + t.name);
    check_units(site, t, where, out.findings);
    for (const Clique& c : cliques) check_clique(site, t, c, where, out.findings);
  }
  return out;
}

}  // namespace muster::front
