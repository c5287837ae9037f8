#include "base/parsed.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/text.h"

namespace muster {
namespace {

std::atomic<int> parses = 0;

struct Number {
  int value = -1;
  static Result<Number> parse(std::string_view text) {
    ++parses;
    auto n = parse_number<int>(text, 0, 100);
    if (!n) return fail(Errc::kInvalidArgument, {}, std::string(text) + ": no number");
    return Number{*n};
  }
};

TEST(Parsed, IsReadOnceForAllCopies) {
  parses = 0;
  const Parsed<Number> a("42");
  const Parsed<Number> b = a;
  EXPECT_EQ(parses, 0) << "nobody has asked";
  EXPECT_EQ(a->value, 42);
  EXPECT_EQ(b->value, 42);
  EXPECT_EQ(a.text(), "42");
  EXPECT_EQ(parses, 1);
}

TEST(Parsed, NoTextMeansTheDefault) {
  parses = 0;
  Parsed<Number> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.text(), "");
  EXPECT_EQ(none->value, -1);
  EXPECT_EQ(none, Parsed<Number>(""));
  none = "7";
  EXPECT_EQ(none->value, 7);
  none.clear();
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(parses, 1);
}

TEST(Parsed, AWrongTextIsKeptWithWhatIsWrong) {
  const Parsed<Number> wrong("x");
  ASSERT_FALSE(wrong.parsed());
  EXPECT_EQ(wrong.parsed().error().hint, "x: no number");
  EXPECT_EQ(wrong->value, -1);
  EXPECT_EQ(wrong.text(), "x");
  EXPECT_EQ(wrong, Parsed<Number>(std::string("x")));
  EXPECT_NE(wrong, Parsed<Number>("y"));
}

TEST(Parsed, ThreadsThatAskAtOnceSeeOneAnswer) {
  for (int round = 0; round < 200; ++round) {
    const Parsed<Number> shared("13");
    std::vector<const Number*> seen(4);
    {
      std::vector<std::jthread> threads;
      for (auto& where : seen) threads.emplace_back([&shared, &where] { where = &shared.value(); });
    }
    for (const Number* one : seen) EXPECT_EQ(one, seen[0]);
    EXPECT_EQ(seen[0]->value, 13);
  }
}

}  // namespace
}  // namespace muster
