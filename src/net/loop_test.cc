// The event loop: order, cancelling from anywhere, threads, signals, and that it sleeps when there is nothing
// to do.
#include "net/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "net/test_support.h"

namespace muster::net {
namespace {

using test::Fixture;
using test::TempDir;

Duration thread_cpu() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return Duration(t.tv_sec * 1000000 + t.tv_nsec / 1000);
}

struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd), 0); }
  ~Pair() {
    for (int i : fd)
      if (i >= 0) close(i);
  }
  int fd[2];
};

TEST(Loop, TimersFireInOrderOfTimeThenOfArming) {
  Fixture f;
  std::vector<int> order;
  std::vector<std::unique_ptr<Loop::Timer>> keep;
  for (int i : {5, 1, 3, 1, 4}) keep.push_back(f.loop.after(milliseconds(i * 3), [&, i] { order.push_back(i); }));
  keep.push_back(f.loop.after(milliseconds(20), [&] { f.loop.stop(); }));
  f.run();
  EXPECT_EQ(order, (std::vector<int>{1, 1, 3, 4, 5}));
}

TEST(Loop, ManyTimersWithRandomCancelling) {
  Fixture f;
  std::mt19937 random(5);
  std::vector<std::unique_ptr<Loop::Timer>> timers;
  std::vector<bool> fired(2000), cancelled(2000);
  Duration last{};
  for (size_t i = 0; i < 2000; ++i) {
    Duration d(random() % 20000);
    timers.push_back(f.loop.after(d, [&, i] {
      EXPECT_GE(Loop::monotonic(), last);
      fired[i] = true;
    }));
  }
  for (size_t i = 0; i < 2000; i += 3) {
    timers[i].reset();
    cancelled[i] = true;
  }
  auto end = f.loop.after(milliseconds(40), [&] { f.loop.stop(); });
  f.run();
  for (size_t i = 0; i < 2000; ++i) EXPECT_NE(fired[i], cancelled[i]) << i;
}

TEST(Loop, ATimerMayDestroyItselfAndOthersAndArmNewOnes) {
  Fixture f;
  std::unique_ptr<Loop::Timer> self, other;
  int count = 0;
  other = f.loop.after(milliseconds(2), [] { ADD_FAILURE() << "cancelled in the same turn"; });
  std::function<void()> again = [&] {
    other.reset();
    if (++count == 5) return f.loop.stop();
    self = f.loop.after(Duration{}, again);
  };
  self = f.loop.after(milliseconds(1), again);
  f.run();
  EXPECT_EQ(count, 5);
}

TEST(Loop, AfterIsNeverEarly) {
  Fixture f;
  Duration begin = Loop::monotonic();
  auto t = f.loop.after(Duration(2500), [&] { f.loop.stop(); });
  f.run();
  EXPECT_GE(Loop::monotonic() - begin, Duration(2500));
}

TEST(Loop, WatchReportsReadinessAndEndsInItsOwnCallback) {
  Fixture f;
  Pair p;
  std::unique_ptr<Loop::Watch> w;
  int reads = 0;
  w = f.loop.watch(p.fd[0], [&] {
    ++reads;  // level-triggered: not read, so it comes again
    if (reads == 3) {
      w.reset();
      f.loop.post([&] { f.loop.post([&] { f.loop.stop(); }); });
    }
  });
  ASSERT_EQ(write(p.fd[1], "x", 1), 1);
  f.run();
  EXPECT_EQ(reads, 3);
}

TEST(Loop, WantWriteIsOffAtFirst) {
  Fixture f;
  Pair p;
  int writes = 0;
  std::unique_ptr<Loop::Watch> w;
  w = f.loop.watch(
      p.fd[0], [] {},
      [&] {
        ++writes;
        w->want_write(false);
      });
  auto later = f.loop.after(milliseconds(5), [&] {
    EXPECT_EQ(writes, 0);
    w->want_write(true);
  });
  auto end = f.loop.after(milliseconds(15), [&] { f.loop.stop(); });
  f.run();
  EXPECT_EQ(writes, 1);
}

TEST(Loop, APausedWatchOfAGonePeerDoesNotSpin) {
  Fixture f;
  Pair p;
  auto w = f.loop.watch(p.fd[0], [] { ADD_FAILURE(); });
  w->pause_read(true);
  close(std::exchange(p.fd[1], -1));
  Duration cpu = thread_cpu();
  auto end = f.loop.after(milliseconds(100), [&] { f.loop.stop(); });
  f.run();
  EXPECT_LT(thread_cpu() - cpu, milliseconds(50));
}

TEST(Loop, AnIdleLoopUsesNoCpu) {
  Fixture f;
  Pair p;
  auto w = f.loop.watch(p.fd[0], [] {});
  f.loop.on_signal(SIGUSR2, [] {});
  std::thread other([&] { f.loop.post([] {}); });
  Duration cpu = thread_cpu();
  auto end = f.loop.after(milliseconds(150), [&] { f.loop.stop(); });
  f.run();
  other.join();
  EXPECT_LT(thread_cpu() - cpu, milliseconds(50));
}

TEST(Loop, PlainFilesAndDevNullAreAlwaysReady) {
  Fixture f;
  TempDir dir;
  std::string path = dir.path() + "/f";
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  int file_reads = 0, null_writes = 0;
  std::unique_ptr<Loop::Watch> a, b;
  a = f.loop.watch(fd, [&] {
    if (++file_reads == 2) a.reset();
  });
  b = f.loop.watch(
      null, [] {},
      [&] {
        ++null_writes;
        b.reset();
        f.loop.stop();
      });
  b->pause_read(true);
  auto later = f.loop.after(milliseconds(10), [&] { b->want_write(true); });
  f.run();
  EXPECT_EQ(file_reads, 2);
  EXPECT_EQ(null_writes, 1);
  close(fd);
  close(null);
}

TEST(Loop, OneDescriptorMayBeWatchedTwice) {
  Fixture f;
  Pair p;
  int a = 0, b = 0;
  auto first = f.loop.watch(p.fd[0], [&] { ++a; });
  auto second = f.loop.watch(p.fd[0], [&] {
    if (++b == 2) f.loop.stop();
  });
  ASSERT_EQ(write(p.fd[1], "x", 1), 1);
  f.run();
  EXPECT_GE(a, 1);
  EXPECT_EQ(b, 2);
}

TEST(Loop, PostsFromManyThreadsAllArriveInEachThreadsOrder) {
  Fixture f;
  constexpr int kThreads = 4, kEach = 5000;
  std::vector<int> next(kThreads);
  int total = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        f.loop.post([&, t, i] {
          EXPECT_EQ(next[static_cast<size_t>(t)]++, i);
          if (++total == kThreads * kEach) f.loop.stop();
        });
    });
  f.run();
  for (auto& t : threads) t.join();
  EXPECT_EQ(total, kThreads * kEach);
}

TEST(Loop, DeferredWorkRunsAtTheEndOfTheTurn) {
  Fixture f;
  std::vector<std::string> order;
  f.loop.post([&] {
    f.loop.defer([&] {
      order.push_back("deferred");
      f.loop.defer([&] { order.push_back("deferred by deferred"); });
    });
    order.push_back("post 1");
  });
  f.loop.post([&] { order.push_back("post 2"); });
  f.loop.post([&] {
    f.loop.post([&] {
      order.push_back("next turn");
      f.loop.stop();
    });
  });
  f.run();
  EXPECT_EQ(order, (std::vector<std::string>{"post 1", "post 2", "deferred", "deferred by deferred", "next turn"}));
}

TEST(Loop, StopBeforeRunAndStopFromAnotherThread) {
  Loop loop;
  loop.stop();
  loop.run();
  std::thread other([&] { loop.stop(); });
  loop.run();
  other.join();
}

TEST(Loop, APosterMayOutliveItsLoop) {
  Loop::Poster post;
  auto token = std::make_shared<int>(1);
  {
    Loop loop;
    post = loop.poster();
    loop.post([token] { FAIL() << "the loop never ran"; });
  }
  post([token] { FAIL() << "the loop is gone"; });
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Loop, HandlesMayOutliveTheirLoop) {
  Pair p;
  std::unique_ptr<Loop::Timer> t;
  std::unique_ptr<Loop::Watch> w;
  {
    Loop loop;
    t = loop.after(seconds(1), [] {});
    w = loop.watch(p.fd[0], [] {});
  }
  w->want_write(true);
}

TEST(Loop, SignalsBecomeCallbacksAndChildrenInheritDefaults) {
  Fixture f;
  int count = 0;
  f.loop.on_signal(SIGUSR1, [&] {
    if (++count == 2) f.loop.stop();
    // A program started now must find the default disposition and an empty mask.
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", "kill -USR1 $$; exit 3", nullptr);
      _exit(9);
    }
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    if (count == 1) kill(getpid(), SIGUSR1);
  });
  auto begin = f.loop.after(milliseconds(1), [] { kill(getpid(), SIGUSR1); });
  f.run();
  EXPECT_EQ(count, 2);
}

TEST(Loop, SignalDispositionsComeBackWithTheLoopsEnd) {
  struct sigaction before {
  }, after{};
  sigaction(SIGUSR1, nullptr, &before);
  {
    Loop loop;
    loop.on_signal(SIGUSR1, [] {});
  }
  sigaction(SIGUSR1, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace muster::net
