// --extra as a constraint: nodes whose Extra says what the job wants (model/extra_constraint.h, guide extra_constraints). The site changes
// what nodes say while jobs wait and run. So a job that no node serves now is taken and waits; nobody can foresee when it starts, and no
// promise to it is kept if a node says something else by then. What helps: other nodes, or another Extra of these.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

bool says_what_is_wanted(const RequestClass& c, const Availability& nodes, size_t id) {
  const Node* node = nodes.node(static_cast<uint32_t>(id));
  return node && c.shape.extra.met_by(node->extra.value());
}

// The one rule that looks at each node by itself here: nearly every node may say something else. It costs O(nodes left) for a class that
// asks, once after each change of any node's Extra.
void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  if (c.shape.extra.empty() || q.nodes.ideal()) return;  // at its best a node says what any job wants
  Bitmap other(q.nodes.size());
  c.feasible.for_each([&](size_t id) {
    if (!says_what_is_wanted(c, q.nodes, id)) other.set(id);
  });
  c.feasible -= other;
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  const RequestClass& c = q.node.asked;
  if (c.shape.extra.empty()) return;
  (left - c.feasible).for_each([&](size_t id) {
    if (!says_what_is_wanted(c, q.node.nodes, id)) q.out(NodeCause::kExtra, static_cast<uint32_t>(id));
  });
}

Result<> at_start(const ShareQuestion& q) {
  if (!q.start.params.extra_constraints || q.start.request.extra_constraint->met_by(q.node.extra.value())) return {};
  return busy(q.node, "its Extra no longer says what --extra wants");
}

}  // namespace

constinit const NodeRule kNodeExtra{.name = "--extra",
                                    .narrow = narrow,
                                    .lacking = " do not say in their Extra what --extra wants,",
                                    .awaits = "too few of its nodes say in their Extra what --extra wants",
                                    .sort_out = sort_out,
                                    .at_start = at_start};

}  // namespace muster::sched
