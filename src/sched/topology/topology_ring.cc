// Rings and tori.
//
// Ring: as many neighbours as the job (or each of its segments) has nodes, around the end too; the beginning of the shortest free run that
// is long enough. Torus: a stand of that size with all cells free; of several the one that spoils the fewest other free stands, then in the
// torus with the fewest free nodes, then the first.
#include <algorithm>
#include <tuple>

#include "sched/topology/topology_choice.h"

namespace muster::sched {
namespace {

struct Window {
  std::tuple<int64_t, uint64_t, uint64_t, uint64_t> rank;  // the lowest is best
  std::vector<uint32_t> nodes;
};

// Where one window holds all nodes, tries each alone, best first; otherwise takes the best window again and again until there are enough
// nodes. `windows`: those still free, best first. `take`: marks a node as no longer free. `try_exact`: whether these nodes serve the job.
template <class Windows, class Take, class TryExact>
bool fill_windows(uint32_t nodes, uint32_t segment, Windows windows, Take take, TryExact try_exact) {
  if (nodes == segment) return std::ranges::any_of(windows(), [&](const Window& w) { return try_exact(w.nodes); });
  std::vector<uint32_t> chosen;
  while (chosen.size() < nodes) {
    const std::vector<Window> left = windows();
    if (left.empty()) return false;
    for (uint32_t n : left.front().nodes) {
      take(n);
      chosen.push_back(n);
    }
  }
  return try_exact(chosen);
}

}  // namespace

bool TopologyChoice::ring() {
  const uint32_t segment = wish_.shape.segment;
  return for_each_size(static_cast<uint32_t>(supply_.open.count()), [&](uint32_t n) {
    if (!segment || n <= segment) return runs(n, n);
    return n % segment == 0 && runs(n, segment);
  });
}

bool TopologyChoice::runs(uint32_t nodes, uint32_t segment) {
  Bitmap open = supply_.open;
  auto windows = [&] {
    std::vector<Window> out;
    for (uint32_t leaf = 0; leaf < index_.leaves(); ++leaf) {
      const std::vector<uint32_t>& ring = index_.leaf(leaf).nodes;
      const auto size = static_cast<uint32_t>(ring.size());
      if (size < segment) continue;
      auto free = [&](uint32_t at) { return ring[at % size] != kNoNode && open.test(ring[at % size]); };
      for (uint32_t first = 0; first < size; ++first) {
        uint32_t ahead = 0, behind = 0;
        while (ahead < size && free(first + ahead)) ++ahead;
        if (ahead < segment) continue;
        while (behind < size - ahead && free(first + size - 1 - behind)) ++behind;
        Window w;
        int64_t required = 0;
        for (uint32_t i = 0; i < segment; ++i) {
          w.nodes.push_back(ring[(first + i) % size]);
          required += wish_.required.test(w.nodes.back());
        }
        const uint32_t run = ahead + behind;
        w.rank = {-required, run, run < size && behind > 0 && ahead > segment, uint64_t{leaf} << 32 | first};
        out.push_back(std::move(w));
      }
    }
    std::ranges::sort(out, {}, &Window::rank);
    return out;
  };
  auto take = [&](uint32_t n) { open.reset(n); };
  return fill_windows(nodes, segment, windows, take, [&](const auto& chosen) { return try_exact(chosen); });
}

bool TopologyChoice::torus() {
  const uint32_t segment = wish_.shape.segment;
  return for_each_size(static_cast<uint32_t>(supply_.open.count()), [&](uint32_t n) {
    if (!segment || n <= segment) return stands(n, n);
    return n % segment == 0 && stands(n, segment);
  });
}

bool TopologyChoice::stands(uint32_t nodes, uint32_t segment) {
  const auto& all = index_.stands();
  std::vector<bool> free(all.size());
  for (size_t s = 0; s < all.size(); ++s) free[s] = std::ranges::all_of(all[s].nodes, [&](uint32_t n) { return supply_.open.test(n); });
  auto ranked = [&] {
    std::vector<Window> out;
    for (uint32_t stand = 0; stand < all.size(); ++stand) {
      if (!free[stand] || all[stand].nodes.size() != segment) continue;
      std::vector<uint32_t> spoilt;
      int64_t required = 0;
      for (uint32_t n : all[stand].nodes) {
        required += wish_.required.test(n);
        for (uint32_t other : index_.stands_at(n))
          if (free[other]) spoilt.push_back(other);
      }
      std::ranges::sort(spoilt);
      spoilt.erase(std::unique(spoilt.begin(), spoilt.end()), spoilt.end());
      out.push_back({{-required, spoilt.size(), leaf_supply_[all[stand].leaf].nodes, stand}, all[stand].nodes});
    }
    std::ranges::sort(out, {}, &Window::rank);
    return out;
  };
  auto take = [&](uint32_t n) {
    for (uint32_t other : index_.stands_at(n)) free[other] = false;
  };
  return fill_windows(nodes, segment, ranked, take, [&](const auto& chosen) { return try_exact(chosen); });
}

}  // namespace muster::sched
