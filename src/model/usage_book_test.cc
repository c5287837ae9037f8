// What associations and QOS have used is the integral of what their jobs held, decayed, whenever it is asked; it goes with an association
// that moves, and survives being stored.
#include "model/usage_book.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/account_directory_testing.h"
#include "model/cluster.h"

namespace muster {
namespace {

constexpr Duration kHour = minutes(60);
const Time kStart = from_unix(1'700'000'000);
constexpr uint32_t kTeam = 2, kCrew = 3, kOther = 4, kAlice = 5;

// root(1) above team(2) above crew(3), and other(4); alice(5) in crew.
ADirectory a_tree(double factor = 1, std::vector<std::string> flags = {}) {
  ADirectory d;
  d.qos("normal").qos("fast").account("root").account("team").account("crew", "team").account("other");
  d.user("alice", "crew").association("alice", "crew", {"normal", "fast"});
  d.entities().qos[1].usage_factor = factor;
  d.entities().qos[1].flags = std::move(flags);
  return d;
}

struct World {
  Cluster c;
  explicit World(Duration half_life = {}, const ADirectory& accounts = a_tree()) {
    for (const AccountChanges& part : changes_to(nullptr, accounts.entities())) c.learn_accounts(part, kStart);
    c.set_half_life(half_life, kStart);
  }
  void learn(const ADirectory& accounts, Time now) {
    for (const AccountChanges& part : changes_to(c.directory.get(), accounts.entities())) c.learn_accounts(part, now);
  }
  void put(Job job, Time now) {
    const Job* old = c.jobs.find(job.id.value);
    const Charge was = old ? Charge::of(*old, c.partitions) : Charge(), is = Charge::of(job, c.partitions);
    c.jobs.set(job.id.value, std::move(job));
    c.recharge(was, is, now);
  }
  Job start(uint32_t id, uint32_t cpus, Time now, const std::string& qos = "fast") {
    Job j;
    j.id = JobId(id);
    j.association = kAlice;
    JobRequest r;
    r.account = "crew";
    r.qos = qos;
    j.ask(r);
    j.state = JobState::kRunning;
    auto held = std::make_shared<Allocation>();
    held->nodes.emplace_back().cpus = Bitmap(cpus, true);
    j.allocation = held;
    put(j, now);
    return j;
  }
  void become(Job& j, JobState state, Time now) {
    j.state = state;
    put(j, now);
  }
  double cpus_of(uint32_t association, Time now) const { return c.used_by_association(association, now).of(TresTable::kCpu); }
};

TEST(UsageBook, IsWhatJobsHeldTimesHowLong) {
  World w;
  Job j = w.start(1, 4, kStart);
  EXPECT_EQ(w.cpus_of(kAlice, kStart), 0);
  EXPECT_EQ(w.cpus_of(kAlice, kStart + seconds(10)), 40) << "while it runs, without an event";
  w.start(2, 2, kStart + seconds(10));
  w.become(j, JobState::kCompleted, kStart + seconds(20));
  for (uint32_t id : {kAlice, kCrew, kTeam, 1u}) EXPECT_EQ(w.cpus_of(id, kStart + seconds(30)), 40 + 40 + 20 + 20) << id;
  EXPECT_EQ(w.cpus_of(kOther, kStart + seconds(30)), 0);
  const Spent spent = w.c.used_by_association(kTeam, kStart + seconds(30));
  EXPECT_EQ(spent.of(TresTable::kNode), 20 + 20);
  EXPECT_EQ(spent.wall, 20 + 20) << "of both jobs";
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + seconds(30)), spent);
  EXPECT_EQ(w.c.used_by_qos("normal", kStart + seconds(30)).of(TresTable::kCpu), 0);
}

TEST(UsageBook, StandsStillWhileAJobIsSuspended) {
  World w;
  Job j = w.start(1, 4, kStart);
  w.become(j, JobState::kSuspended, kStart + seconds(10));
  EXPECT_EQ(w.cpus_of(kAlice, kStart + seconds(100)), 40);
  w.become(j, JobState::kRunning, kStart + seconds(100));
  EXPECT_EQ(w.cpus_of(kAlice, kStart + seconds(110)), 80);
}

TEST(UsageBook, DecaysHoweverOftenARateChanges) {
  World often(kHour), seldom(kHour);
  Job a = often.start(1, 8, kStart), b = seldom.start(1, 8, kStart);
  for (int i = 1; i < 100; ++i) {
    Job other = often.start(2, 1, kStart + i * minutes(1));
    often.become(other, JobState::kCompleted, kStart + i * minutes(1));  // at once: it uses nothing
  }
  const Time end = kStart + 3 * kHour;
  often.become(a, JobState::kCompleted, end);
  seldom.become(b, JobState::kCompleted, end);
  const double expected = 8 * 3600 / std::log(2) * (1 - 0.125);
  EXPECT_NEAR(seldom.cpus_of(kTeam, end), expected, 1e-6);
  EXPECT_NEAR(often.cpus_of(kTeam, end), expected, 1e-6);
  EXPECT_NEAR(often.cpus_of(kTeam, end + kHour), expected / 2, 1e-6);
}

TEST(UsageBook, TheFactorOfAQosCountsFromWhenItIsSet) {
  World w({}, a_tree(0.5));
  w.start(1, 4, kStart);
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(10)), 20);
  w.learn(a_tree(2), kStart + seconds(10));
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(20)), 20 + 80);
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + seconds(20)).of(TresTable::kCpu), 100);
  EXPECT_TRUE(w.c.ledger == w.c.counted_ledger());
}

TEST(UsageBook, AQosWithNoDecayKeepsAll) {
  World w(kHour, a_tree(1, {"NoDecay"}));
  Job j = w.start(1, 1, kStart);
  w.become(j, JobState::kCompleted, kStart + kHour);
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + 10 * kHour).of(TresTable::kCpu), 3600);
  EXPECT_LT(w.cpus_of(kTeam, kStart + 10 * kHour), 10);
}

TEST(UsageBook, GoesWithAnAccountThatMoves) {
  World w(kHour);
  w.start(1, 4, kStart);
  ADirectory moved = a_tree();
  for (AssociationRecord& a : moved.entities().associations)
    if (a.id == kCrew) a.parent_id = kOther, a.parent_account = "other";
  const Time then = kStart + seconds(100), later = then + seconds(50);
  const double before = w.cpus_of(kTeam, then);
  EXPECT_GT(before, 390);
  w.learn(moved, then);
  EXPECT_NEAR(w.cpus_of(kTeam, then), 0, 1e-9);
  EXPECT_NEAR(w.cpus_of(kOther, then), before, 1e-9);
  EXPECT_NEAR(w.cpus_of(kOther, later), w.cpus_of(kAlice, later), 1e-9);
  EXPECT_NEAR(w.cpus_of(1, later), w.cpus_of(kAlice, later), 1e-9) << "root's has not changed by it";
}

TEST(UsageBook, StaysWithThoseAboveAnAssociationThatIsRemoved) {
  World w;
  Job j = w.start(1, 4, kStart);
  w.become(j, JobState::kCompleted, kStart + seconds(10));
  AccountChanges gone;
  gone.removed_associations = {kAlice};
  w.c.learn_accounts(gone, kStart + seconds(10));
  EXPECT_EQ(w.cpus_of(kAlice, kStart + seconds(10)), 0);
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(10)), 40);
}

TEST(UsageBook, IsResetForAnAssociationForAQosForAll) {
  World w;
  w.start(1, 4, kStart);
  const Time then = kStart + seconds(10);
  w.c.reset_usage_of_association(kCrew, then);
  for (uint32_t id : {kAlice, kCrew, kTeam, 1u}) EXPECT_EQ(w.cpus_of(id, then), 0) << id;
  EXPECT_EQ(w.cpus_of(kTeam, then + seconds(1)), 4) << "what runs goes on using";
  EXPECT_EQ(w.c.used_by_qos("fast", then).of(TresTable::kCpu), 40);
  w.c.reset_usage_of_qos("fast", then);
  EXPECT_EQ(w.c.used_by_qos("fast", then).of(TresTable::kCpu), 0);
  w.c.reset_usage(then + seconds(5));
  EXPECT_EQ(w.cpus_of(1, then + seconds(5)), 0);
  EXPECT_EQ(w.c.usage_rule.last_reset, then + seconds(5));
}

TEST(UsageBook, AClockThatStepsBackTakesNothingAway) {
  World w(kHour);
  Job j = w.start(1, 4, kStart);
  Job other = w.start(2, 1, kStart + seconds(100));
  const double then = w.cpus_of(kTeam, kStart + seconds(100));
  w.become(other, JobState::kCompleted, kStart + seconds(50));
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(50)), then);
  EXPECT_GT(w.cpus_of(kTeam, kStart + seconds(60)), then + 39) << "and what runs counts at once";
  const double last = w.cpus_of(kTeam, kStart + seconds(50));
  w.become(j, JobState::kCompleted, kStart - 5 * kHour);
  EXPECT_EQ(w.cpus_of(kTeam, kStart - 5 * kHour), last);
  EXPECT_NEAR(w.cpus_of(kTeam, kStart - 4 * kHour), last / 2, 1e-9);
}

TEST(UsageBook, AQuotaIsNotFilledUpByTheReset) {
  World w(kHour, a_tree(1, {"NoDecay"}));
  w.start(1, 4, kStart);
  w.c.reset_usage(kStart + seconds(10));
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(10)), 0);
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + seconds(20)).of(TresTable::kCpu), 80);
}

TEST(UsageBook, AQosThatLosesNoDecayDecaysFromThenOn) {
  World w(kHour, a_tree(1, {"NoDecay"}));
  Job j = w.start(1, 1, kStart);
  w.become(j, JobState::kCompleted, kStart + kHour);
  w.learn(a_tree(), kStart + 10 * kHour);
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + 10 * kHour).of(TresTable::kCpu), 3600);
  EXPECT_NEAR(w.c.used_by_qos("fast", kStart + 11 * kHour).of(TresTable::kCpu), 1800, 1e-9);
}

TEST(UsageBook, AccountsThatGoAndComeLeaveNoRateBehind) {
  World w({}, a_tree(2));
  Job j = w.start(1, 4, kStart);
  w.c.forget_accounts();
  EXPECT_TRUE(w.c.ledger == w.c.counted_ledger());
  w.learn(a_tree(2), kStart + seconds(10));
  EXPECT_TRUE(w.c.ledger == w.c.counted_ledger());
  EXPECT_EQ(w.c.used_by_qos("fast", kStart + seconds(20)).of(TresTable::kCpu), 80) << "from when they came";
  w.become(j, JobState::kCompleted, kStart + seconds(20));
  EXPECT_EQ(w.cpus_of(kTeam, kStart + seconds(100)), 80);
}

TEST(UsageBook, IsStoredByName) {
  World w(kHour);
  w.c.know_tres({"gres/gpu"});
  Job j = w.start(1, 4, kStart);
  w.become(j, JobState::kCompleted, kStart + seconds(10));
  UsageBook restored;
  for (const StoredSpent& s : stored(w.c.usage, w.c.tres_table())) put_stored(restored, s, w.c.tres_table());
  EXPECT_TRUE(restored == w.c.usage);
  TresTable other;
  UsageBook book;
  put_stored(book, {7, "", kStart, std::nan(""), {"cpu", "gres/none", "mem"}, {5, 6, -1}}, other);
  ASSERT_TRUE(book.association(7));
  EXPECT_EQ(*book.association(7), (Spent{kStart, 0, {5}}));
}

}  // namespace
}  // namespace muster
