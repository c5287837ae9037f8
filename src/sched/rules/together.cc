// Nodes that have to stand together: --switches and --contiguous. topology/ and place/ say which sets of nodes do; this file says why a job
// waits though enough nodes are free one by one. Blocks, rings and tori: topology_unit.cc.
#include "sched/rules/node_rules.h"

namespace muster::sched {
namespace {

std::string together(const Shape& s) {
  if (s.switches) return "the free nodes are not within " + std::to_string(s.switches) + " leaf switches (--switches)";
  if (s.contiguous) return "the free nodes do not follow each other (--contiguous)";
  return {};
}

}  // namespace

constinit const NodeRule kTogether{.name = "--switches, --contiguous", .by = HelpedBy::kJobsEnd, .together = together};

}  // namespace muster::sched
