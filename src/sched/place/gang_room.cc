#include "sched/place/gang_room.h"

#include <algorithm>
#include <map>
#include <vector>

namespace muster::sched {
namespace {

// What the job must have goes first, then the candidates as they stand.
std::vector<uint32_t> in_order(const RequestClass& asked, const Candidates& list) {
  std::vector<uint32_t> out;
  asked.required.for_each([&](size_t id) { out.push_back(static_cast<uint32_t>(id)); });
  for (const CountedNodes& want : asked.counts) {
    uint32_t have = 0;
    for (const Candidate& x : list)
      if (want.nodes.test(x.node) && have++ < want.count) out.push_back(x.node);
  }
  for (const Candidate& x : list) out.push_back(x.node);
  return out;
}

void leaf_by_leaf(const TopologyIndex& topology, Candidates& list) {
  std::map<uint32_t, size_t> sizes;
  for (const Candidate& x : list) ++sizes[topology.leaf_of(x.node)];
  std::ranges::stable_sort(list, {}, [&](const Candidate& x) {
    const uint32_t leaf = topology.leaf_of(x.node);
    return std::pair(list.size() - sizes[leaf], leaf);
  });
}

}  // namespace

Bitmap GangRoom::take(std::span<const uint32_t> in_order) const {
  uint64_t room = nodes_.room_to_wake();
  std::vector<uint32_t> awake_or_woken;
  Bitmap out;
  for (const uint32_t node : in_order) {
    const bool sleeps = nodes_.powered_down().test(node);
    if (out.test(node) || (sleeps && room == 0)) continue;
    if (sleeps) --room;
    out.set(node);
    awake_or_woken.push_back(node);
  }
  return layers_ ? layers_->take(awake_or_woken) : out;
}

bool GangRoom::within(const RequestClass& asked, Candidates list, const std::function<bool(const Bitmap&)>& will_do) const {
  std::vector<Bitmap> tried;
  auto try_order = [&] {
    Bitmap some = take(in_order(asked, list));
    if (std::ranges::find(tried, some) != tried.end()) return false;
    tried.push_back(std::move(some));
    return will_do(tried.back());
  };
  if (try_order()) return true;
  std::ranges::stable_sort(list, std::greater<>(), &Candidate::tasks);
  if (try_order()) return true;
  if (!asked.topology) return false;
  leaf_by_leaf(*asked.topology, list);
  return try_order();
}

}  // namespace muster::sched
