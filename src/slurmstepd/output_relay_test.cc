#include "slurmstepd/output_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"
#include "os/pty.h"

namespace muster::slurmstepd {
namespace {

struct Pipe {
  os::Fd reader, writer;
};

Pipe make_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

struct OutputRelayTest : testing::Test {
  void write(const os::Fd& to, std::string_view text) { ASSERT_TRUE(os::write_all(to.get(), text)); }
  std::string written() {
    char text[4096];
    const ssize_t n = ::pread(file.get(), text, sizeof text, 0);
    return {text, static_cast<size_t>(std::max<ssize_t>(n, 0))};
  }
  void finish(Duration patience = seconds(20)) {
    relay.finish(patience, [this] { loop.stop(); });
    loop.run();
  }
  net::Loop loop;
  Errands errands{loop, std::nullopt};
  OutputRelay relay{loop, errands};
  os::Fd file{::open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600)};
};

TEST_F(OutputRelayTest, LabelsLinesOfTwoTasks) {
  Pipe a = make_pipe(), b = make_pipe();
  ASSERT_TRUE(relay.add(std::move(a.reader), file.get(), "0: "));
  ASSERT_TRUE(relay.add(std::move(b.reader), file.get(), "1: "));
  write(a.writer, "one\ntw");
  write(b.writer, "half");
  a.writer.reset();
  finish();  // although b has not closed its end
  EXPECT_EQ(written(), "0: one\n0: tw\n1: half\n");
}

TEST_F(OutputRelayTest, PassesATerminalOnAsItIs) {
  auto pty = os::open_pty();
  ASSERT_TRUE(pty);
  ASSERT_TRUE(os::pass_output_unchanged(*pty));
  ASSERT_TRUE(relay.add(std::move(pty->master), file.get(), ""));
  write(pty->slave, "line\npart");
  pty->slave.reset();
  finish();
  EXPECT_EQ(written(), "line\npart");
}

// A FIFO that nobody reads: the task waits, this process does not, and keeps little of what the task writes.
TEST_F(OutputRelayTest, AFileThatTakesNothingHoldsUpTheTaskOnly) {
  Pipe fifo = make_pipe(), task = make_pipe();
  ASSERT_TRUE(relay.add(std::move(task.reader), fifo.writer.get(), "0: "));
  ::fcntl(task.writer.get(), F_SETFL, O_NONBLOCK);
  std::string line(4096, 'x');
  line.back() = '\n';
  size_t taken = 0;
  std::unique_ptr<net::Loop::Timer> quiet;
  auto task_side = loop.watch(
      task.writer.get(), [] {},
      [&] {
        while (::write(task.writer.get(), line.data(), line.size()) > 0) taken += line.size();
        quiet = loop.after(milliseconds(200), [this] { loop.stop(); });  // nothing has been taken for so long
      });
  task_side->want_write(true);
  loop.run();
  task_side.reset();
  EXPECT_LT(taken, 2u << 20);
  finish(milliseconds(10));  // and the step does not wait for it
}

}  // namespace
}  // namespace muster::slurmstepd
