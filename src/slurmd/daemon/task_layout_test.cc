#include "slurmd/daemon/task_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "slurmd/daemon/launch.h"

namespace muster::slurmd {
namespace {

using Words = std::vector<std::string>;

TEST(MultiProg, RanksQuotesAndSymbols) {
  const char* text = "# c\n4-6   hostname\n1,7 echo task:%t\n0,2-3 echo \"off set:%o\" '%t' a\\ b\n* /bin/true\n";
  EXPECT_EQ(*multi_prog_argv(text, 5), Words{"hostname"});
  EXPECT_EQ(*multi_prog_argv(text, 7), (Words{"echo", "task:7"}));
  EXPECT_EQ(*multi_prog_argv(text, 3), (Words{"echo", "off set:2", "3", "a b"}));
  EXPECT_EQ(*multi_prog_argv(text, 99), Words{"/bin/true"});
  EXPECT_FALSE(multi_prog_argv("0 true\n", 1));
  EXPECT_FALSE(multi_prog_argv("0\n", 0));
}

TEST(EndMessage, NamesWhatEndedAndWhy) {
  Time at = from_unix(1000000000);
  std::string when = format_time(at);
  EXPECT_EQ(end_message(JobId(12), kBatchStep, "n1", JobState::kTimeout, at),
            "*** JOB 12 ON n1 CANCELLED AT " + when + " DUE TO TIME LIMIT ***");
  EXPECT_EQ(end_message(JobId(12), StepId(3), "n1", JobState::kCancelled, at), "*** STEP 12.3 ON n1 CANCELLED AT " + when + " ***");
  EXPECT_EQ(end_message(JobId(12), StepId(3), "n1", JobState::kCompleted, at), "");
}

// Cards behind a step's shards are open to all its tasks, whatever they are bound to, and count in a task's numbers.
TEST(LayOutTasks, NumbersOfGpusCountThoseBehindShards) {
  auto loaded = std::make_shared<config::LoadedConfig>();
  slurmd::Setup s;
  s.loaded = loaded;
  s.cpus_are_real = false;
  s.hardware.cpus = s.hardware.cores_per_socket = 2;
  NodeContext context;
  context.devices_constrained = true;
  GresDevices gpus, shards;
  gpus.name = "gpu", gpus.count = 2, gpus.files = {"/dev/nvidia0", "/dev/nvidia1"}, gpus.flags = kGresEnvNvidia;
  shards.name = "shard", shards.count = 2, shards.files = {"/dev/nvidia0"};
  GresDevices more = shards;
  more.first_index = 1, more.files = {"/dev/nvidia1"};
  context.gres = {gpus, shards, more};
  rpc::StepCredential c;
  c.nodes.resize(1);
  c.nodes[0].ranks = {0, 1};
  GresShare held{"shard", "", 4, {}, {2, 2}};
  for (size_t gpu : {0, 1}) held.devices.set(gpu);
  c.nodes[0].gres = {held};
  StepRequest r;
  r.argv = {"true"};
  r.tres_bind = "gres/gpu:map:0,1";
  Bitmap cpus(2, true);
  auto tasks = lay_out_tasks(s, c, 0, r, cpus, context);
  ASSERT_TRUE(tasks) << tasks.error().message();
  for (size_t i : {0, 1}) {
    const step_rpc::TaskLaunch& t = (*tasks)[i];
    EXPECT_TRUE(t.denied_devices.empty());
    EXPECT_NE(std::ranges::find(t.environment, "CUDA_VISIBLE_DEVICES=" + std::to_string(i)), t.environment.end());
  }
}

}  // namespace
}  // namespace muster::slurmd
