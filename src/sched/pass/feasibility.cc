// can_ever_run: asks about the request as if all nodes of the partition were up and idle.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "sched/fit/shortage.h"
#include "sched/place/placement.h"
#include "sched/planner.h"
#include "sched/rules/job_rule.h"
#include "sched/rules/node_rule.h"
#include "sched/topology/topology_choice.h"

namespace muster::sched {
namespace {

bool features_known(const Availability& nodes, const FeatureConstraint& f) {
  return std::ranges::all_of(f.names, [&](const std::string& name) { return !nodes.could_have(name).none(); });
}

// "; a node there has at most 16 CPUs, 64G, gpu:h100:8": for each amount the most that any node of the partition has.
std::string most_there(const Availability& nodes, const Partition& partition) {
  uint32_t cpus = 0;
  uint64_t memory = 0;
  std::map<std::string, uint64_t> gres;
  for (uint32_t k = 0; k < nodes.kinds().size(); ++k) {
    if (!nodes.of_kind(k).intersects(partition.nodes)) continue;
    const Kind& kind = nodes.kinds()[k];
    cpus = std::max(cpus, kind.cpus);
    memory = std::max(memory, kind.mem_mb);
    std::map<std::string, uint64_t> here;
    for (const GresDevices& g : kind.gres) here[gres_name(g.name, g.type)] += g.count;
    for (const auto& [name, count] : here) gres[name] = std::max(gres[name], count);
  }
  std::string out = "; a node there has at most " + std::to_string(cpus) + " CPUs, " + format_mem_mb(memory);
  for (const auto& [name, count] : gres) out += ", " + name + ":" + std::to_string(count);
  return out;
}

// "room for 64 of the 99 tasks"; "" when the number of tasks is not the problem. At most 32 placements.
std::string room_for_tasks(RequestClass c, const Params& params, Availability& nodes) {
  const uint32_t wanted = c.shape.num_tasks;
  uint32_t fits = std::max(c.shape.min_nodes, 1u) - 1, too_many = wanted;
  while (fits + 1 < too_many) {
    c.shape.num_tasks = fits + (too_many - fits) / 2;
    (placed(place(nodes, c, params, nullptr, {})) ? fits : too_many) = c.shape.num_tasks;
  }
  if (fits < std::max(c.shape.min_nodes, 1u)) return {};
  return "room for " + std::to_string(fits) + " of the " + std::to_string(wanted) + " tasks";
}

// "32 of the 33 gres/gpu" that the job wants in all.
std::string devices_left(const RequestClass& c, const Availability& nodes) {
  for (const GresNeed& need : c.shape.per_job) {
    uint64_t there = 0;
    for (uint32_t k = 0; k < nodes.kinds().size(); ++k)
      for (const GresDevices& g : nodes.kinds()[k].gres)
        if (g.name == need.name && (need.type.empty() || g.type == need.type)) there += g.count * nodes.of_kind(k).count_and(c.feasible);
    if (there < need.count)
      return std::to_string(there) + " of the " + std::to_string(need.count) + " gres/" + gres_name(need.name, need.type);
  }
  return {};
}

// What the nodes have too little of together although there are enough of them; "" when that is not the problem.
std::string short_of(const RequestClass& c, const Params& params, Availability& nodes) {
  if (c.feasible.count() < c.shape.min_nodes) return {};
  std::string devices = devices_left(c, nodes);
  return devices.empty() && c.shape.num_tasks > 1 ? room_for_tasks(c, params, nodes) : devices;
}

// "2 have too few CPUs, 1 have too little memory for one task".
std::string too_small(const RequestClass& asked, const Partition& partition, const Availability& nodes, const Kind*& first) {
  uint32_t counts[5] = {};
  for (uint32_t k = 0; k < nodes.kinds().size(); ++k) {
    if (!nodes.of_kind(k).intersects(partition.nodes) || nodes.of_kind(k).intersects(asked.feasible)) continue;
    const Kind& kind = nodes.kinds()[k];
    if (!kind_qualifies(asked.shape, kind)) continue;
    Shortage lacks = shortage_on(asked.shape, kind);
    if (lacks == Shortage::kNone) lacks = Shortage::kCpus;  // its layout refuses
    if (!first) first = &kind;
    counts[static_cast<size_t>(lacks)] += static_cast<uint32_t>(nodes.of_kind(k).count_and(partition.nodes));
  }
  constexpr const char* kWords[] = {"", "few CPUs", "little memory", "few devices", "few CPUs, memory or devices together"};
  std::string out;
  for (size_t i = 1; i < std::size(kWords); ++i)
    if (counts[i]) out += (out.empty() ? " " : ", ") + std::to_string(counts[i]) + " have too " + kWords[i];
  return out + " for one task,";
}

std::string tally(const RequestBody& request, const RequestClass& asked, const Params& params, const Partition& partition,
                  Availability& nodes) {
  const size_t left = asked.feasible.count();
  std::string out = "of the " + std::to_string(partition.nodes.count()) + " nodes of partition " + partition.name + ":";
  auto add = [&](uint32_t n, std::string_view what) {
    if (n) out += " " + std::to_string(n) + std::string(what);
  };
  const Kind* small = nullptr;
  for (size_t i = 0; i < asked.taken.size(); ++i) {
    const NodeRule& rule = *narrowing_rules()[i];
    if (!rule.lacking.empty()) add(asked.taken[i], rule.lacking);
    else if (asked.taken[i]) out += too_small(asked, partition, nodes, small);
  }
  out += " " + std::to_string(left) + " are left";
  if (const std::string lacking = short_of(asked, params, nodes); !lacking.empty()) return out + ", with " + lacking;
  return out + "; at least " + std::to_string(asked.shape.min_nodes) + " are needed" +
         (asked.shape.num_tasks ? " for " + std::to_string(asked.shape.num_tasks) + " tasks" : "") +
         (small && left < asked.shape.min_nodes ? "; " + task_asks(request, asked.shape, *small) + most_there(nodes, partition) : "");
}

// The Slurm message that fits best: more CPUs than the partition has in all, more nodes, or nodes of another make.
Errc too_much(const Shape& s, const Partition& p, const Availability& nodes) {
  uint64_t cpus = 0;
  for (uint32_t k = 0; k < nodes.kinds().size(); ++k) cpus += uint64_t{nodes.kinds()[k].cpus} * nodes.of_kind(k).count_and(p.nodes);
  const uint64_t tasks = std::max<uint64_t>(s.num_tasks ? s.num_tasks : mul_sat(s.min_nodes, std::max(s.tasks_per_node, 1u)), s.min_nodes);
  if (!s.overcommit && mul_sat(tasks, s.num_tasks || s.tasks_per_node > 1 ? s.cpus_per_task : 1) > cpus && tasks > 1)
    return Errc::kTooManyRequestedCpus;
  return s.min_nodes > p.nodes.count() ? Errc::kInvalidNodeCount : Errc::kRequestedNodeConfigUnavailable;
}

}  // namespace

Result<> can_ever_run(const Cluster& cluster, const Params& params, const RequestBody& request, uint32_t partition) {
  const Partition* found = cluster.partitions.find(partition);
  if (!found) return fail(Errc::kInvalidPartition);
  if (found->nodes.none()) return fail(Errc::kRequestedNodeConfigUnavailable, {}, "partition " + found->name + " has no nodes");
  MUSTER_TRY(shape, make_shape(request, *found, params));
  Availability nodes;
  nodes.update(cluster.nodes, params, true);
  MUSTER_TRY_VOID(names_exist({cluster, params, nodes, shape}));
  MUSTER_TRY_VOID(could_ever_pass(params, shape));
  if (!features_known(nodes, shape.features)) return {};  // ignore_constraint_validation: until a node has them
  RequestClass asked;
  asked.shape = std::move(shape);
  asked.partition = partition;
  asked.uid = request.uid;
  resolve(asked, cluster, nodes, *found);
  if (!found->nodes.contains(asked.required))
    return fail(Errc::kRequestedNodeConfigUnavailable, {}, "--nodelist names nodes outside partition " + found->name);
  if (asked.topology) MUSTER_TRY_VOID(topology_allows(*asked.topology, asked.shape));
  asked.shape.switches = 0;  // waits at most for a while, never for ever
  if (placed(place(nodes, asked, params, nullptr, {}))) return {};
  std::string why = tally(request, asked, params, *found, nodes);
  if (asked.topology)
    why += "; topology " + asked.topology->topology().name + " (" + std::string(topology_kind_name(asked.topology->kind())) +
           ") has to hold them together";
  return fail(too_much(asked.shape, *found, nodes), {}, std::move(why));
}

}  // namespace muster::sched
