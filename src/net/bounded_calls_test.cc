#include "net/bounded_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

namespace muster::net {
namespace {

TEST(BoundedCalls, RunOneAfterTheOther) {
  BoundedCalls calls({.patience = minutes(1)});
  std::string order;
  EXPECT_TRUE(calls.run([&] { order += 'a'; }));
  EXPECT_TRUE(calls.run([&] { order += 'b'; }));
  EXPECT_EQ(order, "ab");
}

TEST(BoundedCalls, WhileOneIsStuckTheNextAreGivenUp) {
  BoundedCalls calls({.patience = milliseconds(20)});
  auto open = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(calls.run([open, ended] {
    open->get_future().wait();
    ended->set_value();
  }));
  auto begun = std::make_shared<std::atomic<bool>>(false);
  EXPECT_FALSE(calls.run([begun] { *begun = true; }));
  open->set_value();
  ended->get_future().wait();
  while (!calls.run([] {})) {
  }
  EXPECT_FALSE(*begun) << "who asked for it has gone on long ago";
}

// Each slow call would hold its caller up, and the next as well: the service is asked again when it has been found quick.
TEST(BoundedCalls, AfterASlowOneTheNextAreGivenUpUntilAProbeIsQuick) {
  BoundedCalls calls({.patience = minutes(1), .quick = milliseconds(50), .first_pause = milliseconds(1), .longest_pause = milliseconds(2)});
  auto open = std::make_shared<std::promise<void>>();
  auto probes = std::make_shared<std::atomic<int>>(0);
  const auto probe = [probes, slow = open->get_future().share()] {
    if ((*probes)++ == 0) slow.wait();
  };
  EXPECT_TRUE(calls.run([] { std::this_thread::sleep_for(milliseconds(60)); }, probe)) << "slow, and in time";
  while (*probes == 0) std::this_thread::yield();
  bool begun = false;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(calls.run([&] { begun = true; }, probe));
  EXPECT_FALSE(begun);
  std::this_thread::sleep_for(milliseconds(60));  // so that the probe is not quick
  open->set_value();
  while (!calls.run([&] { begun = true; }, probe)) std::this_thread::yield();
  EXPECT_TRUE(begun);
  EXPECT_GE(*probes, 2) << "the first was slow";
}

TEST(BoundedCalls, ASlowOneWithoutAProbeIsNoReason) {
  BoundedCalls calls({.patience = minutes(1), .quick = Duration{}});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(calls.run([] { std::this_thread::sleep_for(milliseconds(1)); }));
}

TEST(BoundedCalls, GoWhileTheyProbe) {
  auto asked = std::make_shared<std::atomic<int>>(0);
  {
    BoundedCalls calls({.patience = minutes(1), .quick = Duration{-1}, .first_pause = milliseconds(1), .longest_pause = milliseconds(2)});
    EXPECT_TRUE(calls.run([] {}, [asked] { ++*asked; }));
    while (*asked < 2) std::this_thread::yield();
  }
  // The thread lets go of what it probed with.
  while (asked.use_count() > 1) std::this_thread::yield();
}

TEST(BoundedCalls, GoWithoutTheOneThatIsStuck) {
  auto open = std::make_shared<std::promise<void>>();
  auto ended = std::make_shared<std::promise<void>>();
  {
    BoundedCalls calls({.patience = milliseconds(20)});
    EXPECT_FALSE(calls.run([open, ended] {
      open->get_future().wait();
      ended->set_value();
    }));
  }
  open->set_value();
  ended->get_future().wait();
}

}  // namespace
}  // namespace muster::net
