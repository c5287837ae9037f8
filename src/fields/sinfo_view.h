// A line of sinfo and what its getters see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

// node_state_order is the state as the number that Slurm's API has for it (base state and flag bits), by which sinfo sorts.
int64_t partition_order(const SinfoView& view);  // place in the order of definition: the sort key "#P"
int64_t node_state_order(const NodeRow& node);
std::string node_owner(const NodeRow& node, const Environment& env);    // the user it is kept for; call it only for such nodes
std::string reason_owner(const NodeRow& node, const Environment& env);  // "root"; "Unknown" without a reason

}  // namespace muster::fields
