#include "slurmctld/core/job_shares.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kMost = 160;  // so that 10 are beside the table

struct Table : Bench {
  Table() : Bench("MaxJobCount=" + std::to_string(kMost) + "\n") {}

  Result<JobId> ask(uint32_t uid, uint32_t tasks = 1) {
    Result<rpc::JobSubmitted> r;
    JobRequest q = request([&](JobRequest& x) {
      x.uid = Uid(uid);
      x.hold = true;
      if (tasks > 1) x.array = "0-" + std::to_string(tasks - 1);
    });
    turn([&] { r = core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    if (!r) return std::unexpected(r.error());
    return r->job;
  }
  std::vector<JobId> ask_singly(uint32_t uid, uint32_t count) {
    std::vector<JobId> out;
    for (uint32_t i = 0; i < count; ++i) out.push_back(ask(uid).value_or(JobId{}));
    return out;
  }
  uint32_t held(uint32_t uid) const {
    auto at = core.indexes().users().find(uid);
    return at == core.indexes().users().end() ? 0 : at->second.count;
  }
  uint32_t all() const { return core.indexes().job_count(); }
};

TEST(JobShares, OneUserMayFillTheTableAsInSlurm) {
  Table t;
  ASSERT_TRUE(t.ask(1001, kMost).has_value());
  auto one_more = t.ask(1001);
  ASSERT_FALSE(one_more.has_value());
  EXPECT_EQ(one_more.error().code, Errc::kTryAgainLater);
  EXPECT_NE(one_more.error().hint.find("MaxJobCount=160 jobs, 160 of them of this user"), std::string::npos) << one_more.error().hint;
}

TEST(JobShares, WhoFillsTheTableWaitsForMinJobAgeOfHisOwn) {
  Table t;
  for (JobId job : t.ask_singly(1001, kMost)) t.cancel(job);
  EXPECT_FALSE(t.ask(1001).has_value());
  EXPECT_EQ(t.held(1001), kMost);
  t.wait(seconds(101));
  EXPECT_TRUE(t.ask(1001).has_value());
}

TEST(JobShares, BesideAFullTableEachMayHoldAsMuchAsIsLeftForTheOthers) {
  Table t;
  ASSERT_TRUE(t.ask(1001, kMost).has_value());
  EXPECT_FALSE(t.ask(1002, 6).has_value());
  EXPECT_TRUE(t.ask(1002, 5).has_value());
  EXPECT_FALSE(t.ask(1002).has_value());
  EXPECT_TRUE(t.ask(1003, 2).has_value());
  EXPECT_FALSE(t.ask(1003).has_value());
  EXPECT_TRUE(t.ask(1004).has_value());
  EXPECT_EQ(t.all(), kMost + 8);
  t.expect_replay_equal();
}

TEST(JobShares, WhatEndedOfTheHeaviestMakesRoomTheOldestFirst) {
  Table t;
  auto many = t.ask_singly(1001, kMost - 2);
  auto few = t.ask_singly(1002, 2);
  t.cancel(few[0]);
  t.wait(seconds(1));
  for (JobId job : {many[7], many[3], many[5]}) {
    t.cancel(job);
    t.wait(seconds(1));
  }
  ASSERT_TRUE(t.ask(1003, 2).has_value());
  EXPECT_EQ(t.all(), kMost);
  EXPECT_FALSE(t.exists(many[7]));
  EXPECT_FALSE(t.exists(many[3]));
  EXPECT_TRUE(t.exists(many[5]));
  EXPECT_TRUE(t.exists(few[0]));  // of whoever holds little nothing goes early
  // He himself gives up his own last; here what is left of the heaviest's comes first.
  ASSERT_TRUE(t.ask(1002).has_value());
  EXPECT_FALSE(t.exists(many[5]));
  EXPECT_TRUE(t.exists(few[0]));
  ASSERT_TRUE(t.ask(1002).has_value());
  EXPECT_FALSE(t.exists(few[0]));
  EXPECT_EQ(t.all(), kMost);
  t.expect_replay_equal();
}

// Its dependents hear of its end at the end of the turn.
TEST(JobShares, WhatEndsInThisTurnMakesNoRoom) {
  Table t;
  auto many = t.ask_singly(1001, kMost - 1);
  const JobId after = t.submit([&](JobRequest& r) {
    r.uid = Uid(1001);
    r.dependency = "afterok:" + std::to_string(many[3].value);
  });
  rpc::SignalJobs cancel;
  cancel.filter.jobs.emplace_back().job = many[3];
  t.turn([&] {
    (void)t.core.run(Caller::root(), cancel);
    (void)t.core.run(Caller{Uid(1002), {}, {}, {}}, Bench::request([](JobRequest& r) { r.uid = Uid(1002); }));
  });
  EXPECT_TRUE(t.exists(many[3]));
  EXPECT_EQ(t.get(after).reason, Reason::kDependencyNeverSatisfied);
}

TEST(JobShares, TheHeavierGivesUntilBothHoldTheSame) {
  Table t;
  for (JobId job : t.ask_singly(1001, kMost)) t.cancel(job);
  t.wait(seconds(1));
  ASSERT_TRUE(t.ask(1002, kMost / 2).has_value());
  EXPECT_EQ(t.held(1001), kMost / 2);
  EXPECT_FALSE(t.ask(1002).has_value());
  EXPECT_EQ(t.held(1001), kMost / 2);  // a refusal forgets nothing
  EXPECT_FALSE(t.ask(1003, kMost).has_value());
  EXPECT_EQ(t.held(1001), kMost / 2);
}

// The request is stored once for both.
TEST(JobShares, AJobMayTakeThePlaceOfOneWithTheSameRequest) {
  Table t;
  ASSERT_TRUE(t.ask(1001, kMost - 1).has_value());
  JobId first = *t.ask(1002);
  t.cancel(first);
  t.wait(seconds(1));
  JobId second = *t.ask(1002);
  EXPECT_FALSE(t.exists(first));
  EXPECT_TRUE(t.exists(second));
  EXPECT_EQ(t.get(second).request->uid, Uid(1002));
}

TEST(JobShares, WithoutMinJobAgeNothingIsForgotten) {
  Bench b("MaxJobCount=16\nMinJobAge=0\n");
  for (int i = 0; i < 16; ++i) b.cancel(b.submit());
  EXPECT_EQ(b.core.indexes().users().at(1000).ended.size(), 0u);
  EXPECT_EQ(b.core.indexes().job_count(), 16u);
}

}  // namespace
}  // namespace muster::slurmctld
