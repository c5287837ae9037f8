#include "model/gres_items.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(GresText, ReadsWhatNodeLinesSay) {
  auto g = GresItems::parse("gpu:a100:8(S:0-1),mps:100,bandwidth:lustre:no_consume:4G,nic");
  ASSERT_TRUE(g.has_value()) << g.error().text;
  ASSERT_EQ(g->list.size(), 4u);
  EXPECT_EQ(g->list[0], (GresItem{"gpu", "a100", 8, false, "S:0-1"}));
  EXPECT_EQ(g->list[1], (GresItem{"mps", "", 100, false, ""}));
  EXPECT_EQ(g->list[2], (GresItem{"bandwidth", "lustre", uint64_t{4} << 30, true, ""}));
  EXPECT_EQ(g->list[3], (GresItem{"nic", "", 1, false, ""}));
}

TEST(GresText, PrintedTextReadsBack) {
  for (const char* text : {"gpu:8", "gpu:tesla:1,gpu:kepler:1", "gpu:h100:8(S:0-1,3),mps:100", "fs:no_consume:4"}) {
    auto g = GresItems::parse(text);
    ASSERT_TRUE(g.has_value());
    EXPECT_EQ(g->text(), text);
    EXPECT_EQ(*GresItems::parse(g->text()), *g);
  }
}

TEST(GresText, TypesThatStartWithDigitsOrHoldDots) {
  auto g = GresItems::parse("gpu:3g.20gb:2,gpu:1g.5gb:7");
  ASSERT_TRUE(g.has_value()) << g.error().text;
  EXPECT_EQ(g->list[0].type, "3g.20gb");
  EXPECT_EQ(g->list[1].count, 7u);
}

TEST(GresText, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(GresItems::parse("gpu:8,gpu:a100:8").has_value());  // typed beside untyped
  EXPECT_FALSE(GresItems::parse("gpu:8,gpu:8").has_value());
  EXPECT_FALSE(GresItems::parse("gpu:a:b:8").has_value());
  EXPECT_FALSE(GresItems::parse("gpu::8").has_value());
  EXPECT_FALSE(GresItems::parse("gpu:8(S:0").has_value());
  EXPECT_FALSE(GresItems::parse("gpu:a100:8x").has_value());
  EXPECT_TRUE(GresItems::parse("")->list.empty());
}

}  // namespace
}  // namespace muster
