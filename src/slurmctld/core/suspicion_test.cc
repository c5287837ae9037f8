// Which ends of jobs make a node a suspect, and which do not.
#include "slurmctld/core/suspicion.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr Time kNow = from_unix(1'700'000'000);

struct Books {
  SuspicionBook book;
  Time now = kNow;
  uint32_t next = 11;

  // A job of the user that ends on these nodes after so long.
  std::vector<NodeId> ends(std::vector<uint32_t> nodes, uint32_t user, JobState state, Duration ran = seconds(2),
                           const std::function<void(Job&)>& change = {}) {
    Job job;
    job.id = JobId(next++);
    JobRequest request;
    request.uid = Uid(user);
    job.asked_for(std::make_shared<const RequestBody>(request), PackedOwn(request));
    auto allocation = std::make_shared<Allocation>();
    for (uint32_t node : nodes) allocation->nodes.emplace_back().node = NodeId(node);
    job.allocation = std::move(allocation);
    job.state = state;
    job.started = now - ran;
    job.ended = now;
    if (change) change(job);
    return book.take(job);
  }
  bool suspected(uint32_t node = 0) const { return book.suspect(NodeId(node), now).has_value(); }
};

TEST(Suspicion, FourFailuresOfTwoUsers) {
  Books b;
  for (uint32_t user : {1, 2, 1}) b.ends({0}, user, JobState::kFailed);
  EXPECT_FALSE(b.suspected());
  EXPECT_EQ(b.ends({0}, 1, JobState::kFailed), std::vector{NodeId(0)});
  const auto why = b.book.suspect(NodeId(0), b.now);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->text(), "the last 4 jobs of 2 users failed here (jobs 11,12,13,14)");
  b.book.forget(NodeId(0));
  EXPECT_FALSE(b.suspected());
}

TEST(Suspicion, JobsOfOneUserMayFailAsTheyLike) {
  Books b;
  for (int i = 0; i < 100; ++i) b.ends({0}, 1, JobState::kFailed);
  EXPECT_FALSE(b.suspected());
  b.ends({0}, 2, JobState::kFailed);  // and the many before do not count as those of others
  EXPECT_TRUE(b.suspected());
  EXPECT_EQ(b.book.suspect(NodeId(0), b.now)->jobs.size(), SuspicionBook::kKept);
  EXPECT_TRUE(b.book.suspect(NodeId(0), b.now)->text().ends_with(",...)"));
}

TEST(Suspicion, OneGoodEndIsEnoughForTheNode) {
  Books b;
  for (uint32_t user : {1, 2, 3}) b.ends({0}, user, JobState::kFailed);
  b.ends({0}, 1, JobState::kCompleted);
  for (uint32_t user : {1, 2, 3}) b.ends({0}, user, JobState::kFailed);
  EXPECT_FALSE(b.suspected());
}

TEST(Suspicion, WhatSaysNothingOfTheNode) {
  Books b;
  for (uint32_t user : {1, 2, 3, 4}) {
    EXPECT_TRUE(b.ends({0}, user, JobState::kFailed, minutes(2)).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kCancelled).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kTimeout).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kOutOfMemory).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kPreempted).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kFailed, seconds(1), [](Job& j) { j.reason = Reason::kProlog; }).empty());
    EXPECT_TRUE(b.ends({0}, user, JobState::kCancelled, seconds(1), [](Job& j) { j.allocation = nullptr; }).empty());
  }
  EXPECT_FALSE(b.suspected());
}

TEST(Suspicion, ANodeThatWentDownIsAtFaultAndTheOthersOfTheJobAreNot) {
  Books b;
  for (uint32_t user : {1, 2, 1, 2})
    b.ends({0, 1}, user, JobState::kNodeFail, minutes(30), [](Job& j) {
      j.run.edit().failed_node = NodeId(1);
      j.run.edit().has_failed_node = true;
    });
  EXPECT_TRUE(b.suspected(1));
  EXPECT_FALSE(b.suspected(0));
}

TEST(Suspicion, WhereJobsFailEverywhereNoNodeIsAtFault) {
  Books b;
  for (uint32_t user : {1, 2, 3, 4}) b.ends({0}, user, JobState::kFailed);
  b.ends({1}, 1, JobState::kFailed);
  for (int i = 0; i < 2; ++i) b.ends({1}, 1, JobState::kCompleted);
  EXPECT_FALSE(b.suspected()) << "a third of the others failed";
  b.ends({1}, 1, JobState::kCompleted);
  EXPECT_TRUE(b.suspected()) << "a quarter did";
}

TEST(Suspicion, ABrokenNodeShieldsNoOther) {
  Books b;
  for (uint32_t user : {1, 2, 1, 2}) b.ends({0}, user, JobState::kFailed);
  for (uint32_t user : {1, 2, 1, 2}) b.ends({1}, user, JobState::kFailed);
  EXPECT_FALSE(b.suspected(1));
  EXPECT_TRUE(b.book.suspect(NodeId(1), b.now, {NodeId(0)}));
  b.book.forget(NodeId(0));
  for (uint32_t user : {1, 2, 1, 2}) b.ends({0}, user, JobState::kFailed);
  EXPECT_TRUE(b.book.suspect(NodeId(0), b.now, {NodeId(1)})) << "what it did before is not done by others";
}

TEST(Suspicion, OldFailuresSayNothing) {
  Books b;
  for (uint32_t user : {1, 2, 3}) b.ends({0}, user, JobState::kFailed);
  b.now += minutes(25 * 60);
  b.ends({0}, 4, JobState::kFailed);
  EXPECT_FALSE(b.suspected());
}

TEST(HourCount, ForgetsWhatIsOlder) {
  HourCount hour;
  hour.add(kNow, true);
  hour.add(kNow + minutes(30), false);
  EXPECT_EQ(hour.sum(kNow + minutes(30)).ends, 2u);
  EXPECT_EQ(hour.sum(kNow + minutes(30)).failed, 1u);
  EXPECT_EQ(hour.sum(kNow + minutes(75)).ends, 1u);
  EXPECT_EQ(hour.sum(kNow + minutes(75)).failed, 0u);
  EXPECT_EQ(hour.sum(kNow + minutes(200)).ends, 0u);
}

}  // namespace
}  // namespace muster::slurmctld
