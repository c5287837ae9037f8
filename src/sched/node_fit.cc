#include "sched/node_fit.h"

#include <algorithm>

namespace muster::sched {
namespace {

uint32_t usable_threads(const Shape& s, const Kind& k) {
  return s.use_threads ? std::min(s.use_threads, k.threads) : k.threads;
}

// Tasks stay apart on cores of their own, or only some threads of a core are used: CPUs are counted core by
// core.
bool by_core(const Shape& s, const Kind& k) {
  return k.threads > 1 && (s.whole_cores || s.tasks_per_core || usable_threads(s, k) < k.threads);
}

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Tasks that share a core. A task never takes part of a core and part of another that a different task is on.
uint32_t tasks_on_core(const Shape& s, const Kind& k) {
  const uint32_t vt = usable_threads(s, k);
  uint32_t n = std::max(vt / s.cpus_per_task, 1u);
  if (s.tasks_per_core) n = std::min(n, s.tasks_per_core);
  return n;
}

// `cpus` beyond those of the tasks are taken as whole cores of their own.
uint64_t cores_for(const Shape& s, const Kind& k, uint32_t tasks, uint64_t cpus) {
  const uint64_t vt = usable_threads(s, k);
  const uint64_t batches = s.overcommit ? 1 : tasks;
  const uint64_t of_tasks =
      s.cpus_per_task > vt ? batches * ceil_div(s.cpus_per_task, vt) : ceil_div(batches, tasks_on_core(s, k));
  const uint64_t task_cpus = batches * s.cpus_per_task;
  return of_tasks + (cpus > task_cpus ? ceil_div(cpus - task_cpus, vt) : 0);
}

// CPUs the tasks may run on, before rounding to cores.
uint64_t cpus_wanted(const Shape& s, uint32_t tasks, uint64_t gpus) {
  uint64_t cpus = static_cast<uint64_t>(s.overcommit ? 1 : tasks) * s.cpus_per_task;
  cpus = std::max<uint64_t>(cpus, s.min_cpus_per_node);
  return std::max(cpus, mul_sat(gpus, s.cpus_per_gpu));
}

uint64_t node_gpus(const Shape& s, uint32_t tasks) {
  return s.gpus_per_node() + std::min(mul_sat(s.gpus_per_task(), tasks), uint64_t{1} << 60);
}

uint64_t least_job_gpus(const Shape& s) {
  uint64_t n = 0;
  for (const GresNeed& g : s.per_job) n += g.name == "gpu";
  return n;
}

}  // namespace

bool kind_qualifies(const Shape& s, const Kind& k) {
  if (s.sockets > k.sockets || s.cores_per_socket > k.cores_per_socket || s.threads_per_core > k.spec_threads)
    return false;
  if (s.tmp_disk_mb > k.tmp_disk_mb) return false;
  const uint32_t cpus = k.cpus - std::min<uint32_t>(k.cpus, static_cast<uint32_t>(k.specialized.count()));
  return s.min_cpus_per_node <= cpus;
}

uint32_t units_for(const Shape& s, const Kind& k, uint32_t tasks, uint64_t gpus) {
  const uint64_t cpus = cpus_wanted(s, tasks, gpus);
  const uint64_t units = s.whole_cores && by_core(s, k) ? cores_for(s, k, tasks, cpus) : cpus;
  return static_cast<uint32_t>(std::min<uint64_t>(units, 0xffffffffu));
}

uint64_t memory_for(const Shape& s, const Kind& k, uint32_t units, uint64_t gpus) {
  switch (s.memory) {
    case MemoryMode::kNone:
      return 0;
    case MemoryMode::kPerNode:
      return s.mem_mb;
    case MemoryMode::kPerCpu:
      return mul_sat(s.mem_mb, uint64_t{units} * (s.whole_cores ? usable_threads(s, k) : 1));
    case MemoryMode::kPerGpu:
      return mul_sat(s.mem_mb, gpus);
    case MemoryMode::kAll:
      return k.mem_mb;
  }
  return 0;
}

uint64_t gres_available(const GresNeed& need, const Kind& k, GresCounts free) {
  uint64_t n = 0;
  for (size_t i = 0; i < k.gres.size(); ++i)
    if (k.gres[i].name == need.name && (need.type.empty() || k.gres[i].type == need.type)) n += free[i];
  return n;
}

uint32_t count_tasks(const Shape& s, const Kind& k, const NodeFree& free) {
  uint64_t cap = kManyTasks;
  for (const GresNeed& g : s.per_node)
    if (gres_available(g, k, free.gres) < g.count) return kNoTasks;
  for (const GresNeed& g : s.per_job)
    if (gres_available(g, k, free.gres) < 1) return kNoTasks;
  for (const GresNeed& g : s.per_task) {
    uint64_t have = gres_available(g, k, free.gres);
    for (const GresNeed& n : s.per_node)
      if (n.name == g.name && (n.type == g.type || n.type.empty() || g.type.empty()))
        have -= std::min(have, n.count);
    cap = std::min(cap, have / g.count);
  }
  if (s.tasks_per_node) cap = std::min<uint64_t>(cap, s.tasks_per_node);
  if (s.tasks_per_socket)
    cap = std::min<uint64_t>(cap, static_cast<uint64_t>(s.tasks_per_socket) * k.sockets);
  if (s.tasks_per_gpu) {
    uint64_t gpus = s.gpus_per_node();
    if (!gpus) gpus = gres_available({"gpu", "", 1}, k, free.gres);
    cap = std::min<uint64_t>(cap, gpus * s.tasks_per_gpu);
  }
  uint64_t units = free.units;
  if (s.max_cpus_per_node != kUnlimited32)
    units = std::min<uint64_t>(units, s.whole_cores ? s.max_cpus_per_node / k.threads : s.max_cpus_per_node);
  if (!s.overcommit) {
    const uint64_t cpus = s.whole_cores ? units * usable_threads(s, k) : units;
    cap = std::min<uint64_t>(cap, cpus / s.cpus_per_task);
  }
  const uint64_t job_gpus = least_job_gpus(s);
  const bool check_mem = s.mem_consumable || s.memory != MemoryMode::kNone;
  const uint64_t mem = s.mem_consumable ? free.mem_mb : k.mem_mb;
  if (check_mem && s.memory == MemoryMode::kPerCpu && s.mem_mb && !s.whole && !s.overcommit)
    cap = std::min<uint64_t>(cap, mem / s.mem_mb / s.cpus_per_task);
  auto fits = [&](uint64_t tasks) {
    const uint64_t gpus = node_gpus(s, static_cast<uint32_t>(tasks)) + job_gpus;
    const uint32_t need = units_for(s, k, static_cast<uint32_t>(tasks), gpus);
    if (need > units) return false;
    const uint32_t held = s.whole ? k.units : need;
    return !check_mem || memory_for(s, k, held, gpus) <= mem;
  };
  // All three grow with the number of tasks, so the first that fits from above is found by halving.
  if (cap == 0 || !fits(1)) return kNoTasks;
  if (fits(cap)) return static_cast<uint32_t>(cap);
  uint64_t lo = 1, hi = cap;
  while (hi - lo > 1) {
    uint64_t mid = (lo + hi) / 2;
    (fits(mid) ? lo : hi) = mid;
  }
  return static_cast<uint32_t>(lo);
}

namespace {

// Chooses CPUs of one node. Cores that may be used are kept per socket in ascending order.
class CpuChooser {
 public:
  CpuChooser(const Shape& s, const Kind& k, const NodeUse& use, bool ignore_cpus)
      : s_(s), k_(k), free_(k.sockets) {
    by_core_ = by_core(s, k);
    Bitmap taken = k.specialized;
    if (!ignore_cpus) taken |= use.cpus;
    for (uint32_t core = 0; core < k.cores; ++core) {
      Slot slot{core, 0, 0};
      for (uint32_t t = 0; t < k.threads; ++t)
        if (!taken.test(core * k.threads + t)) slot.threads |= 1u << std::min(t, 31u);
      const bool whole = std::popcount(slot.threads) == static_cast<int>(std::min(k.threads, 32u));
      if (by_core_ ? whole : slot.threads != 0) free_[core / k.cores_per_socket].push_back(slot);
    }
    if (s.one_core_per_socket)
      for (auto& socket : free_)
        if (socket.size() > 1) socket.resize(1);
    used_.assign(k.sockets, 0);
  }

  uint32_t free_cores(uint32_t socket) const { return static_cast<uint32_t>(free_[socket].size()); }

  // Keeps only these cores (enforce-binding).
  void restrict_to(const Bitmap& cores) {
    for (auto& socket : free_) std::erase_if(socket, [&](const Slot& c) { return !cores.test(c.core); });
  }

  // `order`: sockets to be used, best first; those of the first `near` are filled before the others are
  // touched.
  bool choose(uint32_t tasks, uint64_t cpus, const std::vector<uint32_t>& order, size_t near, Bitmap& out) {
    order_ = order;
    near_ = near;
    out_ = &out;
    out.resize(k_.cpus);
    const uint32_t batches = s_.overcommit ? 1 : tasks;
    uint64_t left = cpus;
    for (uint32_t t = 0; t < batches; ++t) {
      const uint64_t want = std::min<uint64_t>(s_.cpus_per_task, left);
      if (!one_task(t, want)) return false;
      left -= want;
    }
    // What --mincpus or --cpus-per-gpu wants beyond the tasks.
    return left == 0 || one_task(batches * tasks_on_core(s_, k_), left);
  }

 private:
  struct Slot {
    uint32_t core;
    uint32_t threads;  // free threads, as bits
    uint32_t tasks;    // placed on it
  };

  bool socket_open(uint32_t socket, uint64_t cpus) const {
    if (s_.tasks_per_socket && used_[socket] >= s_.tasks_per_socket) return false;
    return s_.max_cpus_per_socket == kUnlimited32 || cpus_used(socket) + cpus <= s_.max_cpus_per_socket;
  }
  uint64_t cpus_used(uint32_t socket) const {
    uint64_t n = 0;
    const uint32_t first = socket * k_.cores_per_socket * k_.threads,
                   end = first + k_.cores_per_socket * k_.threads;
    for (size_t c = out_->next(first); c != Bitmap::npos && c < end; c = out_->next(c + 1)) ++n;
    return n;
  }
  uint32_t held_threads(const Slot& c) const {
    return std::min(k_.threads, 32u) - static_cast<uint32_t>(std::popcount(c.threads));
  }
  // CPUs of the core for a task that wants so many.
  uint64_t room_of(const Slot& c, uint64_t cpus) const {
    if (s_.tasks_per_core && c.tasks >= s_.tasks_per_core) return 0;
    if (!by_core_) return static_cast<uint64_t>(std::popcount(c.threads));
    const uint64_t vt = usable_threads(s_, k_), held = held_threads(c);
    const uint64_t left = vt > held ? vt - held : 0;
    if (held == 0) return left;
    return cpus <= left ? left : 0;  // shared with another task only if this one fits whole
  }
  uint64_t room(uint32_t socket, uint64_t cpus) const {
    uint64_t n = 0;
    for (const Slot& c : free_[socket]) n += room_of(c, cpus);
    return n;
  }

  bool one_task(uint32_t index, uint64_t cpus) {
    if (cpus == 0) return true;
    const std::vector<uint32_t>& order = order_;
    // Tasks that share a core go to the same socket.
    const size_t turn = by_core_ ? index / tasks_on_core(s_, k_) : index;
    for (size_t group = 0; group < 2; ++group) {
      const size_t first = group == 0 ? 0 : near_, end = group == 0 ? near_ : order.size();
      const size_t n = end - first;
      for (size_t i = 0; i < n; ++i) {
        const uint32_t socket = order[first + (s_.block_sockets ? i : (turn + i) % n)];
        if (!socket_open(socket, cpus) || room(socket, cpus) < cpus) continue;
        take(socket, cpus);
        ++used_[socket];
        return true;
      }
    }
    return spill(cpus);
  }

  // No single socket holds the task.
  bool spill(uint64_t cpus) {
    for (uint32_t socket : order_) {
      if (cpus == 0) break;
      if (!socket_open(socket, 1)) continue;
      uint64_t part = std::min(cpus, room(socket, cpus));
      if (s_.max_cpus_per_socket != kUnlimited32)
        part = std::min<uint64_t>(part, s_.max_cpus_per_socket - cpus_used(socket));
      if (part == 0) continue;
      take(socket, part);
      ++used_[socket];
      cpus -= part;
    }
    return cpus == 0;
  }

  void take(uint32_t socket, uint64_t cpus) {
    for (Slot& c : free_[socket]) {
      if (cpus == 0) break;
      uint32_t n = static_cast<uint32_t>(std::min<uint64_t>(cpus, room_of(c, cpus)));
      if (n == 0) continue;
      ++c.tasks;
      cpus -= n;
      for (uint32_t t = 0; t < k_.threads && n > 0; ++t)
        if (c.threads >> std::min(t, 31u) & 1u) {
          c.threads &= ~(1u << std::min(t, 31u));
          out_->set(c.core * k_.threads + t);
          --n;
        }
      if (s_.whole_cores)  // the core is ours, all of it
        for (uint32_t t = 0; t < k_.threads; ++t) out_->set(c.core * k_.threads + t);
    }
  }

  const Shape& s_;
  const Kind& k_;
  bool by_core_ = false;
  std::vector<std::vector<Slot>> free_;
  std::vector<uint32_t> used_;
  std::vector<uint32_t> order_;
  size_t near_ = 0;
  Bitmap* out_ = nullptr;
};

struct Device {
  uint32_t entry;  // in kind.gres
  uint32_t index;  // within the name
};

// Devices of the name that are free, by entry; count-only entries are left to counts.
std::vector<Device> free_devices(const Kind& k, const NodeUse& use, const GresNeed& need) {
  std::vector<Device> out;
  for (uint32_t e = 0; e < k.gres.size(); ++e) {
    const GresDevices& g = k.gres[e];
    if (g.name != need.name || g.count_only || (!need.type.empty() && g.type != need.type)) continue;
    for (uint32_t i = g.first_index; i < g.first_index + g.count; ++i) {
      bool taken = false;
      for (const GresShare& u : use.gres) taken |= u.name == g.name && u.devices.test(i);
      if (!taken) out.push_back({e, i});
    }
  }
  return out;
}

bool near_socket(const Kind& k, const GresDevices& g, uint32_t socket) {
  if (g.cores.none()) return true;
  size_t c = g.cores.next(static_cast<size_t>(socket) * k.cores_per_socket);
  return c != Bitmap::npos && c < static_cast<size_t>(socket + 1) * k.cores_per_socket;
}

void give(std::vector<GresShare>& out, const std::string& name, const std::string& type, uint64_t count,
          size_t device) {
  auto it = std::find_if(out.begin(), out.end(),
                         [&](const GresShare& g) { return g.name == name && g.type == type; });
  if (it == out.end()) it = out.insert(out.end(), GresShare{name, type, 0, {}});
  it->count += count;
  if (device != Bitmap::npos) it->devices.set(device);
}

// All needs of one node as one list, typed ones first so that an untyped need does not take their devices.
std::vector<GresNeed> needs_here(const Shape& s, uint32_t tasks, const JobGres& job) {
  std::vector<GresNeed> out;
  auto add = [&](const GresNeed& g, uint64_t count) {
    if (count == 0) return;
    for (GresNeed& o : out)
      if (o.name == g.name && o.type == g.type) {
        o.count += count;
        return;
      }
    out.push_back({g.name, g.type, count});
  };
  for (const GresNeed& g : s.per_node) add(g, g.count);
  for (const GresNeed& g : s.per_task) add(g, mul_sat(g.count, tasks));
  for (size_t i = 0; i < s.per_job.size() && i < job.counts.size(); ++i) add(s.per_job[i], job.counts[i]);
  std::stable_sort(out.begin(), out.end(),
                   [](const GresNeed& a, const GresNeed& b) { return a.type.empty() < b.type.empty(); });
  return out;
}

// Sockets in the order in which they are used: those that together hold the devices wanted first (fewest,
// then lowest numbers), then the rest. Returns how many stand in the first group.
size_t order_sockets(const Shape& s, const Kind& k, const NodeUse& use, const std::vector<GresNeed>& needs,
                     const CpuChooser& cpus, std::vector<uint32_t>& order) {
  order.resize(k.sockets);
  for (uint32_t i = 0; i < k.sockets; ++i) order[i] = i;
  std::vector<Device> devices;
  uint64_t wanted = 0;
  for (const GresNeed& n : needs) {
    std::vector<Device> d = free_devices(k, use, n);
    bool affine =
        std::any_of(d.begin(), d.end(), [&](const Device& x) { return k.gres[x.entry].cores.any(); });
    if (!affine) continue;
    devices.insert(devices.end(), d.begin(), d.end());
    wanted += n.count;
  }
  if (wanted == 0 || k.sockets == 1) {
    if (s.block_sockets)  // best fit: the socket with the fewest free cores first
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return cpus.free_cores(a) < cpus.free_cores(b); });
    return k.sockets;
  }
  std::vector<uint64_t> near(k.sockets, 0);
  for (uint32_t socket = 0; socket < k.sockets; ++socket)
    if (cpus.free_cores(socket) > 0)
      for (const Device& d : devices) near[socket] += near_socket(k, k.gres[d.entry], socket);
  // One socket that has enough: the one that is left with the fewest. Otherwise the richest first.
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool ea = near[a] >= wanted, eb = near[b] >= wanted;
    if (ea != eb) return ea;
    return ea ? near[a] < near[b] : near[a] > near[b];
  });
  size_t first = 0;
  for (uint64_t have = 0; first < order.size() && have < wanted; ++first) have += near[order[first]];
  return std::max<size_t>(first, 1);
}

// Devices for the needs: nearest to the chosen cores, lowest numbers.
bool choose_devices(const Kind& k, NodeUse use, const std::vector<GresNeed>& needs,
                    const std::vector<uint32_t>& sockets_used, std::vector<GresShare>& out) {
  for (const GresNeed& need : needs) {
    uint64_t left = need.count;
    std::vector<Device> devices = free_devices(k, use, need);
    auto near = [&](const Device& d) {
      return std::any_of(sockets_used.begin(), sockets_used.end(),
                         [&](uint32_t s) { return near_socket(k, k.gres[d.entry], s); });
    };
    std::stable_sort(devices.begin(), devices.end(), [&](const Device& a, const Device& b) {
      const bool na = near(a), nb = near(b);
      return na != nb ? na : a.index < b.index;
    });
    for (const Device& d : devices) {
      if (left == 0) break;
      const GresDevices& g = k.gres[d.entry];
      give(out, g.name, g.type, 1, d.index);
      give(use.gres, g.name, g.type, 1, d.index);
      --left;
    }
    std::vector<uint64_t> counts(k.gres.size());
    free_gres(k, use.gres, counts.data());
    for (size_t e = 0; e < k.gres.size() && left > 0; ++e) {
      const GresDevices& g = k.gres[e];
      if (g.name != need.name || !g.count_only || (!need.type.empty() && g.type != need.type)) continue;
      const uint64_t n = std::min(left, counts[e]);
      if (n == 0) continue;
      give(out, g.name, g.type, n, Bitmap::npos);
      give(use.gres, g.name, g.type, n, Bitmap::npos);
      left -= n;
    }
    if (left > 0) return false;
  }
  return true;
}

void all_devices(const Kind& k, const NodeUse& use, std::vector<GresShare>& out) {
  for (const GresDevices& g : k.gres) {
    if (g.count == 0) continue;
    if (g.count_only) {
      uint64_t taken = 0;
      for (const GresShare& u : use.gres) taken += u.name == g.name && u.type == g.type ? u.count : 0;
      if (g.count > taken) give(out, g.name, g.type, g.count - taken, Bitmap::npos);
      continue;
    }
    for (const Device& d : free_devices(k, use, {g.name, g.type, g.count}))
      if (k.gres[d.entry].first_index == g.first_index) give(out, g.name, g.type, 1, d.index);
  }
}

void finish_share(const Shape& s, const Kind& k, uint64_t gpus, NodeShare& share) {
  std::sort(share.gres.begin(), share.gres.end(), [](const GresShare& a, const GresShare& b) {
    return a.name != b.name ? a.name < b.name : a.type < b.type;
  });
  uint64_t units = share.cpus.count();
  if (s.whole_cores) units /= k.threads;
  share.mem_mb = memory_for(s, k, static_cast<uint32_t>(units), gpus);
}

std::optional<NodeShare> choose_whole(const Shape& s, const Kind& k, NodeShare share, const NodeUse& use,
                                      uint64_t gpus) {
  share.cpus = Bitmap(k.cpus, true) - k.specialized - use.cpus;
  uint32_t keep = s.core_spec_is_threads ? s.core_spec : s.core_spec * k.threads;
  for (uint32_t cpu = k.cpus; cpu-- > 0 && keep > 0;)  // specialised cores are the last ones
    if (share.cpus.test(cpu)) {
      share.cpus.reset(cpu);
      --keep;
    }
  if (share.cpus.none()) return std::nullopt;
  all_devices(k, use, share.gres);
  finish_share(s, k, gpus, share);
  return share;
}

bool local_per_socket(const Shape& s, const Kind& k, const NodeUse& use, uint32_t sockets_wanted) {
  for (const GresNeed& need : s.per_socket) {
    std::vector<Device> devices = free_devices(k, use, need);
    uint32_t good = 0;
    for (uint32_t socket = 0; socket < k.sockets; ++socket) {
      uint64_t near = 0;
      for (const Device& d : devices) near += near_socket(k, k.gres[d.entry], socket);
      good += near >= need.count;
    }
    if (good < sockets_wanted) return false;
  }
  return true;
}

}  // namespace

std::optional<NodeShare> choose_on_node(const Shape& s, const Kind& k, NodeId id, const NodeUse& use,
                                        uint32_t tasks, const JobGres& job_gres, bool ignore_cpus) {
  NodeShare share;
  share.node = id;
  share.tasks = tasks;
  const std::vector<GresNeed> needs = needs_here(s, tasks, job_gres);
  uint64_t gpus = 0;
  for (const GresNeed& n : needs) gpus += n.name == "gpu" ? n.count : 0;
  if (s.whole) return choose_whole(s, k, std::move(share), use, gpus);
  if (!s.per_socket.empty() && !local_per_socket(s, k, use, s.sockets)) return std::nullopt;
  CpuChooser cpus(s, k, use, ignore_cpus);
  if (s.enforce_binding) {
    Bitmap near(k.cores);
    for (const GresNeed& n : needs)
      for (const Device& d : free_devices(k, use, n))
        near |= k.gres[d.entry].cores.any() ? k.gres[d.entry].cores : Bitmap(k.cores, true);
    if (!needs.empty()) cpus.restrict_to(near);
  }
  std::vector<uint32_t> order;
  size_t near = order_sockets(s, k, use, needs, cpus, order);
  if (s.enforce_binding && !needs.empty()) order.resize(near);
  if (!cpus.choose(tasks, cpus_wanted(s, tasks, gpus), order, std::min(near, order.size()), share.cpus))
    return std::nullopt;
  std::vector<uint32_t> sockets_used;
  for (uint32_t socket = 0; socket < k.sockets; ++socket) {
    size_t c = share.cpus.next(static_cast<size_t>(socket) * k.cores_per_socket * k.threads);
    if (c != Bitmap::npos && k.socket_of_cpu(static_cast<uint32_t>(c)) == socket)
      sockets_used.push_back(socket);
  }
  if (!choose_devices(k, use, needs, sockets_used, share.gres)) return std::nullopt;
  if (s.max_cpus_per_node != kUnlimited32 && share.cpus.count() > s.max_cpus_per_node) return std::nullopt;
  finish_share(s, k, gpus, share);
  return share;
}

}  // namespace muster::sched
