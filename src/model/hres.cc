#include "model/hres.h"

#include <algorithm>

namespace muster {

const HresVariable* Hres::variable(std::string_view wanted) const {
  auto it = std::ranges::find(variables, wanted, &HresVariable::name);
  return it == variables.end() ? nullptr : &*it;
}

const HresLayer* Hres::layer(const Bitmap& wanted) const {
  auto it = std::ranges::find_if(layers, [&](const HresLayer& l) { return l.nodes == wanted; });
  return it == layers.end() ? nullptr : &*it;
}

Bitmap Hres::nodes() const {
  Bitmap out;
  for (const HresLayer& l : layers) {
    if (out.size() < l.nodes.size()) out.resize(l.nodes.size());
    out |= l.nodes;
  }
  return out;
}

const Hres* Hierarchies::find(std::string_view name) const {
  auto it = std::ranges::find(all, name, &Hres::name);
  return it == all.end() ? nullptr : &*it;
}

size_t Hierarchies::layers() const {
  size_t out = 0;
  for (const Hres& h : all) out += h.layers.size();
  return out;
}

PoolName PoolName::of(std::string_view name) {
  const size_t open = name.find('(');
  if (open == name.npos || !name.ends_with(')')) return {name, {}};
  return {name.substr(0, open), name.substr(open + 1, name.size() - open - 2)};
}

std::string not_a_tree(const Hres& hres) {
  const auto& layers = hres.layers;
  if (layers.empty()) return {};
  const HresLayer& root = layers.back();  // the one with the most nodes
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    if (!root.nodes.contains(layers[i].nodes)) return layers[i].name + " is not within " + root.name;
    for (size_t j = i + 1; j < layers.size(); ++j)
      if (layers[i].nodes.intersects(layers[j].nodes) && !layers[j].nodes.contains(layers[i].nodes))
        return layers[i].name + " and " + layers[j].name + " have some nodes in common, and neither has all of the other's";
  }
  size_t most = 0, least = SIZE_MAX;
  root.nodes.for_each([&](size_t node) {
    const auto depth = static_cast<size_t>(std::ranges::count_if(layers, [&](const HresLayer& l) { return l.nodes.test(node); }));
    most = std::max(most, depth);
    least = std::min(least, depth);
  });
  if (most == least) return {};
  return "some of its nodes are in " + std::to_string(least) + (least == 1 ? " layer" : " layers") + " and some in " + std::to_string(most);
}

}  // namespace muster
