#include "os/thread_priority.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

namespace muster::os {
namespace {

TEST(ThreadPriority, OneThreadStepsBackAndTheOthersDoNot) {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  int there = -100;
  std::thread([&] {
    if (step_back(3)) there = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_EQ(there, std::min(before + 3, 19));
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace muster::os
