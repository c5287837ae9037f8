#include "sched/future/timeline.h"

#include <gtest/gtest.h>

namespace muster::sched {
namespace {

Amounts gres(std::vector<uint64_t> counts) {
  Amounts a;
  a.gres = std::move(counts);
  return a;
}

// A promise counts a GPU of the first entry; a job that starts has this very GPU: the promise has the other one then.
TEST(NodeLine, KnownDevicesLeaveWhatIsPromisedByCount) {
  NodeLine line;
  line.begin(0, gres({1, 1, 1}));
  line.take(10, 20, gres({1, 0, 0}));
  const uint32_t alike[] = {0, 0, 2};
  line.take_known(0, 30, gres({1, 0, 0}), alike);
  EXPECT_EQ(line.least(0, 10).gres, (std::vector<uint64_t>{0, 1, 1}));
  EXPECT_EQ(line.least(10, 20).gres, (std::vector<uint64_t>{0, 0, 1}));
  EXPECT_EQ(line.least(20, 30).gres, (std::vector<uint64_t>{0, 1, 1}));
  EXPECT_EQ(line.least(30, 40).gres, (std::vector<uint64_t>{1, 1, 1}));
}

}  // namespace
}  // namespace muster::sched
