#include "sched/request/request_shape.h"

#include <algorithm>

#include "base/text.h"
#include "sched/request/device_counts.h"
#include "sched/request/licenses.h"

namespace muster::sched {
namespace {

constexpr uint32_t kMaxTasks = 1u << 24;
constexpr uint64_t kMaxMemoryMb = 1ull << 40;
constexpr uint32_t kMaxCoreSpec = 1u << 16;

uint64_t gpus_in(const std::vector<GresNeed>& needs) {
  uint64_t n = 0;
  for (const GresNeed& g : needs)
    if (g.name == "gpu") n += g.count;
  return n;
}

// Whether --core-spec is given. 0 counts too: then no core is kept from the job.
bool says_core_spec(const RequestBody& r) { return r.core_spec_given || r.core_spec > 0; }

bool asks_gpus(const Shape& s) { return gpus_in(s.per_node) || gpus_in(s.per_job) || gpus_in(s.per_task) || gpus_in(s.per_socket); }

Result<> nodes_of(const RequestBody& r, Shape& s) {
  if (r.min_nodes) s.min_nodes = r.min_nodes;
  if (r.max_nodes) s.max_nodes = r.max_nodes;
  if (r.min_nodes && s.max_nodes < s.min_nodes)
    return fail(Errc::kInvalidNodeCount, {}, "--nodes: the maximum is smaller than the minimum");
  MUSTER_TRY(sizes, r.node_sizes.parsed());
  s.node_sizes = std::move(sizes.counts);
  s.grow = r.max_nodes > std::max(r.min_nodes, 1u) && !r.use_min_nodes;
  s.contiguous = r.contiguous;
  s.spread = r.spread_job;
  s.required_nodes = r.required_nodes;
  s.excluded_nodes = r.excluded_nodes;
  s.switches = r.spread_job ? 0 : r.switches;
  s.switches_wait = r.switches_wait;
  s.segment = r.segment;
  s.spread_segments = r.spread_segments;
  s.consolidate_segments = r.consolidate_segments;
  return {};
}

Result<> gres_of(const RequestBody& r, const Params& params, Shape& s) {
  MUSTER_TRY(node, gres_needs(r.tres_per_node, "--gres"));
  MUSTER_TRY(job, gres_needs(r.tres_per_job, "--gpus"));
  MUSTER_TRY(task, gres_needs(r.tres_per_task, "--gpus-per-task"));
  MUSTER_TRY(socket, gres_needs(r.tres_per_socket, "--gpus-per-socket"));
  s.per_node = std::move(node);
  s.per_job = std::move(job);
  s.per_task = std::move(task);
  s.per_socket = std::move(socket);
  if (!s.per_socket.empty() && r.sockets_per_node == 0) return fail(Errc::kInvalidReq, {}, "--gpus-per-socket needs --sockets-per-node");
  s.overcommit = r.overcommit && s.per_task.empty();  // devices of each task: it must fit, --overcommit or not
  s.enforce_binding = r.gres_flags->enforce_binding.value_or(params.enforce_binding);
  s.one_task_per_sharing = r.gres_flags->one_task_per_sharing.value_or(params.one_task_per_sharing);
  s.several_sharing = params.several_sharing;
  s.spread_shared = params.spread_shared;
  for (auto* needs : {&s.per_node, &s.per_job, &s.per_task, &s.per_socket})
    for (GresNeed& g : *needs) g.one_device = is_shared_gres(g.name) && !s.several_sharing;
  return {};
}

// A GPU is given whole or in parts, and only a job that has it whole may set its clocks.
Result<> mps_stands_alone(const RequestBody& r, const Shape& s) {
  bool mps = false;
  for (const auto* needs : {&s.per_node, &s.per_job, &s.per_task, &s.per_socket})
    for (const GresNeed& g : *needs) mps |= g.name == "mps";
  if (!mps) return {};
  if (asks_gpus(s)) return fail(Errc::kInvalidGres, {}, "one job cannot have both gres/mps and gres/gpu");
  if (!r.tres_freq.empty()) return fail(Errc::kInvalidGres, {}, "--gpu-freq is for whole GPUs, the job asks for gres/mps");
  return {};
}

void hint_of(const RequestBody& r, Shape& s) {
  if (r.hint->one_thread()) s.use_threads = 1;
  s.one_core_per_socket = r.hint->kind == TaskHint::Kind::kMemoryBound;
  if (r.threads_per_core) s.use_threads = r.threads_per_core;
}

// How many tasks there are when --ntasks does not say it.
Result<> derive_tasks(const RequestBody& r, Shape& s) {
  const uint64_t job_gpus = s.gpus_per_job(), node_gpus = s.gpus_per_node();
  if (r.num_tasks) s.num_tasks = r.num_tasks;
  if (r.num_tasks > kMaxTasks || r.ntasks_per_node > kMaxTasks || r.ntasks_per_gpu > kMaxTasks)
    return fail(Errc::kInvalidTaskCount, {}, "--ntasks: at most " + std::to_string(kMaxTasks));
  if (s.overcommit) return {};
  if (r.ntasks_per_gpu) {
    if (node_gpus == 0 && job_gpus == 0) {
      if (!r.num_tasks) return fail(Errc::kInvalidReq, {}, "--ntasks-per-gpu needs --ntasks or a count of GPUs");
      s.per_job.push_back({"gpu", "", (r.num_tasks + r.ntasks_per_gpu - 1) / r.ntasks_per_gpu});
    } else if (!r.num_tasks && job_gpus) {
      s.num_tasks = static_cast<uint32_t>(std::min<uint64_t>(mul_sat(job_gpus, r.ntasks_per_gpu), kMaxTasks));
    } else if (!r.num_tasks) {
      s.tasks_per_node = static_cast<uint32_t>(std::min<uint64_t>(mul_sat(node_gpus, r.ntasks_per_gpu), kMaxTasks));
    }
    s.tasks_per_gpu = r.ntasks_per_gpu;
  }
  if (!s.num_tasks && !s.tasks_per_node) s.tasks_per_node = std::max(r.ntasks_per_node, 1u);
  return {};
}

void tie_nodes_to_tasks(const RequestBody& r, Shape& s) {
  if (!s.required_nodes.empty() && !r.min_nodes && !s.num_tasks)  // all of the nodes named
    s.min_nodes = std::max(s.min_nodes, static_cast<uint32_t>(std::min<size_t>(s.required_nodes->count(), kMaxTasks)));
  if (s.num_tasks) {
    if (!s.overcommit) s.min_nodes = std::min(s.min_nodes, s.num_tasks);
    if (s.tasks_per_node) s.min_nodes = std::max(s.min_nodes, (s.num_tasks + s.tasks_per_node - 1) / s.tasks_per_node);
    // -N n (n = min = max) with fewer tasks than nodes: as many nodes as tasks.
    if (s.max_nodes < s.min_nodes && r.max_nodes) s.min_nodes = s.max_nodes;
    s.max_nodes = std::min(s.max_nodes, s.num_tasks);
  } else if (!r.max_nodes && !r.min_nodes) {
    // The request has only wishes per node and no count of nodes: one node, or more where something is asked for the job as a whole.
    if (s.per_job.empty()) s.max_nodes = s.min_nodes;
  } else if (!r.max_nodes) {
    s.max_nodes = s.min_nodes;
  }
  for (const FeatureCount& c : s.features.counts) {
    if (!r.min_nodes && !r.num_tasks) s.min_nodes = std::max(s.min_nodes, c.count);
  }
  if (s.features.counts.size() > 1 && !r.min_nodes) {
    uint64_t sum = 0;
    for (const FeatureCount& c : s.features.counts) sum += c.count;
    s.min_nodes = static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(s.min_nodes, sum), kMaxTasks));
  }
  s.max_nodes = std::max(s.max_nodes, s.min_nodes);
}

// MinNodes and MaxNodes of the partition settle what the job leaves open; a job that asks for something beyond them waits
// (PartitionNodeLimit).
void limit_nodes(const RequestBody& r, const Partition& p, Shape& s) {
  const bool open = !r.min_nodes && (!s.num_tasks || s.num_tasks >= p.min_nodes);
  if (open && p.min_nodes > s.min_nodes && p.min_nodes <= p.max_nodes) {
    s.min_nodes = p.min_nodes;
    s.max_nodes = std::max(s.max_nodes, s.min_nodes);
  }
  if (p.max_nodes >= s.min_nodes) s.max_nodes = std::min(s.max_nodes, p.max_nodes);
}

Result<> cpus_of(const RequestBody& r, const Partition& p, const Params& params, Shape& s) {
  if (r.cpus_per_gpu && r.cpus_per_task) return fail(Errc::kInvalidReq, {}, "--cpus-per-gpu and --cpus-per-task exclude each other");
  s.cpus_per_task = std::max(r.cpus_per_task, 1u);
  if (s.cpus_per_task > kMaxTasks) return fail(Errc::kCpuCount, {}, "--cpus-per-task: at most " + std::to_string(kMaxTasks));
  if (r.core_spec > kMaxCoreSpec) return fail(Errc::kCpuCount, {}, "--core-spec: at most " + std::to_string(kMaxCoreSpec));
  s.cpus_per_gpu = r.cpus_per_gpu;
  if (!r.cpus_per_gpu && !r.cpus_per_task && asks_gpus(s)) s.cpus_per_gpu = p.def_cpu_per_gpu.value_or(params.def_cpu_per_gpu);
  s.min_cpus_per_node = r.min_cpus_per_node;
  if (!s.overcommit) {
    s.tasks_per_node = r.ntasks_per_node;
    s.tasks_per_socket = r.ntasks_per_socket;
    s.tasks_per_core = r.ntasks_per_core;
  }
  s.sockets = r.sockets_per_node;
  s.cores_per_socket = r.cores_per_socket;
  s.threads_per_core = r.threads_per_core;
  s.own_core_spec = params.job_core_spec && says_core_spec(r);  // else ignored: guide core_spec
  s.core_spec = s.own_core_spec ? r.core_spec : 0;
  s.spec_cores_first = params.spec_cores_first;
  s.core_spec_is_threads = r.core_spec_is_threads;
  MUSTER_TRY(dist, r.distribution.parsed());
  s.block_sockets = dist.sockets == Distribution::Cpus::kBlock || (dist.sockets == Distribution::Cpus::kDefault && params.block_cores);
  s.cyclic_nodes = dist.nodes == Distribution::Nodes::kCyclic || dist.nodes == Distribution::Nodes::kPlane;
  s.arbitrary = dist.arbitrary();
  s.pack_nodes |= dist.pack;
  if (dist.no_pack) s.pack_nodes = false;
  return {};
}

// Whether cores or whole sockets are handed out, and whether memory is.
void units_of(const Partition& p, const Params& params, Shape& s) {
  const HandedOut out = handed_out(p, params);
  s.whole_cores = params.allocate_cores || params.linear;
  s.whole_sockets = out.sockets;
  s.mem_consumable = out.memory;
}

Result<> memory_of(const RequestBody& r, const Partition& p, const Params& params, Shape& s) {
  auto set = [&](MemoryMode mode, uint64_t mb) {
    s.memory = mb == 0 ? MemoryMode::kAll : mode;
    s.mem_mb = mb;
  };
  const bool gpus = asks_gpus(s);
  const uint64_t def_gpu = p.def_mem_per_gpu_mb.value_or(params.def_mem_per_gpu_mb);
  uint64_t def_cpu = p.def_mem_per_cpu_mb.value_or(p.def_mem_per_node_mb ? 0 : params.def_mem_per_cpu_mb);
  uint64_t def_node = p.def_mem_per_node_mb.value_or(p.def_mem_per_cpu_mb ? 0 : params.def_mem_per_node_mb);
  if (r.mem_per_node_mb) set(MemoryMode::kPerNode, *r.mem_per_node_mb);
  else if (r.mem_per_cpu_mb) set(MemoryMode::kPerCpu, *r.mem_per_cpu_mb);
  else if (r.mem_per_gpu_mb) set(MemoryMode::kPerGpu, *r.mem_per_gpu_mb);
  else if (gpus && def_gpu) set(MemoryMode::kPerGpu, def_gpu);
  else if (def_cpu) set(MemoryMode::kPerCpu, def_cpu);
  else if (def_node) set(MemoryMode::kPerNode, def_node);
  else if (s.mem_consumable) s.memory = MemoryMode::kAll;
  if (s.mem_mb > kMaxMemoryMb) return fail(Errc::kMemoryRequest, {}, "--mem: at most " + format_mem_mb(kMaxMemoryMb));
  if (s.memory == MemoryMode::kPerGpu && !gpus) return fail(Errc::kInvalidReq, {}, "--mem-per-gpu needs a request for GPUs");
  uint64_t max_cpu = p.max_mem_per_cpu_mb.value_or(params.max_mem_per_cpu_mb);
  uint64_t max_node = p.max_mem_per_node_mb.value_or(params.max_mem_per_node_mb);
  if (s.memory == MemoryMode::kPerCpu && max_cpu && s.mem_mb > max_cpu) {
    // The user's figure then counts per task: each task gets more CPUs, so that each CPU stays below the limit.
    uint64_t per_task = s.mem_mb * s.cpus_per_task;
    uint64_t cpus = (per_task + max_cpu - 1) / max_cpu;
    if (cpus > kMaxTasks) return fail(Errc::kMemoryRequest, {}, "--mem-per-cpu is too big for MaxMemPerCPU");
    s.cpus_per_task = static_cast<uint32_t>(cpus);
    s.mem_mb = (per_task + cpus - 1) / cpus;
  }
  if (s.memory == MemoryMode::kPerNode && max_node && s.mem_mb > max_node)
    return fail(Errc::kMemoryRequest, {}, "--mem=" + format_mem_mb(s.mem_mb) + " exceeds MaxMemPerNode=" + format_mem_mb(max_node));
  s.max_mem_per_node_mb = max_node;
  s.tmp_disk_mb = r.tmp_disk_mb;
  return {};
}

void sharing_of(const RequestBody& r, const Partition& p, const Params& params, Shape& s) {
  bool wants_share = r.exclusive == Exclusive::kOversubscribe;
  s.whole = params.linear || r.exclusive == Exclusive::kNode || r.exclusive == Exclusive::kTopo || says_core_spec(r);
  s.exclusive_topo = r.exclusive == Exclusive::kTopo || p.exclusive_topo;
  if (p.oversubscribe == OverSubscribe::kExclusive || s.exclusive_topo) s.whole = true;
  const bool forced = p.oversubscribe == OverSubscribe::kForce && !p.exclusive_topo;
  if (forced || (p.oversubscribe == OverSubscribe::kYes && wants_share)) {
    s.oversubscribe = true;
    s.whole = s.exclusive_topo = false;  // FORCE: users have no means to disable it
    s.all_cpus = params.linear;
    s.oversubscribe_count = std::max(p.oversubscribe_count, 1u);
  }
  s.exclusive_user = r.exclusive == Exclusive::kUser || p.exclusive_user;
  s.mcs_label = r.mcs_label;
  s.exclusive_label = !s.mcs_label.empty() && (params.keep_by_label == Params::ByLabel::kAlways ||
                                               (params.keep_by_label == Params::ByLabel::kOnDemand && r.exclusive == Exclusive::kMcs));
  s.lln = params.lln || p.lln;
  s.one_task_per_core = params.one_task_per_core;
  if (s.one_task_per_core && s.tasks_per_core == 0 && !s.overcommit) s.tasks_per_core = 1;
  s.max_cpus_per_node = p.max_cpus_per_node;
  s.max_cpus_per_socket = p.max_cpus_per_socket;
}

}  // namespace

PartitionLimit limit_of(const Shape& s) {
  return s.whole || s.all_cpus ? PartitionLimit{} : PartitionLimit{s.max_cpus_per_node, s.max_cpus_per_socket};
}

HandedOut handed_out(const Partition& p, const Params& params) {
  const PartitionSelect& own = p.select_parameters.value();
  if (own.given && params.allocate_cores && !params.linear) return {own.sockets, own.memory};
  return {params.allocate_sockets && !params.linear, params.memory_consumable};
}

uint32_t Shape::nodes_up_to(uint32_t n) const {
  n = std::min(n, max_nodes);
  if (node_sizes.empty()) return n >= min_nodes ? n : 0;
  auto it = std::upper_bound(node_sizes.begin(), node_sizes.end(), n);
  if (it == node_sizes.begin()) return 0;
  return *--it >= min_nodes ? *it : 0;
}

uint32_t Shape::nodes_from(uint32_t n) const {
  n = std::max(n, min_nodes);
  if (!node_sizes.empty()) {
    auto it = std::lower_bound(node_sizes.begin(), node_sizes.end(), n);
    if (it == node_sizes.end()) return 0;
    n = *it;
  }
  return n <= max_nodes ? n : 0;
}

uint64_t Shape::gpus_per_node() const { return gpus_in(per_node); }
uint64_t Shape::gpus_per_task() const { return gpus_in(per_task); }
uint64_t Shape::gpus_per_job() const { return gpus_in(per_job); }

bool Shape::wants_gpu() const {
  auto named = [](const std::vector<GresNeed>& needs) {
    return std::any_of(needs.begin(), needs.end(), [](const GresNeed& g) { return g.name == "gpu" || is_shared_gres(g.name); });
  };
  return named(per_node) || named(per_job) || named(per_task) || named(per_socket);
}

bool Shape::counts_decide() const {
  // No sum says which devices are left for the tasks' shares, one device each, once the node's own shares are taken.
  auto shares = [](const GresNeed& g) { return is_shared_gres(g.name); };
  if (one_task_per_sharing && std::ranges::any_of(per_task, shares) && std::ranges::any_of(per_node, shares)) return false;
  return !tasks_per_socket && !enforce_binding && per_socket.empty() && !one_core_per_socket && !whole_sockets &&
         max_cpus_per_socket == kUnlimited32 && (whole_cores || (!tasks_per_core && !use_threads));
}

Result<Shape> make_shape(const RequestBody& request, const Partition& partition, const Params& params) {
  Shape s;
  s.pack_nodes = params.pack_nodes;
  MUSTER_TRY_VOID(nodes_of(request, s));
  MUSTER_TRY(features, request.features.parsed());
  s.features = features;
  MUSTER_TRY(prefer, request.prefer.parsed());
  s.prefer = prefer;
  if (params.extra_constraints) {
    MUSTER_TRY(extra, request.extra_constraint.parsed());
    s.extra = extra;
  }
  MUSTER_TRY_VOID(gres_of(request, params, s));
  MUSTER_TRY_VOID(mps_stands_alone(request, s));
  MUSTER_TRY_VOID(cpus_of(request, partition, params, s));
  hint_of(request, s);
  MUSTER_TRY_VOID(settle_devices(request, s));
  MUSTER_TRY_VOID(derive_tasks(request, s));
  units_of(partition, params, s);
  MUSTER_TRY_VOID(memory_of(request, partition, params, s));
  for (GresNeed g : s.per_socket) {
    g.count = mul_sat(g.count, request.sockets_per_node);
    s.per_node.push_back(std::move(g));
  }
  sharing_of(request, partition, params, s);
  tie_nodes_to_tasks(request, s);
  limit_nodes(request, partition, s);
  MUSTER_TRY(licenses, request.licenses.parsed());
  s.licenses = licenses;
  const uint64_t tasks = s.num_tasks ? s.num_tasks : mul_sat(s.min_nodes, std::max(s.tasks_per_node, 1u));
  MUSTER_TRY_VOID(add_task_licenses(request.tres_per_task.value(), tasks, s.licenses));
  s.time_min_min = request.time_min_min;
  return s;
}

}  // namespace muster::sched
