#include "slurmstepd/core/use_book.h"

#include <gtest/gtest.h>

namespace muster::slurmstepd {
namespace {

using Memory = UseBook::Memory;

UseLook a_look(int64_t user_seconds, uint64_t resident, uint64_t read = 0) {
  UseLook l;
  l.user_time = seconds(user_seconds);
  l.resident = Bytes(resident);
  l.read = Bytes(read);
  return l;
}

TEST(UseBook, MemoryAtItsPeakAndAsItIs) {
  UseBook b(2);
  b.look(0, a_look(1, 500));
  b.look(1, a_look(1, 100));
  b.look(0, a_look(2, 300));
  EXPECT_EQ(b.resident_now(), Bytes(400));
  StepUsage peaks = b.usage({4, 5}, "n1", Memory::kPeaks), now = b.usage({4, 5}, "n1", Memory::kNow);
  EXPECT_EQ(peaks.rss.total, Bytes(600));
  EXPECT_EQ(now.rss.total, Bytes(400));
  for (const StepUsage& u : {peaks, now}) {
    EXPECT_EQ(u.rss.max, Bytes(500));
    EXPECT_EQ(u.rss.max_at.task, 4u);
    EXPECT_EQ(u.rss.min, Bytes(100));
    EXPECT_EQ(u.rss.min_at.task, 5u);
    EXPECT_EQ(u.nodes, std::vector<std::string>{"n1"});
  }
}

TEST(UseBook, WhatWasUsedNeverGoesBack) {
  UseBook b(1);
  b.look(0, a_look(9, 0, 1000));
  b.look(0, a_look(4, 0, 10));  // a process has gone with its figures
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).user_time, seconds(9));
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).disk_read.total, Bytes(1000));
}

TEST(UseBook, AnAdoptedProcessCountsAfterItsEnd) {
  UseBook b(1);
  b.look(0, a_look(10, 0));
  b.adopted_ended(0, a_look(6, 0));
  b.look(0, a_look(5, 0));  // the others go on
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).user_time, seconds(11));
  b.ended(0, a_look(7, 0));
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).user_time, seconds(13));
}

TEST(UseBook, GpusOfThoseTasksThatWereLookedAt) {
  UseBook b(3);
  b.gpus(0, {.util = 90, .memory = Bytes(500)});
  b.gpus(1, {.util = 20, .memory = Bytes(800)});
  b.gpus(0, {.util = 30, .memory = Bytes(100)});
  b.gpus(7, {.util = 99, .memory = {}});
  StepUsage peaks = b.usage({4, 5, 6}, "n1", Memory::kPeaks), now = b.usage({4, 5, 6}, "n1", Memory::kNow);
  EXPECT_EQ(peaks.gpu_util.parts, 2u);
  EXPECT_EQ(peaks.gpu_util.total, 110u);
  EXPECT_EQ(peaks.gpu_util.max_at.task, 4u);
  EXPECT_EQ(peaks.gpu_util.min, 20u);
  EXPECT_EQ(peaks.gpu_memory.total, Bytes(1300));
  EXPECT_EQ(peaks.gpu_memory.max_at.task, 5u);
  EXPECT_EQ(now.gpu_util.total, 50u);
  EXPECT_EQ(now.gpu_memory.total, Bytes(900));
  b.ended(0, {});
  EXPECT_EQ(b.usage({4, 5, 6}, "n1", Memory::kNow).gpu_memory.total, Bytes(800));
  EXPECT_EQ(b.usage({4, 5, 6}, "n1", Memory::kPeaks).gpu_util.max, 90u);
}

TEST(UseBook, GpusThatNobodyLooksAtAreNotKnown) {
  UseBook b(1);
  b.gpus(0, {.util = {}, .memory = Bytes(5)});
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).gpu_util.parts, 0u);
  EXPECT_EQ(b.usage({0}, "n1", Memory::kPeaks).gpu_memory.parts, 1u);
}

TEST(UseBook, ATaskThatNobodySawHasWhatTheKernelSaysOfItsEnd) {
  UseBook b(1);
  UseLook last;
  last.user_time = milliseconds(1500);
  last.system_time = milliseconds(250);
  last.resident_peak = Bytes(7 << 20);
  last.pages = 3;
  b.ended(0, last);
  const StepUsage u = b.usage({0}, "n1", Memory::kPeaks);
  EXPECT_EQ(u.user_time, milliseconds(1500));
  EXPECT_EQ(u.cpu.max, milliseconds(1750));
  EXPECT_EQ(u.rss.max, Bytes(7 << 20));
  EXPECT_EQ(u.pages.total, 3u);
  EXPECT_EQ(b.resident_now(), Bytes(0));
}

UseLook clocked(int64_t user_seconds, uint64_t khz) {
  UseLook l = a_look(user_seconds, 0);
  l.khz = khz;
  return l;
}

TEST(UseBook, TheClockIsAveragedOverTheCpuTimeOfEachTask) {
  UseBook b(3);
  b.look(0, clocked(3, 1000));
  b.look(0, clocked(4, 3000));  // three seconds at 1000, one at 3000
  b.look(0, clocked(4, 9000));  // idle
  b.ended(0, a_look(9, 0));     // nobody knows how fast the last ones were
  b.look(1, clocked(0, 2500));  // has used none
  const StepUsage u = b.usage({0, 1, 2}, "n1", Memory::kPeaks);
  EXPECT_EQ(u.clock.parts, 2u);  // of the third nothing is known
  EXPECT_EQ(u.clock.max, 2500u);
  EXPECT_EQ(u.clock.min, 1500u);
  EXPECT_EQ(average(u.clock, u.clock.parts), 2000u);
  EXPECT_EQ(b.so_far(0).khz, 9000u);
}

}  // namespace
}  // namespace muster::slurmstepd
