// can_ever_run: the request against the partition's nodes as if all were up and idle.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "sched/placement.h"
#include "sched/planner.h"
#include "sched/topology_choice.h"

namespace muster::sched {
namespace {

constexpr size_t kShown = 12;

std::string shown(const std::set<std::string>& names, std::string_view wrong) {
  std::vector<std::string_view> all(names.begin(), names.end());
  std::string out;
  if (std::string_view near = did_you_mean(wrong, all); !near.empty()) out = "; did you mean " + std::string(near) + "?";
  std::vector<std::string> first(names.begin(), std::next(names.begin(), static_cast<ptrdiff_t>(std::min(names.size(), kShown))));
  if (names.empty()) return "; there are none here";
  return out + "; there are: " + join(first, ", ") + (names.size() > kShown ? " and others" : "");
}

// Features and GRES that nodes have, to name them beside one that none has.
std::string choice_of_features(const Cluster& cluster, const std::string& wrong) {
  std::set<std::string> names;
  cluster.nodes.for_each([&](uint32_t, const Node& n) {
    names.insert(n.features_active.begin(), n.features_active.end());
  });
  return shown(names, wrong);
}
std::string choice_of_gres(const Availability& nodes, const std::string& wrong) {
  std::set<std::string> names;
  for (const Kind& k : nodes.kinds())
    for (const GresDevices& g : k.gres) names.insert(g.name + (g.type.empty() ? "" : ":" + g.type));
  return shown(names, wrong);
}

bool features_known(const Availability& nodes, const FeatureConstraint& f) {
  return std::ranges::all_of(f.names, [&](const std::string& name) { return nodes.feature(name) != nullptr; });
}

Result<> names_exist(const Cluster& cluster, const Params& params, const Availability& nodes, const Shape& s) {
  for (const std::string* list : {&s.required_nodes, &s.excluded_nodes})
    if (auto ids = nodes_named(cluster, *list); !ids) return std::unexpected(std::move(ids).error());
  for (const FeatureConstraint* f : {&s.features, &s.prefer}) {
    if (f == &s.features ? params.unknown_features_wait : params.unknown_prefer_ok) continue;
    for (const std::string& name : f->names)
      if (!nodes.feature(name))
        return fail(f == &s.prefer ? Errc::kInvalidPrefer : Errc::kInvalidFeature, {},
                    "no node has the feature \"" + name + "\"" + choice_of_features(cluster, name));
  }
  for (const auto* needs : {&s.per_node, &s.per_job, &s.per_task})
    for (const GresNeed& need : *needs) {
      bool known = false;
      for (const Kind& k : nodes.kinds())
        for (const GresDevices& g : k.gres)
          known |= g.name == need.name && (need.type.empty() || g.type == need.type);
      const std::string name = need.name + (need.type.empty() ? "" : ":" + need.type);
      if (!known)
        return fail(Errc::kInvalidGres, {}, "no node has gres/" + name + choice_of_gres(nodes, name));
    }
  return {};
}

// "; a node there has at most 16 CPUs, 64G, gpu:h100:8": each the most of any node of the partition.
std::string most_there(const Availability& nodes, const Partition& p) {
  uint32_t cpus = 0;
  uint64_t memory = 0;
  std::map<std::string, uint64_t> gres;
  for (uint32_t k = 0; k < nodes.kinds().size(); ++k) {
    if (!nodes.of_kind(k).intersects(p.nodes)) continue;
    const Kind& kind = nodes.kinds()[k];
    cpus = std::max(cpus, kind.cpus);
    memory = std::max(memory, kind.mem_mb);
    std::map<std::string, uint64_t> here;
    for (const GresDevices& g : kind.gres) here[g.name + (g.type.empty() ? "" : ":" + g.type)] += g.count;
    for (const auto& [name, count] : here) gres[name] = std::max(gres[name], count);
  }
  std::string out = "; a node there has at most " + std::to_string(cpus) + " CPUs, " + format_mem_mb(memory);
  for (const auto& [name, count] : gres) out += ", " + name + ":" + std::to_string(count);
  return out;
}

// "room for 64 of the 99 tasks"; "" when tasks are not what is too many. At most 32 placements.
std::string room_for_tasks(RequestClass c, const Params& params, Availability& nodes) {
  const uint32_t wanted = c.shape.num_tasks;
  uint32_t fits = std::max(c.shape.min_nodes, 1u) - 1, too_many = wanted;
  while (fits + 1 < too_many) {
    c.shape.num_tasks = fits + (too_many - fits) / 2;
    const bool placed = std::holds_alternative<Placed>(place(nodes, c, params, nullptr, {}));
    (placed ? fits : too_many) = c.shape.num_tasks;
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
      return std::to_string(there) + " of the " + std::to_string(need.count) + " gres/" + need.name + (need.type.empty() ? "" : ":" + need.type);
  }
  return {};
}

// What enough nodes in number do not have together; "" when that is not what is wrong.
std::string short_of(const RequestClass& c, const Params& params, Availability& nodes) {
  if (c.feasible.count() < c.shape.min_nodes) return {};
  std::string devices = devices_left(c, nodes);
  return devices.empty() && c.shape.num_tasks > 1 ? room_for_tasks(c, params, nodes) : devices;
}

std::string tally(const RequestClass& c, const Params& params, const Partition& p, Availability& nodes) {
  const size_t left = c.feasible.count();
  std::string out = "of the " + std::to_string(p.nodes.count()) + " nodes of partition " + p.name + ":";
  auto add = [&](uint32_t n, const char* what) {
    if (n) out += " " + std::to_string(n) + what;
  };
  add(c.excluded.features, " lack the features,");
  add(c.excluded.listed, " are excluded by name,");
  add(c.excluded.make, " have too few sockets, cores, threads or disk,");
  add(c.excluded.room, " have too few CPUs, memory or devices for one task,");
  out += " " + std::to_string(left) + " are left";
  if (const std::string lacking = short_of(c, params, nodes); !lacking.empty()) return out + ", with " + lacking;
  return out + "; at least " + std::to_string(c.shape.min_nodes) +
         " are needed" + (c.shape.num_tasks ? " for " + std::to_string(c.shape.num_tasks) + " tasks" : "") +
         (c.excluded.room && left < c.shape.min_nodes ? most_there(nodes, p) : "");
}

}  // namespace

Result<> can_ever_run(const Cluster& cluster, const Params& params, const RequestBody& request,
                      uint32_t partition) {
  const Partition* p = cluster.partitions.find(partition);
  if (!p) return fail(Errc::kInvalidPartition);
  MUSTER_TRY(shape, make_shape(request, *p, params));
  Availability nodes;
  nodes.update(cluster.nodes, params, true);
  MUSTER_TRY_VOID(names_exist(cluster, params, nodes, shape));
  if (!params.unknown_licenses_wait) MUSTER_TRY_VOID(LicensePool(params).could_ever(shape.licenses));
  if (!features_known(nodes, shape.features)) return {};  // ignore_constraint_validation: until a node has them
  RequestClass c;
  c.shape = std::move(shape);
  c.partition = partition;
  c.uid = request.uid;
  c.resolve(cluster, nodes, *p);
  if (!p->nodes.contains(c.required))
    return fail(Errc::kRequestedNodeConfigUnavailable, {},
                "--nodelist names nodes outside partition " + p->name);
  if (c.topology) MUSTER_TRY_VOID(topology_allows(*c.topology, c.shape));
  c.shape.switches = 0;  // waits at most for a while, never for ever
  if (std::holds_alternative<Placed>(place(nodes, c, params, nullptr, {}))) return {};
  std::string why = tally(c, params, *p, nodes);
  if (c.topology)
    why += "; topology " + c.topology->topology().name + " (" +
           std::string(topology_kind_name(c.topology->kind())) + ") has to hold them together";
  return fail(Errc::kRequestedNodeConfigUnavailable, {}, std::move(why));
}

}  // namespace muster::sched
