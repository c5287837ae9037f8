#include "sched/fit/request_class.h"

namespace muster::sched {
Onlooker onlooker_of(const RequestClass& c, uint32_t others) {
  return {c.partition, limit_of(c.shape), others, c.shape.oversubscribe_count, &c.peers};
}

bool RequestClass::bound_by_topology() const {
  if (!topology) return false;
  if (shape.exclusive_topo) return true;
  if (topology->kind() == TopologyKind::kTree)
    return !shape.spread && (shape.switches > 0 || (!topology->connected() && shape.nodes_from(2) > 0));
  return true;
}

}  // namespace muster::sched
