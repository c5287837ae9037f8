// The site's topologies from topology.yaml. Without that file there is one topology, named "default": the lines of topology.conf that
// belong to the kind TopologyPlugin names. topology.conf(5), topology.yaml(5). Values: model/topology.h, with nodes by their place in
// Config::nodes.
//
// Errors name file and line. Pure; cost O(units + nodes).
#pragma once

#include <string>
#include <vector>

#include "config/parser.h"
#include "config/slurm_conf.h"
#include "model/topology.h"

namespace muster::config {

struct TopologyConf {
  bool present = false;
  Topologies topologies;  // empty: flat
};

TopologyConf load_topology(FileSource& source, const Config& config, std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices);

// TopologyParam, typed.
struct TopologyOptions {
  bool dragonfly = false, optional = false;  // Dragonfly, TopoOptional
  bool switch_as_node_rank = false, block_as_node_rank = false;
  uint32_t max_size_unroll = kUnlimited32;  // sizes of -N min-max looked at (block)
};
TopologyOptions topology_options(const Config& config);

}  // namespace muster::config
