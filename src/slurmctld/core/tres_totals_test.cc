// TRES texts: whoever holds the same has the same in it.
#include "slurmctld/core/tres_totals.h"

#include <gtest/gtest.h>

#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

NodeShare share_with_devices() {
  NodeShare s;
  s.cpus.set_range(0, 4);
  s.mem_mb = 8192;
  s.gres.push_back({"gpu", "h100", 2, {}, {}});
  return s;
}

TEST(TresTotals, AStepAndTheScriptListDevicesAsTheirJobDoes) {
  auto allocation = std::make_shared<Allocation>();
  allocation->nodes = {share_with_devices()};
  Job job;
  job.request = std::make_shared<JobRequest>();
  job.allocation = allocation;
  Step step;
  step.request = std::make_shared<StepRequest>();
  StepShare& part = step.shares.emplace_back();
  part.cpus = allocation->nodes[0].cpus;
  part.mem_mb = 8192;
  part.gres = allocation->nodes[0].gres;
  EXPECT_EQ(tres_of({}, *allocation), "cpu=4,mem=8G,node=1,billing=4,gres/gpu=2,gres/gpu:h100=2");
  EXPECT_EQ(make_step_row({}, job, step).tres, "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:h100=2");
  EXPECT_EQ(make_batch_step_row({}, job).tres, "cpu=4,mem=8G,node=1,gres/gpu=2,gres/gpu:h100=2");
}

TEST(TresTotals, TypesAreSummedAndKeptApart) {
  std::vector<NodeShare> nodes = {share_with_devices(), share_with_devices()};
  nodes[1].gres[0].type = "a100";
  TresTotals totals;
  for (const NodeShare& n : nodes) totals.hold(n);
  EXPECT_EQ(totals.text(TresTotals::kNodes), "cpu=8,mem=16G,node=2,gres/gpu=4,gres/gpu:a100=2,gres/gpu:h100=2");
  EXPECT_EQ(gres_text(gres_sum(nodes)), "gpu:h100:2,gpu:a100:2");
  totals.keep_gres({"gres/gpu", "gres/gpu:a100"});
  EXPECT_EQ(totals.text(0), "cpu=8,mem=16G,gres/gpu=4,gres/gpu:a100=2");
}

}  // namespace
}  // namespace muster::slurmctld
