// Nodes that could serve the job now, but are promised to jobs ahead of it. A placement asks its NodeFilter (place/placement.h).
#include "sched/rules/node_rules.h"

namespace muster::sched {

constinit const NodeRule kPromised{
    .name = "promised to jobs ahead", .by = HelpedBy::kTurn, .sort_out = [](const CensusQuestion& q, const Bitmap& left) {
      left.for_each([&](size_t id) {
        if (q.promised(static_cast<uint32_t>(id))) q.out(NodeCause::kPromised, static_cast<uint32_t>(id));
      });
    }};

}  // namespace muster::sched
