// The steps of build_slurm_config. Inside config/ only.
#pragma once

#include <vector>

#include "config/foreign_nodes.h"
#include "config/node_index.h"
#include "config/record.h"
#include "config/slurm_conf.h"
#include "model/topology.h"

namespace muster::config {

// The kind of record that the line describes; kGlobal when it has none of the keys that start a record.
Section section_of(const Line& line);

// Reads the keys of the cluster: fills the members and `values`.
void build_globals(const std::vector<const Line*>& lines, Config& config, Findings& findings);
// Reads NodeName and DownNodes lines: fills `nodes`.
void build_nodes(const std::vector<const Line*>& lines, Config& config, NodeIndex& index, Findings& findings);
void apply_down_nodes(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
// These refer to nodes, so they run after build_nodes.
void build_node_sets(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
void build_partitions(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings);
void build_power_actions(const std::vector<const Line*>& lines, Config& config, Findings& findings);

// block{b1} and the like in a Nodes= value mean something only when the topology is known (topology_nodes.cc). without_unit_functions gives
// the value without them; add_topology_nodes later adds the nodes they mean to partitions and node sets. `all` has nodes by their place in
// Config::nodes.
std::string without_unit_functions(std::string_view nodes);
void add_topology_nodes(Config& config, const Topologies& all, Findings& findings);

// The nodes of a Nodes= value: names, ranges, node sets, ALL, feature{x}. Unknown names are errors at `pos`, or go to `foreign` if given.
Bitmap resolve_nodes(std::string_view text, const SourcePos& pos, std::string_view key, const Config& config, const NodeIndex& index,
                     Findings& findings, ForeignNodes* foreign = nullptr);

// Checks TRESBillingWeights= or TRESWeights= of a line.
void check_weights(const Record& r, std::string_view key, const Config& config, Findings& findings);

// Releases before SlurmctldHost had ControlMachine, ControlAddr, BackupController and BackupAddr. Each machine they name is given as the
// SlurmctldHost line that means the same; there are none when the file has a SlurmctldHost.
bool is_older_controller_key(std::string_view key);
struct OlderController {
  std::string key;  // as in the file
  KeyValue host;    // SlurmctldHost=
};
std::vector<OlderController> controllers_of_older_keys(const std::vector<const Line*>& lines);

}  // namespace muster::config
