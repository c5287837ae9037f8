#include "sched/fit/bound_sockets.h"

#include <algorithm>
#include <numeric>

namespace muster::sched {
namespace {

// Several shares come from one device, so they count as one.
uint64_t devices_of(const GresNeed& need) { return is_shared_gres(need.name) ? 1 : need.count; }

bool stands_somewhere(const Kind& k, const GresNeed& need) {
  return std::ranges::any_of(
      k.gres, [&](const GresDevices& g) { return g.name == need.name && (need.type.empty() || g.type == need.type) && g.cores.any(); });
}

// How many of these amounts it takes, the largest first, to make up `wanted`; 0: all together are too few.
uint32_t fewest(std::vector<uint64_t> amounts, uint64_t wanted) {
  std::ranges::sort(amounts, std::greater());
  uint64_t have = 0;
  for (size_t i = 0; i < amounts.size(); ++i)
    if ((have += amounts[i]) >= wanted) return static_cast<uint32_t>(i) + 1;
  return 0;
}

}  // namespace

bool BoundSockets::concerns(const Shape& s, const Kind& k, const std::vector<GresNeed>& needs) {
  return s.enforce_binding && k.sockets > 1 && std::ranges::any_of(needs, [&](const GresNeed& n) { return stands_somewhere(k, n); });
}

uint32_t BoundSockets::least(const Kind& k, uint64_t gpus) {
  const std::vector<GresNeed> needs = {{"gpu", "", gpus}};
  if (gpus < 2 || k.sockets < 2 || !stands_somewhere(k, needs[0])) return 1;
  return std::max(fewest(BoundSockets(k, needs).near({}), gpus), 1u);
}

uint64_t BoundSockets::wanted() const {
  uint64_t n = 0;
  for (const GresNeed& need : needs_)
    if (stands_somewhere(k_, need)) n += devices_of(need);
  return n;
}

std::vector<uint64_t> BoundSockets::near(const NodeUse& use) const {
  std::vector<uint64_t> out(k_.sockets, 0);
  for (const GresNeed& need : needs_) {
    if (!stands_somewhere(k_, need)) continue;
    for (const Device& d : free_devices(k_, use, need))
      for (uint32_t socket = 0; socket < k_.sockets; ++socket) out[socket] += near_socket(k_, k_.gres[d.entry], socket);
  }
  return out;
}

std::vector<std::vector<uint32_t>> BoundSockets::sets(const NodeUse& use, const FreeCores& free_cores) const {
  const uint64_t devices = wanted();
  const uint32_t most = fewest(near({}), devices);
  std::vector<uint64_t> there = near(use);
  std::vector<uint32_t> order(k_.sockets);
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](uint32_t socket) { return there[socket] == 0 || free_cores(socket) == 0; });
  std::vector<std::vector<uint32_t>> out;
  if (most == 1) {  // the one that is left with the fewest devices
    std::erase_if(order, [&](uint32_t socket) { return there[socket] < devices; });
    std::ranges::stable_sort(order, {}, [&](uint32_t socket) { return there[socket]; });
    for (uint32_t socket : order) out.push_back({socket});
    return out;
  }
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t socket) { return there[socket]; });
  if (order.size() > most) order.resize(most);
  uint64_t have = 0;
  for (uint32_t socket : order) have += there[socket];
  std::ranges::sort(order);
  if (most && have >= devices) out.push_back(std::move(order));
  return out;
}

std::vector<uint32_t> giving_sockets(const Kind& kind, const std::vector<GresShare>& share, Bitmap& cores) {
  cores = Bitmap(kind.cores);
  std::vector<bool> gives(kind.sockets, false);
  for (const GresDevices& g : kind.gres) {
    if (g.cores.none() || g.count_only) continue;
    const uint64_t devices = g.shared ? 1 : g.count;
    for (const GresShare& held : share)
      for (uint64_t i = 0; held.name == g.name && i < devices; ++i) {
        if (!held.devices.test(g.first_index + i)) continue;
        cores |= g.cores;
        for (uint32_t socket = 0; socket < kind.sockets; ++socket)
          if (near_socket(kind, g, socket)) gives[socket] = true;
      }
  }
  std::vector<uint32_t> out;
  for (uint32_t socket = 0; socket < kind.sockets; ++socket)
    if (gives[socket]) out.push_back(socket);
  return out;
}

}  // namespace muster::sched
