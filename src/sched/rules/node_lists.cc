// --nodelist and --exclude. A node list that is longer than the job may be offers a choice. Otherwise all its nodes are part of the job,
// which then waits for any of them that is out of service.
#include <set>
#include <utility>

#include "hostlist/hostlist.h"
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

Bitmap listed(const ClassQuestion& q, const NodeList& list) {
  Bitmap out(q.nodes.size());
  if (auto ids = nodes_named(q.cluster, list))
    for (uint32_t id : *ids) out.set(id);
  return out;
}

// How often each node stands in the list of an arbitrary distribution; empty where these do not add up to the number of tasks.
std::vector<uint32_t> tasks_as_listed(const ClassQuestion& q) {
  const Shape& s = q.asked.shape;
  std::vector<uint32_t> out(q.nodes.size(), 0);
  auto ids = nodes_named(q.cluster, s.required_nodes);
  if (!ids || ids->size() != s.num_tasks) return {};
  for (uint32_t id : *ids) ++out[id];
  return out;
}

void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  const Shape& s = c.shape;
  if (!s.excluded_nodes.empty()) c.feasible -= listed(q, s.excluded_nodes);
  c.required = Bitmap(q.nodes.size());
  if (s.required_nodes.empty()) return;
  Bitmap required = listed(q, s.required_nodes);
  const bool all = required.count() <= s.max_nodes;
  if (s.arbitrary && all) c.places = tasks_as_listed(q);
  if (!all || !c.places.empty()) c.feasible &= required;  // an arbitrary distribution has no node beside those of its list
  if (all) c.required = std::move(required);
}

Hold missing(const NodeQuestion& q, const Bitmap& open) {
  if (open.contains(q.asked.required)) return {};
  const Bitmap down = q.asked.required - q.nodes.usable();
  if (down.none()) return {Reason::kResources};
  std::vector<std::string> names;
  down.for_each([&](size_t id) {
    if (const Node* n = q.nodes.node(static_cast<uint32_t>(id))) names.push_back(n->spec->name);
  });
  return {Reason::kReqNodeNotAvail, "ReqNodeNotAvail, UnavailableNodes:" + compress_hosts(names)};
}

// Nodes that the lists leave out although their make could serve the job.
void sort_out(const CensusQuestion& q, const Bitmap& left) {
  (left - q.node.asked.feasible).for_each([&](size_t id) { q.out(NodeCause::kListed, static_cast<uint32_t>(id)); });
}

// In an arbitrary distribution the list says where the tasks go, so each node of the job must stand in it.
Result<> enough_places(const NamesQuestion& q) {
  const Shape& s = q.shape;
  if (!s.arbitrary || s.required_nodes.empty()) return {};
  MUSTER_TRY(ids, nodes_named(q.cluster, s.required_nodes));
  const size_t tasks = ids.size();
  const size_t nodes = std::set<uint32_t>(ids.begin(), ids.end()).size();
  if (tasks != s.num_tasks || nodes >= s.min_nodes) return {};
  return fail(
      Errc::kInvalidNodeCount, {},
      "--nodes: at least " + std::to_string(s.min_nodes) + ", and the list of --distribution=arbitrary has " + std::to_string(nodes));
}

Result<> ever(const NamesQuestion& q) {
  for (const NodeList* list : {&q.shape.required_nodes, &q.shape.excluded_nodes}) MUSTER_TRY_VOID(nodes_named(q.cluster, *list));
  return enough_places(q);
}

}  // namespace

constinit const NodeRule kNodeLists{.name = "--nodelist, --exclude",
                                    .narrow = narrow,
                                    .lacking = " are excluded by name,",
                                    .missing = missing,
                                    .sort_out = sort_out,
                                    .ever = ever};

}  // namespace muster::sched
