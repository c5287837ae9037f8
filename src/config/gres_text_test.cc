#include "config/gres_text.h"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

TEST(GresText, ReadsWhatNodeLinesSay) {
  auto g = parse_gres("gpu:a100:8(S:0-1),mps:100,bandwidth:lustre:no_consume:4G,nic");
  ASSERT_TRUE(g.has_value()) << g.error().text;
  ASSERT_EQ(g->size(), 4u);
  EXPECT_EQ((*g)[0], (GresItem{"gpu", "a100", 8, false, "S:0-1"}));
  EXPECT_EQ((*g)[1], (GresItem{"mps", "", 100, false, ""}));
  EXPECT_EQ((*g)[2], (GresItem{"bandwidth", "lustre", uint64_t{4} << 30, true, ""}));
  EXPECT_EQ((*g)[3], (GresItem{"nic", "", 1, false, ""}));
}

TEST(GresText, PrintedTextReadsBack) {
  for (const char* text : {"gpu:8", "gpu:tesla:1,gpu:kepler:1", "gpu:h100:8(S:0-1,3),mps:100", "fs:no_consume:4"}) {
    auto g = parse_gres(text);
    ASSERT_TRUE(g.has_value());
    EXPECT_EQ(print_gres(*g), text);
    EXPECT_EQ(*parse_gres(print_gres(*g)), *g);
  }
}

TEST(GresText, TypesThatStartWithDigitsOrHoldDots) {
  auto g = parse_gres("gpu:3g.20gb:2,gpu:1g.5gb:7");
  ASSERT_TRUE(g.has_value()) << g.error().text;
  EXPECT_EQ((*g)[0].type, "3g.20gb");
  EXPECT_EQ((*g)[1].count, 7u);
}

TEST(GresText, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(parse_gres("gpu:8,gpu:a100:8").has_value());  // typed beside untyped
  EXPECT_FALSE(parse_gres("gpu:8,gpu:8").has_value());
  EXPECT_FALSE(parse_gres("gpu:a:b:8").has_value());
  EXPECT_FALSE(parse_gres("gpu::8").has_value());
  EXPECT_FALSE(parse_gres("gpu:8(S:0").has_value());
  EXPECT_FALSE(parse_gres("gpu:a100:8x").has_value());
  EXPECT_TRUE(parse_gres("")->empty());
}

}  // namespace
}  // namespace muster::config
