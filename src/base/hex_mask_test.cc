#include "base/hex_mask.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(HexMask, WrittenAndRead) {
  Bitmap b;
  ASSERT_TRUE(parse_hex_mask("0x3F00000000f", b));
  EXPECT_EQ(hex_mask(b), "0x3F00000000F");
  EXPECT_EQ(hex_mask(Bitmap()), "0x0");
  EXPECT_EQ(hex_mask(Bitmap(70), 4), "0x0000");
  ASSERT_TRUE(parse_hex_mask("f0", b));
  EXPECT_EQ(b.to_ranges(), "4-7");
  EXPECT_EQ(hex_mask(b, 4), "0x00F0");
  for (std::string_view bad : {"", "0x", "0xG", "-1", "1 "}) EXPECT_FALSE(parse_hex_mask(bad, b)) << bad;
  EXPECT_FALSE(parse_hex_mask(std::string(20000, '1'), b));
}

}  // namespace
}  // namespace muster
