#include "slurmctld/daemon/record_waits.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

struct Waits : RecordWaits {
  Waits() { connected(true, replies); }
  bool add(uint64_t position, Uid user = Uid(1000), Line line = {}) {
    return RecordWaits::add(position, line, user, [] {});
  }
  size_t answered() { return std::exchange(replies, {}).size(); }
  std::vector<Reply> replies;
};

TEST(RecordWaits, AreAnsweredOnceTheirRecordsAreStored) {
  Waits w;
  ASSERT_TRUE(w.add(7));
  ASSERT_TRUE(w.add(9));
  w.stored(6, w.replies);
  EXPECT_EQ(w.answered(), 0u);
  w.stored(8, w.replies);
  EXPECT_EQ(w.answered(), 1u);
  EXPECT_FALSE(w.add(8));  // there already
  EXPECT_FALSE(w.add(0));  // nothing to wait for
  w.stored(9, w.replies);
  EXPECT_EQ(w.answered(), 1u);
  EXPECT_EQ(w.size(), 0u);
}

TEST(RecordWaits, NobodyWaitsForADatabaseThatIsAway) {
  Waits w;
  ASSERT_TRUE(w.add(7));
  w.connected(false, w.replies);
  EXPECT_EQ(w.answered(), 1u);
  EXPECT_FALSE(w.add(7));
  w.connected(true, w.replies);
  EXPECT_TRUE(w.add(7));
}

TEST(RecordWaits, AreCountedByUserAndGoWithTheirConnection) {
  Waits w;
  int one = 0, other = 0;
  for (size_t i = 0; i < kMaxRecordWaitsOfUser; ++i) ASSERT_TRUE(w.add(1 + i, Uid(1000), {&one, i}));
  EXPECT_FALSE(w.add(1));
  ASSERT_TRUE(w.add(1, Uid(1001), {&other, 0}));
  w.forget({&one, 3});
  EXPECT_TRUE(w.add(1));
  w.forget_all(&one);
  EXPECT_EQ(w.size(), 2u);
}

}  // namespace
}  // namespace muster::slurmctld
