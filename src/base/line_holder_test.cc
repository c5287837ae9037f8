#include "base/line_holder.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LineHolder, PassesOnWholeLinesOnly) {
  LineHolder lines;
  EXPECT_EQ(lines.add("a"), "");
  EXPECT_EQ(lines.add("b\nc\nd"), "ab\nc\n");
  EXPECT_EQ(lines.add("\n"), "d\n");
  EXPECT_EQ(lines.rest(), "");
  EXPECT_EQ(lines.add("e"), "");
  EXPECT_EQ(lines.rest(), "e");  // as it was written: no line end
  EXPECT_EQ(lines.rest(), "");
}

TEST(LineHolder, LabelsBeginEachLineAndEndTheLast) {
  LineHolder lines("1: ");
  EXPECT_EQ(lines.add("a\n\nb"), "1: a\n1: \n");
  EXPECT_EQ(lines.rest(), "1: b\n");
}

TEST(LineHolder, ALineWithoutEndIsBounded) {
  LineHolder lines;
  const std::string much(LineHolder::kLongest, 'x');
  EXPECT_EQ(lines.add(much), "");
  EXPECT_EQ(lines.add("y"), much + "y");
  EXPECT_EQ(lines.add("z\n"), "z\n");
}

TEST(TaskLabel, IsAsWideAsTheLastOne) {
  EXPECT_EQ(task_label(0, 1), "0: ");
  EXPECT_EQ(task_label(3, 10), "3: ");
  EXPECT_EQ(task_label(3, 11), " 3: ");
  EXPECT_EQ(task_label(10, 11), "10: ");
}

}  // namespace
}  // namespace muster
