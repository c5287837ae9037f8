#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/process.h"
#include "os/process_tree.h"
#include "os/pty.h"

namespace muster::os {
namespace {

using testing::HasSubstr;

TEST(Pty, SizeOwnerAndData) {
  auto pty = open_pty(WindowSize{40, 132}, Uid{65534}, Gid{65534});
  ASSERT_TRUE(pty) << pty.error().message();
  EXPECT_EQ(*window_size(pty->slave.get()), (WindowSize{40, 132}));
  ASSERT_TRUE(set_window_size(pty->master.get(), {24, 80}));
  SpawnSpec s{.path = "stty", .argv = {"stty", "size"}};
  s.new_session = true;
  s.controlling_tty = pty->slave.get();
  s.fds = {{pty->slave.get(), 0}, {pty->slave.get(), 1}, {pty->slave.get(), 2}};
  auto pid = spawn(s);
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_TRUE(wait_child(*pid)->status.ok());
  char text[64] = {};
  ASSERT_GT(read(pty->master.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "24 80\r\n");
  if (geteuid() == 0) {
    struct stat st {};
    ASSERT_EQ(stat(pty->name.c_str(), &st), 0);
    EXPECT_EQ(st.st_uid, 65534u);
    EXPECT_EQ(st.st_mode & 0777, 0620u);
  }
  EXPECT_FALSE(window_size(open("/dev/null", O_RDONLY)));
}

TEST(RawMode, ForAsLongAsItLives) {
  auto pty = *open_pty();
  auto cooked = [&] {
    termios t{};
    tcgetattr(pty.slave.get(), &t);
    return (t.c_lflag & ICANON) != 0;
  };
  EXPECT_TRUE(cooked());
  {
    auto raw = RawMode::enter(pty.slave.get());
    ASSERT_TRUE(raw);
    EXPECT_TRUE(raw->active());
    EXPECT_FALSE(cooked());
    RawMode moved = std::move(*raw);
    EXPECT_FALSE(cooked());
  }
  EXPECT_TRUE(cooked());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto none = RawMode::enter(ends[0]);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->active());
  close(ends[0]);
  close(ends[1]);
}

// Runs `daemon` behind Detached in a process of its own; what the command in front returned and printed.
struct InFront {
  int code = -1;
  std::string printed;
};
template <class F>
InFront run_detached(F daemon) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    auto d = Detached::begin();
    if (!d) _exit(99);
    daemon(*d);
    _exit(0);
  }
  close(ends[1]);
  InFront out;
  int raw = 0;
  waitpid(pid, &raw, 0);
  out.code = WIFEXITED(raw) ? WEXITSTATUS(raw) : -2;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) out.printed.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  return out;
}

TEST(Detached, ReturnsZeroOnceReady) {
  auto dir = *TempDir::create("muster-daemon-");
  const std::string state = dir.path() + "/state";
  auto r = run_detached([&](Detached& d) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (void)write_file_atomic(state, std::to_string(getpid()) + " " + std::to_string(getsid(0)));
    if (!d.ready("/usr")) _exit(3);
    alarm(20);  // should the test not end it
    pause();
  });
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.printed, "");                    // and its stderr is no longer ours: read() came to an end
  const std::string text = *read_file(state);  // written before the command returned
  const pid_t daemon = *parse_number<pid_t>(std::string_view(text).substr(0, text.find(' ')));
  const pid_t session = *parse_number<pid_t>(std::string_view(text).substr(text.find(' ') + 1));
  EXPECT_NE(daemon, session);  // can never get a controlling terminal by accident
  char cwd[64] = {};
  ASSERT_GT(readlink(("/proc/" + std::to_string(daemon) + "/cwd").c_str(), cwd, sizeof cwd - 1), 0);
  EXPECT_STREQ(cwd, "/usr");
  // The command line stays as typed.
  EXPECT_EQ(*read_file("/proc/" + std::to_string(daemon) + "/cmdline"), *read_file("/proc/self/cmdline"));
  EXPECT_EQ(kill(daemon, SIGKILL), 0);
}

TEST(Detached, PrintsTheErrorAndFails) {
  auto r = run_detached([](Detached& d) { d.failed("slurmd: fatal: no such node", 7); });
  EXPECT_EQ(r.code, 7);
  EXPECT_EQ(r.printed, "slurmd: fatal: no such node\n");
}

TEST(Detached, ACrashIsAFailure) {
  auto r = run_detached([](Detached&) { raise(SIGKILL); });
  EXPECT_EQ(r.code, 1);
  EXPECT_THAT(r.printed, HasSubstr("ended before it was ready"));
}

}  // namespace
}  // namespace muster::os
