#include "model/node_names.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Names = std::vector<std::string>;

NodeNames parsed(const char* text) {
  Result<NodeNames> list = NodeNames::parse(text);
  EXPECT_TRUE(list) << text << ": " << (list ? "" : list.error().hint);
  return list.value_or(NodeNames());
}

std::string wrong(std::string_view text) {
  Result<NodeNames> list = NodeNames::parse(text);
  return list ? "" : std::string(errc_text(list.error().code)) + " " + list.error().hint;
}

TEST(NodeNames, HostsRepeatsAndFunctionsInTheOrderWritten) {
  const NodeNames list = parsed("n[1-2],gpu7, n1*2 ,block{b1},n9");
  EXPECT_EQ(list.names(), (Names{"n1", "n2", "gpu7", "n1", "n1", "n9"}));
  EXPECT_EQ(list.count(), 6u);
  EXPECT_TRUE(list.has_functions());
  ASSERT_EQ(list.parts.size(), 4u) << "hosts that stand beside each other are one part";
  EXPECT_EQ(list.parts[2].function, "block");
  EXPECT_EQ(list.parts[2].unit, "b1");
  EXPECT_FALSE(parsed("n[1,3-4]").has_functions());
  EXPECT_EQ(parsed("n[1,3-4]*2").count(), 6u);
  EXPECT_TRUE(parsed(" , ").parts.empty());
}

TEST(NodeNames, WhatIsWrongIsNamed) {
  EXPECT_NE(wrong("n1*x").find("after * stands how often"), std::string::npos);
  EXPECT_NE(wrong("n1*0").find("after * stands how often"), std::string::npos);
  EXPECT_NE(wrong("block{b1").find("} is missing"), std::string::npos);
  EXPECT_NE(wrong("{b1}").find("name{unit}"), std::string::npos);
  EXPECT_NE(wrong("n[1-70000]"), "");
  EXPECT_NE(wrong("a[1-60000],b*60000").find("more than 65536 names"), std::string::npos);
  std::string many;
  for (int i = 0; i < 65; ++i) many += "block{b" + std::to_string(i) + "},";
  EXPECT_NE(wrong(many).find("at most 64 functions"), std::string::npos);
}

}  // namespace
}  // namespace muster
