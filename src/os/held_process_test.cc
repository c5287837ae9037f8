#include "os/held_process.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <stdio.h>

#include "os/files.h"

namespace muster::os {
namespace {

// What the process and its hooks write into a pipe, and how it ended.
class Bench {
 public:
  Bench() {
    fflush(stdout);  // else the child has a copy of the buffer, which the thread sanitizer's _exit writes out
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reading_.reset(ends[0]);
    writing_.reset(ends[1]);
    spec.path = "/bin/sh";
    spec.env = std::vector<std::string>{"PATH=/usr/bin:/bin"};
    spec.fds = {{writing_.get(), 1}};
    hooks.failed = [](const std::string& why) {
      [[maybe_unused]] auto ok = write_all(1, "failed: " + why);
      _exit(2);
    };
  }
  std::string run() {
    auto held = HeldProcess::start(spec, hooks);
    if (!held) return std::string(held.error().message());
    EXPECT_FALSE(wait_child(held->pid(), milliseconds(20))) << "it did not wait";
    held->release();
    auto ended = wait_child(held->pid(), seconds(10));
    if (!ended) return std::string(ended.error().message());
    writing_.reset();
    std::string out;
    char buffer[512];
    for (ssize_t n; (n = read(reading_.get(), buffer, sizeof buffer)) > 0;) out.append(buffer, static_cast<size_t>(n));
    return out + "|" + std::to_string(ended->status.code);
  }
  SpawnSpec spec;
  StartHooks hooks;

 private:
  Fd reading_, writing_;
};

TEST(HeldProcess, HooksRunOnTheWayAndChangeTheEnvironment) {
  Bench b;
  b.spec.argv = {"sh", "-c", "printf 'program %s' $ADDED"};
  b.hooks.as_root = [] { return write_all(1, "root ").has_value(); };
  b.hooks.as_user = [](SpawnSpec& s) {
    s.env->push_back("ADDED=1");
    return write_all(1, "user ").has_value();
  };
  EXPECT_EQ(b.run(), "root user program 1|0");
}

TEST(HeldProcess, AProgramIsLookedUpAsTheHookLeftThePath) {
  Bench b;
  b.spec.path = "sh";
  b.spec.argv = {"sh", "-c", "exit 5"};
  b.spec.env = std::vector<std::string>{"PATH=/nowhere"};
  EXPECT_EQ(b.run(), "failed: execve sh: No such file or directory|2");
  Bench found;
  found.spec = b.spec;
  found.spec.fds.clear();
  found.hooks.as_user = [](SpawnSpec& s) {
    s.env = std::vector<std::string>{"PATH=/bin"};
    return true;
  };
  EXPECT_EQ(found.run(), "|5");
}

TEST(HeldProcess, AHookThatFailsEndsIt) {
  for (bool root : {true, false}) {
    Bench b;
    b.spec.argv = {"sh", "-c", "echo ran"};
    if (root) b.hooks.as_root = [] { return false; };
    else b.hooks.as_user = [](SpawnSpec&) { return false; };
    auto held = HeldProcess::start(b.spec, b.hooks);
    ASSERT_TRUE(held);
    held->release();
    EXPECT_EQ(wait_child(held->pid(), seconds(10))->status.code, 1);
  }
}

// A descriptor of the program's may have the number that what it waits at happens to get here.
TEST(HeldProcess, WaitsWhateverNumbersItsDescriptorsHave) {
  Bench b;
  b.spec.argv = {"sh", "-c", "printf ran"};
  const int next = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  b.spec.fds.push_back({b.spec.fds[0].from, next});
  EXPECT_EQ(b.run(), "ran|0");
}

TEST(HeldProcess, NobodyReleasesIt) {
  Bench b;
  b.spec.argv = {"sh", "-c", "exit 7"};
  pid_t pid = 0;
  {
    auto held = HeldProcess::start(b.spec, b.hooks);
    ASSERT_TRUE(held);
    pid = held->pid();
  }
  EXPECT_EQ(wait_child(pid, seconds(10))->status.code, 1);
}

}  // namespace
}  // namespace muster::os
