#include "os/fork_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

// The served program is this test (see serve_in_child): its copies say who they are to whoever is at the other end of descriptor 3, until
// that ends.
constexpr const char* kServe = "--serve-copies";

struct ForkServerTest : testing::Test {
  static SpawnSpec spec() {
    SpawnSpec out;
    out.path = "/proc/self/exe";
    out.argv = {"served", kServe};
    out.env = std::vector<std::string>{};
    out.cwd = "/";
    out.new_session = true;
    return out;
  }
  // A copy and our end of its socket.
  struct Copy {
    ForkServer::Started started;
    Fd ours;
    std::string says() const {
      char text[256];
      const ssize_t n = ::read(ours.get(), text, sizeof text);
      return n > 0 ? std::string(text, static_cast<size_t>(n)) : "";
    }
    bool ends() const {
      pollfd p{started.process.get(), POLLIN, 0};
      return ::poll(&p, 1, 20'000) == 1;
    }
  };
  Result<Copy> copy(std::string_view title) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return fail_errno("socketpair");
    Fd ours(ends[0]);
    const Fd theirs(ends[1]);
    MUSTER_TRY(started, server.start(title, theirs));
    return Copy{std::move(started), std::move(ours)};
  }
  static std::string arguments_of(pid_t pid) {
    auto text = read_file("/proc/" + std::to_string(pid) + "/cmdline", 4096);
    return text ? text->substr(0, text->find('\0')) : "";
  }
  void TearDown() override {
    server = ForkServer(spec());
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  ForkServer server{spec()};
};

TEST_F(ForkServerTest, CopiesHaveTheirOwnSocketSessionAndTitle) {
  auto first = copy("served: [1.0]"), second = copy("served: [2.batch]");
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_NE(first->started.pid, second->started.pid);
  // Its number, its session, and the descriptors above 3 that it has open.
  EXPECT_EQ(first->says(), std::to_string(first->started.pid) + " session " + std::to_string(first->started.pid) + " others 0");
  EXPECT_EQ(second->says(), std::to_string(second->started.pid) + " session " + std::to_string(second->started.pid) + " others 0");
  EXPECT_EQ(arguments_of(first->started.pid), "served: [1.0]");
  EXPECT_EQ(arguments_of(second->started.pid), "served: [2.batch]");
}

TEST_F(ForkServerTest, TheEndOfACopyIsSeenByItsHandle) {
  auto one = copy("served: [1.0]");
  ASSERT_TRUE(one);
  ASSERT_FALSE(one->says().empty());
  one->ours.reset();
  EXPECT_TRUE(one->ends());
}

TEST_F(ForkServerTest, OneThatWasKilledHasASuccessor) {
  auto one = copy("served: [1.0]");
  ASSERT_TRUE(one);
  ASSERT_FALSE(one->says().empty());
  const auto server_of = [](pid_t pid) {
    auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    int parent = 0;
    if (stat) sscanf(stat->c_str() + stat->rfind(')'), ") %*c %d", &parent);
    return parent;
  };
  const pid_t killed = server_of(one->started.pid);
  ASSERT_GT(killed, 1);
  ASSERT_EQ(::kill(killed, SIGKILL), 0);
  ASSERT_TRUE(wait_child(killed, seconds(20)));
  auto two = copy("served: [2.0]");
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_FALSE(two->says().empty());
  EXPECT_NE(server_of(two->started.pid), killed);
  EXPECT_GT(server_of(one->started.pid), 0) << "a copy goes on without its server";
}

TEST_F(ForkServerTest, AProgramThatServesNobodyIsAnError) {
  SpawnSpec s = spec();
  s.path = "/bin/true";
  server = ForkServer(s);
  EXPECT_FALSE(copy("served: [1.0]"));
  EXPECT_FALSE(server.running());
}

int serve_in_child(int argc, char** argv) {
  if (!serve_copies(argument_room(argc, argv))) return 0;
  int others = 0;
  for (int fd = 4; fd < 256; ++fd) others += ::fcntl(fd, F_GETFD) >= 0;
  const std::string said = std::to_string(::getpid()) + " session " + std::to_string(::getsid(0)) + " others " + std::to_string(others);
  if (::write(3, said.data(), said.size()) < 0) return 1;
  char byte;
  return ::read(3, &byte, 1) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace muster::os

// Before anything else: a process that serves has one thread and no children.
namespace {
[[gnu::constructor]] void serve_if_told(int argc, char** argv, char**) {
  if (argc >= 2 && std::string_view(argv[1]) == muster::os::kServe) ::_exit(muster::os::serve_in_child(argc, argv));
}
}  // namespace
