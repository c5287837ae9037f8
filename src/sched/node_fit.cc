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

// CPUs that the system keeps of a node that the job has whole: with --core-spec core by core, else the node's own.
uint64_t kept_cpus(const Shape& s, const Kind& k) {
  if (!s.whole || !s.core_spec) return std::min<uint64_t>(k.specialized.count(), k.cpus);
  return std::min<uint64_t>(s.core_spec_is_threads ? s.core_spec : uint64_t{s.core_spec} * k.threads, k.cpus);
}

// Units that such a node has when idle. They may be more than others get.
uint64_t own_units(const Shape& s, const Kind& k) {
  if (!s.whole || !s.core_spec) return k.units;
  return (k.cpus - kept_cpus(s, k)) / (s.whole_cores ? k.threads : 1);
}

// Cores of which the system keeps no thread.
uint64_t open_cores(const Shape& s, const Kind& k) {
  if (s.whole && s.core_spec) return k.cores - std::min<uint64_t>(k.cores, ceil_div(kept_cpus(s, k), k.threads));
  Bitmap kept(k.cores);
  k.specialized.for_each([&](size_t cpu) { kept.set(k.core_of_cpu(static_cast<uint32_t>(cpu))); });
  return k.cores - std::min<uint64_t>(k.cores, kept.count());
}

}  // namespace

bool keeps_from(const Shape& s, const Kind& k) { return k.restricted.any() && !s.whole && !s.wants_gpu(); }

bool counts_decide(const Shape& s, const Kind& k) { return s.counts_decide() && !keeps_from(s, k); }

bool kind_qualifies(const Shape& s, const Kind& k) {
  if (s.sockets > k.sockets || s.cores_per_socket > k.cores_per_socket || s.threads_per_core > k.spec_threads)
    return false;
  if (s.tmp_disk_mb > k.tmp_disk_mb) return false;
  return s.min_cpus_per_node <= k.cpus - kept_cpus(s, k);
}

uint32_t units_for(const Shape& s, const Kind& k, uint32_t tasks, uint64_t gpus) {
  if (s.all_cpus) return k.units;
  const uint64_t cpus = cpus_wanted(s, tasks, gpus);
  uint64_t units = s.whole_cores && by_core(s, k) ? cores_for(s, k, tasks, cpus) : cpus;
  if (s.whole_sockets)
    units = std::min<uint64_t>(ceil_div(units, k.cores_per_socket) * k.cores_per_socket,
                               std::max<uint64_t>(units, k.units));
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
      return s.max_mem_per_node_mb ? std::min(k.mem_mb, s.max_mem_per_node_mb) : k.mem_mb;
  }
  return 0;
}

uint32_t count_tasks(const Shape& s, const Kind& k, const NodeFree& free) {
  uint64_t cap = kManyTasks;
  for (const GresNeed& g : s.per_node)
    if (gres_available(g, k, free.gres) < g.count) return kNoTasks;
  for (const GresNeed& g : s.per_job)
    if (gres_available(g, k, free.gres) < 1) return kNoTasks;
  for (const GresNeed& g : s.per_task) cap = std::min(cap, tasks_by_gres(g, s.per_node, s, k, free.gres));
  if (s.tasks_per_node) cap = std::min<uint64_t>(cap, s.tasks_per_node);
  if (s.tasks_per_socket)
    cap = std::min<uint64_t>(cap, static_cast<uint64_t>(s.tasks_per_socket) * k.sockets);
  if (s.tasks_per_gpu) {
    uint64_t gpus = s.gpus_per_node();
    if (!gpus) gpus = gres_available({"gpu", "", 1, false}, k, free.gres);
    cap = std::min<uint64_t>(cap, gpus * s.tasks_per_gpu);
  }
  const uint64_t own = own_units(s, k);
  uint64_t units = free.units < k.units ? std::min<uint64_t>(free.units, own) : own;
  if (keeps_from(s, k)) units = std::min<uint64_t>(units, open_units(k));
  if (s.max_cpus_per_node != kUnlimited32)
    units = std::min<uint64_t>(units, s.whole_cores ? s.max_cpus_per_node / k.threads : s.max_cpus_per_node);
  if (!s.overcommit) {
    const uint64_t cpus = s.whole_cores ? units * usable_threads(s, k) : units;
    cap = std::min<uint64_t>(cap, cpus / s.cpus_per_task);
  }
  const uint64_t job_gpus = least_job_gpus(s);
  const bool check_mem = s.mem_consumable || s.memory != MemoryMode::kNone;
  uint64_t mem = s.mem_consumable ? free.mem_mb : k.mem_mb;
  if (s.max_mem_per_node_mb) mem = std::min(mem, s.max_mem_per_node_mb);
  if (check_mem && s.memory == MemoryMode::kPerCpu && s.mem_mb && !s.whole && !s.overcommit)
    cap = std::min<uint64_t>(cap, mem / s.mem_mb / s.cpus_per_task);
  // CPUs are handed out one by one, and yet tasks keep to cores: there must be cores enough, whose ever the other threads are.
  const bool apart = !s.whole_cores && by_core(s, k);
  const uint64_t cores = apart ? open_cores(s, k) : 0;
  auto fits = [&](uint64_t tasks) {
    const uint64_t gpus = node_gpus(s, static_cast<uint32_t>(tasks)) + job_gpus;
    const uint32_t need = units_for(s, k, static_cast<uint32_t>(tasks), gpus);
    if (need > units) return false;
    if (apart && cores_for(s, k, static_cast<uint32_t>(tasks), cpus_wanted(s, static_cast<uint32_t>(tasks), gpus)) > cores) return false;
    const uint32_t held = s.whole ? static_cast<uint32_t>(std::min<uint64_t>(k.units, own)) : need;
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
  CpuChooser(const Shape& s, const Kind& k, const NodeUse& use) : s_(s), k_(k), free_(k.sockets) {
    by_core_ = by_core(s, k);
    Bitmap taken = k.specialized | use.cpus;
    if (keeps_from(s, k)) taken |= restricted_cpus(k);
    taken_ = taken;
    for (uint32_t core = 0; core < k.cores; ++core) {
      Slot slot{core, 0, 0};
      for (uint32_t t = 0; t < k.threads; ++t)
        if (!taken.test(core * k.threads + t)) slot.threads |= 1u << std::min(t, 31u);
      const bool whole = std::popcount(slot.threads) == static_cast<int>(std::min(k.threads, 32u));
      if (by_core_ ? whole : slot.threads != 0) free_[core / k.cores_per_socket].push_back(slot);
    }
    if (use.busy.any())
      for (auto& socket : free_)
        std::stable_partition(socket.begin(), socket.end(),
                              [&](const Slot& c) { return !use.busy.test(size_t{c.core} * k.threads); });
    if (s.one_core_per_socket)
      for (auto& socket : free_)
        if (socket.size() > 1) socket.erase(socket.begin() + 1, socket.end());
    if (s.whole_sockets)
      use.cpus.for_each([&](size_t cpu) { free_[k.socket_of_cpu(static_cast<uint32_t>(cpu))].clear(); });
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
    if (left > 0 && !one_task(batches * tasks_on_core(s_, k_), left)) return false;
    if (s_.whole_sockets) fill_sockets();
    return true;
  }

 private:
  // CR_Socket: what is free of a socket goes with the first CPU of it.
  void fill_sockets() {
    const uint32_t each = k_.cores_per_socket * k_.threads;
    for (uint32_t socket = 0; socket < k_.sockets; ++socket) {
      const size_t first = out_->next(size_t{socket} * each);
      if (first == Bitmap::npos || first >= size_t{socket + 1} * each) continue;
      for (uint32_t cpu = socket * each; cpu < (socket + 1) * each; ++cpu)
        if (!taken_.test(cpu)) out_->set(cpu);
    }
  }

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
  Bitmap taken_;
  std::vector<std::vector<Slot>> free_;
  std::vector<uint32_t> used_;
  std::vector<uint32_t> order_;
  size_t near_ = 0;
  Bitmap* out_ = nullptr;
};

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

void finish_share(const Shape& s, const Kind& k, uint64_t gpus, NodeShare& share) {
  std::sort(share.gres.begin(), share.gres.end(), [](const GresShare& a, const GresShare& b) {
    return a.name != b.name ? a.name < b.name : a.type < b.type;
  });
  share.taken_back = share.cpus & k.specialized;
  if (share.taken_back.none()) share.taken_back = Bitmap();
  uint64_t units = share.counted_cpus();
  if (s.whole_cores) units /= k.threads;
  share.mem_mb = memory_for(s, k, static_cast<uint32_t>(units), gpus);
}

// Cores in the order in which they are kept for the system: those that the node names (CpuSpecList, CoreSpecCount) first, from
// the lowest unless they are what CoreSpecCount chooses; then the others as it would choose them. Guide core_spec.
std::vector<uint32_t> kept_order(const Shape& s, const Kind& k) {
  Bitmap named(k.cores), seen(k.cores);
  k.specialized.for_each([&](size_t cpu) { named.set(k.core_of_cpu(static_cast<uint32_t>(cpu))); });
  const auto count = static_cast<uint32_t>(named.count());
  auto chosen = [&](uint32_t n) { return specialized_cores(k.sockets, k.cores_per_socket, n, s.spec_cores_first); };
  std::vector<uint32_t> out;
  auto add = [&](size_t core) {
    if (seen.test(core)) return;
    seen.set(core);
    out.push_back(static_cast<uint32_t>(core));
  };
  if (!(chosen(count) == named)) named.for_each(add);
  for (uint32_t n = 1; n <= k.cores; ++n) chosen(n).for_each(add);
  return out;
}

// What the system keeps of a node: what the job says with --core-spec, else the node's own.
Bitmap system_cpus(const Shape& s, const Kind& k) {
  if (!s.core_spec) return k.specialized;
  Bitmap out;
  uint64_t left = s.core_spec_is_threads ? s.core_spec : uint64_t{s.core_spec} * k.threads;
  for (uint32_t core : kept_order(s, k))
    for (size_t cpu = (size_t{core} + 1) * k.threads; cpu-- > size_t{core} * k.threads && left > 0; --left) out.set(cpu);
  return out;
}

std::optional<NodeShare> choose_whole(const Shape& s, const Kind& k, NodeShare share, NodeUse use,
                                      std::vector<GresNeed> needs, uint64_t gpus) {
  share.cpus = Bitmap(k.cpus, true) - system_cpus(s, k) - use.cpus;
  if (share.cpus.none()) return std::nullopt;
  // What whole nodes do not bring along by themselves has to be asked for.
  std::erase_if(needs, [&](const GresNeed& n) {
    return std::none_of(k.gres.begin(), k.gres.end(), [&](const GresDevices& g) {
      return g.name == n.name && (g.shared || (g.flags & (kGresExplicit | kGresNoConsume)));
    });
  });
  if (!choose_devices(s, k, use, needs, share.tasks, {}, share.gres)) return std::nullopt;
  for (const GresShare& g : share.gres) add_gres(use.gres, g);
  all_devices(k, use, share.gres);
  finish_share(s, k, gpus, share);
  return share;
}

// All CPUs, shared with few enough jobs; devices are nobody else's.
std::optional<NodeShare> choose_shared_node(const Shape& s, const Kind& k, NodeShare share, const NodeUse& use,
                                            const std::vector<GresNeed>& needs, uint64_t gpus) {
  share.cpus = Bitmap(k.cpus, true) - k.specialized;
  if (share.cpus.none() || share.cpus.intersects(use.cpus)) return std::nullopt;
  if (!choose_devices(s, k, use, needs, share.tasks, {}, share.gres)) return std::nullopt;
  finish_share(s, k, gpus, share);
  if (s.mem_consumable && share.mem_mb > k.mem_mb - std::min(k.mem_mb, use.mem_mb)) return std::nullopt;
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
                                        uint32_t tasks, const JobGres& job_gres) {
  NodeShare share;
  share.node = id;
  share.tasks = tasks;
  const std::vector<GresNeed> needs = needs_on_node(s, tasks, job_gres);
  uint64_t gpus = 0;
  for (const GresNeed& n : needs) gpus += n.name == "gpu" ? n.count : 0;
  if (s.whole) return choose_whole(s, k, std::move(share), use, needs, gpus);
  if (s.all_cpus) return choose_shared_node(s, k, std::move(share), use, needs, gpus);
  if (!s.per_socket.empty() && !local_per_socket(s, k, use, s.sockets)) return std::nullopt;
  CpuChooser cpus(s, k, use);
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
  if (!choose_devices(s, k, use, needs, tasks, sockets_used, share.gres)) return std::nullopt;
  if (s.max_cpus_per_node != kUnlimited32 && share.cpus.count() > s.max_cpus_per_node) return std::nullopt;
  finish_share(s, k, gpus, share);
  // Sockets filled up for the sake of near devices cost memory that counting does not know of.
  if (s.mem_consumable && share.mem_mb > k.mem_mb - std::min(k.mem_mb, use.mem_mb)) return std::nullopt;
  return share;
}

}  // namespace muster::sched
