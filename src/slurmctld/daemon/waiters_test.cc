#include "slurmctld/daemon/waiters.h"

#include <gtest/gtest.h>

namespace muster::slurmctld {
namespace {

Waiter never() {
  return [](const Cluster&, const Job*, std::vector<Reply>&) { return false; };
}

TEST(Waiters, AreCountedByUser) {
  Waiters w;
  for (size_t i = 0; i < kMaxWaitersOfUser; ++i) ASSERT_TRUE(w.add(JobId(1), {}, Uid(1000), never()));
  auto more = w.add(JobId(1), {}, Uid(1000), never());
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kTryAgainLater);
  EXPECT_TRUE(w.add(JobId(1), {}, Uid(1001), never()));
  w.forget_all(nullptr);
  EXPECT_TRUE(w.empty());
  EXPECT_TRUE(w.may_add(Uid(1000)));
}

// The number of the job that it added them for is given to another one.
TEST(Waiters, OfARefusedTurnAreForgotten) {
  Waiters w;
  w.begin_turn();
  ASSERT_TRUE(w.add(JobId(1), {}, Uid(1000), never()));
  w.begin_turn();
  ASSERT_TRUE(w.add(JobId(2), {}, Uid(1000), never()));
  ASSERT_TRUE(w.add(JobId(1), {}, Uid(1000), never()));
  w.forget_turn();
  EXPECT_EQ(w.size(), 1u);
}

TEST(Waiters, GoWithTheirConnection) {
  Waiters w;
  int one = 0, other = 0;
  ASSERT_TRUE(w.add(JobId(1), {&one, 0}, Uid(1000), never()));
  ASSERT_TRUE(w.add(JobId(1), {&other, 7}, Uid(1000), never()));
  ASSERT_TRUE(w.add(JobId(2), {&other, 8}, Uid(1000), never()));
  w.forget({&other, 7});
  EXPECT_EQ(w.size(), 2u);
  w.forget_all(&one);
  EXPECT_EQ(w.size(), 1u);
  w.forget_all(&other);
  EXPECT_TRUE(w.empty());
}

TEST(Waiters, AreAskedOfTouchedJobsAndForgottenWhenSatisfied) {
  Waiters w;
  int asked = 0;
  ASSERT_TRUE(w.add(JobId(1), {}, Uid(1000), [&](const Cluster&, const Job*, std::vector<Reply>& replies) {
    replies.push_back([] {});
    return ++asked == 2;
  }));
  Cluster cluster;
  std::vector<Reply> replies;
  w.wake({JobId(2)}, cluster, replies);
  EXPECT_EQ(asked, 0);
  w.wake({JobId(1)}, cluster, replies);
  w.wake({JobId(1)}, cluster, replies);
  w.wake({JobId(1)}, cluster, replies);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(replies.size(), 2u);
  EXPECT_TRUE(w.empty());
}

}  // namespace
}  // namespace muster::slurmctld
