#include "cli/sattach/layout.h"

namespace muster::cli {

std::string layout_text(const rpc::StepCreated& step) {
  std::string names, nodes;
  for (size_t i = 0; i < step.nodes.size(); ++i) {
    const rpc::StepNode& n = step.nodes[i];
    names += (i ? "," : "") + n.address.name;
    nodes += "\n\tNode " + std::to_string(i) + " (" + n.address.name + "), " + std::to_string(n.ranks.size()) + " task(s):";
    for (uint32_t rank : n.ranks) nodes += " " + std::to_string(rank);
    nodes += "\n";
  }
  return "Job step layout:\n\t" + std::to_string(step.num_tasks) + " tasks, " + std::to_string(step.nodes.size()) + " nodes (" + names +
         ")\n" + nodes;
}

}  // namespace muster::cli
