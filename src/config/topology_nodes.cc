// Nodes=block{b1}, Nodes=switchwith{n1} of partitions and node sets: their nodes are known once the topology is. Guide topology, "Hostlist
// functions".
#include "base/text.h"
#include "config/slurm_build.h"
#include "model/topology_function.h"

namespace muster::config {
namespace {

struct UnitPiece {
  TopologyFunction function;
  std::string_view value;
};

std::optional<UnitPiece> unit_piece(std::string_view piece) {
  const size_t open = piece.find('{');
  if (open == std::string_view::npos || !piece.ends_with('}')) return std::nullopt;
  std::optional<TopologyFunction> function = topology_function(piece.substr(0, open));
  if (!function) return std::nullopt;
  return UnitPiece{*function, piece.substr(open + 1, piece.size() - open - 2)};
}

Bitmap nodes_meant(const Config& config, const Topologies& all, const UnitPiece& p) {
  if (!p.function.with) return nodes_of_unit(all, p.function.kind, p.value);
  std::optional<uint32_t> node = config.node_index(p.value);
  return node ? nodes_beside(all, p.function.kind, *node) : Bitmap();
}

void add_nodes(const std::string& text, const SourcePos& where, const Config& config, const Topologies& all, Bitmap& nodes,
               Findings& findings) {
  for (std::string_view raw : split_outside_brackets(text)) {
    std::string_view piece = trim(raw);
    if (std::optional<UnitPiece> unit = unit_piece(piece)) {
      const Bitmap meant = nodes_meant(config, all, *unit);
      if (meant.none()) findings.error(where, "Nodes", "\"" + std::string(piece.substr(0, 80)) + "\" means no node of the topology");
      nodes |= meant;
      continue;
    }
    for (const NodeSetConfig& set : config.node_sets)  // a set may have grown by its own functions
      if (set.name == piece) nodes |= set.nodes;
  }
}

}  // namespace

std::string without_unit_functions(std::string_view nodes) {
  std::string out;
  for (std::string_view piece : split_outside_brackets(nodes)) {
    if (unit_piece(trim(piece))) continue;
    out += (out.empty() ? "" : ",") + std::string(piece);
  }
  return out;
}

void add_topology_nodes(Config& config, const Topologies& all, Findings& f) {
  for (NodeSetConfig& set : config.node_sets) add_nodes(set.nodes_text, set.where, config, all, set.nodes, f);
  for (PartitionConfig& p : config.partitions) add_nodes(p.spec.nodes_text, p.where, config, all, p.spec.nodes, f);
}

}  // namespace muster::config
