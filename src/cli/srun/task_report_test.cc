#include "cli/srun/task_report.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace muster::cli {
namespace {

using Lines = std::vector<std::string>;

step_rpc::TasksEnded ends(std::vector<uint32_t> ranks, int32_t status) {
  step_rpc::TasksEnded m;
  for (uint32_t r : ranks) m.tasks.push_back({r, status, {}});
  return m;
}

TEST(TaskReport, GroupsTasksThatEndedAlike) {
  TaskReport r("12.0", 6);
  r.ended("n1", ends({0, 1, 2}, 3 << 8));
  r.ended("n1", ends({3}, 3 << 8));
  r.ended("n2", ends({4}, SIGTERM));
  EXPECT_EQ(r.take_lines(), (Lines{"n1: tasks 0-3: Exited with exit code 3", "n2: task 4: Terminated"}));
  EXPECT_TRUE(r.take_lines().empty());
  EXPECT_EQ(r.status_lines(), (Lines{"StepId=12.0 task 5: running", "StepId=12.0 tasks 0-4: exited"}));
  EXPECT_EQ(r.running(), 1u);
  EXPECT_EQ(r.exit_code(), 128 + SIGTERM);
}

TEST(TaskReport, HighestExitCodeWins) {
  TaskReport r("1.0", 3);
  r.ended("n1", ends({0}, 0));
  EXPECT_FALSE(r.any_failed());
  r.ended("n1", ends({1}, 2 << 8));
  r.ended("n1", ends({2}, 1 << 8));
  EXPECT_EQ(r.exit_code(), 2);
  EXPECT_EQ(r.wait_status(), 2 << 8);
  r.ended("n1", ends({2}, 9 << 8));
  EXPECT_EQ(r.exit_code(), 2) << "a task ends once";
}

TEST(TaskReport, ReasonsInWords) {
  EXPECT_EQ(end_text(SIGSEGV | 0x80, false), "Segmentation fault (core dumped)");
  EXPECT_EQ(end_text(SIGKILL, true), "Out Of Memory");
  step_rpc::TasksEnded m;
  m.tasks.push_back({0, 2 << 8, "execve /no: No such file or directory"});
  TaskReport r("1.0", 1);
  r.ended("n1", m);
  EXPECT_EQ(r.take_lines(), Lines{"n1: task 0: execve /no: No such file or directory"});
}

}  // namespace
}  // namespace muster::cli
