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

Result<> nodes_of(const RequestBody& request, Shape& shape) {
  if (request.min_nodes) shape.min_nodes = request.min_nodes;
  if (request.max_nodes) shape.max_nodes = request.max_nodes;
  if (request.min_nodes && shape.max_nodes < shape.min_nodes)
    return fail(Errc::kInvalidNodeCount, {}, "--nodes: the maximum is smaller than the minimum");
  MUSTER_TRY(sizes, request.node_sizes.parsed());
  shape.node_sizes = std::move(sizes.counts);
  shape.grow = request.max_nodes > std::max(request.min_nodes, 1u) && !request.use_min_nodes;
  shape.contiguous = request.contiguous;
  shape.spread = request.spread_job;
  shape.required_nodes = request.required_nodes;
  shape.excluded_nodes = request.excluded_nodes;
  shape.switches = request.spread_job ? 0 : request.switches;
  shape.switches_wait = request.switches_wait;
  shape.segment = request.segment;
  shape.spread_segments = request.spread_segments;
  shape.consolidate_segments = request.consolidate_segments;
  return {};
}

Result<> gres_of(const RequestBody& request, const Params& params, Shape& shape) {
  MUSTER_TRY(node, gres_needs(request.tres_per_node, "--gres"));
  MUSTER_TRY(job, gres_needs(request.tres_per_job, "--gpus"));
  MUSTER_TRY(task, gres_needs(request.tres_per_task, "--gpus-per-task"));
  MUSTER_TRY(socket, gres_needs(request.tres_per_socket, "--gpus-per-socket"));
  shape.per_node = std::move(node);
  shape.per_job = std::move(job);
  shape.per_task = std::move(task);
  shape.per_socket = std::move(socket);
  if (!shape.per_socket.empty() && request.sockets_per_node == 0)
    return fail(Errc::kInvalidReq, {}, "--gpus-per-socket needs --sockets-per-node");
  shape.overcommit = request.overcommit && shape.per_task.empty();  // devices of each task: it must fit, --overcommit or not
  shape.enforce_binding = request.gres_flags->enforce_binding.value_or(params.enforce_binding);
  shape.one_task_per_sharing = request.gres_flags->one_task_per_sharing.value_or(params.one_task_per_sharing);
  shape.several_sharing = params.several_sharing;
  shape.spread_shared = params.spread_shared;
  for (auto* needs : {&shape.per_node, &shape.per_job, &shape.per_task, &shape.per_socket})
    for (GresNeed& g : *needs) g.one_device = is_shared_gres(g.name) && !shape.several_sharing;
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
Result<> derive_tasks(const RequestBody& request, Shape& shape) {
  const uint64_t job_gpus = shape.gpus_per_job(), node_gpus = shape.gpus_per_node();
  if (request.num_tasks) shape.num_tasks = request.num_tasks;
  if (request.num_tasks > kMaxTasks || request.ntasks_per_node > kMaxTasks || request.ntasks_per_gpu > kMaxTasks)
    return fail(Errc::kInvalidTaskCount, {}, "--ntasks: at most " + std::to_string(kMaxTasks));
  if (shape.overcommit) return {};
  if (request.ntasks_per_gpu) {
    if (node_gpus == 0 && job_gpus == 0) {
      if (!request.num_tasks) return fail(Errc::kInvalidReq, {}, "--ntasks-per-gpu needs --ntasks or a count of GPUs");
      shape.per_job.push_back({"gpu", "", (request.num_tasks + request.ntasks_per_gpu - 1) / request.ntasks_per_gpu});
    } else if (!request.num_tasks && job_gpus) {
      shape.num_tasks = static_cast<uint32_t>(std::min<uint64_t>(mul_sat(job_gpus, request.ntasks_per_gpu), kMaxTasks));
    } else if (!request.num_tasks) {
      shape.tasks_per_node = static_cast<uint32_t>(std::min<uint64_t>(mul_sat(node_gpus, request.ntasks_per_gpu), kMaxTasks));
    }
    shape.tasks_per_gpu = request.ntasks_per_gpu;
  }
  if (!shape.num_tasks && !shape.tasks_per_node) shape.tasks_per_node = std::max(request.ntasks_per_node, 1u);
  return {};
}

void tie_nodes_to_tasks(const RequestBody& request, Shape& shape) {
  if (!shape.required_nodes.empty() && !request.min_nodes && !shape.num_tasks)  // all of the nodes named
    shape.min_nodes = std::max(shape.min_nodes, static_cast<uint32_t>(std::min<size_t>(shape.required_nodes->count(), kMaxTasks)));
  if (shape.num_tasks) {
    if (!shape.overcommit) shape.min_nodes = std::min(shape.min_nodes, shape.num_tasks);
    if (shape.tasks_per_node)
      shape.min_nodes = std::max(shape.min_nodes, (shape.num_tasks + shape.tasks_per_node - 1) / shape.tasks_per_node);
    // -N n (n = min = max) with fewer tasks than nodes: as many nodes as tasks.
    if (shape.max_nodes < shape.min_nodes && request.max_nodes) shape.min_nodes = shape.max_nodes;
    shape.max_nodes = std::min(shape.max_nodes, shape.num_tasks);
  } else if (!request.max_nodes && !request.min_nodes) {
    // The request has only wishes per node and no count of nodes: one node, or more where something is asked for the job as a whole.
    if (shape.per_job.empty()) shape.max_nodes = shape.min_nodes;
  } else if (!request.max_nodes) {
    shape.max_nodes = shape.min_nodes;
  }
  for (const FeatureCount& c : shape.features.counts) {
    if (!request.min_nodes && !request.num_tasks) shape.min_nodes = std::max(shape.min_nodes, c.count);
  }
  if (shape.features.counts.size() > 1 && !request.min_nodes) {
    uint64_t sum = 0;
    for (const FeatureCount& c : shape.features.counts) sum += c.count;
    shape.min_nodes = static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(shape.min_nodes, sum), kMaxTasks));
  }
  shape.max_nodes = std::max(shape.max_nodes, shape.min_nodes);
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

Result<> cpus_of(const RequestBody& request, const Partition& partition, const Params& params, Shape& shape) {
  if (request.cpus_per_gpu && request.cpus_per_task)
    return fail(Errc::kInvalidReq, {}, "--cpus-per-gpu and --cpus-per-task exclude each other");
  shape.cpus_per_task = std::max(request.cpus_per_task, 1u);
  if (shape.cpus_per_task > kMaxTasks) return fail(Errc::kCpuCount, {}, "--cpus-per-task: at most " + std::to_string(kMaxTasks));
  if (request.core_spec > kMaxCoreSpec) return fail(Errc::kCpuCount, {}, "--core-spec: at most " + std::to_string(kMaxCoreSpec));
  shape.cpus_per_gpu = request.cpus_per_gpu;
  if (!request.cpus_per_gpu && !request.cpus_per_task && asks_gpus(shape))
    shape.cpus_per_gpu = partition.def_cpu_per_gpu.value_or(params.def_cpu_per_gpu);
  shape.min_cpus_per_node = request.min_cpus_per_node;
  if (!shape.overcommit) {
    shape.tasks_per_node = request.ntasks_per_node;
    shape.tasks_per_socket = request.ntasks_per_socket;
    shape.tasks_per_core = request.ntasks_per_core;
  }
  shape.sockets = request.sockets_per_node;
  shape.cores_per_socket = request.cores_per_socket;
  shape.threads_per_core = request.threads_per_core;
  shape.own_core_spec = params.job_core_spec && says_core_spec(request);  // else ignored: guide core_spec
  shape.core_spec = shape.own_core_spec ? request.core_spec : 0;
  shape.spec_cores_first = params.spec_cores_first;
  shape.core_spec_is_threads = request.core_spec_is_threads;
  MUSTER_TRY(dist, request.distribution.parsed());
  shape.block_sockets = dist.sockets == Distribution::Cpus::kBlock || (dist.sockets == Distribution::Cpus::kDefault && params.block_cores);
  shape.cyclic_nodes = dist.nodes == Distribution::Nodes::kCyclic || dist.nodes == Distribution::Nodes::kPlane;
  shape.arbitrary = dist.arbitrary();
  shape.pack_nodes |= dist.pack;
  if (dist.no_pack) shape.pack_nodes = false;
  return {};
}

// Whether cores or whole sockets are handed out, and whether memory is.
void units_of(const Partition& p, const Params& params, Shape& s) {
  const HandedOut out = handed_out(p, params);
  s.whole_cores = params.allocate_cores || params.linear;
  s.whole_sockets = out.sockets;
  s.mem_consumable = out.memory;
}

Result<> memory_of(const RequestBody& request, const Partition& partition, const Params& params, Shape& shape) {
  auto set = [&](MemoryMode mode, uint64_t mb) {
    shape.memory = mb == 0 ? MemoryMode::kAll : mode;
    shape.mem_mb = mb;
  };
  const bool gpus = asks_gpus(shape);
  const uint64_t def_gpu = partition.def_mem_per_gpu_mb.value_or(params.def_mem_per_gpu_mb);
  uint64_t def_cpu = partition.def_mem_per_cpu_mb.value_or(partition.def_mem_per_node_mb ? 0 : params.def_mem_per_cpu_mb);
  uint64_t def_node = partition.def_mem_per_node_mb.value_or(partition.def_mem_per_cpu_mb ? 0 : params.def_mem_per_node_mb);
  if (request.mem_per_node_mb) set(MemoryMode::kPerNode, *request.mem_per_node_mb);
  else if (request.mem_per_cpu_mb) set(MemoryMode::kPerCpu, *request.mem_per_cpu_mb);
  else if (request.mem_per_gpu_mb) set(MemoryMode::kPerGpu, *request.mem_per_gpu_mb);
  else if (gpus && def_gpu) set(MemoryMode::kPerGpu, def_gpu);
  else if (def_cpu) set(MemoryMode::kPerCpu, def_cpu);
  else if (def_node) set(MemoryMode::kPerNode, def_node);
  else if (shape.mem_consumable) shape.memory = MemoryMode::kAll;
  if (shape.mem_mb > kMaxMemoryMb) return fail(Errc::kMemoryRequest, {}, "--mem: at most " + format_mem_mb(kMaxMemoryMb));
  if (shape.memory == MemoryMode::kPerGpu && !gpus) return fail(Errc::kInvalidReq, {}, "--mem-per-gpu needs a request for GPUs");
  uint64_t max_cpu = partition.max_mem_per_cpu_mb.value_or(params.max_mem_per_cpu_mb);
  uint64_t max_node = partition.max_mem_per_node_mb.value_or(params.max_mem_per_node_mb);
  if (shape.memory == MemoryMode::kPerCpu && max_cpu && shape.mem_mb > max_cpu) {
    // The user's figure then counts per task: each task gets more CPUs, so that each CPU stays below the limit.
    uint64_t per_task = shape.mem_mb * shape.cpus_per_task;
    uint64_t cpus = (per_task + max_cpu - 1) / max_cpu;
    if (cpus > kMaxTasks) return fail(Errc::kMemoryRequest, {}, "--mem-per-cpu is too big for MaxMemPerCPU");
    shape.cpus_per_task = static_cast<uint32_t>(cpus);
    shape.mem_mb = (per_task + cpus - 1) / cpus;
  }
  if (shape.memory == MemoryMode::kPerNode && max_node && shape.mem_mb > max_node)
    return fail(Errc::kMemoryRequest, {}, "--mem=" + format_mem_mb(shape.mem_mb) + " exceeds MaxMemPerNode=" + format_mem_mb(max_node));
  shape.max_mem_per_node_mb = max_node;
  shape.tmp_disk_mb = request.tmp_disk_mb;
  return {};
}

void sharing_of(const RequestBody& request, const Partition& partition, const Params& params, Shape& shape) {
  bool wants_share = request.exclusive == Exclusive::kOversubscribe;
  shape.whole = params.linear || request.exclusive == Exclusive::kNode || request.exclusive == Exclusive::kTopo || says_core_spec(request);
  shape.exclusive_topo = request.exclusive == Exclusive::kTopo || partition.exclusive_topo;
  if (partition.oversubscribe == OverSubscribe::kExclusive || shape.exclusive_topo) shape.whole = true;
  const bool forced = partition.oversubscribe == OverSubscribe::kForce && !partition.exclusive_topo;
  if (forced || (partition.oversubscribe == OverSubscribe::kYes && wants_share)) {
    shape.oversubscribe = true;
    shape.whole = shape.exclusive_topo = false;  // FORCE: users have no means to disable it
    shape.all_cpus = params.linear;
    shape.oversubscribe_count = std::max(partition.oversubscribe_count, 1u);
  }
  shape.exclusive_user = request.exclusive == Exclusive::kUser || partition.exclusive_user;
  shape.mcs_label = request.mcs_label;
  shape.exclusive_label =
      !shape.mcs_label.empty() && (params.keep_by_label == Params::ByLabel::kAlways ||
                                   (params.keep_by_label == Params::ByLabel::kOnDemand && request.exclusive == Exclusive::kMcs));
  shape.lln = params.lln || partition.lln;
  shape.one_task_per_core = params.one_task_per_core;
  if (shape.one_task_per_core && shape.tasks_per_core == 0 && !shape.overcommit) shape.tasks_per_core = 1;
  shape.max_cpus_per_node = partition.max_cpus_per_node;
  shape.max_cpus_per_socket = partition.max_cpus_per_socket;
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
  Shape shape;
  shape.pack_nodes = params.pack_nodes;
  MUSTER_TRY_VOID(nodes_of(request, shape));
  MUSTER_TRY(features, request.features.parsed());
  shape.features = features;
  MUSTER_TRY(prefer, request.prefer.parsed());
  shape.prefer = prefer;
  shape.reboot = request.reboot && params.reboots;
  if (params.changeable) {
    shape.nodes_as_they_are = !params.changeable->may_boot(request.user_name);
    shape.delay_boot = request.delay_boot_set ? request.delay_boot : params.delay_boot;
  }
  if (params.extra_constraints) {
    MUSTER_TRY(extra, request.extra_constraint.parsed());
    shape.extra = extra;
  }
  MUSTER_TRY_VOID(gres_of(request, params, shape));
  MUSTER_TRY_VOID(mps_stands_alone(request, shape));
  MUSTER_TRY_VOID(cpus_of(request, partition, params, shape));
  hint_of(request, shape);
  MUSTER_TRY_VOID(settle_devices(request, shape));
  MUSTER_TRY_VOID(derive_tasks(request, shape));
  units_of(partition, params, shape);
  MUSTER_TRY_VOID(memory_of(request, partition, params, shape));
  for (GresNeed g : shape.per_socket) {
    g.count = mul_sat(g.count, request.sockets_per_node);
    shape.per_node.push_back(std::move(g));
  }
  sharing_of(request, partition, params, shape);
  tie_nodes_to_tasks(request, shape);
  limit_nodes(request, partition, shape);
  MUSTER_TRY(licenses, request.licenses.parsed());
  shape.licenses = licenses;
  const uint64_t tasks = shape.num_tasks ? shape.num_tasks : mul_sat(shape.min_nodes, std::max(shape.tasks_per_node, 1u));
  MUSTER_TRY_VOID(add_task_licenses(request.tres_per_task.value(), tasks, shape.licenses));
  shape.time_min_min = request.time_min_min;
  return shape;
}

}  // namespace muster::sched
