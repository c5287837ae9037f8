// The steps of build_slurm_config. Inside config/ only.
#pragma once

#include <vector>

#include "config/node_index.h"
#include "config/record.h"
#include "config/slurm_conf.h"
#include "model/topology.h"

namespace muster::config {

// The kind of record a line is; kGlobal when it has none of the record keys.
Section section_of(const Line& line);

// Keys of the cluster: fills the members and `values`.
void build_globals(const std::vector<const Line*>& lines, Config& config, Findings& findings);
// NodeName and DownNodes lines: fills `nodes`.
void build_nodes(const std::vector<const Line*>& lines, Config& config, NodeIndex& index, Findings& findings);
void apply_down_nodes(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index,
                      Findings& findings);
// After the nodes.
void build_node_sets(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index,
                     Findings& findings);
void build_partitions(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index,
                      Findings& findings);
void build_power_actions(const std::vector<const Line*>& lines, Config& config, Findings& findings);

// A Nodes= value without block{b1} and the like, which mean something only when the topology is known (topology_nodes.cc); and
// that: what they add to partitions and node sets. `all`: nodes by their place in Config::nodes.
std::string without_unit_functions(std::string_view nodes);
void add_topology_nodes(Config& config, const Topologies& all, Findings& findings);

// Nodes=: names, ranges, node sets, ALL, feature{x}. Reports unknown ones at `pos`.
Bitmap resolve_nodes(std::string_view text, const SourcePos& pos, std::string_view key, const Config& config,
                     const NodeIndex& index, Findings& findings);

}  // namespace muster::config
