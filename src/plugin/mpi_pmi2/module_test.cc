// The module as a process: slurmstepd's end and the tasks' ends are ours.
#include "plugin/mpi_pmi2/module.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/notify.h"

namespace muster::mpi_pmi2 {
namespace {

constexpr size_t kValue = 60000;

class Running {
 public:
  explicit Running(uint32_t tasks) {
    std::vector<int> theirs(tasks + 1);
    int ours = 0;
    pair(SOCK_NONBLOCK, ours, theirs[0]);
    for (uint32_t i = 0; i < tasks; ++i) {
      int task = 0;
      pair(0, task, theirs[i + 1]);
      const timeval patience{10, 0};
      EXPECT_EQ(::setsockopt(task, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
      tasks_.emplace_back(task);
    }
    pid_ = ::fork();
    if (pid_ == 0) serve(theirs);
    for (int fd : theirs) ::close(fd);
    channel_ = net::adopt_channel(loop_, ours, net::Peer{});
    wait_until_ready(tasks);
  }
  ~Running() {
    channel_.reset();  // its end is the module's
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0);
  }
  void say(size_t task, const std::string& text) {
    EXPECT_EQ(::send(tasks_[task].get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // A line, or "" when none comes.
  std::string line(size_t task) {
    std::string out;
    for (char buffer[65536]; (out = first_line()).empty();) {
      const ssize_t n = ::recv(tasks_[task].get(), buffer, sizeof buffer, 0);
      if (n <= 0) break;
      unread_.append(buffer, static_cast<size_t>(n));
    }
    return out;
  }
  void begin(size_t task) {
    say(task, "cmd=init pmi_version=1 pmi_subversion=1\n");
    EXPECT_EQ(line(task), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  }
  // More than 8 MiB of answers that nobody takes.
  void ask_for_much(size_t task, int times) {
    say(task, "cmd=put kvsname=j key=K value=" + std::string(kValue, 'v') + "\n");
    EXPECT_EQ(line(task), "cmd=put_result rc=0 msg=success");
    std::string many;
    for (int i = 0; i < times; ++i) many += "cmd=get kvsname=j key=K\n";
    say(task, many);
  }
  void close(size_t task) { tasks_[task].reset(); }
  // slurmstepd tells that the task ended before its last words are read.
  void gone_before_it_is_heard(uint32_t task, const std::string& words) {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    net::notify(*channel_, mpi_rpc::TaskGone{task, 0});
    auto written = loop_.after(milliseconds(10), [this] { loop_.stop(); });
    loop_.run();
    say(task, words);
    close(task);
    ::kill(pid_, SIGCONT);
  }
  // What the module says of an abort.
  std::string abort_text() {
    mpi_rpc::ModuleAbort said;
    auto patience = loop_.after(seconds(5), [this] { loop_.stop(); });
    channel_->on_closed = [this](const Error&) { loop_.stop(); };
    channel_->on_request = [&](net::Frame f) {
      if (f.message != mpi_rpc::ModuleAbort::kNumber) return;
      EXPECT_TRUE(wire::decode(f.payload, said));
      loop_.stop();
    };
    loop_.run();
    return said.text;
  }
  // The module has looked at everything that was sent to it before.
  void settle(size_t task) {
    for (int i = 0; i < 8; ++i) {
      say(task, "cmd=get_appnum\n");
      EXPECT_EQ(line(task), "cmd=appnum appnum=0");
    }
  }

 private:
  static void pair(int flags, int& ours, int& theirs) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0, ends), 0);
    ours = ends[0];
    theirs = ends[1];
  }
  [[noreturn]] static void serve(std::vector<int> fds) {
    for (int& fd : fds) fd = ::fcntl(fd, F_DUPFD, 100);
    for (size_t i = 0; i < fds.size(); ++i) ::dup2(fds[i], 3 + static_cast<int>(i));
    ::close_range(3 + static_cast<unsigned>(fds.size()), ~0u, 0);
    {
      net::Loop loop;
      Module module(loop, 3);
      loop.run();
    }
    ::_exit(0);
  }
  void wait_until_ready(uint32_t tasks) {
    bool ready = false;
    channel_->on_request = [&](net::Frame f) {
      ready = f.message == mpi_rpc::ModuleReady::kNumber;
      loop_.stop();
    };
    channel_->on_closed = [this](const Error&) { loop_.stop(); };
    mpi_rpc::ModuleStart m;
    m.setup.nodes.push_back({"n0", {}});
    for (uint32_t i = 0; i < tasks; ++i) m.setup.nodes[0].ranks.push_back(i);
    net::notify(*channel_, m);
    loop_.run();
    EXPECT_TRUE(ready);
  }
  std::string first_line() {
    const size_t end = unread_.find('\n');
    if (end == unread_.npos) return {};
    std::string out = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return out;
  }

  net::Loop loop_;
  net::ChannelPtr channel_;
  std::vector<net::UniqueFd> tasks_;
  std::string unread_;
  pid_t pid_ = 0;
};

TEST(Pmi2Module, ATaskThatTookItsAnswersIsReadAgain) {
  constexpr int kTimes = 300;
  Running m(2);
  m.begin(0);
  m.begin(1);
  m.ask_for_much(0, kTimes);
  m.settle(1);
  for (int i = 0; i < kTimes; ++i) ASSERT_EQ(m.line(0).size(), kValue + std::string("cmd=get_result rc=0 msg=success value=").size()) << i;
  m.say(0, "cmd=finalize\n");
  EXPECT_EQ(m.line(0), "cmd=finalize_ack");
}

TEST(Pmi2Module, NobodyWaitsForATaskThatEndedWithAnswersLeft) {
  Running m(2);
  m.begin(0);
  m.begin(1);
  m.ask_for_much(0, 300);
  m.say(1, "cmd=get kvsname=j key=K\ncmd=barrier_in\n");
  EXPECT_TRUE(m.line(1).starts_with("cmd=get_result rc=0"));
  m.close(0);
  EXPECT_EQ(m.line(1), "cmd=barrier_out");
}

TEST(Pmi2Module, NoFenceEndsWithoutATaskThatAborted) {
  Running m(2);
  m.begin(0);
  m.begin(1);
  m.say(1, "cmd=barrier_in\n");
  m.say(0, "cmd=abort exitcode=7\n");
  m.close(0);
  m.settle(1);  // this is answered, and the barrier is not
  EXPECT_EQ(m.abort_text(), "PMI_Abort by task 0, status 7");
}

TEST(Pmi2Module, AnAbortIsHeardThoughTheTaskIsGoneAlready) {
  Running m(2);
  m.begin(0);
  m.begin(1);
  m.say(1, "cmd=barrier_in\n");
  m.settle(1);
  m.gone_before_it_is_heard(0, "cmd=abort exitcode=7\n");
  EXPECT_EQ(m.abort_text(), "PMI_Abort by task 0, status 7");
}

}  // namespace
}  // namespace muster::mpi_pmi2
