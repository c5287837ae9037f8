#include "model/license_needs.h"

#include <gtest/gtest.h>

#include "model/hres.h"

namespace muster {
namespace {

std::string read(const std::string& text) {
  const auto needs = LicenseNeeds::parse(text);
  if (!needs) return needs.error().hint;
  std::string out = needs->any ? "any" : "all";
  for (const LicenseShare& l : needs->list) out += " " + l.name + "=" + std::to_string(l.count);
  return out;
}

TEST(LicenseNeeds, NamesAndCounts) {
  EXPECT_EQ(read("matlab:2,ansys"), "all matlab=2 ansys=1");
  EXPECT_EQ(read("matlab=2, matlab ,nothing:0"), "all matlab=3");
  EXPECT_EQ(read("matlab|octave@db:2"), "any matlab=1 octave@db=2");
  EXPECT_EQ(read("matlab:2x"), "--licenses: \"matlab:2x\": the count is no number");
  EXPECT_EQ(read("matlab:-1"), "--licenses: \"matlab:-1\": the count is no number");
  EXPECT_EQ(read("matlab=some"), "--licenses: \"matlab=some\": the count is no number");
  EXPECT_EQ(read(":2"), "--licenses: \":2\": the name is missing");
  EXPECT_NE(read("a,b|c").find("not both"), std::string::npos);
}

TEST(LicenseNeeds, VariablesAndLayersOfHierarchicalResources) {
  EXPECT_EQ(read("power:full_node,flat:2"), "all power:full_node=1 flat=2");
  EXPECT_EQ(read("natural(node[01-16,20]):30,flat(a1,b2)"), "all natural(node[01-16,20])=30 flat(a1,b2)=1");
  EXPECT_EQ(read("flat(a1,b2"), "all flat(a1,b2=1");  // no such licence; the controller says so
  EXPECT_EQ(read("power:" + std::string(65, 'x')), "--licenses: \"power:" + std::string(65, 'x') + "\": the count is no number");
}

TEST(PoolName, HasAResourceAndPerhapsNodes) {
  EXPECT_EQ(PoolName::of("natural(node[01-16])").resource, "natural");
  EXPECT_EQ(PoolName::of("natural(node[01-16])").nodes, "node[01-16]");
  EXPECT_FALSE(names_layer("natural"));
  EXPECT_FALSE(names_layer("natural(x"));
  EXPECT_FALSE(names_layer(")("));
}

}  // namespace
}  // namespace muster
