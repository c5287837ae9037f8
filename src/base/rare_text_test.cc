#include "base/rare_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RareText, EmptyOrWhatItWasSetTo) {
  RareText none, empty(""), text(std::string("a\0b", 3));
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(none, empty);
  EXPECT_EQ(none.view(), "");
  EXPECT_EQ(text.view(), std::string_view("a\0b", 3));
  EXPECT_EQ(sizeof(RareText), sizeof(void*));
}

TEST(RareText, CopiesAreTheirOwn) {
  RareText text("n[0-3]"), copy = text, moved = std::move(text);
  copy = "n9";
  EXPECT_EQ(moved, "n[0-3]");
  EXPECT_EQ(copy.str(), "n9");
  copy = moved;
  EXPECT_EQ(copy, moved);
  copy = RareText();
  EXPECT_TRUE(copy.empty());
}

}  // namespace
}  // namespace muster
