#include "slurmd/daemon/stepds.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "net/loop.h"
#include "os/files.h"

namespace muster::slurmd {
namespace {

// The run before has ended and its end is noticed in the very turn in which the job's next run starts: it is not the end of that one.
TEST(Stepds, TheEndOfTheRunBeforeIsNotThatOfTheNext) {
  auto dir = *os::TempDir::create("sd", "/tmp");
  const std::string program = dir.path() + "/stepd", second = dir.path() + "/second";
  ASSERT_TRUE(os::write_file_atomic(program, "#!/bin/sh\n[ -e " + second + " ] && exec sleep 60\n", 0700));
  auto log = *os::Log::open({.program = "test"});
  net::Loop loop;
  Sweeper sweeper(loop, *log, MUSTER_SLURMSTEPD);
  std::vector<uint32_t> reported;  // generations
  Stepds stepds(loop, *log, sweeper, "n1", program, program, dir.path(),
                {.report = [&](const step_rpc::StepdReport& r) { reported.push_back(r.generation); },
                 .died = [](JobId, StepId) {},
                 .survives = [](const step_rpc::StepdReport&) {}});
  step_rpc::StepdLaunch launch;
  launch.job = JobId(1);
  launch.step = kBatchStep;
  launch.generation = 1;
  auto first = stepds.start(launch);
  ASSERT_TRUE(first);
  stepds.release(launch.job, launch.step);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(*first), &ended, WEXITED), 0);
  ASSERT_TRUE(os::write_file_atomic(second, "", 0600));
  pid_t next = 0;
  loop.post([&] {  // behind the turn's ready connections, before what they put off
    launch.generation = 2;
    next = stepds.start(launch).value_or(0);
  });
  auto wake = loop.after(milliseconds(100), [&] { loop.stop(); });
  loop.run();
  ASSERT_GT(next, 0);
  EXPECT_TRUE(reported.empty());
  EXPECT_EQ(stepds.count(), 1u);
  EXPECT_EQ(::kill(next, SIGKILL), 0);
  EXPECT_EQ(::waitpid(next, nullptr, 0), next);
}

}  // namespace
}  // namespace muster::slurmd
