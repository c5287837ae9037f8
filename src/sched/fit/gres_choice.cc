#include "sched/fit/gres_choice.h"

#include <algorithm>

#include "sched/request/device_counts.h"

namespace muster::sched {
namespace {

bool serves(const GresDevices& g, const GresNeed& need) { return g.name == need.name && (need.type.empty() || g.type == need.type); }

void give(std::vector<GresShare>& out, const GresDevices& g, uint64_t count, size_t device) {
  GresShare part{g.name, g.type, count, {}, {}};
  if (device != Bitmap::npos) part.devices.set(device);
  if (g.shared) part.shares.push_back(count);
  add_gres(out, part);
}

uint64_t free_of(const Kind& k, const NodeUse& use, uint32_t entry) {
  std::vector<uint64_t> counts(k.gres.size());
  free_gres(k, use.gres, counts.data());
  return counts[entry];
}

bool any_near(const Kind& k, const GresDevices& g, const std::vector<uint32_t>& sockets) {
  return std::any_of(sockets.begin(), sockets.end(), [&](uint32_t s) { return near_socket(k, g, s); });
}

// --gpus-per-socket: takes so many devices near each of as many sockets as the request asks for, sockets with the share's cores first.
bool take_per_socket(const Shape& shape, const Kind& kind, NodeUse& use, const GresNeed& need, const std::vector<uint32_t>& with_cores,
                     std::vector<GresShare>& out) {
  std::vector<uint32_t> order = with_cores;
  for (uint32_t i = 0; i < kind.sockets; ++i)
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  uint32_t wanted = shape.sockets;
  for (uint32_t socket : order) {
    if (wanted == 0) break;
    std::vector<Device> devices = free_devices(kind, use, need);
    std::erase_if(devices, [&](const Device& d) { return !near_socket(kind, kind.gres[d.entry], socket); });
    if (devices.size() < need.count) continue;
    devices.resize(need.count);
    for (const Device& d : devices) {
      give(out, kind.gres[d.entry], 1, d.index);
      give(use.gres, kind.gres[d.entry], 1, d.index);
    }
    --wanted;
  }
  return wanted == 0;
}

// gres.conf Links=: how many connections a device has to each of the others; the list has -1 at the device's own place.
using Links = std::vector<std::vector<int64_t>>;

Links links_among(const Kind& kind, const std::vector<Device>& devices) {
  auto place = [&](const Device& d) -> size_t {
    const std::vector<int32_t>& links = kind.gres[d.entry].links;
    auto self = std::find(links.begin(), links.end(), -1);
    return self == links.end() ? d.index : static_cast<size_t>(self - links.begin());
  };
  Links out(devices.size(), std::vector<int64_t>(devices.size()));
  for (size_t a = 0; a < devices.size(); ++a)
    for (size_t b = 0; b < devices.size(); ++b) {
      const std::vector<int32_t>& links = kind.gres[devices[a].entry].links;
      const size_t at = place(devices[b]);
      if (a != b && at < links.size()) out[a][b] = std::max(links[at], 0);
    }
  return out;
}

// A growing set of devices, and how well they are connected.
struct Island {
  std::vector<bool> in;
  std::vector<int64_t> gain;  // links of each device to those inside
  int64_t inside = 0, outside = 0;

  explicit Island(size_t n) : in(n), gain(n) {}
  void add(const Links& links, size_t d) {
    in[d] = true;
    inside += gain[d];
    for (size_t i = 0; i < gain.size(); ++i) gain[i] += links[d][i];
  }
  void grow(const Links& links, size_t count) {
    for (; count > 0; --count) {
      size_t best = in.size();
      for (size_t d = 0; d < in.size(); ++d)
        if (!in[d] && (best == in.size() || gain[d] > gain[best])) best = d;
      add(links, best);
    }
    for (size_t d = 0; d < in.size(); ++d)
      if (!in[d]) outside += gain[d];
  }
};

// Puts the `count` best connected devices first, the first `fixed` always among them. Of equally good sets it prefers the one with fewer
// links between a taken device and a free one, then the order given.
void best_linked_first(const Kind& kind, std::vector<Device>& devices, size_t fixed, size_t count) {
  constexpr size_t kMostDevices = 64;
  const bool linked = std::any_of(devices.begin(), devices.end(), [&](const Device& d) { return !kind.gres[d.entry].links.empty(); });
  if (!linked || count >= devices.size() || devices.size() > kMostDevices) return;
  const Links links = links_among(kind, devices);
  Island best(0);
  for (size_t seed = 0; seed < (fixed ? 1 : devices.size()); ++seed) {
    Island island(devices.size());
    for (size_t d = 0; d < fixed; ++d) island.add(links, d);
    if (fixed == 0) island.add(links, seed);
    island.grow(links, count - std::max<size_t>(fixed, 1));
    if (best.in.empty() || island.inside > best.inside || (island.inside == best.inside && island.outside < best.outside))
      best = std::move(island);
  }
  std::vector<Device> order;
  for (bool wanted : {true, false})
    for (size_t d = 0; d < devices.size(); ++d)
      if (best.in[d] == wanted) order.push_back(devices[d]);
  devices = std::move(order);
}

bool take_devices(const Kind& kind, NodeUse& use, const GresNeed& need, const std::vector<uint32_t>& sockets, std::vector<GresShare>& out) {
  uint64_t left = need.count;
  std::vector<Device> devices = free_devices(kind, use, need);
  std::stable_sort(devices.begin(), devices.end(), [&](const Device& a, const Device& b) {
    const bool na = any_near(kind, kind.gres[a.entry], sockets), nb = any_near(kind, kind.gres[b.entry], sockets);
    return na != nb ? na : a.index < b.index;
  });
  const auto near = static_cast<size_t>(
      std::count_if(devices.begin(), devices.end(), [&](const Device& d) { return any_near(kind, kind.gres[d.entry], sockets); }));
  if (near < left) {
    best_linked_first(kind, devices, near, left);
  } else if (left > 0) {
    devices.resize(near);
    best_linked_first(kind, devices, 0, left);
  }
  for (const Device& d : devices) {
    if (left == 0) break;
    give(out, kind.gres[d.entry], 1, d.index);
    give(use.gres, kind.gres[d.entry], 1, d.index);
    --left;
  }
  for (uint32_t e = 0; e < kind.gres.size() && left > 0; ++e) {
    const GresDevices& g = kind.gres[e];
    if (!g.count_only || !serves(g, need)) continue;
    const uint64_t n = std::min(left, free_of(kind, use, e));
    if (n == 0) continue;
    give(out, g, n, Bitmap::npos);
    if (!(g.flags & kGresNoConsume)) give(use.gres, g, n, Bitmap::npos);
    left -= n;
  }
  return left == 0;
}

// Takes portions of `want` shares each; a portion must not be split over devices, and no two portions lie on one.
bool take_shares(const Shape& shape, const Kind& kind, NodeUse& use, const GresNeed& need, uint64_t portions, uint64_t want,
                 const std::vector<uint32_t>& sockets, std::vector<GresShare>& out) {
  Bitmap used;
  for (uint64_t portion = 0; portion < portions; ++portion) {
    std::vector<Device> devices = free_devices(kind, use, need);
    std::erase_if(devices, [&](const Device& d) { return used.test(d.index) || free_of(kind, use, d.entry) < want; });
    if (devices.empty()) return false;
    auto part_free = [&](const Device& d) {
      return static_cast<double>(free_of(kind, use, d.entry)) / static_cast<double>(kind.gres[d.entry].count);
    };
    auto best = std::min_element(devices.begin(), devices.end(), [&](const Device& a, const Device& b) {
      const bool na = any_near(kind, kind.gres[a.entry], sockets), nb = any_near(kind, kind.gres[b.entry], sockets);
      if (na != nb) return na;
      if (shape.spread_shared && part_free(a) != part_free(b)) return part_free(a) > part_free(b);
      return a.index < b.index;
    });
    used.set(best->index);
    give(out, kind.gres[best->entry], want, best->index);
    give(use.gres, kind.gres[best->entry], want, best->index);
  }
  return true;
}

bool take_shares_anywhere(const Kind& k, NodeUse& use, const GresNeed& need, uint64_t left, std::vector<GresShare>& out) {
  for (const Device& d : free_devices(k, use, need)) {
    const uint64_t n = std::min(left, free_of(k, use, d.entry));
    if (n == 0) continue;
    give(out, k.gres[d.entry], n, d.index);
    give(use.gres, k.gres[d.entry], n, d.index);
    left -= n;
  }
  return left == 0;
}

// Each task's shares come from a device of its own where the site wants that; the shares of the whole node come from wherever some are
// free.
bool take_shared(const Shape& s, const Kind& k, NodeUse& use, const GresNeed& need, uint32_t tasks, const std::vector<uint32_t>& sockets,
                 std::vector<GresShare>& out) {
  if (need.one_device) return take_shares(s, k, use, need, 1, need.count, sockets, out);
  uint64_t each = 0;
  if (s.one_task_per_sharing)
    for (const GresNeed& g : s.per_task)
      if (g.name == need.name && g.type == need.type) each += g.count;
  if (each && !take_shares(s, k, use, need, tasks, each, sockets, out)) return false;
  return take_shares_anywhere(k, use, need, need.count - std::min(need.count, mul_sat(each, tasks)), out);
}

}  // namespace

uint64_t gres_available(const GresNeed& need, const Kind& k, GresCounts free) {
  uint64_t n = 0;
  for (size_t i = 0; i < k.gres.size(); ++i)
    if (serves(k.gres[i], need)) n = need.one_device ? std::max(n, free[i]) : n + free[i];
  return n;
}

uint64_t tasks_by_gres(const GresNeed& need, const std::vector<GresNeed>& fixed, const Shape& s, const Kind& k, GresCounts free) {
  uint64_t devices = ~uint64_t{0};
  if (s.one_task_per_sharing && is_shared_gres(need.name)) {
    devices = 0;
    for (size_t i = 0; i < k.gres.size(); ++i) devices += serves(k.gres[i], need) && free[i] >= need.count;
  }
  const uint64_t have = gres_available(need, k, free);
  return std::min(devices, (have - std::min(have, count_alike(fixed, need))) / need.count);
}

std::vector<GresNeed> needs_on_node(const Shape& shape, uint32_t tasks, const JobGres& job) {
  std::vector<GresNeed> out;
  auto add = [&](const GresNeed& g, uint64_t count) {
    if (count == 0) return;
    for (GresNeed& o : out)
      if (o.name == g.name && o.type == g.type) {
        o.count += count;
        return;
      }
    out.push_back({g.name, g.type, count, g.one_device});
  };
  for (const GresNeed& g : shape.per_node) add(g, g.count);
  for (const GresNeed& g : shape.per_task) add(g, mul_sat(g.count, tasks));
  for (size_t i = 0; i < shape.per_job.size() && i < job.counts.size(); ++i) add(shape.per_job[i], job.counts[i]);
  std::stable_sort(out.begin(), out.end(), [](const GresNeed& a, const GresNeed& b) { return a.type.empty() < b.type.empty(); });
  return out;
}

std::vector<Device> free_devices(const Kind& kind, const NodeUse& use, const GresNeed& need) {
  std::vector<Device> out;
  Bitmap taken;
  for (const GresShare& u : use.gres)
    if (u.name == need.name || (need.name == "gpu" && is_shared_gres(u.name))) taken |= u.devices;
  for (uint32_t e = 0; e < kind.gres.size(); ++e) {
    const GresDevices& g = kind.gres[e];
    if (g.count_only || !serves(g, need)) continue;
    if (g.shared) {
      if (free_of(kind, use, e) > 0) out.push_back({e, g.first_index});
      continue;
    }
    for (uint32_t i = g.first_index; i < g.first_index + g.count; ++i)
      if (!taken.test(i)) out.push_back({e, i});
  }
  return out;
}

bool near_socket(const Kind& k, const GresDevices& g, uint32_t socket) {
  if (g.cores.none()) return true;
  size_t c = g.cores.next(static_cast<size_t>(socket) * k.cores_per_socket);
  return c != Bitmap::npos && c < static_cast<size_t>(socket + 1) * k.cores_per_socket;
}

bool choose_devices(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                    const std::vector<uint32_t>& sockets, std::vector<GresShare>& out) {
  for (const GresNeed& socket : shape.per_socket)
    if (!take_per_socket(shape, kind, use, socket, sockets, out)) return false;
  for (GresNeed need : needs) {
    for (const GresNeed& socket : shape.per_socket)  // counted among the node's needs, and taken
      if (socket.name == need.name && socket.type == need.type) need.count -= std::min(need.count, mul_sat(socket.count, shape.sockets));
    if (need.count == 0) continue;
    const bool ok =
        is_shared_gres(need.name) ? take_shared(shape, kind, use, need, tasks, sockets, out) : take_devices(kind, use, need, sockets, out);
    if (!ok) return false;
  }
  return true;
}

bool choose_devices_evenly(const Shape& shape, const Kind& kind, NodeUse use, const std::vector<GresNeed>& needs, uint32_t tasks,
                           const std::vector<uint32_t>& sockets, std::vector<GresShare>& out) {
  if (sockets.size() < 2 || !shape.per_socket.empty()) return choose_devices(shape, kind, std::move(use), needs, tasks, sockets, out);
  for (const GresNeed& need : needs) {
    if (is_shared_gres(need.name)) {
      if (!take_shared(shape, kind, use, need, tasks, sockets, out)) return false;
      continue;
    }
    GresNeed rest = need;
    for (size_t i = 0; i < sockets.size(); ++i) {
      std::vector<Device> there = free_devices(kind, use, need);
      std::erase_if(there, [&](const Device& d) { return !near_socket(kind, kind.gres[d.entry], sockets[i]); });
      const uint64_t even = (rest.count + sockets.size() - i - 1) / (sockets.size() - i);
      const GresNeed here{need.name, need.type, std::min<uint64_t>(even, there.size()), false};
      if (!take_devices(kind, use, here, {sockets[i]}, out)) return false;
      rest.count -= here.count;
    }
    if (rest.count > 0 && !take_devices(kind, use, rest, sockets, out)) return false;
  }
  return true;
}

void all_devices(const Kind& k, const NodeUse& use, std::vector<GresShare>& out) {
  for (uint32_t e = 0; e < k.gres.size(); ++e) {
    const GresDevices& g = k.gres[e];
    if (g.shared || (g.flags & (kGresExplicit | kGresNoConsume))) continue;
    if (g.count_only) {
      if (const uint64_t n = free_of(k, use, e)) give(out, g, n, Bitmap::npos);
      continue;
    }
    for (const Device& d : free_devices(k, use, {g.name, g.type, g.count, false}))
      if (d.entry == e) give(out, g, 1, d.index);
  }
}

}  // namespace muster::sched
