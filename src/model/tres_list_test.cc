#include "model/tres_list.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TresList list(std::string_view text) {
  auto parsed = TresList::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().hint;
  return parsed.value_or(TresList());
}

TEST(TresList, EverySpellingOfOneThing) {
  const Tres wanted{"gres", "gpu", "a100", 8};
  for (const char* text : {"gres/gpu:a100:8", "gres:gpu:a100:8", "gpu:a100:8", "gres/gpu:a100=8", "gpu:a100=8", "GRES/gpu:a100:8",
                           " gres/gpu:a100:8 ,", "gpu:a100:3,gres/gpu:a100:5"})
    EXPECT_EQ(list(text).items(), std::vector{wanted}) << text;
  EXPECT_EQ(list("gpu").items(), (std::vector{Tres{"gres", "gpu", "", 1}}));
  EXPECT_EQ(list("gpu:a100").items(), (std::vector{Tres{"gres", "gpu", "a100", 1}}));
  EXPECT_EQ(list("shard:2K").items(), (std::vector{Tres{"gres", "shard", "", 2048}}));
}

TEST(TresList, KindsAreToldApart) {
  EXPECT_EQ(list("license/matlab:2,license:ansys,cpu=4,fs/lustre:1").items(),
            (std::vector{Tres{"license", "matlab", "", 2}, Tres{"license", "ansys", "", 1}, Tres{"", "cpu", "", 4},
                         Tres{"fs", "lustre", "", 1}}));
  EXPECT_EQ(list("license/gpu:4").gres("gpu"), 0u);
}

TEST(TresList, IsPrintedSoThatItReadsTheSame) {
  for (const char* text : {"gres/gpu:a100:8,gres/nic:1,license/matlab:2", "cpu:4", "gres/gpu:1g.5gb:2,gres/gpu:3", ""}) {
    EXPECT_EQ(list(text).text(), text);
    EXPECT_EQ(list(list(text).plain()), list(text)) << text;
  }
  EXPECT_EQ(list("gres/gpu:a100:8,license/matlab:2").plain(), "gpu:a100:8,license/matlab:2");
}

TEST(TresList, CountsAndDropsAGresOfAllTypes) {
  TresList l = list("gpu:a100:2,gpu:3,nic:1,gpux:9");
  EXPECT_EQ(l.gres("gpu"), 5u);
  l.drop_gres("gpu");
  EXPECT_EQ(l.text(), "gres/nic:1,gres/gpux:9");
}

TEST(TresList, NothingIsNotCounted) { EXPECT_TRUE(list("gpu:0,none,gpu:none").items().empty()); }

TEST(TresList, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"gpu:a:b:2", "\"gpu:a:b:2\": expected name[:type][:count]"},
      {"gpu:a:b", "\"gpu:a:b\": the count is no number"},
      {"gpu=x", "\"gpu=x\": the count is no number"},
      {":2", "\":2\": expected name[:type][:count]"},
      {"gpu:9000000000000000", "\"gpu:9000000000000000\": the count is too big"},
      {"gpu:4503599627370496,gpu:1", "\"gpu\": the count is too big"},
  };
  for (const auto& [text, why] : cases) {
    auto parsed = TresList::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidGres);
    EXPECT_EQ(parsed.error().hint, why);
  }
  std::string many;
  for (int i = 0; i < 300; ++i) many += "r" + std::to_string(i) + ",";
  EXPECT_FALSE(TresList::parse(many));
}

}  // namespace
}  // namespace muster
