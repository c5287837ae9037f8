// Room for at least one task on a node that is idle: CPUs, memory and devices. What helps: other nodes.
#include <algorithm>

#include "sched/fit/shortage.h"
#include "sched/rules/choices.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

// How many of the tasks that an idle node of the kind takes by counting its layout takes too, for a job that has the node whole.
uint32_t laid_out(const Shape& s, const Kind& kind, uint32_t tasks) {
  if (!s.whole || s.overcommit || !s.per_job.empty() || counts_decide(s, kind)) return tasks;
  auto fits = [&](uint32_t n) { return choose_on_node(s, kind, NodeId(0), NodeUse(), n, {}).has_value(); };
  if (s.num_tasks == 0) return fits(std::max(s.tasks_per_node, 1u)) ? tasks : kNoTasks;
  tasks = std::min(tasks, s.num_tasks);
  while (tasks > kNoTasks && !fits(tasks)) --tasks;
  return tasks;
}

uint32_t tasks_on_idle(const Shape& s, const Kind& kind) {
  std::vector<uint64_t> gres(kind.gres.size());
  free_gres(kind, {}, gres.data());
  const uint32_t tasks = count_tasks(s, kind, {kind.units, kind.mem_mb, gres});
  if (tasks == kNoTasks || (s.num_tasks == 0 && tasks < s.tasks_per_node)) return kNoTasks;
  return laid_out(s, kind, tasks);
}

void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  c.idle_tasks.assign(q.nodes.kinds().size(), kNoTasks);
  c.best_idle_tasks = 0;
  for (uint32_t k = 0; k < q.nodes.kinds().size(); ++k) {
    if (!q.nodes.of_kind(k).intersects(c.feasible)) continue;
    const uint32_t tasks = tasks_on_idle(c.shape, q.nodes.kinds()[k]);
    if (tasks == kNoTasks) c.feasible -= q.nodes.of_kind(k);
    c.idle_tasks[k] = tasks;
    c.best_idle_tasks = std::max(c.best_idle_tasks, tasks);
  }
}

// kFree: the node is not left out for want of room.
NodeCause cause_of(Shortage shortage) {
  switch (shortage) {
    case Shortage::kNone: return NodeCause::kFree;
    case Shortage::kMemory: return NodeCause::kTooLittleMemory;
    case Shortage::kDevices: return NodeCause::kTooFewDevices;
    case Shortage::kCpus:
    case Shortage::kTogether: break;
  }
  return NodeCause::kTooFewCpus;
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  const Bitmap never = left - q.node.asked.feasible;
  for (uint32_t k = 0; k < q.node.nodes.kinds().size(); ++k) {
    const Bitmap alike = never & q.node.nodes.of_kind(k);
    if (alike.none()) continue;
    const NodeCause cause = cause_of(shortage_on(q.node.asked.shape, q.node.nodes.kinds()[k]));
    if (cause != NodeCause::kFree) alike.for_each([&](size_t id) { q.out(cause, static_cast<uint32_t>(id)); });
  }
}

Result<> ever(const NamesQuestion& q) {
  for (const auto* needs : {&q.shape.per_node, &q.shape.per_job, &q.shape.per_task})
    for (const GresNeed& need : *needs) {
      bool known = false;
      for (const Kind& k : q.nodes.kinds())
        for (const GresDevices& g : k.gres) known |= g.name == need.name && (need.type.empty() || g.type == need.type);
      const std::string name = gres_name(need.name, need.type);
      if (!known) return fail(Errc::kInvalidGres, {}, "no node has gres/" + name + choice_of(devices_there(q.nodes), name));
    }
  return {};
}

}  // namespace

// What a node lacks depends on its kind, so there is no `lacking`: feasibility.cc says how many nodes lack what.
constinit const NodeRule kNodeRoom{.name = "room on an idle node", .narrow = narrow, .sort_out = sort_out, .ever = ever};

}  // namespace muster::sched
