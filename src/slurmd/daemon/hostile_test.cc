// What users may try on a node, with a real second user where this test may have one: the real slurmd and slurmstepd.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "net/credential.h"
#include "net/notify.h"
#include "os/process_tree.h"
#include "slurmd/daemon/fake_cluster.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd::test {
namespace {

using namespace node_rpc;

constexpr uint32_t kNobody = 65534;
bool root() { return ::getuid() == 0; }

struct Hostile : testing::Test {
  Hostile() {
    ::chmod(c.dir().c_str(), 0755);
    ::mkdir(home.c_str(), 0777);
    ::chmod(home.c_str(), 0777);
  }
  // A batch job of nobody's, whose files are in `home`.
  LaunchBatch batch_of_nobody(uint32_t job, const std::string& body) {
    LaunchBatch l = c.batch(job, body);
    auto r = std::make_shared<JobRequest>(*l.job.request);
    if (root()) {
      r->uid = Uid(kNobody);
      r->gid = Gid(kNobody);
      r->user_name = "nobody";
    }
    r->work_dir = home;
    l.job.request = r;
    return l;
  }
  // Asks slurmd, as its user would, for a step with this program whose streams go to `path`.
  void launch_step(const std::string& path, std::vector<std::string> argv) {
    rpc::CreateStep ask;
    ask.request.num_tasks = 1;
    rpc::StepCreated made = c.created(ask);
    rpc::LaunchStep m;
    m.credential = root() ? of_nobody(made) : made.credential;
    m.node = "n1";
    auto r = std::make_shared<StepRequest>(ask.request);
    r->argv = std::move(argv);
    r->work_dir = "/";
    m.request = r;
    m.io.path = path;
    m.io.key = "key";
    bool there = false;
    if (root()) {
      ASSERT_EQ(::seteuid(kNobody), 0);  // slurmd asks the kernel who calls
    }
    net::connect_unix(c.loop, c.socket(), [&](Result<net::ChannelPtr> got) {
      ASSERT_TRUE(got) << got.error().message();
      asker = *got;
      asker->request(wire::number_of<rpc::LaunchStep>, wire::encoded(m), seconds(60), [this](Result<net::Frame> r) {
        answered = true;
        if (!r) refusal = r.error().message();
      });
      there = true;
    });
    const bool connected = c.run_until([&] { return there; });
    if (root()) {
      ASSERT_EQ(::seteuid(0), 0);
    }
    ASSERT_TRUE(connected);
  }
  // The credential that the controller would give nobody.
  std::string of_nobody(const rpc::StepCreated& made) const {
    rpc::StepCredential credential;
    credential.job = made.job;
    credential.step = made.step;
    credential.uid = Uid(kNobody);
    credential.gid = Gid(kNobody);
    credential.num_tasks = made.num_tasks;
    credential.nodes = made.nodes;
    credential.job_node_list = "n1";
    credential.partition = "main";
    credential.cluster = c.credential_cluster;
    credential.expires = net::Loop::now() + seconds(60);
    net::Security security;
    security.authority_secret = c.authority;
    return *net::sign_credential(security, wire::encoded(credential));
  }
  void terminate(uint32_t job) {
    TerminateJob t;
    t.job = JobId(job);
    t.kill_wait_seconds = 0;
    c.send(t);
  }
  FakeCluster c;
  std::string home = c.file("home");
  net::ChannelPtr asker;
  bool answered = false;
  std::string refusal;
};

struct Listening {
  explicit Listening(const std::string& path, int backlog) {
    auto& un = reinterpret_cast<sockaddr_un&>(address);
    un.sun_family = AF_UNIX;
    std::strncpy(un.sun_path, path.c_str(), sizeof un.sun_path - 1);
    fd.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&un), sizeof un), 0);
    EXPECT_EQ(::listen(fd.get(), backlog), 0);
    ::chmod(path.c_str(), 0777);
  }
  void fill() {
    for (int i = 0; i < 8; ++i) {
      os::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sockaddr_un)) < 0) return;
      waiting.push_back(std::move(fd));
    }
  }
  os::Fd fd;
  sockaddr_storage address{};
  std::vector<os::Fd> waiting;
};

TEST_F(Hostile, WhoeverTheStreamsGoToMeetsTheUserNotRoot) {
  c.start_slurmd();
  Listening there(home + "/io", 8);
  launch_step(home + "/io", {"/bin/sh", "-c", "echo spoken"});
  os::Fd got;
  ASSERT_TRUE(c.run_until([&] {
    got.reset(::accept4(there.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return got.get() >= 0;
  }));
  ucred peer{};
  socklen_t size = sizeof peer;
  ASSERT_EQ(::getsockopt(got.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  EXPECT_EQ(peer.uid, root() ? kNobody : ::geteuid());
  EXPECT_EQ(peer.gid, root() ? kNobody : ::getegid());
  got.reset();
  terminate(kStepJob);
  EXPECT_TRUE(c.run_until([&] { return c.of_job<JobGone>(kStepJob); }));
}

TEST_F(Hostile, AStepWhoseStreamsNobodyTakesCanBeEnded) {
  c.start_slurmd();
  Listening full(home + "/io", 0);
  full.fill();
  launch_step(home + "/io", {"/bin/true"});
  ASSERT_TRUE(c.run_until([&] { return c.steps_left() == 1; }));
  terminate(kStepJob);
  EXPECT_TRUE(c.run_until([&] { return c.of_job<JobGone>(kStepJob); }));
  EXPECT_EQ(c.of_job<JobGone>(kStepJob)->epilog_error, "");
  EXPECT_TRUE(c.run_until([&] { return c.steps_left() == 0; }));
}

// A task that reads nothing, and a client that sends without end: it is left, and slurmstepd stays small.
TEST_F(Hostile, InputThatNobodyReadsIsNotKept) {
  c.start_slurmd();
  Listening there(home + "/io", 8);
  launch_step(home + "/io", {"/bin/sleep", "300"});
  int fd = -1;
  ASSERT_TRUE(c.run_until([&] { return (fd = ::accept4(there.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; }));
  net::ChannelPtr client = net::adopt_channel(c.loop, fd, net::Peer{});
  bool left = false;
  client->on_request = [](net::Frame) {};
  client->on_closed = [&](const Error&) { left = true; };
  size_t sent = 0;
  ASSERT_TRUE(c.run_until([&] {
    if (!left && client->queued_bytes() < (4u << 20)) {
      net::notify(*client, step_rpc::IoData{0, 0, false, std::string(64u << 10, 'x')});
      sent += 64u << 10;
    }
    return left || sent > (256u << 20);
  }));
  EXPECT_TRUE(left) << sent << " bytes were taken";
  terminate(kStepJob);
  EXPECT_TRUE(c.run_until([&] { return c.of_job<JobGone>(kStepJob); }));
}

TEST_F(Hostile, ADirectoryThatOnlyRootMayEnterIsNotEntered) {
  if (!root()) GTEST_SKIP() << "needs root and a second user";
  c.start_slurmd();
  const std::string closed = c.file("closed");
  ASSERT_EQ(::mkdir(closed.c_str(), 0700), 0);
  LaunchBatch l = batch_of_nobody(7, "pwd");
  auto r = std::make_shared<JobRequest>(*l.job.request);
  r->work_dir = closed;
  r->std_out = home + "/out";
  l.job.request = r;
  c.send(l);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(7) || c.of_job<LaunchFailed>(7); }));
  EXPECT_EQ(c.of_job<LaunchFailed>(7), nullptr);
  EXPECT_EQ(c.read("home/out"), "slurmstepd: error: couldn't chdir to `" + closed + "': Permission denied: going to /tmp instead\n/tmp\n");
}

TEST_F(Hostile, OutputGoesWhereTheUserMayWrite) {
  if (!root()) GTEST_SKIP() << "needs root and a second user";
  c.start_slurmd();
  ASSERT_TRUE(os::write_file_atomic(c.file("secret"), "keep\n", 0600));
  ASSERT_EQ(::symlink(c.file("secret").c_str(), (home + "/out").c_str()), 0);
  LaunchBatch l = batch_of_nobody(7, "echo overwritten");
  auto r = std::make_shared<JobRequest>(*l.job.request);
  r->std_out = home + "/out";
  l.job.request = r;
  c.send(l);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<LaunchFailed>(7); }));
  EXPECT_NE(c.of_job<LaunchFailed>(7)->text.find("Permission denied"), std::string::npos) << c.of_job<LaunchFailed>(7)->text;
  EXPECT_EQ(c.read("secret"), "keep\n");
}

// Its stderr is a FIFO that somebody has open and does not read: what is said there at the end takes long.
TEST_F(Hostile, AFileThatTakesNothingDoesNotKeepTheStep) {
  c.start_slurmd();
  ASSERT_EQ(::mkfifo((home + "/fifo").c_str(), 0666), 0);
  ::chmod((home + "/fifo").c_str(), 0666);
  os::Fd reader(::open((home + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  LaunchBatch l = batch_of_nobody(7, "yes >&2");
  auto r = std::make_shared<JobRequest>(*l.job.request);
  r->std_out = "/dev/null";
  r->std_err = home + "/fifo";
  l.job.request = r;
  c.send(l);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(7); }));
  TerminateJob t;
  t.job = JobId(7);
  t.kill_wait_seconds = 1;
  t.time = from_unix(1000000000);
  c.send(t);
  EXPECT_TRUE(c.run_until([&] { return c.of_job<JobGone>(7); }));
}

TEST_F(Hostile, SlurmdAndSlurmstepdKilledTogetherLeaveNoRunAlive) {
  c.start_slurmd();
  c.send(batch_of_nobody(9, "setsid sleep 300 & echo $! > setsid.txt; echo $PPID > stepd; echo $$ > pid.txt; wait; echo ran on > more"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(9) && c.has_line("home/pid.txt"); }));
  c.kill_slurmd(SIGKILL);
  ::kill(std::atoi(c.read("home/stepd").c_str()), SIGKILL);
  ASSERT_TRUE(c.run_until([&] { return c.ended("home/stepd"); }));
  EXPECT_FALSE(c.ended("home/pid.txt"));
  c.start_slurmd();  // registers only when they have ended
  EXPECT_TRUE(c.ended("home/pid.txt"));
  EXPECT_TRUE(c.ended("home/setsid.txt"));
  ASSERT_EQ(c.registrations.back().jobs.size(), 1u) << "it is not run again as if nothing had been here";
  EXPECT_EQ(c.registrations.back().jobs[0].state, NodeJobState::kGone);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(9); }));
  EXPECT_EQ(WTERMSIG(c.of_job<BatchFinished>(9)->exit_status), SIGKILL);
  EXPECT_TRUE(c.run_until([&] { return ::access(c.file("spool/job9").c_str(), F_OK) < 0; }));
}

TEST_F(Hostile, WhatAKilledSlurmstepdLeavesGoes) {
  c.start_slurmd();
  c.send(batch_of_nobody(6, "touch $(dirname $0)/mine; setsid sleep 300 & echo $! > setsid.txt; echo $PPID > stepd; wait"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchStarted>(6) && c.has_line("home/stepd"); }));
  ::kill(std::atoi(c.read("home/stepd").c_str()), SIGKILL);
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(6); }));
  EXPECT_TRUE(c.ended("home/setsid.txt"));
  EXPECT_TRUE(c.run_until([&] { return ::access(c.file("spool/job6").c_str(), F_OK) < 0; }));
}

TEST_F(Hostile, ASpoolThatIsGoneIsMadeAgain) {
  c.start_slurmd();
  ASSERT_TRUE(c.run_until([&] { return os::remove_tree(c.file("spool")).has_value(); }));  // slurmd may be writing there
  c.send(batch_of_nobody(5, "echo ran"));
  ASSERT_TRUE(c.run_until([&] { return c.of_job<BatchFinished>(5) || c.of_job<LaunchFailed>(5); }));
  EXPECT_EQ(c.of_job<LaunchFailed>(5), nullptr);
  EXPECT_EQ(c.read("home/slurm-5.out"), "ran\n");
}

// srun(1) --task-epilog: a program that does not end within a few seconds is killed, with what it started.
TEST_F(Hostile, ATaskEpilogHasAFewSeconds) {
  c.start_slurmd();
  ASSERT_TRUE(os::write_file_atomic(c.file("leaves"), "#!/bin/sh\nsleep 300 &\necho $! > " + c.file("left.txt") + "\n", 0755));
  ASSERT_TRUE(os::write_file_atomic(c.file("sleeps"), "#!/bin/sh\necho $$ > " + c.file("sleeping.txt") + "\nsleep 300\n", 0755));
  EXPECT_EQ(c.srun({"--jobid=12", "--task-epilog=" + c.file("leaves"), "true"}).status, 0);
  EXPECT_TRUE(c.ended("left.txt"));
  EXPECT_EQ(c.srun({"--jobid=12", "--task-epilog=" + c.file("sleeps"), "true"}).status, 0);
  EXPECT_TRUE(c.ended("sleeping.txt"));
}

}  // namespace
}  // namespace muster::slurmd::test
