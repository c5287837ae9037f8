#include "slurmstepd/output_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
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
  net::Loop loop;
  OutputRelay relay{loop};
  os::Fd file{::open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600)};
};

TEST_F(OutputRelayTest, LabelsLinesOfTwoTasks) {
  Pipe a = make_pipe(), b = make_pipe();
  relay.add(std::move(a.reader), file.get(), "0: ");
  relay.add(std::move(b.reader), file.get(), "1: ");
  write(a.writer, "one\ntw");
  write(b.writer, "half");
  a.writer.reset();
  relay.finish();  // although b has not closed its end
  EXPECT_EQ(written(), "0: one\n0: tw\n1: half\n");
}

TEST_F(OutputRelayTest, PassesATerminalOnAsItIs) {
  auto pty = os::open_pty();
  ASSERT_TRUE(pty);
  ASSERT_TRUE(os::pass_output_unchanged(*pty));
  relay.add(std::move(pty->master), file.get(), "");
  write(pty->slave, "line\npart");
  pty->slave.reset();
  relay.finish();
  EXPECT_EQ(written(), "line\npart");
}

}  // namespace
}  // namespace muster::slurmstepd
