// Roll-ups: what an hour gets of a job, what a cluster's hour is divided into, who sees what, and that any roll-up equals a recount.
#include "slurmdbd/core/usage_roll.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "model/reservation.h"
#include "model/tres_sums.h"
#include "slurmdbd/core/record_rights.h"

namespace muster::slurmdbd {
namespace {

Time at(int64_t minute) { return from_unix(1'700'002'800) + minutes(minute); }  // a full hour
std::vector<Time> hours(int n) {
  std::vector<Time> out;
  for (int i = 0; i <= n; ++i) out.push_back(at(60 * i));
  return out;
}
TresAmounts amounts(const char* text) { return TresAmounts::from_text(text); }

JobRecord job(int64_t from, int64_t until, const char* tres = "cpu=2,gres/gpu=1") {
  JobRecord j;
  j.state = JobState::kCompleted;
  j.account = "a";
  j.user = "u";
  j.eligible = j.started = at(from);
  j.ended = at(until);
  j.tres_allocated = j.tres_requested = amounts(tres);
  return j;
}
EventRecord cluster(int64_t from, int64_t until, const char* tres) {
  EventRecord e;
  e.started = at(from);
  if (until >= 0) e.ended = at(until);
  e.tres = amounts(tres);
  return e;
}
EventRecord node(int64_t from, int64_t until, const char* tres) {
  EventRecord e = cluster(from, until, tres);
  e.node = "n1";
  e.state = NodeState::kDown;
  return e;
}

TEST(UsageRoll, AJobIsCutAtTheEdgesOfHours) {
  UsageRoll roll(hours(3));
  roll.add(job(30, 150));
  const std::vector<Usage> got = roll.take();
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(got[i].entries.size(), 1u);
    EXPECT_EQ(got[i].entries[0].key, (UsageKey{"a", "u", "", "", "", false}));
    EXPECT_EQ(tres_text(got[i].entries[0].used), i == 1 ? "cpu=7200,gres/gpu=3600" : "cpu=3600,gres/gpu=1800");
  }
}

TEST(UsageRoll, EnergyIsSpreadOverAJobsTimeAndNoneIsLost) {
  const auto of_hours = [](std::vector<Time> edges, Time running = kTimeUnset) {
    UsageRoll roll(std::move(edges));
    JobRecord j = job(30, 150);
    if (running == kTimeInfinite) j.ended = kTimeUnset, j.state = JobState::kRunning;
    roll.add(j, 1'000'001);
    return roll.take();
  };
  const std::vector<Usage> got = of_hours(hours(3));
  EXPECT_EQ(*got[0].entries[0].used.energy, 250'000u);
  EXPECT_EQ(*got[1].entries[0].used.energy, 500'000u);
  EXPECT_EQ(*got[2].entries[0].used.energy, 250'001u);
  EXPECT_EQ(got[1].cluster.reported.energy, got[1].entries[0].used.energy) << "100 % of it is what all jobs took";
  EXPECT_EQ(got[1].cluster.allocated.energy, got[1].entries[0].used.energy);
  EXPECT_EQ(of_hours({at(60), at(120)})[0].entries, got[1].entries) << "an hour by itself";
  EXPECT_EQ(of_hours(hours(1), kTimeInfinite)[0].entries[0].used.energy, std::nullopt) << "what it takes is known when it has ended";
  UsageSum sum;
  for (const Usage& u : got) sum.add(u);
  EXPECT_EQ(*sum.take().entries[0].used.energy, 1'000'001u);
}

// TrackSlurmctldDown: whatever no job had.
TEST(UsageRoll, WhileItsControllerIsAwayWhatIsIdleIsDown) {
  UsageRoll roll(hours(2));
  roll.add(cluster(-100, -1, "cpu=10"));
  roll.add(job(0, 60, "cpu=4"));
  roll.add(node(0, 60, "cpu=2"));
  EventRecord away = cluster(30, 90, "cpu=10");
  away.state = NodeState::kDown;
  roll.add(away);
  const std::vector<Usage> got = roll.take();
  EXPECT_EQ(tres_text(got[0].cluster.reported), "cpu=36000");
  EXPECT_EQ(tres_text(got[0].cluster.allocated), "cpu=14400");
  EXPECT_EQ(tres_text(got[0].cluster.down), "cpu=21600") << "no more than what is left";
  EXPECT_EQ(tres_text(got[1].cluster.down), "cpu=18000");
}

TEST(UsageRoll, AClustersHourIsDividedIntoWhatItWasGivenTo) {
  UsageRoll roll(hours(1));
  roll.add(cluster(-100, -1, "cpu=10"));
  roll.add(job(0, 60, "cpu=4"));
  roll.add(node(30, -1, "cpu=2"));
  EventRecord off = node(0, 60, "cpu=1");
  off.state = NodeState::kFuture;
  roll.add(off);
  JobRecord waiting = job(0, 0, "cpu=6");
  waiting.state = JobState::kPending;
  waiting.started = waiting.ended = kTimeUnset;
  roll.add(waiting);
  const ClusterTime c = roll.take()[0].cluster;
  EXPECT_EQ(tres_text(c.reported), "cpu=36000");
  EXPECT_EQ(tres_text(c.allocated), "cpu=14400");
  EXPECT_EQ(tres_text(c.down), "cpu=3600");
  EXPECT_EQ(tres_text(c.planned_down), "cpu=3600");
  EXPECT_EQ(tres_text(c.planned), "cpu=14400");  // all that was left
  EXPECT_EQ(tres_text(c.over_committed), "cpu=7200");
  EXPECT_EQ(tres_text(c.count), "cpu=10");
}

TEST(UsageRoll, DrainingNodesAreDownOnceTheirLastJobIsGone) {
  EventRecord e = node(0, 60, "cpu=1");
  e.state = NodeState::kIdle;
  e.flags = kNodeDrain;
  e.in_use = true;
  EXPECT_FALSE(e.down());
  e.in_use = false;
  EXPECT_TRUE(e.down());
}

TEST(UsageRoll, PartsNeverExceedTheWhole) {
  UsageRoll roll(hours(1));
  roll.add(cluster(0, 30, "cpu=10"));  // half an hour of it
  roll.add(job(0, 60, "cpu=100"));
  roll.add(node(0, 60, "cpu=100"));
  const Usage got = roll.take()[0];
  EXPECT_EQ(tres_text(got.cluster.reported), "cpu=18000");
  EXPECT_EQ(got.cluster.allocated, got.cluster.reported);
  EXPECT_EQ(tres_text(got.cluster.down), "cpu=0");
  EXPECT_TRUE(got.cluster.count.empty());
  EXPECT_EQ(tres_text(got.entries[0].used), "cpu=360000");  // what jobs used is not cut down
}

TEST(UsageRoll, IdleReservationsAreTheirHolders) {
  ReservationRecord r;
  r.name = "course";
  r.started = at(0);
  r.ended = at(60);
  r.tres = amounts("cpu=10");
  JobRecord in = job(0, 60, "cpu=4");
  in.reservation = "course";
  UsageRoll roll(hours(2));
  roll.add(cluster(0, -1, "cpu=20"));
  roll.add(r, {{"b", "", "normal", "", "", false}, {"c", "", "normal", "", "", false}});
  roll.add(in);
  const std::vector<Usage> got = roll.take();
  ASSERT_EQ(got[0].entries.size(), 3u);
  EXPECT_EQ(tres_text(got[0].entries[1].used), "cpu=10800");  // half of 6 CPUs each
  EXPECT_EQ(got[0].entries[1].key.account, "b");
  EXPECT_EQ(tres_text(got[0].cluster.allocated), "cpu=36000");
  EXPECT_TRUE(got[1].entries.empty());

  for (const uint64_t flags : {uint64_t{kResvMaint}, kResvMaint | kResvIgnoreJobs}) {
    r.flags = flags;
    UsageRoll maintenance(hours(1));
    maintenance.add(cluster(0, -1, "cpu=20"));
    maintenance.add(r, {});
    const ClusterTime c = maintenance.take()[0].cluster;
    EXPECT_EQ(tres_text(c.planned_down), flags == kResvMaint ? "cpu=36000" : "cpu=0");
    EXPECT_EQ(tres_text(c.allocated), "cpu=0");
  }
}

TEST(UsageRoll, PendingTasksOfArraysWaitEach) {
  JobRecord waiting = job(0, 0, "cpu=1");
  waiting.state = JobState::kPending;
  waiting.started = waiting.ended = kTimeUnset;
  waiting.array_tasks = "0-9%2";
  UsageRoll roll(hours(1));
  roll.add(cluster(0, -1, "cpu=20"));
  roll.add(waiting);
  EXPECT_EQ(tres_text(roll.take()[0].cluster.planned), "cpu=36000");
}

// Whatever the jobs are, the sum of the hours is the sum of the jobs, and days and months are sums of hours.
TEST(UsageRoll, EqualsARecount) {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    UsageRoll roll(hours(100));
    std::map<UsageKey, TresAmounts> counted;
    for (int i = 0; i < 200; ++i) {
      JobRecord j = job(static_cast<int64_t>(random.uniform(0, 7000 - 1)) - 500, 0);
      j.ended = j.started + seconds(static_cast<int64_t>(random.uniform(0, 200'000 - 1)));
      if (random.uniform(0, 8 - 1) == 0) j.ended = kTimeUnset, j.state = JobState::kRunning;
      if (random.uniform(0, 6 - 1) == 0) j.suspended_total = seconds(static_cast<int64_t>(random.uniform(0, 10'000 - 1)));
      if (random.uniform(0, 5 - 1) == 0) j.state = j.ended == kTimeUnset ? j.state : JobState::kFailed;
      j.account = std::string(1, static_cast<char>('a' + random.uniform(0, 4 - 1)));
      j.user = "u" + std::to_string(random.uniform(0, 5 - 1));
      j.tres_allocated.cpus = random.uniform(0, 100 - 1);
      roll.add(j);
      const Time from = std::max(at(0), j.started);
      Time until = j.ended == kTimeUnset ? at(6000) : j.ended - j.suspended_total;
      until = std::min(at(6000), until);
      if (until > from)
        add_tres(counted[{j.account, j.user, "", "", "", came_to_nothing(j)}], j.tres_allocated,
                 static_cast<uint64_t>(to_seconds(until - from)));
    }
    UsageSum sum;
    for (const Usage& u : roll.take()) sum.add(u);
    const Usage total = sum.take();
    ASSERT_EQ(total.entries.size(), counted.size());
    for (const UsageEntry& e : total.entries) ASSERT_EQ(e.used, counted.at(e.key)) << e.key.account << " " << e.key.user;
  }
}

TEST(UsageSelection, FiltersAndSums) {
  Usage usage;
  for (const char* user : {"alice", "bob"})
    for (const char* account : {"x", "y"}) usage.entries.push_back({{account, user, "normal", "", "", false}, amounts("cpu=1")});
  std::ranges::sort(usage.entries, {}, &UsageEntry::key);
  auto select = [&](uint32_t parts, std::vector<std::string> accounts, RecordAudience who) {
    rpc::QueryUsage q;
    q.parts = parts;
    q.accounts = std::move(accounts);
    UsageSelection s(q, "c", std::move(who));
    s.add(usage);
    std::string out;
    for (const UsageEntry& e : s.take().entries) out += e.key.account + "/" + e.key.user + "=" + tres_text(e.used) + " ";
    return out;
  };
  EXPECT_EQ(select(0, {}, RecordAudience::everybody()), "/=cpu=4 ");
  EXPECT_EQ(select(kUsageAccount, {}, RecordAudience::everybody()), "x/=cpu=2 y/=cpu=2 ");
  EXPECT_EQ(select(kUsageAccount | kUsageUser, {"y"}, RecordAudience::everybody()), "y/alice=cpu=1 y/bob=cpu=1 ");
  // PrivateData=usage: also where users are not asked apart.
  EXPECT_EQ(select(0, {}, {.all = false, .user = "bob"}), "/=cpu=2 ");
  EXPECT_EQ(select(kUsageAccount | kUsageUser, {}, {.all = false, .user = "bob", .accounts = {{"c", {"x"}}}}),
            "x/alice=cpu=1 x/bob=cpu=1 y/bob=cpu=1 ");
  EXPECT_EQ(select(0, {}, {.all = false, .user = "bob", .accounts = {{"other", {"x"}}}}), "/=cpu=2 ") << "of another cluster";
  EXPECT_EQ(select(0, {}, {.all = false, .user = "' OR 1=1 --"}), "");
}

TEST(RecordAudience, CoordinatorsSeeTheirAccounts) {
  Directory d = initial_directory(at(0));
  Touched t;
  add_cluster(d, "c", "", at(0), t);
  auto account = [&](uint32_t id, const char* name, const char* parent, uint32_t parent_id) {
    AssociationRecord a;
    a.id = id;
    a.cluster = "c";
    a.account = name;
    a.parent_account = parent;
    a.parent_id = parent_id;
    d.associations[id] = a;
  };
  account(100, "lab", "root", d.association("c", "root")->id);
  account(101, "team", "lab", 100);
  account(102, "other", "root", d.association("c", "root")->id);
  d.users["carol"].name = "carol";
  d.users["carol"].coordinator_of = {"lab"};
  Settings s;
  const RecordAudience who = record_audience(d, s, Uid(7), "carol");
  EXPECT_FALSE(who.all);
  EXPECT_EQ(who.accounts, (decltype(who.accounts){{"c", {"lab", "team"}}}));
  EXPECT_TRUE(who.sees(Uid(7), "c", "other") && who.sees(Uid(8), "c", "team"));
  EXPECT_FALSE(who.sees(Uid(8), "c", "other") || who.sees(Uid(8), "d", "team"));
  EXPECT_FALSE(who.sees("", "c", "other")) << "what is nobody's is not hers";
  EXPECT_TRUE(record_audience(d, s, Uid(7), "nobody").accounts.empty());
  s.coordinators = false;
  EXPECT_TRUE(record_audience(d, s, Uid(7), "carol").accounts.empty()) << "DisableCoordDBD";
}

struct Utc {
  Utc() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST(Stretches, TheLongestRollUpsThatFit) {
  const Utc utc;
  auto day = [](int month, int day, int hour = 0) {
    tm t{};
    t.tm_year = 126;
    t.tm_mon = month - 1;
    t.tm_mday = day;
    t.tm_hour = hour;
    return from_unix(timegm(&t));
  };
  using P = UsagePeriod;
  using List = std::vector<UsageStretch>;
  const Time now = day(12, 31);
  EXPECT_EQ(stretches(day(1, 1), day(3, 1), now), (List{{P::kMonth, day(1, 1), day(3, 1)}}));
  EXPECT_EQ(stretches(day(1, 1, 3), day(3, 2, 4), now), (List{{P::kHour, day(1, 1, 3), day(1, 2)},
                                                              {P::kDay, day(1, 2), day(2, 1)},
                                                              {P::kMonth, day(2, 1), day(3, 1)},
                                                              {P::kDay, day(3, 1), day(3, 2)},
                                                              {P::kHour, day(3, 2), day(3, 2, 4)}}));
  EXPECT_EQ(stretches(day(1, 1), day(1, 3), day(1, 2, 5)), (List{{P::kDay, day(1, 1), day(1, 2)}, {P::kHour, day(1, 2), day(1, 3)}}));
  EXPECT_TRUE(stretches(day(2, 1), day(1, 1), now).empty());
  EXPECT_LE(stretches(from_unix(0), from_unix(32'000'000'000), from_unix(32'000'000'000)).size(), 5u);  // a thousand years
}

}  // namespace
}  // namespace muster::slurmdbd
