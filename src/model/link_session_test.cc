#include "model/link_session.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Taken = LinkSession::Taken;

Numbered<int> message(uint64_t session, uint64_t sequence) { return {session, sequence, 0}; }

TEST(LinkSession, TakesWhatComesInOrderAndOnce) {
  LinkSession mine(7), theirs(7);
  const auto first = theirs.numbered(1), second = theirs.numbered(2);
  EXPECT_EQ(mine.take(first), Taken::kInOrder);
  EXPECT_EQ(mine.take(first), Taken::kLate);
  EXPECT_EQ(mine.take(second), Taken::kInOrder);
  EXPECT_EQ(second.message, 2);
}

TEST(LinkSession, TakesNothingOfAnotherSession) {
  LinkSession mine(7);
  EXPECT_EQ(mine.take(message(6, 1)), Taken::kLate);
  EXPECT_EQ(mine.take(message(8, 1)), Taken::kLate);
}

TEST(LinkSession, TakesNothingBehindWhatWasLost) {
  LinkSession mine(7);
  EXPECT_EQ(mine.take(message(7, 2)), Taken::kGap);
  EXPECT_EQ(mine.take(message(7, 1)), Taken::kInOrder);
  EXPECT_EQ(mine.take(message(7, ~uint64_t{0})), Taken::kGap);
}

TEST(LinkSession, TheNextNumberIsGreaterEvenWhenTheClockStepsBack) {
  const LinkSession first = LinkSession().next(Time(Duration(1000)));
  EXPECT_EQ(first.number(), 1000u);
  EXPECT_EQ(first.next(Time(Duration(5000))).number(), 5000u);
  EXPECT_EQ(first.next(Time(Duration(10))).number(), 1001u);
  EXPECT_EQ(first.next(Time(Duration(-10))).number(), 1001u);
  EXPECT_TRUE(first.gives_way_to(1001));
  EXPECT_FALSE(first.gives_way_to(1000));
}

}  // namespace
}  // namespace muster
