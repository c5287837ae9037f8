// The launcher of a step, in a process of its own as in srun; its nodes are ours: sockets where it expects slurmds, and streams to it.
#include "cli/srun/step_launcher.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <list>

#include "cli/srun/step_launcher_testing.h"
#include "os/files.h"

namespace muster::cli {
namespace {

class StepLauncherTest : public testing::Test {
 protected:
  StepLauncherTest() {
    auto made = os::TempDir::create("muster-launch");
    EXPECT_TRUE(made);
    dir.emplace(std::move(*made));
    plan.dialer.slurmd_pid_file = dir->path() + "/slurmd.%n.pid";
    plan.step.job = JobId(12);
    plan.request.work_dir = dir->path();
    plan.kill_wait_seconds = 1;
    ::signal(SIGPIPE, SIG_IGN);
  }
  ~StepLauncherTest() override {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  // One more node of the step, with the next tasks.
  FakeNode& node(uint32_t tasks = 1) {
    rpc::StepNode& n = plan.step.nodes.emplace_back();
    n.address.name = "n" + std::to_string(plan.step.nodes.size() - 1);
    for (uint32_t i = 0; i < tasks; ++i) n.ranks.push_back(plan.step.num_tasks++);
    return nodes.emplace_back(loop, n.address.name, plan.dialer.socket_of(n.address.name), n.ranks);
  }
  // `input` is srun's; without it, its input never ends.
  void start(const std::optional<std::string>& input = std::nullopt) {
    int in[2], out[2], err[2];
    for (int* p : {in, out, err}) ASSERT_EQ(::pipe2(p, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) launch(in[0], out[1], err[1]);
    for (int fd : {in[0], out[1], err[1]}) ::close(fd);
    input_.reset(in[1]);
    if (input) {
      ASSERT_TRUE(os::write_all(input_.get(), *input));
      input_.reset();
    }
    collect(out_, out[0], text_out);
    collect(err_, err[0], text_err);
  }
  void until(const std::function<bool()>& holds) {
    const Duration end = net::Loop::monotonic() + seconds(60);
    while (!holds()) {
      ASSERT_LT(net::Loop::monotonic(), end) << "it never came to be; " << text_err;
      auto timer = loop.after(milliseconds(1), [this] { loop.stop(); });
      loop.run();
    }
  }
  // Its exit code.
  int code() {
    until([this] { return out_.over && err_.over; });
    if (!out_.over) return -1;
    int status = 0;
    EXPECT_EQ(::waitpid(std::exchange(pid_, 0), &status, 0) > 0, true);
    EXPECT_TRUE(WIFEXITED(status)) << status;
    return WEXITSTATUS(status);
  }
  // Connects to srun and says nothing.
  void stranger(const std::string& path) {
    net::connect_unix(loop, path, [this](Result<net::ChannelPtr> c) {
      if (!c) return void(++strangers_gone);
      (*c)->on_closed = [this](const Error&) { ++strangers_gone; };
      strangers.push_back(*c);
    });
  }
  void signal(int number) const {
    if (pid_ > 1) ::kill(pid_, number);
  }
  bool told(const std::string& text) const { return text_err.find(text) != std::string::npos; }

  net::Loop loop;
  std::optional<os::TempDir> dir;
  LaunchPlan plan;
  std::list<FakeNode> nodes;
  std::vector<net::ChannelPtr> strangers;
  size_t strangers_gone = 0;
  std::string text_out, text_err;

 private:
  struct Collected {
    os::Fd fd;
    std::unique_ptr<net::Loop::Watch> watch;
    bool over = false;
  };
  void collect(Collected& c, int fd, std::string& into) {
    c.fd.reset(fd);
    c.watch = loop.watch(fd, [&c, &into] {
      char text[65536];
      const ssize_t n = ::read(c.fd.get(), text, sizeof text);
      if (n > 0) return void(into.append(text, static_cast<size_t>(n)));
      c.over = true;
      c.watch.reset();
    });
  }
  [[noreturn]] void launch(int in, int out, int err) {
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::close_range(3, ~0u, 0);
    os::CliLog log("srun");
    ::_exit(StepLauncher(std::move(plan), log).run());
  }
  pid_t pid_ = 0;
  os::Fd input_;
  Collected out_, err_;
};

// ---- a node's address
TEST_F(StepLauncherTest, NamesTheNodeWhoseAddressDoesNotResolve) {
  rpc::StepNode& n = plan.step.nodes.emplace_back();
  n.address = {"n7", "n7.invalid", 6818};
  n.ranks = {plan.step.num_tasks++};
  plan.dialer.security.key = "key";
  start();
  EXPECT_EQ(code(), 1);
  EXPECT_TRUE(text_err.starts_with("srun: error: node n7: cannot reach host n7.invalid: ")) << text_err;
}

// ---- a slurmd of this host that was killed: its socket is there and refuses
TEST_F(StepLauncherTest, WaitsForASlurmdThatIsStartedAgain) {
  rpc::StepNode& n = plan.step.nodes.emplace_back();
  n.address.name = "n0";
  n.ranks = {plan.step.num_tasks++};
  const std::string socket = plan.dialer.socket_of("n0");
  ASSERT_TRUE(net::bind_unix(socket));
  start();
  bool later = false;
  auto timer = loop.after(milliseconds(100), [&] { later = true; });
  until([&] { return later; });
  FakeNode& next = nodes.emplace_back(loop, "n0", socket, n.ranks);
  until([&] { return next.stream != nullptr; });
  next.end();
  EXPECT_EQ(code(), 0);
  EXPECT_EQ(text_err, "");
}

TEST_F(StepLauncherTest, ASlurmdThatDoesNotComeBackIsNamed) {
  rpc::StepNode& n = plan.step.nodes.emplace_back();
  n.address.name = "n0";
  n.ranks = {plan.step.num_tasks++};
  plan.dialer.patience = milliseconds(50);
  ASSERT_TRUE(net::bind_unix(plan.dialer.socket_of("n0")));
  start();
  EXPECT_EQ(code(), 1);
  EXPECT_TRUE(told("cannot reach " + plan.dialer.socket_of("n0") + ": Connection refused")) << text_err;
}

// ---- all is well
TEST_F(StepLauncherTest, LaunchesEachNodeAndGivesTheHighestExitCode) {
  FakeNode &a = node(), &b = node(2);
  plan.step.credential = "credential";
  start();
  until([&] { return a.stream && b.stream; });
  EXPECT_EQ(a.credential, "credential");
  EXPECT_NE(a.io.key, "");
  a.write(0, "zero\n");
  b.write(2, "two\n");
  until([&] { return text_out.size() == 9; });
  a.end(0);
  b.end(3 << 8);
  EXPECT_EQ(code(), 3);
  EXPECT_EQ(text_err, "srun: error: n1: tasks 1-2: Exited with exit code 3\n");
  EXPECT_EQ(a.launches + b.launches, 2);
}

TEST_F(StepLauncherTest, AsksOnlySoManyNodesAtATime) {
  for (int i = 0; i < 5; ++i) node().on_launch = [](FakeNode& n) { n.connect(); };
  plan.threads = 2;
  start();
  auto asked = [&] { return std::ranges::count_if(nodes, [](const FakeNode& n) { return n.launches > 0; }); };
  until([&] { return asked() == 2 && nodes.front().stream; });
  nodes.front().answer();
  until([&] { return asked() == 3; });
  for (FakeNode& n : nodes) n.on_launch = &FakeNode::run;
  for (size_t i : {1u, 2u}) std::next(nodes.begin(), static_cast<long>(i))->answer();
  until([&] { return std::ranges::all_of(nodes, [](const FakeNode& n) { return n.stream != nullptr; }); });
  for (FakeNode& n : nodes) n.end();
  EXPECT_EQ(code(), 0);
}

// Short tasks: all of it may be there before slurmd's answer.
TEST_F(StepLauncherTest, TasksThatAreOverBeforeTheAnswerCount) {
  FakeNode& a = node();
  a.on_launch = [](FakeNode& n) { n.connect(); };
  start();
  until([&] { return a.stream != nullptr; });
  a.end(1 << 8);
  EXPECT_EQ(code(), 1);
}

// ---- a node that refuses, or says nothing
TEST_F(StepLauncherTest, ANodeThatRefusesEndsTheStepOnTheOthers) {
  FakeNode &a = node(), &b = node();
  b.on_launch = [](FakeNode&) {};
  start();
  until([&] { return a.stream && b.launches > 0; });
  b.refuse("no such user");
  until([&] { return a.asked_to_end(); });
  EXPECT_EQ(a.signals[0].kill_wait_seconds, 1u);
  a.end(SIGTERM);
  EXPECT_EQ(code(), 128 + SIGTERM);
  EXPECT_TRUE(told("srun: error: Task launch for StepId=12.0 failed on node n1: no such user\n"
                   "srun: error: Application launch failed: no such user\nsrun: Job step aborted\n"))
      << text_err;
}

TEST_F(StepLauncherTest, ANodeThatComesWhileTheStepEndsIsToldAtOnce) {
  FakeNode &a = node(), &b = node();
  a.on_launch = [](FakeNode& n) { n.refuse("no"); };
  b.on_launch = [](FakeNode&) {};
  start();
  until([&] { return told("Job step aborted") && b.launches > 0; });
  b.run();
  until([&] { return b.asked_to_end(); });
  b.end(SIGTERM);
  EXPECT_EQ(code(), 128 + SIGTERM);
}

TEST_F(StepLauncherTest, ANodeThatDoesNotAnswerFailsTheLaunchInTime) {
  FakeNode& a = node();
  a.on_launch = [](FakeNode&) {};
  plan.launch_timeout = milliseconds(50);
  start();
  EXPECT_EQ(code(), 1);
  EXPECT_TRUE(told("Task launch for StepId=12.0 failed on node n0")) << text_err;
}

// The answer of a slurmd that dies is lost, but its tasks are there.
TEST_F(StepLauncherTest, ASlurmdThatDiesWithoutAnAnswerLeavesItsTasksRunning) {
  FakeNode& a = node();
  a.on_launch = [](FakeNode& n) { n.connect(); };
  start();
  until([&] { return a.stream != nullptr; });
  a.write(0, "I run\n");
  until([&] { return text_out == "I run\n"; });
  a.stop_slurmd();
  a.write(0, "still\n");
  until([&] { return text_out == "I run\nstill\n"; });
  a.end();
  EXPECT_EQ(code(), 0);
  EXPECT_EQ(text_err, "");
}

// slurmd says that the tasks run, and nobody comes: a node that went down in between.
TEST_F(StepLauncherTest, ANodeWhoseTasksNeverConnectIsLost) {
  FakeNode &a = node(), &b = node();
  b.on_launch = [](FakeNode& n) { n.answer(); };
  plan.launch_timeout = seconds(2);
  start();
  until([&] { return told("Node failure on n1"); });
  a.end();
  EXPECT_EQ(code(), 128 + SIGKILL);
}

TEST_F(StepLauncherTest, ANodeSaysNothingOfTheTasksOfOthers) {
  FakeNode &a = node(), &b = node();
  start();
  until([&] { return a.stream && b.stream; });
  a.say(step_rpc::TasksEnded{{{0, 0, {}}, {1, 7 << 8, {}}}, false});
  a.say(step_rpc::StreamEnd{});
  b.end(0);
  EXPECT_EQ(code(), 0) << text_err;
}

// ---- a node that is lost after its launch
TEST_F(StepLauncherTest, ANodeThatIsLostCountsAsKilled) {
  FakeNode &a = node(), &b = node(2);
  start();
  until([&] { return a.stream && b.stream; });
  b.write(1, "half a line");
  b.say(step_rpc::TasksEnded{{{1, 0, {}}}, false});
  b.crash();
  until([&] { return told("Node failure on n1"); });
  a.end();
  EXPECT_EQ(code(), 128 + SIGKILL);
  EXPECT_TRUE(told("n1: task 2: Killed")) << text_err;
}

TEST_F(StepLauncherTest, KillOnBadExitEndsTheOthersWithALostNode) {
  FakeNode &a = node(), &b = node();
  plan.kill_on_bad_exit = true;
  start();
  until([&] { return a.stream && b.stream; });
  b.crash();
  until([&] { return a.asked_to_end(); });
  a.end(SIGTERM);
  EXPECT_EQ(code(), 128 + SIGTERM) << "the highest";
  EXPECT_TRUE(told("Terminating StepId=12.0")) << text_err;
}

TEST_F(StepLauncherTest, ANodeThatNeverEndsIsLeftBehind) {
  FakeNode& a = node();
  plan.kill_wait_seconds = 0;
  start();
  until([&] { return a.stream != nullptr; });
  signal(SIGTERM);
  until([&] { return a.asked_to_end(); });
  signal(SIGINT);  // Ctrl-C once more while the step ends
  EXPECT_EQ(code(), 1);
  EXPECT_TRUE(told("forcing job termination")) << text_err;
}

// ---- input
TEST_F(StepLauncherTest, InputWaitsForAllNodesAndGoesToEach) {
  FakeNode &a = node(), &b = node();
  b.on_launch = [](FakeNode& n) { n.answer(); };
  start("some input");
  until([&] { return a.stream && b.launches > 0; });
  EXPECT_EQ(a.input, "");
  b.connect();
  until([&] { return a.input == "some input<end>" && b.input == a.input; });
  a.end();
  b.end();
  EXPECT_EQ(code(), 0);
}

TEST_F(StepLauncherTest, InputForOneTaskEndsThatOfTheOthers) {
  FakeNode &a = node(), &b = node();
  plan.request.std_in = "1";
  start("to one");
  until([&] { return a.input == "<end>" && b.input == "to one<end>"; });
  a.end();
  b.end();
  EXPECT_EQ(code(), 0);
}

// The others got no more input when the one that srun waited for was gone.
TEST_F(StepLauncherTest, ANodeThatIsLostWithInputOnItsWayHoldsUpNobody) {
  FakeNode &a = node(), &b = node();
  b.takes_input = false;
  std::string much(2u << 20, 'x');
  plan.request.std_in = "in";
  ASSERT_TRUE(os::write_file_atomic(dir->path() + "/in", much));
  start();
  until([&] { return b.input.size() > 512u << 10; });
  EXPECT_LT(a.input.size(), much.size());
  b.crash();
  until([&] { return a.input == much + "<end>"; });
  a.end();
  EXPECT_EQ(code(), 128 + SIGKILL);
}

// ---- signals
TEST_F(StepLauncherTest, SignalsGoToTheTasksOfAllNodes) {
  FakeNode &a = node(), &b = node();
  start();
  until([&] { return a.stream && b.stream; });
  a.write(0, "here\n");
  b.write(1, "here\n");
  until([&] { return text_out.size() == 10; });
  signal(SIGUSR1);
  until([&] { return a.signals.size() == 1 && b.signals.size() == 1; });
  EXPECT_EQ(a.signals[0].signal, SIGUSR1);
  EXPECT_FALSE(a.signals[0].end);
  a.end();
  b.end();
  EXPECT_EQ(code(), 0);
}

TEST_F(StepLauncherTest, OneInterruptSaysHowTheTasksAreTwoEndThem) {
  FakeNode& a = node(2);
  start();
  until([&] { return a.stream != nullptr; });
  a.write(0, "here\n");
  until([&] { return !text_out.empty(); });
  signal(SIGINT);
  until([&] { return told("tasks 0-1: running"); });
  EXPECT_TRUE(told("interrupt (one more within 1 sec to abort)"));
  EXPECT_TRUE(a.signals.empty());
  for (int i = 0; !a.asked_to_end(); ++i) {  // the second within a second of the one before it
    ASSERT_LT(i, 100);
    signal(SIGINT);
    const size_t before = text_err.size();
    until([&] { return text_err.size() > before; });
    until([&] { return a.asked_to_end() || !told("sending Ctrl-C"); });
  }
  EXPECT_EQ(a.signals[0].signal, SIGINT);
  EXPECT_TRUE(told("Job step aborted: Waiting up to 3 seconds for job step to finish.")) << text_err;
  a.end(SIGINT);
  EXPECT_EQ(code(), 128 + SIGINT);
}

// The nodes have not come yet: they are told when they do.
TEST_F(StepLauncherTest, ASignalBeforeTheTasksAreThereEndsThemWhenTheyCome) {
  FakeNode& a = node();
  a.on_launch = [](FakeNode&) {};
  start();
  until([&] { return a.launches > 0; });
  signal(SIGTERM);
  until([&] { return told("forcing job termination"); });
  a.run();
  until([&] { return a.asked_to_end(); });
  a.end(SIGTERM);
  EXPECT_EQ(code(), 128 + SIGTERM);
}

TEST_F(StepLauncherTest, IgnoredSignalsAreNobodysEnd) {
  FakeNode& a = node();
  plan.ignored_signals = {SIGUSR1};
  ::signal(SIGUSR1, SIG_IGN);
  start();
  ::signal(SIGUSR1, SIG_DFL);
  until([&] { return a.stream != nullptr; });
  a.write(0, "here\n");
  until([&] { return !text_out.empty(); });
  signal(SIGUSR1);
  signal(SIGUSR2);
  until([&] { return !a.signals.empty(); });
  EXPECT_EQ(a.signals[0].signal, SIGUSR2);
  a.end();
  EXPECT_EQ(code(), 0);
}

// ---- who is at the door
TEST_F(StepLauncherTest, ASenderWithoutTheKeyIsNotANode) {
  FakeNode &a = node(), &b = node();
  b.on_launch = [](FakeNode& n) { n.connect("wrong"); };
  start();
  until([&] { return a.stream && b.closed; });
  b.closed = false;
  b.run();  // and the node itself can still come
  until([&] { return b.stream != nullptr; });
  b.write(1, "it is me\n");
  until([&] { return text_out == "it is me\n"; });
  a.end();
  b.end();
  EXPECT_EQ(code(), 0);
}

TEST_F(StepLauncherTest, ASecondStreamOfANodeIsRefused) {
  FakeNode& a = node();
  start();
  until([&] { return a.stream != nullptr; });
  a.write(0, "first\n");
  until([&] { return !text_out.empty(); });
  const net::ChannelPtr first = a.stream;
  a.connect();
  until([&] { return a.closed; });
  net::notify(*first, step_rpc::IoData{0, 1, false, "still\n"});
  until([&] { return text_out == "first\nstill\n"; });
  a.stream = first;
  a.end();
  EXPECT_EQ(code(), 0);
}

// Whoever reaches srun's port may connect, and used up its descriptors by saying nothing.
TEST_F(StepLauncherTest, ConnectionsThatSayNothingAreFew) {
  FakeNode& a = node();
  a.on_launch = [](FakeNode&) {};
  start();
  until([&] { return a.launches > 0; });
  constexpr size_t kMany = 400;
  for (size_t i = 0; i < kMany; ++i) stranger(a.io.path);
  until([&] { return strangers_gone > kMany / 2; });
  a.run();
  until([&] { return a.stream != nullptr; });
  a.write(0, "let in\n");
  until([&] { return text_out == "let in\n"; });
  a.end();
  EXPECT_EQ(code(), 0);
}

TEST_F(StepLauncherTest, AConnectionThatSaysNothingEnds) {
  FakeNode& a = node();
  plan.launch_timeout = seconds(2);
  start();
  until([&] { return a.stream != nullptr; });
  stranger(a.io.path);
  until([&] { return strangers_gone == 1; });
  a.end();
  EXPECT_EQ(code(), 0);
}

TEST_F(StepLauncherTest, FramesThatMeanNothingChangeNothing) {
  FakeNode& a = node();
  start();
  until([&] { return a.stream != nullptr; });
  for (uint16_t number : {step_rpc::IoData::kNumber, step_rpc::TasksEnded::kNumber, step_rpc::StepNote::kNumber, step_rpc::IoTaken::kNumber,
                          mpi_rpc::NodeLetter::kNumber, step_rpc::IoHello::kNumber, uint16_t{0xffff}})
    a.stream->notify(number, "\xff\xff\xff\xff\xff");
  a.say(step_rpc::TasksEnded{{{77, 1, {}}, {0xffffffff, 1, {}}}, false});
  a.say(step_rpc::IoTaken{~uint64_t{0}});
  a.write(0, "I run\n");
  until([&] { return text_out == "I run\n"; });
  a.end();
  EXPECT_EQ(code(), 0);
}

// ---- letters between the nodes' MPI modules
TEST_F(StepLauncherTest, LettersAreKeptForANodeThatComesLaterAndNameTheirSender) {
  FakeNode &a = node(), &b = node();
  b.on_launch = [](FakeNode&) {};
  start();
  until([&] { return a.stream && b.launches > 0; });
  a.say(mpi_rpc::NodeLetter{7, {}, {}});
  a.say(mpi_rpc::NodeLetter{7, {0, 1, 2, 0xffffffff}, "hello"});
  a.write(0, "sent\n");
  until([&] { return text_out == "sent\n"; });
  b.run();
  until([&] { return b.letters.size() == 1; });
  EXPECT_EQ(b.letters[0], "0: hello") << "srun writes the sender";
  EXPECT_TRUE(a.letters.empty());
  b.crash();
  until([&] { return a.lost == std::vector<uint32_t>{1}; });
  a.say(mpi_rpc::StepAbort{});
  until([&] { return a.asked_to_end(); });
  a.end(SIGTERM);
  EXPECT_EQ(code(), 128 + SIGTERM);
}

// ---- sattach
TEST_F(StepLauncherTest, AttachingToWhatIsLeftOfAStep) {
  FakeNode &a = node(), &b = node();
  plan.attach = true;
  plan.quiet_exits = true;
  b.on_launch = [](FakeNode& n) { n.refuse("Invalid job id specified"); };
  start("typed");
  until([&] { return told("failed on node n1") && a.stream; });
  a.write(0, "out\n");
  until([&] { return text_out == "out\n" && a.input == "typed<end>"; });
  EXPECT_FALSE(a.asked_to_end());
  a.end();
  EXPECT_EQ(code(), 1);
  EXPECT_TRUE(told("Attaching to StepId=12.0 failed on node n1: Invalid job id specified")) << text_err;
}

TEST_F(StepLauncherTest, AnAttachedReaderThatIsLetGoSaysWhatHappened) {
  FakeNode& a = node();
  plan.attach = true;
  start();
  until([&] { return a.stream != nullptr; });
  a.write(0, "out\n");
  until([&] { return text_out == "out\n"; });
  a.crash();
  EXPECT_NE(code(), 0);
  EXPECT_FALSE(told("Node failure")) << text_err;
  EXPECT_TRUE(told("StepId=12.0 on node n0")) << text_err;
}

TEST_F(StepLauncherTest, SignalsEndAnAttachedReaderAndNotTheStep) {
  FakeNode& a = node();
  plan.attach = true;
  start();
  until([&] { return a.stream != nullptr; });
  a.write(0, "out\n");
  until([&] { return text_out == "out\n"; });
  signal(SIGINT);
  EXPECT_EQ(code(), 0);
  EXPECT_TRUE(a.signals.empty());
}

// ---- --async
TEST_F(StepLauncherTest, AnAsynchronousStepIsLaunchedAndLeft) {
  FakeNode &a = node(), &b = node();
  for (FakeNode* n : {&a, &b}) n->on_launch = &FakeNode::answer;
  plan.async = true;
  start();
  EXPECT_EQ(code(), 0);
  EXPECT_EQ(a.io.key + a.io.path + a.io.host, "") << "nobody listens";
  EXPECT_EQ(a.launches + b.launches, 2);
}

}  // namespace
}  // namespace muster::cli
