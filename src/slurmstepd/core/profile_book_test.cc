#include "slurmstepd/core/profile_book.h"

#include <gtest/gtest.h>

namespace muster::slurmstepd {
namespace {

constexpr Bytes kMiB{1 << 20};

UseLook look(int64_t cpu_ms, uint64_t read, Bytes resident) {
  UseLook l;
  l.user_time = milliseconds(cpu_ms);
  l.read = Bytes(read);
  l.resident = resident;
  l.virtual_size = Bytes(resident.value * 2);
  l.khz = 3'000'000;
  return l;
}
LookTime at(int64_t s) { return {seconds(s), Time(seconds(1000 + s))}; }

TEST(ProfileBook, WhatCountsUpIsGivenSinceTheSampleBefore) {
  UseBook use(2);
  ProfileBook book({4, 5});
  use.look(1, look(700, 100, kMiB));
  const TaskSample first = book.look(1, use, at(1));
  EXPECT_EQ(first.task, 5u);
  EXPECT_EQ(first.cpu, milliseconds(700));
  EXPECT_EQ(first.interval, seconds(1));
  EXPECT_EQ(first.khz, 3'000'000u);
  use.look(1, look(1700, 130, kMiB));
  const TaskSample second = book.look(1, use, at(3));
  EXPECT_EQ(second.cpu, seconds(1));
  EXPECT_EQ(second.interval, seconds(2));
  EXPECT_EQ(second.read, Bytes(30));
  EXPECT_EQ(second.rss, kMiB);
  EXPECT_EQ(second.vm, Bytes(2 << 20));
  EXPECT_EQ(second.at, Time(seconds(1003)));
  EXPECT_FALSE(second.gpu_util);
}

TEST(ProfileBook, TheLastSampleKeepsTheMemoryOfTheOneBefore) {
  UseBook use(2);
  ProfileBook book({0, 1});
  use.look(0, look(500, 0, kMiB));
  book.look(0, use, at(1));
  use.ended(0, look(900, 7, {}));
  const TaskSample last = book.ended(0, use, at(2));
  EXPECT_EQ(last.rss, kMiB);
  EXPECT_EQ(last.cpu, milliseconds(400));
  EXPECT_EQ(last.read, Bytes(7));
  UseLook peak = look(10, 0, {});
  peak.resident_peak = kMiB;
  use.ended(1, peak);  // before any look
  EXPECT_EQ(book.ended(1, use, at(2)).rss, kMiB);
}

TEST(ProfileBook, PowerIsThatBetweenTwoLooks) {
  ProfileBook book({0});
  EXPECT_FALSE(book.energy(1000, at(1), 5));
  const auto sample = book.energy(1300, at(3), 5);
  ASSERT_TRUE(sample);
  EXPECT_EQ(*sample, (EnergySample{seconds(3), Time(seconds(1003)), 150, 5}));
  EXPECT_FALSE(book.energy(1300, at(3), 5));          // twice at one moment
  EXPECT_EQ(book.energy(1200, at(4), 5)->watts, 0u);  // a counter that began again
}

}  // namespace
}  // namespace muster::slurmstepd
