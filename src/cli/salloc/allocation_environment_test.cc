#include "cli/salloc/allocation_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/common/counted.h"

namespace muster::cli {
namespace {

TEST(Salloc, CountsAsSlurmWritesThem) {
  EXPECT_EQ(counted({}), "");
  EXPECT_EQ(counted({4}), "4");
  EXPECT_EQ(counted({72, 72, 36}), "72(x2),36");
  EXPECT_EQ(counted({2, 2, 2, 1}), "2(x3),1");
}

TEST(Salloc, VariablesOfTheAllocation) {
  rpc::Allocated a;
  a.job.id = JobId{12};
  a.job.node_list = "n[1-2]";
  a.job.nodes = 2;
  a.job.partition = "gpu";
  a.cpus_per_node = {8, 8};
  a.tasks_per_node = {2, 1};
  a.request.name = "x";
  a.job.started = from_unix(100);
  VariableList v({"SLURM_JOB_ID=7"});
  add_allocation_variables(a, ClientConf{}, v);
  for (const char* wanted :
       {"SLURM_JOB_ID=12", "SLURM_JOBID=12", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_NNODES=2", "SLURM_JOB_CPUS_PER_NODE=8(x2)",
        "SLURM_TASKS_PER_NODE=2,1", "SLURM_JOB_PARTITION=gpu", "SLURM_JOB_START_TIME=100"})
    EXPECT_THAT(v.list(), testing::Contains(wanted));
  EXPECT_FALSE(v.has("SLURM_JOB_END_TIME"));
}

}  // namespace
}  // namespace muster::cli
