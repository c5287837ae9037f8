// topology.conf: the tree of switches, or blocks, or rings. Lines may come in any order. Depth from the
// leaves up and the nodes below each switch are worked out here. topology.conf(5). Pure; cost O(switches ·
// nodes / 64).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "config/parser.h"
#include "config/slurm_conf.h"

namespace muster::config {

struct SwitchConfig {
  std::string name, link_speed, nodes_text, switches_text;
  std::vector<uint32_t> children;  // index into TopologyConf::switches
  int32_t parent = -1;             // -1: a root
  uint32_t level = 0;              // 0: a leaf
  Bitmap nodes;                    // all below, by index into Config::nodes
  SourcePos where;
};

struct BlockConfig {
  std::string name, nodes_text;
  Bitmap nodes;
  SourcePos where;
};

struct RingConfig {
  std::string name;
  std::vector<uint32_t> nodes;  // in order around the ring
  SourcePos where;
};

struct TopologyConf {
  bool present = false;
  std::vector<SwitchConfig> switches;  // in order of definition
  std::vector<BlockConfig> blocks;
  std::vector<RingConfig> rings;
  std::vector<uint32_t> block_sizes;  // ascending
  Bitmap covered;                     // nodes that are anywhere in it
};

TopologyConf build_topology_conf(const std::vector<Line>& lines, const Config& config,
                                 std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices);

}  // namespace muster::config
