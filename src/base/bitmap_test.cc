#include "base/bitmap.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace muster {
namespace {

Bitmap of(std::initializer_list<size_t> members) {
  Bitmap b;
  for (size_t i : members) b.set(i);
  return b;
}

TEST(Bitmap, PrintsRanges) {
  EXPECT_EQ(Bitmap().to_ranges(), "");
  EXPECT_EQ(Bitmap(100).to_ranges(), "");
  EXPECT_EQ(of({0, 1, 2, 3, 7}).to_ranges(), "0-3,7");
  EXPECT_EQ(of({5}).to_ranges(), "5");
  EXPECT_EQ(of({0, 2, 63, 64, 65}).to_ranges(), "0,2,63-65");
  EXPECT_EQ(Bitmap(64, true).to_ranges(), "0-63");
  EXPECT_EQ(Bitmap(65, true).to_ranges(), "0-64");
}

TEST(Bitmap, ReadsRanges) {
  Bitmap b;
  EXPECT_TRUE(Bitmap::parse_ranges("0-3,7", b));
  EXPECT_EQ(b, of({0, 1, 2, 3, 7}));
  EXPECT_TRUE(Bitmap::parse_ranges("7,0-3,2", b));
  EXPECT_EQ(b, of({0, 1, 2, 3, 7}));
  EXPECT_TRUE(Bitmap::parse_ranges("", b));
  EXPECT_TRUE(b.none());
}

TEST(Bitmap, RefusesOtherTextAndLeavesTheOutputAlone) {
  Bitmap b = of({1});
  for (auto bad :
       {",", "1,", ",1", "1-", "-1", "3-1", "a", "1;2", " 1", "1 ", "1-2-3", "+1", "0x1", "99999999999999999999", "1048576", "0-1048576"})
    EXPECT_FALSE(Bitmap::parse_ranges(bad, b)) << bad;
  EXPECT_EQ(b, of({1}));
  EXPECT_TRUE(Bitmap::parse_ranges("1048575", b));
  EXPECT_FALSE(Bitmap::parse_ranges("8", b, 8));
  EXPECT_FALSE(Bitmap::parse_ranges("0", b, 0));
}

TEST(Bitmap, SizesMayDiffer) {
  Bitmap small = of({1, 3}), large = of({3, 200});
  EXPECT_EQ(small | large, of({1, 3, 200}));
  EXPECT_EQ(large | small, of({1, 3, 200}));
  EXPECT_EQ(small & large, of({3}));
  EXPECT_EQ(large & small, of({3}));
  EXPECT_EQ(large - small, of({200}));
  EXPECT_TRUE(small.intersects(large));
  EXPECT_FALSE(small.contains(large));
  EXPECT_TRUE((small | large).contains(small));
  EXPECT_EQ(small.count_and(large), 1u);
  Bitmap padded = small;
  padded.resize(500);
  EXPECT_EQ(padded, small);
}

TEST(Bitmap, ShrinkingForgetsMembers) {
  Bitmap b(130, true);
  b.resize(70);
  EXPECT_EQ(b.count(), 70u);
  b.resize(130);
  EXPECT_EQ(b.count(), 70u);
  EXPECT_FALSE(b.test(100));
}

std::set<size_t> members(const Bitmap& b) {
  std::set<size_t> out;
  b.for_each([&](size_t i) { out.insert(i); });
  return out;
}

// The same operations on a std::set.
TEST(Bitmap, BehavesAsASet) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random r(seed);
    Bitmap a, b;
    std::set<size_t> x, y;
    for (int i = 0; i < 60; ++i) {
      size_t n = r.uniform(0, 300);
      bool add = r.chance(0.8), first = r.chance(0.5);
      (first ? a : b).assign(n, add);
      auto& s = first ? x : y;
      if (add) s.insert(n);
      else s.erase(n);
    }
    ASSERT_EQ(members(a), x) << "seed " << seed;
    std::set<size_t> both, either = x, left = x;
    for (size_t n : y) {
      if (x.contains(n)) both.insert(n);
      either.insert(n);
      left.erase(n);
    }
    ASSERT_EQ(members(a & b), both) << "seed " << seed;
    ASSERT_EQ(members(a | b), either) << "seed " << seed;
    ASSERT_EQ(members(a - b), left) << "seed " << seed;
    ASSERT_EQ(a.count(), x.size());
    ASSERT_EQ(a.count_and(b), both.size());
    Bitmap back;
    ASSERT_TRUE(Bitmap::parse_ranges(a.to_ranges(), back));
    ASSERT_EQ(back, a) << "seed " << seed;
    ASSERT_EQ(Bitmap::from_words(a.size(), a.words()), a);
    size_t walked = 0;
    for (size_t i = a.first(); i != Bitmap::npos; i = a.next(i + 1)) ++walked;
    ASSERT_EQ(walked, x.size());
  }
}

TEST(Bitmap, GrowsFromOneWordInPlaceToManyAndBack) {
  Bitmap a;
  a.set(3);
  const Bitmap small = a;
  a.set(64);
  a.set(1000);
  const Bitmap large = a;
  a.resize(10);
  EXPECT_EQ(a, of({3}));
  a.resize(2000);
  EXPECT_EQ(a, of({3})) << "what was cut off does not come back";
  Bitmap moved = std::move(a);
  EXPECT_EQ(moved.size(), 2000u);
  moved = large;
  EXPECT_EQ(moved, of({3, 64, 1000}));
  moved = small;
  EXPECT_EQ(moved, of({3}));
  moved.set(500);
  EXPECT_EQ(moved, of({3, 500}));
  EXPECT_EQ(small, of({3}));
  const Bitmap& self = moved;
  moved = self;
  EXPECT_EQ(moved, of({3, 500}));
  Bitmap emptied = std::move(moved);
  EXPECT_EQ(emptied, of({3, 500}));
  moved = small;  // NOLINT(bugprone-use-after-move): it may be used again
  EXPECT_EQ(moved, of({3}));
}

}  // namespace
}  // namespace muster
