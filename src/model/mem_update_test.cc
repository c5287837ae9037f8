#include "model/mem_update.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

constexpr Bytes mebibytes(uint64_t count) { return Bytes(count << 20); }

TEST(MemUpdate, IsAMarginInPercentAndADelayAsTimeLimitsAreWritten) {
  const std::pair<const char*, MemUpdate> kTexts[] = {
      {"20@10", {20, minutes(10)}},
      {"0@0", {0, seconds(0)}},
      {"5@0:30", {5, seconds(30)}},
      {"5@1:02:03", {5, seconds(3723)}},
      {"50@1-12", {50, minutes(2160)}},
      {"50@1-12:30", {50, minutes(2190)}},
      {"100000@1-0:0:1", {100000, seconds(86401)}},
  };
  for (const auto& [text, meant] : kTexts) {
    const auto read = MemUpdate::parse(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message();
    EXPECT_EQ(*read, meant) << text;
  }
}

TEST(MemUpdate, WhatIsWrongIsNamedWithItsValueAndTheRule) {
  const std::pair<const char*, const char*> kTexts[] = {
      {"20", "the value \"20\" has no @"},
      {"@10", "the margin \"\" is no whole number of percent"},
      {"20%@10", "the margin \"20%\""},
      {"-1@10", "the margin \"-1\""},
      {"12.5@10", "the margin \"12.5\""},
      {"100001@10", "from 0 to 100000"},
      {"20@", "the delay \"\" is no time"},
      {"20@soon", "the delay \"soon\""},
      {"20@UNLIMITED", "the delay \"UNLIMITED\""},
      {"20@1:2:3:4", "the delay \"1:2:3:4\""},
      {"20@4294967295-0", "the delay \"4294967295-0\""},
      {"20@10@5", "the delay \"10@5\""},
  };
  for (const auto& [text, rule] : kTexts) {
    const auto read = MemUpdate::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::kInvalidArgument);
    EXPECT_NE(std::string(read.error().message()).find(rule), std::string::npos) << text << ": " << read.error().message();
  }
}

TEST(MemUpdate, TheNewLimitIsTheUseAndTheMarginBetweenATenthAndWhatThereWas) {
  const MemUpdate margin{20, {}};
  EXPECT_EQ(reduced_memory_mb(margin, mebibytes(500), 1000), 600u);
  EXPECT_EQ(reduced_memory_mb(margin, Bytes((500u << 20) + 1), 1000), 602u);  // both are rounded up
  EXPECT_EQ(reduced_memory_mb(margin, mebibytes(900), 1000), 1000u);
  EXPECT_EQ(reduced_memory_mb(margin, mebibytes(10), 1000), 100u);
  EXPECT_EQ(reduced_memory_mb(margin, Bytes(0), 1001), 101u);
  EXPECT_EQ(reduced_memory_mb(margin, Bytes(0), 0), 0u);
  EXPECT_EQ(reduced_memory_mb({MemUpdate::kMostMargin, {}}, Bytes(~uint64_t{0}), 1000), 1000u);  // a node may say anything
}

}  // namespace
}  // namespace muster
