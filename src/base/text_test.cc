#include "base/text.h"

#include "base/tres_mem.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Views = std::vector<std::string_view>;

TEST(Text, TrimAndCase) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(to_lower("MaxTime\xC3\x84"), "maxtime\xC3\x84");
  EXPECT_TRUE(iequals("NodeName", "nodename"));
  EXPECT_FALSE(iequals("Node", "NodeName"));
  EXPECT_TRUE(istarts_with("PartitionName=x", "partitionname"));
  EXPECT_FALSE(istarts_with("Part", "Partition"));
}

TEST(Text, Split) {
  EXPECT_EQ(split("a,,b,", ','), (Views{"a", "b"}));
  EXPECT_EQ(split("a,,b,", ',', true), (Views{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Views{});
  EXPECT_EQ(split("", ',', true), Views{""});
  EXPECT_EQ(split_outside_brackets("n[1,3],m,x[1-2,[4,5]],y"), (Views{"n[1,3]", "m", "x[1-2,[4,5]]", "y"}));
  EXPECT_EQ(split_outside_brackets("a],b[1,2"), (Views{"a]", "b[1,2"}));
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Text, Numbers) {
  EXPECT_EQ(parse_number<uint32_t>("4294967295"), 4294967295u);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<int>("007"), 7);
  for (auto bad : {"", " 1", "1 ", "+1", "0x1", "1.0", "4294967296", "-1", "1a"}) EXPECT_FALSE(parse_number<uint32_t>(bad)) << bad;
  EXPECT_FALSE(parse_number<int>("11", 0, 10));
  EXPECT_FALSE(parse_number<int>("-1", 0, 10));
}

// As sbatch 22.05 takes --mem.
TEST(Text, MemorySizes) {
  const struct {
    const char* text;
    uint64_t mb;
  } good[] = {{"30", 30},
              {"30M", 30},
              {"1G", 1024},
              {"1g", 1024},
              {"1T", 1 << 20},
              {"1K", 1},
              {"1024K", 1},
              {"1025K", 2},
              {"1GB", 1024},
              {"1mb", 1},
              {"0", 0},
              {"0K", 0},
              {"99999999T", 99999999ull << 20},
              {"18446744073709551615K", (1ull << 54)}};
  for (const auto& c : good) EXPECT_EQ(parse_mem_mb(c.text).value(), c.mb) << c.text;
  for (auto bad : {"", "-1", "1Gi", "1GiB", "1.5G", "1P", "abc", "1GG", "1B", "G", " 1G", "1 G", "18446744073709551615",
                   "18446744073709551616", "99999999999999T"}) {
    auto r = parse_mem_mb(bad);
    ASSERT_FALSE(r) << bad;
    EXPECT_EQ(r.error().text, "Invalid memory size '" + std::string(bad) + "'");
    EXPECT_FALSE(r.error().hint.empty());
  }
}

TEST(Text, Counts) {
  EXPECT_EQ(parse_count("8"), 8u);
  EXPECT_EQ(parse_count("2k"), 2048u);
  EXPECT_EQ(parse_count("2Kib"), 2048u);
  EXPECT_EQ(parse_count("1G"), 1u << 30);
  EXPECT_EQ(parse_count("15E"), 15ull << 60);
  for (auto bad : {"", "k", "-1", "1x", "1kk", "16E", "1.5k"}) EXPECT_FALSE(parse_count(bad)) << bad;
}

TEST(Text, PrintsMemory) {
  EXPECT_EQ(format_mem_mb(0), "0");
  EXPECT_EQ(format_mem_mb(1500), "1500M");
  EXPECT_EQ(format_mem_mb(921600), "900G");
  EXPECT_EQ(format_mem_mb(1 << 20), "1T");
  // As TRES lists of 22.05 write it.
  const std::pair<uint64_t, const char*> lists[] = {{0, "0"},        {200, "200M"},  {512, "512M"},     {1500, "1500M"},
                                                    {1536, "1.50G"}, {10240, "10G"}, {64000, "62.50G"}, {192000, "187.50G"}};
  for (const auto& [mb, text] : lists) {
    EXPECT_EQ(format_tres_mem(mb), text);
    EXPECT_EQ(parse_tres_mem_mb(text), mb);
  }
  for (const char* none : {"", "8Q", "x.50G", ".50G", "1.50Q"}) EXPECT_EQ(parse_tres_mem_mb(none), 0u) << none;
  for (uint64_t mb : {1ull, 1023ull, 1024ull, 1025ull, 1ull << 29, 3ull << 20}) EXPECT_EQ(parse_mem_mb(format_mem_mb(mb)).value(), mb);
}

TEST(Text, DidYouMean) {
  Views keys = {"PartitionName", "NodeName", "MaxTime", "MaxNodes", "OverTimeLimit"};
  EXPECT_EQ(did_you_mean("PartitonName", keys), "PartitionName");
  EXPECT_EQ(did_you_mean("nodenmae", keys), "NodeName");
  EXPECT_EQ(did_you_mean("maxtimes", keys), "MaxTime");
  EXPECT_EQ(did_you_mean("zzz", keys), "");
  EXPECT_EQ(did_you_mean("", keys), "");
  EXPECT_EQ(did_you_mean("x", keys), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'a'), keys), "");
}

}  // namespace
}  // namespace muster
