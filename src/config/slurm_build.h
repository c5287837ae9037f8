// The steps of build_slurm_config. Inside config/ only.
#pragma once

#include <vector>

#include "config/foreign_nodes.h"
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
void apply_down_nodes(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
// After the nodes.
void build_node_sets(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
void build_partitions(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
void build_power_actions(const std::vector<const Line*>& lines, Config& config, Findings& findings);

// A Nodes= value without block{b1} and the like, which mean something only when the topology is known (topology_nodes.cc); and
// that: what they add to partitions and node sets. `all`: nodes by their place in Config::nodes.
std::string without_unit_functions(std::string_view nodes);
void add_topology_nodes(Config& config, const Topologies& all, Findings& findings);

// Nodes=: names, ranges, node sets, ALL, feature{x}. Unknown ones are errors at `pos`, or go to `foreign`.
Bitmap resolve_nodes(std::string_view text, const SourcePos& pos, std::string_view key, const Config& config, const NodeIndex& index,
                     Findings& findings, ForeignNodes* foreign = nullptr);

// TRESBillingWeights= and TRESWeights= of a line.
void check_weights(const Record& r, std::string_view key, const Config& config, Findings& findings);

// ControlMachine= and its kin, of releases that had no SlurmctldHost: the lines that say the same. Empty where
// SlurmctldHost stands.
bool is_older_controller_key(std::string_view key);
struct OlderController {
  std::string key;  // as in the file
  KeyValue host;    // SlurmctldHost=
};
std::vector<OlderController> controllers_of_older_keys(const std::vector<const Line*>& lines);

}  // namespace muster::config
