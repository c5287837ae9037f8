// A line of sinfo and what its getters see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fields/environment.h"

namespace muster::fields {

struct Extent {
  uint64_t min = std::numeric_limits<uint64_t>::max(), max = 0;
  void add(uint64_t v) { min = std::min(min, v), max = std::max(max, v); }
};

struct StateCounts {
  uint32_t allocated = 0, idle = 0, other = 0;
  uint32_t total() const { return allocated + idle + other; }
};

struct SinfoLine {
  const PartitionRow* partition = nullptr;  // null: nodes of no partition
  const NodeRow* first = nullptr;           // null: a partition without nodes to show
  std::vector<const NodeRow*> nodes;
  StateCounts node_counts, cpu_counts;
  Extent cpus, sockets, cores, threads, memory_mb, disk_mb, weight, load, free_mem_mb;
  void add(const NodeRow& node);
};

struct SinfoView {
  const SinfoLine& line;
  const Environment& env;
};

// What the nodes of the line have in common is a value of the first of them; none: the line has no nodes.
inline std::optional<NodeView> node_of(const SinfoView& v) {
  if (!v.line.first) return std::nullopt;
  return NodeView{*v.line.first, v.env};
}
// None: the nodes belong to no partition.
inline std::optional<PartitionView> partition_of(const SinfoView& v) {
  if (!v.line.partition) return std::nullopt;
  return PartitionView{*v.line.partition, v.env};
}

// node_state_order is the state as the number that Slurm's API has for it (base state and flag bits), by which sinfo sorts.
int64_t partition_order(const SinfoView& view);  // place in the order of definition: the sort key "#P"
int64_t node_state_order(const NodeRow& node);

}  // namespace muster::fields
