#include "cli/sattach/layout.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Layout, NodesWithTheirTasks) {
  rpc::StepCreated step;
  step.num_tasks = 3;
  step.nodes.resize(2);
  step.nodes[0].address.name = "n1";
  step.nodes[0].ranks = {0, 2};
  step.nodes[1].address.name = "n2";
  step.nodes[1].ranks = {1};
  EXPECT_EQ(layout_text(step),
            "Job step layout:\n\t3 tasks, 2 nodes (n1,n2)\n\n\tNode 0 (n1), 2 task(s): 0 2\n\n\tNode 1 (n2), 1 task(s): 1\n");
}

}  // namespace
}  // namespace muster::cli
