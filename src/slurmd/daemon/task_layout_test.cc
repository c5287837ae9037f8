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
