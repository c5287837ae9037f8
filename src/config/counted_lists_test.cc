#include "config/counted_lists.h"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

TEST(LicenseCounts, ByNameWithOneWhereNoCountIsGiven) {
  std::vector<std::string> left_out;
  EXPECT_EQ(parse_license_counts("matlab:4, ansys,big:2k,none:0", left_out),
            (LicenseCounts{{"ansys", 1}, {"big", 2048}, {"matlab", 4}, {"none", 0}}));
  EXPECT_EQ(parse_license_counts("matlab:4,matlab:5", left_out), (LicenseCounts{{"matlab", 5}}));
  EXPECT_TRUE(left_out.empty());
}

TEST(LicenseCounts, AnEntryThatMakesNoSenseIsLeftOutAndTold) {
  std::vector<std::string> left_out;
  EXPECT_EQ(parse_license_counts("matlab:many,ansys:2,:3,huge:4294967296", left_out), (LicenseCounts{{"ansys", 2}}));
  EXPECT_EQ(left_out, (std::vector<std::string>{"the count of \"matlab:many\" is no number from 0 to 4294967295", "\":3\" names no licence",
                                                "the count of \"huge:4294967296\" is no number from 0 to 4294967295"}));
}

TEST(TresPriorities, WeightsMayBeNegative) {
  std::vector<std::string> left_out;
  EXPECT_EQ(parse_tres_priorities("CPU=1000,GRES/gpu=-3", left_out),
            (std::vector<TresPriority>{{TresName::of("cpu"), 1000}, {TresName::of("gres/gpu"), -3}}));
  EXPECT_TRUE(left_out.empty());
  EXPECT_EQ(parse_tres_priorities("CPU=x,Mem,Node=1", left_out), (std::vector<TresPriority>{{TresName::of("node"), 1}}));
  EXPECT_EQ(left_out, (std::vector<std::string>{"the weight of \"CPU=x\" is no whole number", "the weight of \"Mem\" is no whole number"}));
}

}  // namespace
}  // namespace muster::config
