// Hierarchical resources, as a site describes them in resources.yaml: amounts that belong to sets of nodes, its layers. What a job takes of
// them is worked out in sched/request/layers.h. resources.yaml(5), guide hres.
//
// A layer is a pool with a name, "natural(node[01-16])": its resource and its nodes. By that name a reservation keeps part of it, a job that
// runs holds part of it (Allocation::licenses), and `scontrol show license` lists it, beside the licences of the cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"

namespace muster {

enum class HresMode : uint8_t {
  kOne = 1,  // MODE_1: a job draws all of it from one layer that has some of the job's nodes
  kAll = 2,  // MODE_2: from every layer that has some of them, from each the same
  kSum = 3,  // MODE_3: so much for each of its nodes, from every layer that the node is in
};

struct HresLayer {
  static constexpr uint64_t kEndless = UINT64_MAX;  // count: -1
  std::string name;                                 // of the pool
  Bitmap nodes;
  uint64_t count = 0;
  uint64_t base = 0;  // of it, taken by what is no job; of MODE_3 with what the layers within it have
  // What jobs may take of it.
  uint64_t for_jobs() const { return count == kEndless ? count : count - (base < count ? base : count); }
};

struct HresVariable {
  std::string name;
  uint64_t value = 0;
};

struct Hres {
  std::string name;
  HresMode mode = HresMode::kAll;
  std::string topology;
  std::vector<HresVariable> variables;
  std::vector<HresLayer> layers;  // those with fewer nodes first; of equal size as the file has them
  const HresVariable* variable(std::string_view name) const;
  const HresLayer* layer(const Bitmap& nodes) const;  // with exactly these nodes
  Bitmap nodes() const;                               // of all layers
};

struct Hierarchies {
  static constexpr size_t kMostResources = 256, kMostLayers = 4096, kMostVariables = 1024;
  static constexpr uint64_t kMostCount = 4294967294;
  std::vector<Hres> all;
  bool empty() const { return all.empty(); }
  const Hres* find(std::string_view name) const;
  size_t layers() const;  // of all of them
};
using HierarchiesPtr = std::shared_ptr<const Hierarchies>;

// A pool's name in its parts; `nodes` is empty where it is no layer's.
struct PoolName {
  std::string_view resource, nodes;
  static PoolName of(std::string_view name);
};
inline bool names_layer(std::string_view pool) { return !PoolName::of(pool).nodes.empty(); }

// Why layers of MODE_3 are no rooted tree of uniform depth; "": they are one. Cost: O(layers² · nodes / 64 + nodes · layers).
std::string not_a_tree(const Hres& hres);

}  // namespace muster
