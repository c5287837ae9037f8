#include "sched/fit/node_fit.h"

#include <algorithm>

#include "sched/fit/bound_sockets.h"
#include "sched/fit/cpu_chooser.h"

namespace muster::sched {
namespace {

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// `cpus` beyond those of the tasks first go to threads that the tasks leave unused on their cores.
uint64_t cores_for(const Shape& s, const Kind& k, uint32_t tasks, uint64_t cpus) {
  const uint64_t vt = usable_threads(s, k);
  const uint64_t batches = s.overcommit ? 1 : tasks;
  const uint64_t of_tasks = s.cpus_per_task > vt ? batches * ceil_div(s.cpus_per_task, vt) : ceil_div(batches, tasks_on_core(s, k));
  return std::max(of_tasks, ceil_div(cpus, vt));
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

// The most GPUs on a node whose cores the job may open, with so many of its tasks there.
uint64_t gpus_reached(const Shape& s, uint32_t tasks) {
  uint64_t n = 0;
  auto add = [&](const std::vector<GresNeed>& needs, uint64_t times) {
    for (const GresNeed& g : needs)
      if (g.name == "gpu" || is_shared_gres(g.name)) n += std::min(mul_sat(g.count, times), uint64_t{1} << 32);
  };
  add(s.per_node, 1);
  add(s.per_job, 1);
  add(s.per_task, tasks);
  return n;
}

uint64_t least_job_gpus(const Shape& s) {
  uint64_t n = 0;
  for (const GresNeed& g : s.per_job) n += g.name == "gpu";
  return n;
}

// How many CPUs the system keeps of a node that the job has whole: with --core-spec whole cores or threads, else what the node itself
// keeps.
uint64_t kept_cpus(const Shape& s, const Kind& k) {
  if (!s.whole || !s.own_core_spec) return std::min<uint64_t>(k.specialized.count(), k.cpus);
  return std::min<uint64_t>(s.core_spec_is_threads ? s.core_spec : uint64_t{s.core_spec} * k.threads, k.cpus);
}

// Units that such a node has when idle. They may be more than other jobs get.
uint64_t own_units(const Shape& s, const Kind& k) {
  if (!s.whole || !s.own_core_spec) return k.units;
  return (k.cpus - kept_cpus(s, k)) / (s.whole_cores ? k.threads : 1);
}

// Cores of which the system keeps no thread.
uint64_t open_cores(const Shape& s, const Kind& k) {
  if (s.whole && s.own_core_spec) return k.cores - std::min<uint64_t>(k.cores, ceil_div(kept_cpus(s, k), k.threads));
  Bitmap kept(k.cores);
  k.specialized.for_each([&](size_t cpu) { kept.set(k.core_of_cpu(static_cast<uint32_t>(cpu))); });
  return k.cores - std::min<uint64_t>(k.cores, kept.count());
}

}  // namespace

bool keeps_from(const Shape& s, const Kind& k) { return k.restricted.any() && !s.whole && !s.wants_gpu(); }

uint32_t units_opened_for(const Shape& s, const Kind& k) {
  // Shares of a GPU may come with cores that other shares of it have.
  const uint64_t gpus = s.gpus_per_node() + s.gpus_per_task() + least_job_gpus(s);
  uint32_t least = k.restricted_of.empty() ? 0 : k.cores;
  for (const GresDevices& g : k.gres)
    for (size_t gpu = g.first_index; g.name == "gpu" && gpu < g.first_index + g.count; ++gpu)
      least = gpu < k.restricted_of.size() ? std::min(least, static_cast<uint32_t>(k.restricted_of[gpu].count())) : 0;
  const uint64_t cores = std::min(mul_sat(gpus, least), uint64_t{k.cores});
  return static_cast<uint32_t>(cores) * (k.restricted.any() ? k.restricted_units / static_cast<uint32_t>(k.restricted.count()) : 0);
}

bool counts_decide(const Shape& s, const Kind& k) { return s.counts_decide() && (s.whole || k.restricted.none()); }

bool kind_qualifies(const Shape& s, const Kind& k) {
  if (s.sockets > k.sockets || s.cores_per_socket > k.cores_per_socket || s.threads_per_core > k.spec_threads) return false;
  if (s.tmp_disk_mb > k.tmp_disk_mb) return false;
  return s.min_cpus_per_node <= k.cpus - kept_cpus(s, k);
}

uint32_t units_for(const Shape& s, const Kind& k, uint32_t tasks, uint64_t gpus) {
  if (s.all_cpus) return k.units;
  const uint64_t cpus = cpus_wanted(s, tasks, gpus);
  uint64_t units = s.whole_cores && by_core(s, k) ? cores_for(s, k, tasks, cpus) : cpus;
  if (s.enforce_binding) units = std::max<uint64_t>(units, BoundSockets::least(k, gpus));
  if (s.whole_sockets)
    units = std::min<uint64_t>(ceil_div(units, k.cores_per_socket) * k.cores_per_socket, std::max<uint64_t>(units, k.units));
  return static_cast<uint32_t>(std::min<uint64_t>(units, 0xffffffffu));
}

uint64_t memory_for(const Shape& s, const Kind& k, uint32_t units, uint64_t gpus) {
  switch (s.memory) {
    case MemoryMode::kNone: return 0;
    case MemoryMode::kPerNode: return s.mem_mb;
    case MemoryMode::kPerCpu: return mul_sat(s.mem_mb, uint64_t{units} * (s.whole_cores ? usable_threads(s, k) : 1));
    case MemoryMode::kPerGpu: return mul_sat(s.mem_mb, gpus);
    case MemoryMode::kAll: return s.max_mem_per_node_mb ? std::min(k.mem_mb, s.max_mem_per_node_mb) : k.mem_mb;
  }
  return 0;
}

uint64_t job_devices(const Shape& s, const Kind& k, const GresNeed& need, const NodeFree& free) {
  uint64_t n = gres_available(need, k, free.gres);
  if (need.name != "gpu") return n;
  if (s.memory == MemoryMode::kPerGpu && s.mem_mb) n = std::min(n, (s.mem_consumable ? free.mem_mb : k.mem_mb) / s.mem_mb);
  if (!s.cpus_per_gpu) return n;
  const uint64_t units = s.whole ? own_units(s, k) : free.units;
  return std::min(n, (s.whole_cores ? units * usable_threads(s, k) : units) / s.cpus_per_gpu);
}

uint32_t count_tasks(const Shape& shape, const Kind& kind, const NodeFree& free) {
  uint64_t cap = kManyTasks;
  for (const GresNeed& g : shape.per_node)
    if (gres_available(g, kind, free.gres) < g.count) return kNoTasks;
  for (const GresNeed& g : shape.per_job)
    if (gres_available(g, kind, free.gres) < 1) return kNoTasks;
  for (const GresNeed& g : shape.per_task) cap = std::min(cap, tasks_by_gres(g, shape.per_node, shape, kind, free.gres));
  if (shape.tasks_per_node) cap = std::min<uint64_t>(cap, shape.tasks_per_node);
  if (shape.tasks_per_socket) cap = std::min<uint64_t>(cap, static_cast<uint64_t>(shape.tasks_per_socket) * kind.sockets);
  if (shape.tasks_per_gpu) {
    uint64_t gpus = shape.gpus_per_node();
    if (!gpus) gpus = gres_available({"gpu", "", 1, false}, kind, free.gres);
    cap = std::min<uint64_t>(cap, gpus * shape.tasks_per_gpu);
  }
  const uint64_t own = own_units(shape, kind);
  uint64_t units = free.units < kind.units ? std::min<uint64_t>(free.units, own) : own;
  if (keeps_from(shape, kind)) units = std::min<uint64_t>(units, open_units(kind));
  if (shape.max_cpus_per_node != kUnlimited32)
    units = std::min<uint64_t>(units, shape.whole_cores ? shape.max_cpus_per_node / kind.threads : shape.max_cpus_per_node);
  if (!shape.overcommit) {
    const uint64_t cpus = shape.whole_cores ? units * usable_threads(shape, kind) : units;
    cap = std::min<uint64_t>(cap, cpus / shape.cpus_per_task);
  }
  const uint64_t job_gpus = least_job_gpus(shape);
  const bool check_mem = shape.mem_consumable || shape.memory != MemoryMode::kNone;
  uint64_t mem = shape.mem_consumable ? free.mem_mb : kind.mem_mb;
  if (shape.max_mem_per_node_mb) mem = std::min(mem, shape.max_mem_per_node_mb);
  if (check_mem && shape.memory == MemoryMode::kPerCpu && shape.mem_mb && !shape.whole && !shape.overcommit)
    cap = std::min<uint64_t>(cap, mem / shape.mem_mb / shape.cpus_per_task);
  // Where CPUs are handed out one by one and yet tasks keep to cores of their own, there must be enough cores, whoever has their other
  // threads.
  const bool apart = !shape.whole_cores && by_core(shape, kind);
  const uint64_t cores = apart ? open_cores(shape, kind) : 0;
  const bool by_gpu = kind.restricted.any() && !shape.whole;
  auto fits = [&](uint64_t tasks) {
    const uint64_t gpus = node_gpus(shape, static_cast<uint32_t>(tasks)) + job_gpus;
    const uint32_t need = units_for(shape, kind, static_cast<uint32_t>(tasks), gpus);
    if (need > units) return false;
    if (by_gpu && need > open_units(kind) + units_opened(kind, gpus_reached(shape, static_cast<uint32_t>(tasks)))) return false;
    if (apart && cores_for(shape, kind, static_cast<uint32_t>(tasks), cpus_wanted(shape, static_cast<uint32_t>(tasks), gpus)) > cores)
      return false;
    const uint32_t held = shape.whole ? static_cast<uint32_t>(std::min<uint64_t>(kind.units, own)) : need;
    return !check_mem || memory_for(shape, kind, held, gpus) <= mem;
  };
  // CPUs, cores and memory all grow with the number of tasks, so halving finds the largest number that fits.
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

// The order in which sockets are used: first those that together hold the devices wanted (as few as possible, then lowest numbers), then
// the rest. Returns how many stand in the first group.
size_t order_sockets(const Shape& shape, const Kind& kind, const NodeUse& use, const std::vector<GresNeed>& needs, const CpuChooser& cpus,
                     std::vector<uint32_t>& order) {
  order.resize(kind.sockets);
  for (uint32_t i = 0; i < kind.sockets; ++i) order[i] = i;
  std::vector<Device> devices;
  uint64_t wanted = 0;
  for (const GresNeed& n : needs) {
    std::vector<Device> d = free_devices(kind, use, n);
    bool affine = std::any_of(d.begin(), d.end(), [&](const Device& x) { return kind.gres[x.entry].cores.any(); });
    if (!affine) continue;
    devices.insert(devices.end(), d.begin(), d.end());
    wanted += n.count;
  }
  if (wanted == 0 || kind.sockets == 1) {
    if (shape.block_sockets)  // best fit: the socket with the fewest free cores first
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return cpus.free_cores(a) < cpus.free_cores(b); });
    return kind.sockets;
  }
  std::vector<uint64_t> near(kind.sockets, 0);
  for (uint32_t socket = 0; socket < kind.sockets; ++socket)
    if (cpus.free_cores(socket) > 0)
      for (const Device& d : devices) near[socket] += near_socket(kind, kind.gres[d.entry], socket);
  // If one socket has enough devices: the one with the fewest of them. Otherwise the sockets with the most devices first.
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
  std::sort(share.gres.begin(), share.gres.end(),
            [](const GresShare& a, const GresShare& b) { return a.name != b.name ? a.name < b.name : a.type < b.type; });
  share.taken_back = share.cpus & k.specialized;
  if (share.taken_back.none()) share.taken_back = Bitmap();
  uint64_t units = share.counted_cpus();
  if (s.whole_cores) units /= k.threads;
  share.mem_mb = memory_for(s, k, static_cast<uint32_t>(units), gpus);
}

// The order in which cores are kept for the system: first those that the node names (CpuSpecList, CoreSpecCount), from the lowest unless
// they are what CoreSpecCount chooses; then the others as CoreSpecCount would choose them. Guide core_spec.
std::vector<uint32_t> kept_order(const Shape& shape, const Kind& kind) {
  Bitmap named(kind.cores), seen(kind.cores);
  kind.specialized.for_each([&](size_t cpu) { named.set(kind.core_of_cpu(static_cast<uint32_t>(cpu))); });
  const auto count = static_cast<uint32_t>(named.count());
  auto chosen = [&](uint32_t n) { return specialized_cores(kind.sockets, kind.cores_per_socket, n, shape.spec_cores_first); };
  std::vector<uint32_t> out;
  auto add = [&](size_t core) {
    if (seen.test(core)) return;
    seen.set(core);
    out.push_back(static_cast<uint32_t>(core));
  };
  if (!(chosen(count) == named)) named.for_each(add);
  for (uint32_t n = 1; n <= kind.cores; ++n) chosen(n).for_each(add);
  return out;
}

// What the system keeps of a node: what the job says with --core-spec, else what the node itself keeps.
Bitmap system_cpus(const Shape& s, const Kind& k) {
  if (!s.own_core_spec) return k.specialized;
  Bitmap out;
  uint64_t left = s.core_spec_is_threads ? s.core_spec : uint64_t{s.core_spec} * k.threads;
  for (uint32_t core : kept_order(s, k))
    for (size_t cpu = (size_t{core} + 1) * k.threads; cpu-- > size_t{core} * k.threads && left > 0; --left) out.set(cpu);
  return out;
}

std::optional<NodeShare> choose_whole(const Shape& shape, const Kind& kind, NodeShare share, NodeUse use, std::vector<GresNeed> needs,
                                      uint64_t gpus) {
  share.cpus = Bitmap(kind.cpus, true) - system_cpus(shape, kind) - use.cpus;
  if (share.cpus.none()) return std::nullopt;
  // Only devices that do not come along with a whole node have to be asked for.
  std::erase_if(needs, [&](const GresNeed& n) {
    return std::none_of(kind.gres.begin(), kind.gres.end(), [&](const GresDevices& g) {
      return g.name == n.name && (g.shared || (g.flags & (kGresExplicit | kGresNoConsume)));
    });
  });
  if (!choose_devices(shape, kind, use, needs, share.tasks, {}, share.gres)) return std::nullopt;
  for (const GresShare& g : share.gres) add_gres(use.gres, g);
  all_devices(kind, use, share.gres);
  finish_share(shape, kind, gpus, share);
  return share;
}

// A job that takes all CPUs of a node but shares them: they must have few enough other jobs; its devices are its own.
std::optional<NodeShare> choose_shared_node(const Shape& s, const Kind& k, NodeShare share, const NodeUse& use,
                                            const std::vector<GresNeed>& needs, uint64_t gpus) {
  share.cpus = Bitmap(k.cpus, true) - k.specialized;
  if (share.cpus.none() || share.cpus.intersects(use.cpus)) return std::nullopt;
  if (!choose_devices(s, k, use, needs, share.tasks, {}, share.gres)) return std::nullopt;
  finish_share(s, k, gpus, share);
  if (s.mem_consumable && share.mem_mb > k.mem_mb - std::min(k.mem_mb, use.mem_mb)) return std::nullopt;
  return share;
}

bool local_per_socket(const Shape& shape, const Kind& kind, const NodeUse& use, uint32_t sockets_wanted) {
  for (const GresNeed& need : shape.per_socket) {
    std::vector<Device> devices = free_devices(kind, use, need);
    uint32_t good = 0;
    for (uint32_t socket = 0; socket < kind.sockets; ++socket) {
      uint64_t near = 0;
      for (const Device& d : devices) near += near_socket(kind, kind.gres[d.entry], socket);
      good += near >= need.count;
    }
    if (good < sockets_wanted) return false;
  }
  return true;
}

uint32_t cores_at(const Kind& k, const NodeUse& use, uint32_t socket) {
  uint32_t n = 0;
  for (uint32_t core = socket * k.cores_per_socket; core < (socket + 1) * k.cores_per_socket; ++core) {
    bool open = false;
    for (uint32_t cpu = core * k.threads; cpu < (core + 1) * k.threads; ++cpu) open |= !use.cpus.test(cpu) && !k.specialized.test(cpu);
    n += open;
  }
  return n;
}

Bitmap gpus_in(const std::vector<GresShare>& share) {
  Bitmap out;
  for (const GresShare& g : share)
    if (g.name == "gpu" || is_shared_gres(g.name)) out |= g.devices;
  return out;
}

// Tries enforce-binding with these sockets: devices evenly, then CPUs at them.
bool choose_bound(const Shape& s, const Kind& k, const NodeUse& use, const std::vector<GresNeed>& needs, uint32_t tasks, uint64_t cpus,
                  const std::vector<uint32_t>& sockets, NodeShare& share) {
  share.gres.clear();
  share.cpus = Bitmap();
  if (!choose_devices_evenly(s, k, use, needs, tasks, sockets, share.gres)) return false;
  Bitmap cores;
  const std::vector<uint32_t> giving = giving_sockets(k, share.gres, cores);
  CpuChooser chooser(s, k, use, restricted_cpus(k, gpus_in(share.gres)));
  chooser.restrict_to(cores);
  if (giving.size() > 1) return chooser.choose_evenly(tasks, cpus, giving, share.cpus);
  return chooser.choose(tasks, cpus, giving, giving.size(), share.cpus);
}

// Devices come first here, because the GPUs say which cores are open to the job (RestrictedCoresPerGPU).
bool choose_devices_first(const Shape& s, const Kind& k, const NodeUse& use, const std::vector<GresNeed>& needs, uint32_t tasks,
                          uint64_t wanted, const CpuChooser& cpus, NodeShare& share) {
  std::vector<uint32_t> order;
  const size_t near = order_sockets(s, k, use, needs, cpus, order);
  const std::vector<uint32_t> first(order.begin(), order.begin() + static_cast<ptrdiff_t>(std::min(near, order.size())));
  if (!choose_devices(s, k, use, needs, tasks, first, share.gres)) return false;
  CpuChooser open(s, k, use, restricted_cpus(k, gpus_in(share.gres)));
  return open.choose(tasks, wanted, order, first.size(), share.cpus);
}

bool choose_cpus_first(const Shape& s, const Kind& k, const NodeUse& use, const std::vector<GresNeed>& needs, uint32_t tasks,
                       uint64_t wanted, CpuChooser& cpus, NodeShare& share) {
  std::vector<uint32_t> order;
  const size_t near = order_sockets(s, k, use, needs, cpus, order);
  if (!cpus.choose(tasks, wanted, order, std::min(near, order.size()), share.cpus)) return false;
  std::vector<uint32_t> sockets_used;
  for (uint32_t socket = 0; socket < k.sockets; ++socket) {
    size_t c = share.cpus.next(static_cast<size_t>(socket) * k.cores_per_socket * k.threads);
    if (c != Bitmap::npos && k.socket_of_cpu(static_cast<uint32_t>(c)) == socket) sockets_used.push_back(socket);
  }
  return choose_devices(s, k, use, needs, tasks, sockets_used, share.gres);
}

}  // namespace

std::optional<NodeShare> choose_on_node(const Shape& shape, const Kind& kind, NodeId id, const NodeUse& use, uint32_t tasks,
                                        const JobGres& job_gres) {
  NodeShare share;
  share.node = id;
  share.tasks = tasks;
  const std::vector<GresNeed> needs = needs_on_node(shape, tasks, job_gres);
  uint64_t gpus = 0;
  for (const GresNeed& n : needs) gpus += n.name == "gpu" ? n.count : 0;
  if (shape.whole) return choose_whole(shape, kind, std::move(share), use, needs, gpus);
  if (shape.all_cpus) return choose_shared_node(shape, kind, std::move(share), use, needs, gpus);
  if (!shape.per_socket.empty() && !local_per_socket(shape, kind, use, shape.sockets)) return std::nullopt;
  const Bitmap kept = kind.restricted.any() ? restricted_cpus(kind) : Bitmap();
  CpuChooser cpus(shape, kind, use, kept);
  const uint64_t wanted = cpus_wanted(shape, tasks, gpus);
  bool found = false;
  if (BoundSockets::concerns(shape, kind, needs)) {
    for (const auto& set : BoundSockets(kind, needs).sets(use, [&](uint32_t socket) { return cores_at(kind, use, socket); }))
      if ((found = choose_bound(shape, kind, use, needs, tasks, wanted, set, share))) break;
  } else if (kind.restricted.any() && shape.wants_gpu()) {
    found = choose_devices_first(shape, kind, use, needs, tasks, wanted, cpus, share);
  } else {
    found = choose_cpus_first(shape, kind, use, needs, tasks, wanted, cpus, share);
  }
  if (!found) return std::nullopt;
  if (const PartitionLimit limit = limit_of(shape);
      limit.concerns() && !limit.allows(kind.sockets, kind.cpus, use.of_partition, share.cpus))
    return std::nullopt;
  finish_share(shape, kind, gpus, share);
  // Sockets filled up because devices are near them bring CPUs whose memory counting does not know of.
  if (shape.mem_consumable && share.mem_mb > kind.mem_mb - std::min(kind.mem_mb, use.mem_mb)) return std::nullopt;
  return share;
}

}  // namespace muster::sched
