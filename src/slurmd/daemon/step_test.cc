// Steps: the real srun, slurmd and slurmstepd, under a controller made of this test.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/node/cgroups.h"
#include "os/pty.h"
#include "slurmd/daemon/fake_cluster.h"

namespace muster::slurmd::test {
namespace {

std::string sorted(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string_view l : split(text, '\n')) lines.emplace_back(l);
  std::ranges::sort(lines);
  return join(lines, "\n");
}

TEST(Step, RunsTasksWithTheirEnvironmentAndLabels) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "-n4", "-l", "sh", "-c",
                  "echo $SLURM_PROCID $SLURM_LOCALID $SLURM_NTASKS $SLURM_STEP_ID $SLURM_NODEID "
                  "$SLURMD_NODENAME $SLURM_STEP_TASKS_PER_NODE"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(sorted(r.out), "0: 0 0 4 0 0 n1 4\n1: 1 1 4 0 0 n1 4\n2: 2 2 4 0 0 n1 4\n3: 3 3 4 0 0 n1 4");
  EXPECT_EQ(r.err, "");
  ASSERT_EQ(c.finished_steps.size(), 1u);
  EXPECT_EQ(c.finished_steps[0].exit_status, 0);
  EXPECT_TRUE(c.run_until([&] { return c.of_job<node_rpc::StepGone>(12); }));
  EXPECT_TRUE(c.run_until([&] { return c.steps_left() == 0; })) << "its slurmstepd is gone at once";
}

// The end of a step that slurmctld has not said to have is told again, also by a slurmd that is started anew.
TEST(Step, EndIsToldUntilItIsTaken) {
  FakeCluster c;
  c.takes_step_ends = false;
  c.start_slurmd();
  EXPECT_EQ(WEXITSTATUS(c.srun({"--jobid=12", "sh", "-c", "exit 3"}).status), 3);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<node_rpc::StepGone>(12); }));
  c.kill_slurmd(SIGKILL);
  c.reports.clear();
  c.takes_step_ends = true;
  c.start_slurmd();
  ASSERT_TRUE(c.run_until([&] { return c.of_job<node_rpc::StepGone>(12); }));
  EXPECT_EQ(WEXITSTATUS(c.of_job<node_rpc::StepGone>(12)->exit_status), 3);
  EXPECT_TRUE(c.run_until([&] { return c.steps_left() == 0; }));
}

TEST(Step, ExitCodesAreTold) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "-n4", "sh", "-c", "[ $SLURM_PROCID = 3 ] && kill -TERM $$; exit 3"});
  EXPECT_EQ(WEXITSTATUS(r.status), 128 + SIGTERM);
  EXPECT_NE(r.err.find("srun: error: n1: task 3: Terminated\n"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("Exited with exit code 3\n"), std::string::npos) << r.err;
  r = c.srun({"--jobid=12", "/no/such/program"});
  EXPECT_EQ(WEXITSTATUS(r.status), 2);
  EXPECT_EQ(r.err, "slurmstepd: error: execve(): /no/such/program: No such file or directory\nsrun: error: n1: task "
                   "0: Exited with exit code 2\n");
}

// Users write whole minutes; the controller's order brings the end near while it runs.
TEST(Step, EndsWhenItsOwnTimeIsUp) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun(
      {"--jobid=12", "-t", "10", "--signal=USR1@60", "sh", "-c", "trap 'echo warned' USR1; echo up >up; while :; do sleep 0.1; done"}, "",
      [&](pid_t) {
        EXPECT_TRUE(c.run_until([&] { return c.has_line("up"); }));
        c.send(node_rpc::LimitStep{JobId(12), 1, StepId(0), milliseconds(1)});  // of another run
        c.send(node_rpc::LimitStep{JobId(12), 0, StepId(0), milliseconds(1500)});
      });
  EXPECT_EQ(r.out, "warned\n");  // less than a minute is left
  EXPECT_NE(r.err.find("*** STEP 12.0 ON n1 CANCELLED AT "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find(" DUE TO TIME LIMIT ***\n"), std::string::npos) << r.err;
  EXPECT_GE(r.took, milliseconds(1500));
  EXPECT_TRUE(WEXITSTATUS(r.status) == 128 + SIGTERM || WEXITSTATUS(r.status) == 128 + SIGKILL) << r.status;
}

TEST(Step, InputGoesToAllOrOne) {
  FakeCluster c;
  c.start_slurmd();
  EXPECT_EQ(sorted(c.srun({"--jobid=12", "-n2", "-l", "cat"}, "a\nb\n").out), "0: a\n0: b\n1: a\n1: b");
  EXPECT_EQ(c.srun({"--jobid=12", "-n2", "-l", "--input=1", "cat"}, "a\n").out, "1: a\n");
  EXPECT_EQ(c.srun({"--jobid=12", "-n2", "--input=none", "cat"}, "a\n").out, "");
  EXPECT_EQ(c.srun({"--jobid=12", "-n3", "true"}, std::string(4 << 20, 'x')).status, 0) << "nobody reads it";
}

TEST(Step, LargeStreamsArriveWhole) {
  FakeCluster c;
  c.start_slurmd();
  std::string big;
  for (int i = 0; i < 300000; ++i) big += std::to_string(i) + "\n";
  Ran r = c.srun({"--jobid=12", "cat"}, big);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out == big) << r.out.size() << " of " << big.size();
}

TEST(Step, FilesByPattern) {
  FakeCluster c;
  c.start_slurmd();
  EXPECT_EQ(c.srun({"--jobid=12", "-n2", "--output=d/o-%j-%t.txt", "sh", "-c", "echo $SLURM_PROCID; echo e >&2"}).status, 0);
  EXPECT_EQ(c.read("d/o-12-0.txt"), "0\ne\n");
  EXPECT_EQ(c.read("d/o-12-1.txt"), "1\ne\n");
  Ran r = c.srun({"--jobid=12", "-n2", "--output=all-%J.txt", "--error=err.txt", "sh", "-c", "echo x; echo e >&2"});
  EXPECT_EQ(c.read("all-12.1.txt"), "x\nx\n") << r.err;
  EXPECT_EQ(c.read("err.txt"), "e\ne\n");
  EXPECT_EQ(r.out, "");
}

TEST(Step, KillOnBadExitEndsTheOthers) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "-n3", "--kill-on-bad-exit=1", "sh", "-c", "[ $SLURM_PROCID = 1 ] && exit 7; exec sleep 60"});
  // Those that are still on their way to their program as well.
  EXPECT_EQ(WEXITSTATUS(r.status), 128 + SIGTERM) << r.status << r.err;
  EXPECT_NE(r.err.find("srun: Terminating StepId=12.0\n"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("srun: error: n1: task 1: Exited with exit code 7\n"), std::string::npos) << r.err;
}

TEST(Step, InterruptTwiceEndsIt) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "-n2", "sh", "-c", "echo up; exec sleep 60"}, "", [&](pid_t pid) {
    ASSERT_TRUE(c.run_until([&] { return c.read("srun.out") == "up\nup\n"; }));
    ::kill(pid, SIGINT);
    ASSERT_TRUE(c.run_until([&] { return c.read("srun.err").find("running") != std::string::npos; }));
    ::kill(pid, SIGINT);
  });
  EXPECT_TRUE(r.err.starts_with("srun: interrupt (one more within 1 sec to abort)\nsrun: StepId=12.0 tasks 0-1: running\n"
                                "srun: sending Ctrl-C to StepId=12.0\nsrun: Job step aborted: Waiting up to "))
      << r.err;
  EXPECT_NE(WEXITSTATUS(r.status), 0);
}

TEST(Step, OwnAllocationIsGivenBackWithTheResult) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"-n1", "sh", "-c", "echo $SLURM_JOB_ID $SLURM_JOB_NODELIST; exit 4"});
  EXPECT_EQ(WEXITSTATUS(r.status), 4);
  EXPECT_EQ(r.out, "12 n1\n");
  ASSERT_EQ(c.finished_allocations.size(), 1u);
  EXPECT_EQ(WEXITSTATUS(c.finished_allocations[0].exit_status), 4);
}

TEST(Step, WaitsForBusyResources) {
  FakeCluster c;
  c.start_slurmd();
  c.busy_answers = 2;
  Ran r = c.srun({"--jobid=12", "true"});
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.err, "srun: Job 12 step creation temporarily disabled, retrying (Requested nodes are busy)\nsrun: "
                   "Step created for StepId=12.0\n");
}

TEST(Step, MultiProgRunsWhatTheFileSays) {
  FakeCluster c;
  c.start_slurmd();
  ASSERT_TRUE(os::write_file_atomic(c.file("prog.conf"), "# comment\n0 echo first %t\n1-2 echo 'the rest' %t:%o\n"));
  Ran r = c.srun({"--jobid=12", "-n3", "--multi-prog", "prog.conf"});
  EXPECT_EQ(sorted(r.out), "first 0\nthe rest 1:0\nthe rest 2:1") << r.err;
}

TEST(Step, GpusOfTheStepAndOfEachTask) {
  FakeCluster c;
  c.start_slurmd();
  c.step_gres.resize(1);
  c.step_gres[0].name = "gpu";
  c.step_gres[0].count = 2;
  c.step_gres[0].devices.set(1);
  c.step_gres[0].devices.set(3);
  EXPECT_EQ(c.srun({"--jobid=12", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS $SLURM_GPUS_ON_NODE"}).out, "1,3 1,3 2\n");
  EXPECT_EQ(sorted(c.srun({"--jobid=12", "-n2", "--gpu-bind=single:1", "sh", "-c", "echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES"}).out),
            "0 1\n1 3");
}

TEST(Step, CredentialsAreChecked) {
  FakeCluster c;
  c.start_slurmd();
  c.credential_life = seconds(-1);
  Ran r = c.srun({"--jobid=12", "true"});
  EXPECT_EQ(WEXITSTATUS(r.status), 1);
  EXPECT_NE(r.err.find("Job credential expired"), std::string::npos) << r.err;
  c.credential_life = seconds(60);
  c.credential_key = std::string(32, 'b');
  r = c.srun({"--jobid=12", "true"});
  EXPECT_EQ(WEXITSTATUS(r.status), 1);
  EXPECT_NE(r.err.find("signed by another key"), std::string::npos) << r.err;
  c.credential_key = c.authority;
  c.credential_cluster = "production";
  r = c.srun({"--jobid=12", "true"});
  EXPECT_EQ(WEXITSTATUS(r.status), 1);
  EXPECT_NE(r.err.find("the credential is of cluster 'production', this node of cluster 'test'"), std::string::npos) << r.err;
}

TEST(Step, TerminateJobEndsItsSteps) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "sh", "-c", "echo up; exec sleep 60"}, "", [&](pid_t) {
    ASSERT_TRUE(c.run_until([&] { return c.read("srun.out") == "up\n"; }));
    node_rpc::TerminateJob t;
    t.job = JobId(12);
    t.time = from_unix(1000000000);
    c.send(t);
  });
  EXPECT_NE(r.err.find("slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2001-09-"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("srun: error: n1: task 0: Terminated\n"), std::string::npos) << r.err;
}

TEST(Step, StepOutlivesSlurmd) {
  FakeCluster c;
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.02; done; echo end"}, "", [&](pid_t) {
    ASSERT_TRUE(c.run_until([&] { return c.read("srun.out") == "up\n"; }));
    c.kill_slurmd(SIGKILL);
    c.start_slurmd();
    ASSERT_EQ(c.registrations.back().jobs.size(), 1u);
    EXPECT_EQ(c.registrations.back().jobs[0].steps, std::vector<StepId>{StepId(0)});
    ASSERT_TRUE(os::write_file_atomic(c.file("go"), ""));
  });
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "up\nend\n");
}

TEST(Step, PtyIsATerminalOfTheWindowsSize) {
  FakeCluster c;
  c.start_slurmd();
  auto pty = os::open_pty(os::WindowSize{33, 101});
  ASSERT_TRUE(pty);
  os::SpawnSpec s;
  s.path = MUSTER_SRUN;
  s.argv = {"srun", "--jobid=12", "--pty", "sh", "-c", "tty -s && stty size && read x && echo got $x"};
  s.env = std::vector<std::string>{"PATH=/usr/bin:/bin", "SLURM_CONF=" + c.dir() + "/slurm.conf"};
  s.cwd = c.dir();
  s.new_session = true;
  s.controlling_tty = pty->slave.get();
  s.fds = {{pty->slave.get(), 0}, {pty->slave.get(), 1}, {pty->slave.get(), 2}};
  auto pid = os::spawn(s);
  ASSERT_TRUE(pid) << pid.error().message();
  std::string seen;
  auto watch = c.loop.watch(pty->master.get(), [&] {
    char b[512];
    ssize_t n = ::read(pty->master.get(), b, sizeof b);
    if (n > 0) seen.append(b, static_cast<size_t>(n));
  });
  ASSERT_TRUE(c.run_until([&] { return seen.find("33 101") != std::string::npos; })) << seen;
  ASSERT_EQ(::write(pty->master.get(), "hello\r", 6), 6);
  int raw = -1;
  ASSERT_TRUE(c.run_until([&] { return ::waitpid(*pid, &raw, WNOHANG) == *pid; })) << seen;
  EXPECT_EQ(raw, 0);
  c.run_until([&] { return seen.find("got hello") != std::string::npos; });
  EXPECT_NE(seen.find("got hello"), std::string::npos) << seen;
}

// As from another host: no socket of slurmd in sight, so launch and streams go over TCP.
TEST(Step, OverTcpWithTheClusterKey) {
  FakeCluster c;
  c.start_slurmd();
  std::string conf = c.read("slurm.conf");
  size_t at = conf.find("SlurmdPidFile=");
  conf.replace(at, conf.find('\n', at) - at, "SlurmdPidFile=/nonexistent/slurmd.pid");
  ASSERT_TRUE(os::write_file_atomic(c.file("far.conf"), conf));
  c.conf_for_srun = c.file("far.conf");
  Ran r = c.srun({"--jobid=12", "-n2", "-l", "sh", "-c", "cat; test -n \"$SLURM_SRUN_COMM_PORT\""}, "in\n");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(sorted(r.out), "0: in\n1: in");
}

TEST(Step, TaskPrologChangesTheEnvironment) {
  auto dir = os::TempDir::create("mp", "/tmp");
  ::chmod(dir->path().c_str(), 0755);
  ASSERT_TRUE(os::write_file_atomic(dir->path() + "/tp",
                                    "#!/bin/bash\necho export FOO=bar$SLURM_PROCID\necho unset HOME\necho print hello\n", 0755));
  FakeCluster c("TaskProlog=" + dir->path() + "/tp\n");
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "sh", "-c", "echo $FOO ${HOME-none}"});
  EXPECT_EQ(r.out, "hello\nbar0 none\n") << r.err;
  EXPECT_EQ(r.err, "");
}

TEST(Step, ManyAtOnceAndOneAfterAnother) {
  FakeCluster c;
  c.start_slurmd();
  std::vector<Duration> took;
  for (int i = 0; i < 20; ++i) {
    Ran r = c.srun({"--jobid=12", "-n2", "true"});
    ASSERT_EQ(r.status, 0) << r.err;
    took.push_back(r.took);
  }
  std::ranges::sort(took);
  RecordProperty("microseconds_fastest", static_cast<int>(took.front().count()));
  RecordProperty("microseconds_median", static_cast<int>(took[10].count()));
  Ran r = c.srun({"--jobid=12", "-n64", "sh", "-c", "echo $SLURM_PROCID"});
  EXPECT_EQ(split(r.out, '\n').size(), 64u) << r.err;
}

// With cgroups where this machine lets us (root); else the same by descent.
TEST(Step, CgroupsHoldTheStepWhereTheyCan) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto groups = os::Cgroups::open({});
  if (!groups || groups->support().version == os::CgroupVersion::kNone) GTEST_SKIP() << "no cgroup can be written here";
  FakeCluster c("ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\n");
  c.start_slurmd();
  Ran r = c.srun({"--jobid=12", "sh", "-c", "cat /proc/self/cgroup"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("job_12/step_0"), std::string::npos) << r.out;
}

}  // namespace
}  // namespace muster::slurmd::test
