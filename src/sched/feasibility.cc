// can_ever_run: the request against the partition's nodes as if all were up and idle.
#include <algorithm>

#include "sched/placement.h"
#include "sched/planner.h"

namespace muster::sched {
namespace {

Result<> names_exist(const Cluster& cluster, const Availability& nodes, const Shape& s) {
  for (const std::string* list : {&s.required_nodes, &s.excluded_nodes})
    if (auto ids = nodes_named(cluster, *list); !ids) return std::unexpected(std::move(ids).error());
  for (const FeatureConstraint* f : {&s.features, &s.prefer})
    for (const std::string& name : f->names)
      if (!nodes.feature(name))
        return fail(Errc::kInvalidFeature, {}, "no node has the feature \"" + name + "\"");
  for (const auto* needs : {&s.per_node, &s.per_job, &s.per_task})
    for (const GresNeed& need : *needs) {
      bool known = false;
      for (const Kind& k : nodes.kinds())
        for (const GresDevices& g : k.gres)
          known |= g.name == need.name && (need.type.empty() || g.type == need.type);
      if (!known)
        return fail(Errc::kInvalidGres, {},
                    "no node has gres/" + need.name + (need.type.empty() ? "" : ":" + need.type));
    }
  return {};
}

std::string tally(const RequestClass& c, const Partition& p) {
  const size_t left = c.feasible.count();
  std::string out = "of the " + std::to_string(p.nodes.count()) + " nodes of partition " + p.name + ":";
  auto add = [&](uint32_t n, const char* what) {
    if (n) out += " " + std::to_string(n) + what;
  };
  add(c.excluded.features, " lack the features,");
  add(c.excluded.listed, " are excluded by name,");
  add(c.excluded.make, " have too few sockets, cores, threads or disk,");
  add(c.excluded.room, " have too few CPUs, memory or devices for one task,");
  return out + " " + std::to_string(left) + " are left; at least " + std::to_string(c.shape.min_nodes) +
         " are needed" + (c.shape.num_tasks ? " for " + std::to_string(c.shape.num_tasks) + " tasks" : "");
}

}  // namespace

Result<> can_ever_run(const Cluster& cluster, const Params& params, const JobRequest& request,
                      uint32_t partition) {
  const Partition* p = cluster.partitions.find(partition);
  if (!p) return fail(Errc::kInvalidPartition);
  MUSTER_TRY(shape, make_shape(request, *p, params));
  Availability nodes;
  nodes.update(cluster.nodes, params, true);
  MUSTER_TRY_VOID(names_exist(cluster, nodes, shape));
  RequestClass c;
  c.shape = std::move(shape);
  c.partition = partition;
  c.uid = request.uid;
  c.resolve(cluster, nodes, *p);
  if (!p->nodes.contains(c.required))
    return fail(Errc::kRequestedNodeConfigUnavailable, {},
                "--nodelist names nodes outside partition " + p->name);
  c.shape.switches = 0;  // waits at most for a while, never for ever
  if (std::holds_alternative<Placed>(place(nodes, c, params, nullptr, {}))) return {};
  return fail(Errc::kRequestedNodeConfigUnavailable, {}, tally(c, *p));
}

}  // namespace muster::sched
