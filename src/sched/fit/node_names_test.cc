// Lists of nodes against the names of a cluster.
#include <gtest/gtest.h>

#include "sched/fit/request_class.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

Cluster blocks_of_two() {
  Cluster c = ClusterBuilder().nodes(4).build();
  give_blocks(c, 2, 2, {2});
  return c;
}

TEST(NodeNamesHere, FunctionsMeanTheNodesOfAUnit) {
  const Cluster c = blocks_of_two();
  EXPECT_EQ(without_functions(c, "n0,block{b1}").value_or("?"), "n0,n[2-3]");
  EXPECT_EQ(names_meant(c, "block{b0},n3*2").value_or(std::vector<std::string>()), (std::vector<std::string>{"n0", "n1", "n3", "n3"}));
}

TEST(NodeNamesHere, ADeletedNodeThatATopologyNamesIsLeftOut) {
  Cluster c = blocks_of_two();
  c.nodes.erase(2);
  EXPECT_EQ(without_functions(c, "block{b1}").value_or("?"), "n3");
  EXPECT_EQ(names_meant(c, "block{b1}").value_or(std::vector<std::string>()), std::vector<std::string>{"n3"});
}

TEST(NodeNamesHere, AListThatMeansNothingIsAnErrorEverywhere) {
  const Cluster c = blocks_of_two();
  for (const NodeList& wrong : {NodeList("n0*x"), NodeList("block{b1"), NodeList("n[1")}) {
    EXPECT_FALSE(without_functions(c, wrong)) << wrong.text();
    EXPECT_FALSE(names_meant(c, wrong)) << wrong.text();
    EXPECT_FALSE(nodes_named(c, wrong)) << wrong.text();
  }
}

}  // namespace
}  // namespace muster::sched
