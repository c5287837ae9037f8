#include "sched/request_class.h"

#include <algorithm>
#include <utility>

namespace muster::sched {
namespace {

Bitmap listed(const Cluster& cluster, const std::string& text, uint32_t size) {
  Bitmap out(size);
  if (auto ids = nodes_named(cluster, text))
    for (uint32_t id : *ids) out.set(id);
  return out;
}

// Of the tasks that an idle node of the kind takes by counting: how many its layout takes, for a job that has it whole.
uint32_t laid_out(const Shape& s, const Kind& kind, uint32_t tasks) {
  if (!s.whole || s.overcommit || !s.per_job.empty() || counts_decide(s, kind)) return tasks;
  auto fits = [&](uint32_t n) { return choose_on_node(s, kind, NodeId(0), NodeUse(), n, {}).has_value(); };
  if (s.num_tasks == 0) return fits(std::max(s.tasks_per_node, 1u)) ? tasks : kNoTasks;
  tasks = std::min(tasks, s.num_tasks);
  while (tasks > kNoTasks && !fits(tasks)) --tasks;
  return tasks;
}

}  // namespace

bool RequestClass::bound_by_topology() const {
  if (!topology) return false;
  if (shape.exclusive_topo) return true;
  if (topology->kind() == TopologyKind::kTree)
    return !shape.spread && (shape.switches > 0 || (!topology->connected() && shape.nodes_from(2) > 0));
  return true;
}

void RequestClass::resolve(const Cluster& cluster, Availability& nodes, const Partition& partition) {
  auto placed_by = nodes.topology(cluster, partition);
  if (resolved_at == nodes.shape_version() && placed_by == topology) return;
  resolved_at = nodes.shape_version();
  topology = std::move(placed_by);
  blocked_at = too_full_at = 0;
  excluded = {};
  alternatives.clear();
  counts.clear();
  const FeatureIndex features = [&](const std::string& name) { return nodes.feature(name); };
  feasible = partition.nodes & nodes.known();
  auto narrow = [&](const Bitmap& to, uint32_t& lost, bool keep) {
    const size_t before = feasible.count();
    if (keep)
      feasible &= to;
    else
      feasible -= to;
    lost += static_cast<uint32_t>(before - feasible.count());
  };
  for (const FeatureExpr& e : shape.features.base) narrow(eval_features(e, features), excluded.features, true);
  if (!shape.excluded_nodes.empty())
    narrow(listed(cluster, shape.excluded_nodes, nodes.size()), excluded.listed, false);
  required = Bitmap(nodes.size());
  if (!shape.required_nodes.empty()) {
    required = listed(cluster, shape.required_nodes, nodes.size());
    if (required.count() > shape.max_nodes) {  // a choice among them
      narrow(required, excluded.listed, true);
      required = Bitmap(nodes.size());
    }
  }
  idle_tasks.assign(nodes.kinds().size(), kNoTasks);
  best_idle_tasks = 0;
  for (uint32_t k = 0; k < nodes.kinds().size(); ++k) {
    const Kind& kind = nodes.kinds()[k];
    if (!nodes.of_kind(k).intersects(feasible)) continue;
    if (!kind_qualifies(shape, kind)) {
      narrow(nodes.of_kind(k), excluded.make, false);
      continue;
    }
    std::vector<uint64_t> gres(kind.gres.size());
    free_gres(kind, {}, gres.data());
    uint32_t tasks = count_tasks(shape, kind, {kind.units, kind.mem_mb, gres});
    if (shape.num_tasks == 0 && tasks < shape.tasks_per_node) tasks = kNoTasks;
    if (tasks != kNoTasks) tasks = laid_out(shape, kind, tasks);
    if (tasks == kNoTasks) {
      narrow(nodes.of_kind(k), excluded.room, false);
      continue;
    }
    idle_tasks[k] = tasks;
    best_idle_tasks = std::max(best_idle_tasks, tasks);
  }
  for (const FeatureExpr& e : shape.features.matching)
    alternatives.push_back(eval_features(e, features) & feasible);
  for (const FeatureCount& c : shape.features.counts)
    counts.push_back({eval_features(c.expr, features) & feasible, c.count});
  monotone = shape.per_job.empty() && !shape.contiguous && counts.empty() && shape.prefer.empty() &&
             (shape.whole || !bound_by_topology());
  for (uint32_t k = 0; k < idle_tasks.size(); ++k)
    monotone &= idle_tasks[k] == kNoTasks || shape.whole || sched::counts_decide(shape, nodes.kinds()[k]);
  if (shape.prefer.empty()) return;
  if (!preferred) {
    preferred = std::make_shared<RequestClass>(*this);
    preferred->shape.features = std::exchange(preferred->shape.prefer, {});
    preferred->resolved_at = 0;
  }
  preferred->resolve(cluster, nodes, partition);
}

}  // namespace muster::sched
