#include "model/network_wish.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(NetworkWish, KnowsTheWordOfImexInAnyCaseAndNamesTheFirstOther) {
  EXPECT_TRUE(NetworkWish::parse("unique-channel-per-segment")->channel_per_segment);
  EXPECT_TRUE(NetworkWish::parse("job_vni, Unique-Channel-Per-Segment")->channel_per_segment);
  EXPECT_EQ(NetworkWish::parse("job_vni,tcs=BULK_DATA")->other, "job_vni");
  EXPECT_EQ(NetworkWish::parse("unique-channel-per-segment,no_vni")->other, "no_vni");
}

TEST(NetworkWish, NothingIsAskedByNoWords) {
  EXPECT_EQ(*NetworkWish::parse(""), NetworkWish());
  EXPECT_EQ(*NetworkWish::parse(" , "), NetworkWish());
  EXPECT_EQ(NetworkWish::parse("unique-channel-per-segment")->other, "");
}

}  // namespace
}  // namespace muster
