// The make of a node: a request may name sockets, cores, threads and disk. What helps: other nodes.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

void narrow(const ClassQuestion& q) {
  RequestClass& c = q.asked;
  for (uint32_t k = 0; k < q.nodes.kinds().size(); ++k)
    if (!kind_qualifies(c.shape, q.nodes.kinds()[k])) c.feasible -= q.nodes.of_kind(k);
}

void sort_out(const CensusQuestion& q, const Bitmap& left) {
  (left - q.node.asked.feasible).for_each([&](size_t at) {
    const auto id = static_cast<uint32_t>(at);
    if (!kind_qualifies(q.node.asked.shape, q.node.nodes.kind(id))) q.out(NodeCause::kMake, id);
  });
}

}  // namespace

constinit const NodeRule kNodeMake{.name = "sockets, cores, threads, disk",
                                   .narrow = narrow,
                                   .lacking = " have too few sockets, cores, threads or disk,",
                                   .sort_out = sort_out};

}  // namespace muster::sched
