#include "wire/lz4_block.h"

#include <gtest/gtest.h>

namespace muster::wire {
namespace {

TEST(Lz4Block, ThereAndBack) {
  std::string plain;
  for (int i = 0; i < 20000; ++i) plain += "line " + std::to_string(i % 100) + "\n";
  std::string packed = lz4_packed(plain);
  ASSERT_FALSE(packed.empty());
  EXPECT_LT(packed.size(), plain.size() / 4);
  Result<std::string> back = lz4_unpacked(packed, static_cast<uint32_t>(plain.size()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, plain);
}

TEST(Lz4Block, WhatDoesNotShrinkStaysAsItIs) {
  std::string noise;
  uint64_t x = 88172645463325252ull;
  for (int i = 0; i < 4096; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    noise += static_cast<char>(x);
  }
  EXPECT_TRUE(lz4_packed(noise).empty());
  EXPECT_TRUE(lz4_packed("").empty());
  EXPECT_TRUE(lz4_packed("a").empty());
  EXPECT_TRUE(lz4_packed(std::string(kLargestPlainBlock + 1, 'a')).empty());
}

// What arrives may be anybody's: sizes are believed only within bounds.
TEST(Lz4Block, DamagedOrLyingBlocksAreRefused) {
  std::string packed = lz4_packed(std::string(1000, 'a'));
  EXPECT_FALSE(lz4_unpacked(packed, 999));
  EXPECT_FALSE(lz4_unpacked(packed, 1001));
  EXPECT_FALSE(lz4_unpacked(packed, 0));
  EXPECT_FALSE(lz4_unpacked(packed, kLargestPlainBlock + 1));
  EXPECT_FALSE(lz4_unpacked(packed.substr(0, packed.size() / 2), 1000));
  EXPECT_FALSE(lz4_unpacked("", 1000));
  EXPECT_FALSE(lz4_unpacked(std::string(50, '\xff'), 1000));
  EXPECT_EQ(lz4_unpacked(std::string(50, '\xff'), 1000).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace muster::wire
