// Batch jobs by a real slurmd and real slurmstepd, under a controller made of this test.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurmd/daemon/fake_cluster.h"

namespace muster::slurmd::test {
namespace {

using namespace node_rpc;

TEST(Batch, RunsAndReportsItsExitCodeAndOutput) {
  FakeCluster c;
  c.start_slurmd();
  ASSERT_EQ(c.registrations.front().node, "n1");
  EXPECT_EQ(c.registrations.front().hardware.cpus, 4u) << "config_overrides";
  c.send(c.batch(7, "echo out; echo err >&2; env | sort > env.txt; ps -o ppid= -p $$ >/dev/null; exit 3"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(7); }));
  EXPECT_NE(c.of_job<BatchStarted>(7), nullptr);
  auto* done = c.of_job<BatchFinished>(7);
  EXPECT_EQ(WEXITSTATUS(done->exit_status), 3);
  EXPECT_TRUE(done->gone);
  EXPECT_EQ(c.read("slurm-7.out"), "out\nerr\n");
  std::string env = c.read("env.txt");
  for (const char* line : {"SLURM_JOB_ID=7\n", "SLURM_JOBID=7\n", "SLURM_JOB_NODELIST=n1\n", "SLURM_CPUS_ON_NODE=2\n",
                           "SLURM_JOB_CPUS_PER_NODE=2\n", "SLURMD_NODENAME=n1\n", "ENVIRONMENT=BATCH\n", "SLURM_PROCID=0\n",
                           "SLURM_CLUSTER_NAME=test\n", "SLURM_TASKS_PER_NODE=1\n", "SLURM_JOB_PARTITION=main\n", "TMPDIR=/tmp\n"})
    EXPECT_NE(env.find(line), std::string::npos) << line << " in\n" << env;
  EXPECT_NE(env.find("SLURM_TASK_PID="), std::string::npos);
  EXPECT_EQ(env.find("SLURM_NTASKS="), std::string::npos) << "only when tasks were asked for";
}

TEST(Batch, IsLaunchedOnceAndForgottenOnlyWhenTold) {
  FakeCluster c;
  c.start_slurmd();
  auto job = c.batch(8, "echo run >> runs.txt");
  c.send(job);
  c.send(job);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(8); }));
  c.kill_slurmd(SIGKILL);
  c.reports.clear();
  c.start_slurmd();
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(8); })) << "the result outlives slurmd";
  c.send(job);
  c.send(ForgetJobs{{JobId(8)}});
  c.send(c.batch(9, "true"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(9); }));
  EXPECT_EQ(c.read("runs.txt"), "run\n");
}

// A requeued job comes back while the slurmstepd of its last run has been told to go and has not gone yet.
TEST(Batch, NextRunDoesNotWaitForTheLastOnesDaemon) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(8, "echo $PPID > stepd; exit 1"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(8); }));
  const pid_t last = std::stoi(c.read("stepd"));
  ASSERT_EQ(::kill(last, SIGSTOP), 0);
  c.reports.clear();
  LaunchBatch again = c.batch(8, "true");
  again.job.generation = 1;
  c.send(again);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(8) || c.of_job<LaunchFailed>(8); }));
  ASSERT_EQ(c.of_job<LaunchFailed>(8), nullptr) << c.of_job<LaunchFailed>(8)->text;
  EXPECT_EQ(c.of_job<BatchFinished>(8)->exit_status, 0);
  ASSERT_EQ(::kill(last, SIGCONT), 0);
  EXPECT_TRUE(c.run_until([&] { return ::kill(last, 0) < 0; })) << "it was told to go";
  c.send(ForgetJobs{{JobId(8)}});
  EXPECT_TRUE(c.run_until([&] { return c.steps_left() == 0; }));
}

TEST(Batch, RunningJobIsFoundAgainAfterSlurmdWasKilled) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(5, "echo started > s.txt; while [ ! -e go ]; do sleep 0.05; done; echo end"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(5) && ::access(c.file("s.txt").c_str(), F_OK) == 0; }));
  c.kill_slurmd(SIGKILL);
  c.start_slurmd();
  ASSERT_EQ(c.registrations.size(), 2u);
  ASSERT_EQ(c.registrations[1].jobs.size(), 1u);
  EXPECT_EQ(c.registrations[1].jobs[0].job, JobId(5));
  EXPECT_EQ(c.registrations[1].jobs[0].state, NodeJobState::kRunning);
  EXPECT_GT(c.registrations[1].session, c.registrations[0].session);
  EXPECT_EQ(c.of_job<BatchFinished>(5), nullptr);
  ASSERT_TRUE(os::write_file_atomic(c.file("go"), ""));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(5); }));
  EXPECT_EQ(c.of_job<BatchFinished>(5)->exit_status, 0);
  EXPECT_EQ(c.read("slurm-5.out"), "end\n");
}

// The node was given up while its slurmd was away: the run that is found again makes room for the next one.
TEST(Batch, TheNextRunReplacesOneThatWasFoundAgain) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(5, "echo first > s.txt; sleep 600"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(5) && ::access(c.file("s.txt").c_str(), F_OK) == 0; }));
  c.kill_slurmd(SIGKILL);
  c.start_slurmd();
  c.reports.clear();
  LaunchBatch again = c.batch(5, "exit 3");
  again.job.generation = 1;
  c.send(again);
  const auto end = [&]() -> const BatchFinished* {
    for (const NodeReport& r : c.reports)
      if (auto* ended = std::get_if<BatchFinished>(&r); ended && ended->generation == 1) return ended;
    return nullptr;
  };
  ASSERT_TRUE(c.run_until([&] { return end() != nullptr; }));
  EXPECT_EQ(end()->exit_status >> 8, 3);
  c.send(ForgetJobs{{JobId(5)}});
  EXPECT_TRUE(c.run_until([&] { return c.steps_left() == 0; }));
}

TEST(Batch, TerminateSaysWhyAndKillsWhatIgnoresIt) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(6, "trap '' TERM; (trap '' TERM; sleep 300) & echo $! > pid.txt; wait; sleep 300"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(6) && c.has_line("pid.txt"); }));
  TerminateJob t;
  t.job = JobId(6);
  t.kill_wait_seconds = 1;
  t.state = JobState::kTimeout;
  t.time = from_unix(1000000000);
  c.send(t);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<JobGone>(6); }));
  std::string out = c.read("slurm-6.out");
  EXPECT_TRUE(out.starts_with("slurmstepd: error: *** JOB 6 ON n1 CANCELLED AT 2001-09-")) << out;
  EXPECT_NE(out.find(" DUE TO TIME LIMIT ***\n"), std::string::npos) << out;
  EXPECT_TRUE(c.ended("pid.txt")) << "the background process is gone";
}

TEST(Batch, BackgroundProcessesGoWithTheScript) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(6, "setsid sleep 300 & echo $! > pid.txt; exit 0"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(6); }));
  EXPECT_EQ(c.of_job<BatchFinished>(6)->exit_status, 0);
  EXPECT_TRUE(c.ended("pid.txt"));
}

TEST(Batch, SlurmstepdKilledCountsAsKilled) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(6, "echo $PPID > ppid.txt; echo $$ > pid.txt; sleep 300"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(6) && c.has_line("pid.txt"); }));
  ::kill(std::atoi(c.read("ppid.txt").c_str()), SIGKILL);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(6); }));
  EXPECT_EQ(WTERMSIG(c.of_job<BatchFinished>(6)->exit_status), SIGKILL);
  EXPECT_TRUE(c.ended("pid.txt"));
}

TEST(Batch, SlurmstepdKilledWhileNoSlurmdRanLeavesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only a control group knows its processes, and root makes those";
  FakeCluster c("ProctrackType=proctrack/cgroup\n");
  c.start_slurmd();
  c.send(c.batch(9, "env -i setsid sleep 300 & echo $PPID > stepd; echo $! > pid.txt; cat /proc/$!/cgroup > group.txt; wait"));
  ASSERT_TRUE(c.run_until([&] { return c.has_line("group.txt"); }));
  if (c.read("group.txt").find("/job_9/") == std::string::npos) GTEST_SKIP() << "no writable control groups here";
  c.kill_slurmd(SIGKILL);
  ::kill(std::atoi(c.read("stepd").c_str()), SIGKILL);
  ASSERT_TRUE(c.run_until([&] { return c.ended("stepd"); }));
  EXPECT_FALSE(c.ended("pid.txt"));
  c.start_slurmd();
  EXPECT_TRUE(c.run_until([&] { return c.ended("pid.txt"); }));
}

TEST(Batch, OutputFilesAndTheirDirectories) {
  FakeCluster c;
  c.start_slurmd();
  auto job = c.batch(12, "echo out; echo err >&2; cat");
  auto r = std::make_shared<JobRequest>(*job.job.request);
  r->std_out = "a/b/%x-%4j.txt";
  r->std_err = "err.%A_%a";
  r->std_in = "in.txt";
  r->open_mode = OpenMode::kAppend;
  job.job.request = r;
  job.job.array_job_id = JobId(10);
  job.job.array_task = 2;
  ASSERT_TRUE(os::write_file_atomic(c.file("in.txt"), "input\n"));
  ASSERT_TRUE(os::write_file_atomic(c.file("err.10_2"), "before\n"));
  c.send(job);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(12); }));
  EXPECT_EQ(c.read("a/b/job-0012.txt"), "out\ninput\n");
  EXPECT_EQ(c.read("err.10_2"), "before\nerr\n");
}

TEST(Batch, UnwritableOutputFailsTheJobWithTheReason) {
  FakeCluster c;
  c.start_slurmd();
  auto job = c.batch(12, "echo never > ran.txt");
  auto r = std::make_shared<JobRequest>(*job.job.request);
  r->std_out = "/proc/none/x";
  job.job.request = r;
  c.send(job);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<LaunchFailed>(12); }));
  EXPECT_FALSE(c.of_job<LaunchFailed>(12)->node_fault);
  EXPECT_NE(c.of_job<LaunchFailed>(12)->text.find("/proc/none"), std::string::npos) << c.of_job<LaunchFailed>(12)->text;
  EXPECT_EQ(::access(c.file("ran.txt").c_str(), F_OK), -1);
}

TEST(Batch, SignalsReachTheScriptOrItsChildren) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(4, "trap 'echo got; exit 5' USR1; echo up; while :; do sleep 0.05; done"));
  ASSERT_TRUE(c.run_until([&] { return c.read("slurm-4.out") == "up\n"; }));
  SignalJob s;
  s.job = JobId(4);
  s.signal = SIGUSR1;
  s.batch_only = true;
  c.send(s);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(4); }));
  EXPECT_EQ(WEXITSTATUS(c.of_job<BatchFinished>(4)->exit_status), 5);
  EXPECT_EQ(c.read("slurm-4.out"), "up\ngot\n");
}

TEST(Batch, ControllerAwayForAWhileMissesNothing) {
  FakeCluster c;
  c.start_slurmd();
  c.send(c.batch(4, "sleep 0.3"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(4); }));
  c.stop_listening();
  EXPECT_FALSE(c.run_until([] { return false; }, milliseconds(600)));
  c.listen();
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(4); }));
  ASSERT_EQ(c.registrations.size(), 2u);
  EXPECT_EQ(c.registrations[1].jobs[0].state, NodeJobState::kGone);
}

TEST(Programs, PrologAndEpilogSurroundTheJob) {
  auto dir = os::TempDir::create("mp", "/tmp");
  std::string log = dir->path() + "/log";
  ASSERT_TRUE(
      os::write_file_atomic(dir->path() + "/prolog", "#!/bin/bash\necho prolog $SLURM_JOB_ID $SLURM_JOB_USER >> " + log + "\n", 0755));
  ASSERT_TRUE(
      os::write_file_atomic(dir->path() + "/epilog", "#!/bin/bash\necho epilog $SLURM_JOB_EXIT_CODE2 >> " + log + "\nexit 1\n", 0755));
  FakeCluster c("Prolog=" + dir->path() + "/prolog\nEpilog=" + dir->path() + "/epilog\n");
  c.start_slurmd();
  c.send(c.batch(3, "echo job >> " + log + "; exit 4"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<JobGone>(3); }));
  EXPECT_FALSE(c.of_job<BatchFinished>(3)->gone);
  EXPECT_NE(c.of_job<JobGone>(3)->epilog_error, "");
  EXPECT_EQ(*os::read_file(log), "prolog 3 tester\njob\nepilog 4:0\n");
}

TEST(Programs, FailedPrologIsTheNodesFault) {
  auto dir = os::TempDir::create("mp", "/tmp");
  ASSERT_TRUE(os::write_file_atomic(dir->path() + "/prolog", "#!/bin/bash\necho disk is broken\nexit 9\n", 0755));
  FakeCluster c("Prolog=" + dir->path() + "/prolog\n");
  c.start_slurmd();
  c.send(c.batch(3, "echo never"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<LaunchFailed>(3); }));
  EXPECT_TRUE(c.of_job<LaunchFailed>(3)->node_fault);
  EXPECT_NE(c.of_job<LaunchFailed>(3)->text.find("exit code 9: disk is broken"), std::string::npos) << c.of_job<LaunchFailed>(3)->text;
}

}  // namespace
}  // namespace muster::slurmd::test
