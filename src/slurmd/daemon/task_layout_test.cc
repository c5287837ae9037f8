#include "slurmd/daemon/task_layout.h"

#include <gtest/gtest.h>

#include "slurmd/daemon/launch.h"

namespace muster::slurmd {
namespace {

using Words = std::vector<std::string>;

TEST(MultiProg, RanksQuotesAndSymbols) {
  const char* text =
      "# c\n4-6   hostname\n1,7 echo task:%t\n0,2-3 echo \"off set:%o\" '%t' a\\ b\n* /bin/true\n";
  EXPECT_EQ(*multi_prog_argv(text, 5), Words{"hostname"});
  EXPECT_EQ(*multi_prog_argv(text, 7), (Words{"echo", "task:7"}));
  EXPECT_EQ(*multi_prog_argv(text, 3), (Words{"echo", "off set:2", "3", "a b"}));
  EXPECT_EQ(*multi_prog_argv(text, 99), Words{"/bin/true"});
  EXPECT_FALSE(multi_prog_argv("0 true\n", 1));
  EXPECT_FALSE(multi_prog_argv("0\n", 0));
}

Bitmap bits(std::initializer_list<size_t> list) {
  Bitmap b;
  for (size_t i : list) b.set(i);
  return b;
}

TEST(GpuBind, EachWayOfIt) {
  Bitmap gpus = bits({1, 3, 5, 7});
  auto of = [&](const char* how, uint32_t task) { return *gpus_of_task(how, gpus, task, 4, {}, {}); };
  EXPECT_EQ(of("gres/gpu:single:1", 2), bits({5}));
  EXPECT_EQ(of("gres/gpu:single:2", 3), bits({3}));
  EXPECT_EQ(of("gres/gpu:per_task:2", 1), bits({5, 7}));
  EXPECT_EQ(of("gres/gpu:map_gpu:3,0", 2), bits({7}));
  EXPECT_EQ(of("gres/gpu:map_gpu:0*2,1", 1), bits({1}));
  EXPECT_EQ(of("gres/gpu:mask_gpu:0x3,0xc", 1), bits({5, 7}));
  EXPECT_EQ(of("gres/gpu:verbose,single:1", 0), bits({1}));
  EXPECT_TRUE(of("gres/gpu:none", 0).none());
  EXPECT_TRUE(of("", 0).none());
  for (const char* wrong :
       {"gres/gpu:single:0", "gres/gpu:map_gpu:x", "gres/gpu:nearby", "gres/gpu:map_gpu:"})
    EXPECT_FALSE(gpus_of_task(wrong, gpus, 0, 4, {}, {})) << wrong;
}

TEST(EndMessage, NamesWhatEndedAndWhy) {
  Time at = from_unix(1000000000);
  std::string when = format_time(at);
  EXPECT_EQ(end_message(JobId(12), kBatchStep, "n1", JobState::kTimeout, at),
            "*** JOB 12 ON n1 CANCELLED AT " + when + " DUE TO TIME LIMIT ***");
  EXPECT_EQ(end_message(JobId(12), StepId(3), "n1", JobState::kCancelled, at),
            "*** STEP 12.3 ON n1 CANCELLED AT " + when + " ***");
  EXPECT_EQ(end_message(JobId(12), StepId(3), "n1", JobState::kCompleted, at), "");
}

}  // namespace
}  // namespace muster::slurmd
