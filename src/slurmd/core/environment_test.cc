#include "slurmd/core/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace muster::slurmd {
namespace {

using Variables = std::map<std::string, std::string>;

Variables table(const std::vector<std::string>& entries) {
  Variables out;
  for (const std::string& e : entries) out[e.substr(0, e.find('='))] = e.substr(e.find('=') + 1);
  return out;
}

TEST(RepeatCounts, AsTheManualPageShows) {
  EXPECT_EQ(repeat_counts({72, 72, 36}), "72(x2),36");
  EXPECT_EQ(repeat_counts({1}), "1");
  EXPECT_EQ(repeat_counts({}), "");
}

node_rpc::JobOnNode job() {
  node_rpc::JobOnNode j;
  j.job = JobId(128);
  auto r = std::make_shared<JobRequest>();
  r->name = "train";
  r->num_tasks = 8;
  r->cpus_per_task = 2;
  r->mem_per_node_mb = 4096;
  r->tres_per_job = "gres/gpu:a100:8";
  j.request = r;
  j.num_tasks = 8;
  j.node_list = "n[1-2]";
  j.cpus_per_node = {8, 8};
  j.tasks_per_node = {4, 4};
  j.started = from_unix(100);
  j.ends = from_unix(700);
  return j;
}

TEST(BatchEnvironment, OfAnArrayTaskWithGpus) {
  node_rpc::JobOnNode j = job();
  j.array_job_id = JobId(120);
  j.array_task = 5;
  j.array_task_count = 10;
  j.array_task_max = 9;
  j.array_task_step = 1;
  j.share.gres.resize(1);
  j.share.gres[0].name = "gpu";
  j.share.gres[0].devices.set(2);
  j.share.gres[0].devices.set(5);
  NodeContext n;
  n.node = "n1";
  n.gpus_configured = true;
  using namespace std::string_literals;
  const std::string blob = "CUDA_VISIBLE_DEVICES=9\0KEEP=x=y\0SLURM_JOB_ID=1\0"s;
  Variables v = table(batch_environment(j, blob, n));
  EXPECT_EQ(v["KEEP"], "x=y");
  EXPECT_EQ(v["SLURM_JOB_ID"], "128");
  EXPECT_EQ(v["SLURM_NTASKS"], "8");
  EXPECT_EQ(v["SLURM_TASKS_PER_NODE"], "4(x2)");
  EXPECT_EQ(v["SLURM_JOB_CPUS_PER_NODE"], "8(x2)");
  EXPECT_EQ(v["SLURM_MEM_PER_NODE"], "4096");
  EXPECT_EQ(v["SLURM_GPUS"], "a100:8");
  EXPECT_EQ(v["SLURM_ARRAY_JOB_ID"], "120");
  EXPECT_EQ(v["SLURM_ARRAY_TASK_ID"], "5");
  EXPECT_EQ(v["SLURM_ARRAY_TASK_MIN"], "0");
  EXPECT_EQ(v["CUDA_VISIBLE_DEVICES"], "2,5");
  EXPECT_EQ(v["SLURM_JOB_GPUS"], "2,5");
  EXPECT_EQ(v["SLURM_JOB_START_TIME"], "100");
  EXPECT_EQ(v["SLURM_JOB_END_TIME"], "700");
  EXPECT_FALSE(v.contains("SLURM_RESTART_COUNT"));
}

TEST(BatchEnvironment, DevicesOfTheSubmittingShellDoNotLeakIn) {
  NodeContext n;
  n.gpus_configured = true;
  EXPECT_FALSE(table(batch_environment(job(), std::string("CUDA_VISIBLE_DEVICES=9\0", 23), n)).contains("CUDA_VISIBLE_DEVICES"));
  n.gpus_configured = false;
  EXPECT_EQ(table(batch_environment(job(), std::string("CUDA_VISIBLE_DEVICES=9\0", 23), n))["CUDA_VISIBLE_DEVICES"], "9");
}

TEST(ProgramEnvironment, TellsTheEpilogTheExitCode) {
  ProgramContext c;
  c.job = JobId(3);
  c.exit_status = 4 << 8;
  Variables v = table(program_environment(c, {}, true));
  EXPECT_EQ(v["SLURM_JOB_EXIT_CODE2"], "4:0");
  EXPECT_EQ(v["SLURM_SCRIPT_CONTEXT"], "epilog_slurmd");
  c.exit_status = 9;
  EXPECT_EQ(table(program_environment(c, {}, true))["SLURM_JOB_EXIT_CODE2"], "0:9");
  EXPECT_FALSE(table(program_environment(c, {}, false)).contains("SLURM_JOB_EXIT_CODE2"));
  EXPECT_FALSE(v.contains("SLURM_JOB_NUM_NODES"));
  c.cpus_per_node = {4, 4, 2};
  c.started = from_unix(1000);
  c.constraints = "gpu&fast";
  v = table(program_environment(c, {}, false));
  EXPECT_EQ(v["SLURM_JOB_CPUS_PER_NODE"], "4(x2),2");
  EXPECT_EQ(v["SLURM_JOB_NUM_NODES"], "3");
  EXPECT_EQ(v["SLURM_JOB_START_TIME"], "1000");
  EXPECT_EQ(v["SLURM_JOB_CONSTRAINTS"], "gpu&fast");
  EXPECT_FALSE(v.contains("SLURM_JOB_END_TIME"));
}

}  // namespace
}  // namespace muster::slurmd
