// resources.yaml, beside slurm.conf: the hierarchical resources of the site. resources.yaml(5), guide hres. Values: model/hres.h, with nodes
// by their place in Config::nodes.
//
//   error    what would hand out too much or makes no sense: no YAML, an unknown key, a resource without name, mode or layers, a name twice or
//            one that a licence has, a count that is no number, layers of MODE_3 that are no rooted tree of uniform depth
//   notice   a node that slurm.conf does not have, a layer of which no node is left, two layers with the same nodes, a topology that is not
//            there or has other blocks
//
// Errors name file, line, field and rule. Pure; cost O(layers² · nodes / 64).
#pragma once

#include <string>
#include <vector>

#include "config/parser.h"
#include "config/slurm_conf.h"
#include "model/hres.h"
#include "model/topology.h"

namespace muster::config {

Hierarchies load_resources(FileSource& source, const Config& config, const Topologies& topologies, std::vector<ConfigError>& errors,
                           std::vector<ConfigNotice>& notices);

}  // namespace muster::config
