#include "model/request_bodies.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(RequestBodies, EqualOnesAreOne) {
  RequestBodies bodies;
  RequestBody two_nodes;
  two_nodes.min_nodes = 2;
  const RequestBodyPtr first = bodies.share(two_nodes);
  EXPECT_EQ(*first, two_nodes);
  EXPECT_EQ(bodies.find(two_nodes), nullptr) << "share alone makes nothing known";
  bodies.add(first);
  EXPECT_EQ(bodies.share(two_nodes), first);
  EXPECT_NE(bodies.share(RequestBody{}), first);
  EXPECT_EQ(bodies.size(), 1u);
}

TEST(RequestBodies, OneGoesWithItsLastRequest) {
  RequestBodies bodies;
  const RequestBodyPtr body = bodies.share({});
  bodies.add(body);
  bodies.add(body);
  bodies.remove(body);
  EXPECT_EQ(bodies.find({}), body);
  bodies.remove(body);
  EXPECT_EQ(bodies.find({}), nullptr);
  EXPECT_EQ(bodies.size(), 0u);
  bodies.remove(body);  // of one that is not known: nothing
  EXPECT_EQ(bodies.size(), 0u);
}

}  // namespace
}  // namespace muster
