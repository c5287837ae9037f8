#include "sim/free_room.h"

#include <algorithm>

#include "model/accounts.h"

namespace muster::sim {
namespace {

constexpr uint32_t kMayStillRun = kNodePlanned | kNodeReserved;  // all other flags are a reason to say nothing of the node

FreeNode empty_node(const Node& node) {
  const NodeSpec& spec = *node.spec;
  FreeNode out;
  out.id = node.id.value;
  const uint32_t cores = std::max(spec.sockets, 1u) * std::max(spec.cores_per_socket, 1u);
  const bool agrees = cores <= spec.cpus && spec.cpus % cores == 0;
  out.cores = agrees ? cores : spec.cpus;
  out.threads = agrees ? spec.cpus / cores : 1;
  out.mem_mb = out.all_mem_mb = spec.real_memory_mb;
  for (const GresDevices& g : spec.gres)
    if (g.name == "gpu") out.gpus[g.type] += g.count;
  out.usable = true;
  return out;
}

bool still_holds(const Job& job, size_t index) { return !job.finished() || job.run->releasing.test(index); }

// One job's share of a node is not free.
void take(FreeNode& node, Bitmap& cpus, const Job& job, const NodeShare& share) {
  node.idle = false;
  node.shared |= job.allocation->oversubscribe;
  node.usable &= !job.allocation->whole_nodes && !job.allocation->exclusive_user && job.allocation->mcs_label.empty();
  cpus |= share.cpus;
  node.mem_mb -= std::min(node.mem_mb, share.mem_mb);
  node.of_partitions[job.partition] += static_cast<uint32_t>(share.cpus.count());
  for (const GresShare& g : share.gres)
    if (g.name == "gpu") node.gpus[g.type] -= std::min(node.gpus[g.type], g.count);
}

uint32_t free_cores(const FreeNode& node, const Bitmap& held) {
  uint32_t out = 0;
  for (uint32_t core = 0; core < node.cores; ++core) {
    bool free = true;
    for (uint32_t thread = 0; thread < node.threads; ++thread) free &= !held.test(core * node.threads + thread);
    out += free;
  }
  return out;
}

// Whether it asks for something that is not counted here.
bool asks_for_more(const RequestBody& r) {
  return !r.required_nodes.empty() || !r.excluded_nodes.empty() || !r.features.empty() || !r.prefer.empty() || !r.node_sizes.empty() ||
         r.ntasks_per_node || r.ntasks_per_socket || r.ntasks_per_core || r.ntasks_per_gpu || r.min_cpus_per_node || r.sockets_per_node ||
         r.cores_per_socket || r.threads_per_core || r.mem_per_gpu_mb || r.tmp_disk_mb || !r.tres_per_socket.empty() ||
         !r.tres_per_task.empty() || r.cpus_per_gpu || !r.gres_flags.empty() || !r.licenses.empty() || r.contiguous || r.spread_job ||
         r.switches || r.segment || r.core_spec || r.core_spec_given || !r.distribution.empty() || !r.hint.empty() || r.overcommit ||
         r.reboot || !r.mcs_label.empty() || !r.reservation.empty() || r.immediate_seconds || !r.extra_constraint.empty();
}

bool site_asks_for_more(const Partition& p, const sched::Params& params) {
  return params.linear || params.lln || params.one_task_per_core || params.allocate_sockets || params.def_cpu_per_gpu ||
         params.def_mem_per_gpu_mb || params.def_mem_per_cpu_mb || params.def_mem_per_node_mb || params.max_mem_per_cpu_mb ||
         params.max_mem_per_node_mb || p.def_mem_per_node_mb || p.def_mem_per_cpu_mb || p.max_mem_per_node_mb || p.max_mem_per_cpu_mb ||
         p.def_cpu_per_gpu || p.def_mem_per_gpu_mb || p.exclusive_user || p.exclusive_topo || p.min_nodes > 1 || p.lln ||
         p.max_cpus_per_socket != kUnlimited32;
}

bool has_gpus(const FreeNode& node, const TresList& asked) {
  std::map<std::string, uint64_t> typed;
  uint64_t all = 0, any = 0;
  for (const auto& [type, count] : node.gpus) all += count;
  for (const Tres& t : asked.items()) {
    if (!t.is_gpu()) return false;
    t.type.empty() ? any += t.count : typed[t.type] += t.count;
  }
  for (const auto& [type, count] : typed) {
    const auto there = node.gpus.find(type);
    if (there == node.gpus.end() || there->second < count) return false;
    all -= count;
  }
  return any <= all;
}

// How many tasks surely fit on the node.
uint32_t tasks_on(const FreeNode& node, const RequestBody& request, const Partition& partition, const sched::Params& params) {
  const bool alone = request.exclusive != Exclusive::kDefault || partition.oversubscribe != OverSubscribe::kNo || node.shared;
  if (!node.usable || !partition.nodes.test(node.id) || (alone && !node.idle)) return 0;
  const uint32_t each = (std::max(request.cpus_per_task, 1u) + node.threads - 1) / node.threads;
  uint32_t cores = node.cores;
  if (partition.max_cpus_per_node != kUnlimited32) {
    const auto held = node.of_partitions.find(partition.index);
    const uint32_t has = held == node.of_partitions.end() ? 0 : held->second;
    cores = std::min(cores, (partition.max_cpus_per_node - std::min(partition.max_cpus_per_node, has)) / node.threads);
  }
  uint32_t tasks = cores / each;
  if (request.mem_per_node_mb.value_or(0) > node.all_mem_mb) return 0;
  // Memory for each CPU is for those that the job is given, and alone on a node it is given all. sbatch(1) --mem-per-cpu, --exclusive.
  if (alone && request.mem_per_cpu_mb.value_or(0) * node.cores * node.threads > node.all_mem_mb) return 0;
  if (!params.memory_consumable) {
    if (request.mem_per_cpu_mb.value_or(0) * each * node.threads * tasks > node.all_mem_mb) return 0;
  } else {
    if (request.mem_per_node_mb.value_or(0) > 0) {
      if (node.mem_mb < *request.mem_per_node_mb) return 0;
    } else if (request.mem_per_cpu_mb.value_or(0) > 0) {
      const uint64_t of_task = *request.mem_per_cpu_mb * each * node.threads;
      tasks = static_cast<uint32_t>(std::min<uint64_t>(tasks, node.mem_mb / of_task));
    } else if (!node.idle) {  // all of the node's
      return 0;
    }
  }
  if (!request.tres_per_node.empty() && !has_gpus(node, request.tres_per_node.value())) return 0;
  if (!request.tres_per_job.empty() && !has_gpus(node, request.tres_per_job.value())) return 0;
  return tasks;
}

uint32_t most_nodes(const RequestBody& request, const Partition& partition) {
  uint32_t most = request.max_nodes ? request.max_nodes : request.num_tasks ? request.num_tasks : std::max(request.min_nodes, 1u);
  if (!request.tres_per_job.empty() && !request.max_nodes) most = kUnlimited32;
  if (request.num_tasks) most = std::min(most, std::max(request.num_tasks, request.min_nodes));
  return static_cast<uint32_t>(std::min<uint64_t>({most, partition.max_nodes, partition.nodes.count()}));
}

uint64_t gres_asked(const TresList& list, const std::string& tres) {
  uint64_t out = 0;
  for (const Tres& t : list.items())
    if (t.is_gres() && (tres == "gres/" + t.name || t.type.empty() || tres == "gres/" + t.name + ":" + t.type)) out += t.count;
  return out;
}

// What nodes have of it: of each, the greatest first.
std::vector<uint64_t> of_each_node(const Cluster& cluster, const Partition& partition, const std::string& tres) {
  std::vector<uint64_t> out;
  cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    if (!partition.nodes.test(id)) return;
    uint64_t has = tres == "cpu" ? n.spec->cpus : tres == "mem" ? n.spec->real_memory_mb : tres == "node" ? 1 : 0;
    for (const GresDevices& g : n.spec->gres)
      if (tres == "gres/" + g.name || tres == "gres/" + g.name + ":" + g.type) has += g.count;
    out.push_back(has);
  });
  std::ranges::sort(out, std::greater<>());
  return out;
}

uint64_t most_cpus(const Cluster& cluster, const RequestBody& request, uint32_t nodes) {
  uint32_t threads = 1;
  cluster.nodes.for_each([&](uint32_t, const Node& n) { threads = std::max(threads, n.spec->threads_per_core); });
  const uint64_t tasks = request.num_tasks ? request.num_tasks : nodes;
  return tasks * ((std::max(request.cpus_per_task, 1u) + threads - 1) / threads) * threads;
}

}  // namespace

std::vector<FreeNode> empty_nodes(const Cluster& cluster) {
  std::vector<FreeNode> out;
  cluster.nodes.for_each([&](uint32_t, const Node& n) { out.push_back(empty_node(n)); });
  return out;
}

std::vector<FreeNode> free_nodes(const Cluster& cluster) {
  std::vector<FreeNode> out = empty_nodes(cluster);
  std::map<uint32_t, std::pair<FreeNode*, Bitmap>> by_id;
  for (FreeNode& n : out) {
    const Node& node = cluster.nodes.at(n.id);
    n.usable = node.admin == NodeState::kIdle && (node.flags & ~kMayStillRun) == 0 && node.hardware && node.fences == 0;
    by_id[n.id].first = &n;
  }
  auto note = [&](const Job& job, const NodeShare& share) {
    if (const auto at = by_id.find(share.node.value); at != by_id.end()) take(*at->second.first, at->second.second, job, share);
  };
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (!job.allocation || job.pending()) return;
    for (size_t i = 0; i < job.allocation->nodes.size(); ++i)
      if (still_holds(job, i)) note(job, job.allocation->nodes[i]);
    for (const NodeShare& share : job.run->leaving) note(job, share);
  });
  // A node that was taken for one user or label stays so until its last job has gone (sched/supply/node_owner.h), and none of those need have
  // asked for it. Of a node that is empty it is not believed.
  for (FreeNode& n : out) {
    const Node& node = cluster.nodes.at(n.id);
    n.usable &= n.idle || (!node.exclusive_user && node.mcs_label.empty());
  }
  for (auto& [id, held] : by_id) held.first->cores = free_cores(*held.first, held.second);
  return out;
}

bool surely_has_room(const RequestBody& request, const Partition& partition, const sched::Params& params,
                     const std::vector<FreeNode>& nodes) {
  if (asks_for_more(request) || site_asks_for_more(partition, params)) return false;
  const uint32_t least = std::max(1u, request.num_tasks ? std::min(request.min_nodes, request.num_tasks) : request.min_nodes);
  const uint32_t most =
      request.tres_per_job.empty() ? most_nodes(request, partition) : 1;  // devices of the job: on one node, or nothing is said
  if (least > most) return false;
  std::vector<uint32_t> tasks;
  for (const FreeNode& n : nodes)
    if (const uint32_t fit = tasks_on(n, request, partition, params)) tasks.push_back(fit);
  if (tasks.size() < least) return false;
  if (!request.num_tasks) return true;
  std::ranges::sort(tasks, std::greater<>());
  uint64_t sum = 0;
  for (size_t i = 0; i < tasks.size() && i < most; ++i) sum += tasks[i];
  return sum >= request.num_tasks;
}

uint64_t most_wanted(const Cluster& cluster, const RequestBody& request, const Partition& partition, const std::string& tres,
                     bool one_node) {
  const uint32_t nodes = one_node ? 1 : most_nodes(request, partition);
  if (tres == "billing")
    return partition.tres_billing_weights.empty() ? most_wanted(cluster, request, partition, "cpu", one_node)
                                                  : kMaxLimit / 2;  // never too few
  const std::vector<uint64_t> there = of_each_node(cluster, partition, tres);
  uint64_t all = 0;
  for (size_t i = 0; i < there.size() && i < nodes; ++i) all += there[i];
  uint64_t asked = 0;
  if (tres == "cpu") asked = most_cpus(cluster, request, nodes);
  else if (tres == "node") asked = nodes;
  else if (tres == "mem" && request.mem_per_node_mb) asked = *request.mem_per_node_mb * nodes;
  else if (tres == "mem" && request.mem_per_cpu_mb) asked = *request.mem_per_cpu_mb * most_cpus(cluster, request, nodes);
  else if (tres == "mem") return all;
  else if (tres.starts_with("gres/"))
    asked = gres_asked(request.tres_per_node.value(), tres) * nodes + gres_asked(request.tres_per_job.value(), tres);
  for (const LicenseShare& l : request.licenses->list)
    if (tres == "license/" + l.name) asked += l.count;
  const bool whole = request.exclusive == Exclusive::kNode || partition.oversubscribe == OverSubscribe::kExclusive;
  if (tres == "mem" && asked == 0) return all;  // --mem=0
  return whole && !tres.starts_with("license/") ? std::max(all, asked) : asked;
}

uint64_t least_wanted(const RequestBody& request, const std::string& tres) {
  const uint32_t nodes = std::max(1u, request.num_tasks ? std::min(request.min_nodes, request.num_tasks) : request.min_nodes);
  if (tres == "node") return nodes;
  if (tres == "cpu") return uint64_t{std::max(request.num_tasks, nodes)} * std::max(request.cpus_per_task, 1u);
  if (tres == "gres/gpu") return std::max(request.tres_per_node->gres("gpu") * nodes, request.tres_per_job->gres("gpu"));
  return 0;
}

}  // namespace muster::sim
