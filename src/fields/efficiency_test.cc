#include "fields/efficiency.h"

#include <gtest/gtest.h>

namespace muster::fields {
namespace {

// Ran for 100 s on 4 CPUs of one node with 8 GiB.
JobRecord a_job() {
  JobRecord j;
  j.key.id = JobId(7);
  j.cluster = "c";
  j.user = "alice";
  j.group = "staff";
  j.state = JobState::kCompleted;
  j.started = from_unix(1000);
  j.ended = from_unix(1100);
  j.cpus = 4;
  j.nodes = 1;
  j.tres_allocated = TresAmounts{.cpus = 4, .mem_mb = 8192, .nodes = 1, .billing = 4};
  return j;
}
StepRecord a_step(const JobRecord& j, uint32_t tasks, int64_t cpu_seconds, uint64_t rss_mb) {
  StepRecord s;
  s.job = j.key;
  auto usage = std::make_shared<StepUsage>();
  for (uint32_t i = 0; i < tasks; ++i) {
    TaskUsage t;
    t.task = i;
    t.user_time = seconds(cpu_seconds);
    t.rss = Bytes(rss_mb << 20);
    add_task(*usage, t, "n1");
  }
  s.usage = usage;
  return s;
}

class EfficiencyOfJobs : public ::testing::Test {
 protected:
  std::string report() { return efficiency_report({job, nullptr, env, style, steps}); }
  Efficiency efficiency() { return efficiency_of({job, nullptr, env, style, steps}); }
  JobRecord job = a_job();
  std::vector<StepRecord> steps;
  Environment env;
  RecordStyle style;
};

TEST_F(EfficiencyOfJobs, GpusThatWereHeldAndUsed) {
  job.tres_allocated.add_gres("gpu", "a100", 2);
  steps = {a_step(job, 1, 90, 1024)};
  EXPECT_EQ(report().find("GPU"), std::string::npos);
  auto usage = std::make_shared<StepUsage>();
  TaskUsage t;
  t.gpu_util = 90;
  t.gpu_memory = Bytes(3ull << 30);
  add_task(*usage, t, "n1");
  steps[0].usage = usage;
  EXPECT_NE(report().find("GPU Utilization: at its peak 45.00% of 2 GPUs\nGPU Memory Utilized: 3.00 GB\n"), std::string::npos) << report();
}

TEST_F(EfficiencyOfJobs, AsSeffPrintsIt) {
  steps = {a_step(job, 1, 90, 1024), a_step(job, 1, 10, 512)};
  EXPECT_EQ(report(), "Job ID: 7\n"
                      "Cluster: c\n"
                      "User/Group: alice/staff\n"
                      "State: COMPLETED (exit code 0)\n"
                      "Nodes: 1\n"
                      "Cores per node: 4\n"
                      "CPU Utilized: 00:01:40\n"
                      "CPU Efficiency: 25.00% of 00:06:40 core-walltime\n"
                      "Job Wall-clock time: 00:01:40\n"
                      "Memory Utilized: 1.00 GB\n"
                      "Memory Efficiency: 12.50% of 8.00 GB (8.00 GB/node)\n"
                      "Next time, ask for 2 CPUs in all and --mem=1229M: that is what was used, with a fifth to spare.\n");
}

TEST_F(EfficiencyOfJobs, SeveralTasksAreAnEstimate) {
  steps = {a_step(job, 4, 90, 1900)};
  EXPECT_TRUE(efficiency().mem_estimated);
  EXPECT_EQ(efficiency().mem_used, Bytes(uint64_t{4 * 1900} << 20));
  EXPECT_NE(report().find("Memory Utilized: 7.42 GB (estimated maximum)\n"), std::string::npos) << report();
  EXPECT_EQ(report().find("Next time"), std::string::npos) << "what was asked for was needed: " << report();
}

TEST_F(EfficiencyOfJobs, AWaitingJobHasNone) {
  job.state = JobState::kPending;
  job.started = job.ended = {};
  EXPECT_NE(report().find("Efficiency not available for jobs in the PENDING state.\n"), std::string::npos) << report();
}

TEST_F(EfficiencyOfJobs, NothingWasGathered) {
  EXPECT_NE(report().find("Nothing was gathered of this job:"), std::string::npos) << report();
  job.first_submitted = from_unix(900);  // steps belong to the part of the run in which they began
  job.key.submitted = job.started;
  EXPECT_NE(report().find("\"seff " + sluid_text(job.original_sluid()) + "\" shows each part"), std::string::npos) << report();
  EXPECT_EQ(efficiency().cpus_next_time(), std::nullopt);
  EXPECT_EQ(efficiency().mem_next_time(), std::nullopt);
}

TEST_F(EfficiencyOfJobs, ASignalAndOneCore) {
  job.state = JobState::kOutOfMemory;
  job.exit_status = 9;
  job.cpus = 1;
  job.array_job_id = JobId(5);
  job.array_task = 2;
  job.tres_allocated = TresAmounts{.cpus = 1, .nodes = 1};
  steps = {a_step(job, 1, 10, 100)};
  const std::string text = report();
  EXPECT_NE(text.find("Array Job ID: 5_2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("State: OUT_OF_MEMORY (signal 9)\nCores: 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Memory Efficiency: no memory limit was set\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace muster::fields
