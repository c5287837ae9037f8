// A topology as its file writes it, with the file position of each part: the form that topology.conf and topology.yaml share before names
// are looked up. Inside config/ only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/foreign_nodes.h"
#include "config/record.h"
#include "config/topology_conf.h"

namespace muster::config {

// A text and its position; `given` is true for an empty text, too.
struct RawText {
  std::string text;
  SourcePos pos;
  bool given = false;
};

struct RawPlacement {
  SourcePos pos;
  std::optional<Cell3d> dims, anchor_seed, anchor_spacing;
};

struct RawRegion {
  SourcePos pos;
  std::optional<Cell3d> anchor, dims;
  RawText nodes;
};

struct RawUnit {
  SourcePos pos;
  RawText name, nodes, children, link_speed;
  std::optional<Cell3d> dims;
  std::vector<RawRegion> regions;
  std::vector<RawPlacement> placements;
};

struct RawTopology {
  SourcePos pos;
  std::string name = "default";
  TopologyKind kind = TopologyKind::kFlat;
  bool cluster_default = false, alpha_step_rank = false;
  std::vector<RawUnit> units;
  RawText block_sizes;
};

// The keys of the file for these parts, as messages name them.
struct TopologyWords {
  const char *unit, *children, *nodes, *block_sizes;
};

// Looks up names, links switches, checks the rules of the kind. Nodes of other clusters go to `foreign`.
Topology build_topology(const RawTopology& raw, const TopologyWords& words, const Config& config, ForeignNodes& foreign,
                        Findings& findings);

// Reads topology.yaml into that form.
std::vector<RawTopology> parse_topology_yaml(const std::string& text, const std::string& file, Findings& findings);

}  // namespace muster::config
