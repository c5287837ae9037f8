// The hierarchical resources of the guide hres, for tests: nodes 0 to 31 are its node01 to node32.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sched/request/layers.h"

namespace muster::sched {

inline HresLayer a_layer(const std::string& of, uint32_t first, uint32_t last, uint64_t count, uint64_t base = 0) {
  HresLayer out;
  out.name = of + "(n[" + std::to_string(first) + "-" + std::to_string(last) + "])";
  out.nodes.set_range(first, last + 1);
  out.count = count;
  out.base = base;
  return out;
}

inline Hres hres_flat() {
  Hres out{"flat", HresMode::kAll, {}, {}, {}};
  for (uint32_t first = 0; first < 32; first += 8) out.layers.push_back(a_layer("flat", first, first + 7, 12));
  for (uint32_t first = 0; first < 32; first += 16) out.layers.push_back(a_layer("flat", first, first + 15, 16));
  out.layers.push_back(a_layer("flat", 0, 31, 24));
  return out;
}

inline Hres hres_natural() {
  Hres out{"natural", HresMode::kOne, {}, {}, {}};
  for (uint32_t first = 0; first < 32; first += 16) out.layers.push_back(a_layer("natural", first, first + 15, 100));
  out.layers.push_back(a_layer("natural", 0, 31, 50));
  return out;
}

// What stands in a layer is used of those above it, too, as config/resources_yaml sums it up.
inline Hres hres_power() {
  Hres out{"power", HresMode::kSum, {}, {{"full_node", 1000}, {"full_gpu_node", 2000}}, {}};
  for (uint32_t first = 0; first < 32; first += 8) out.layers.push_back(a_layer("power", first, first + 7, 40000, first ? 0 : 5000));
  out.layers.push_back(a_layer("power", 0, 15, 60000, 8000));
  out.layers.push_back(a_layer("power", 16, 31, 80000, 2000));
  out.layers.push_back(a_layer("power", 0, 31, 130000, 28000));
  return out;
}

inline HierarchiesPtr hierarchies(std::vector<Hres> all) { return std::make_shared<const Hierarchies>(Hierarchies{std::move(all)}); }

inline Params with_layers(HierarchiesPtr all) {
  Params out;
  set_layers(out, std::move(all));
  return out;
}

}  // namespace muster::sched
