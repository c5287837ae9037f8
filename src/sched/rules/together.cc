// Nodes that have to stand together: --switches and --contiguous. Which sets of nodes do is topology/ and place/; here is what is said
// where enough are free one by one. Blocks, rings and tori: topology_unit.cc.
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
