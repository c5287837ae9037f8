#include "os/process_hold.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"

namespace muster::os {
namespace {

TEST(ProcessHold, AStoppedProcessIsSaidToBeStopped) {
  SpawnSpec spec;
  spec.path = "/bin/sleep";
  spec.argv = {"sleep", "60"};
  const pid_t pid = spawn(spec).value_or(0);
  ASSERT_GT(pid, 0);
  ::kill(pid, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
  const auto process = read_process(pid);
  ASSERT_TRUE(process);
  const ProcessHold hold = what_holds(*process);
  EXPECT_EQ(hold_text(hold).substr(0, hold_text(hold).find(',')), "sleep (" + std::to_string(pid) + ") is stopped");
  EXPECT_FALSE(hold.uninterruptible());
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessHold, TextsOfStates) {
  ProcessHold hold;
  hold.process.pid = 812;
  hold.process.name = "nfs-cat";
  hold.process.state = 'D';
  hold.where = "nfs_wait_bit_killable";
  EXPECT_EQ(hold_text(hold), "nfs-cat (812) cannot be interrupted, in nfs_wait_bit_killable");
  hold.where.clear();
  hold.process.state = 'Z';
  hold.process.name = "a) b";
  EXPECT_EQ(hold_text(hold, " of step 7.0"), "a) b (812) of step 7.0 has ended, and its parent has not taken note");
  hold.process.name = "nfs-cat";
  EXPECT_EQ(hold_text(hold), "nfs-cat (812) has ended, and its parent has not taken note");
  hold.process.name = "a\nb";  // a user's choice
  EXPECT_EQ(hold_text(hold).find('\n'), std::string::npos);
}

TEST(ProcessHold, OneThatIsGoneIsNoError) {
  ProcessInfo gone;
  gone.pid = 0x3fffffff;
  gone.state = 'S';
  EXPECT_EQ(what_holds(gone).where, "");
}

}  // namespace
}  // namespace muster::os
