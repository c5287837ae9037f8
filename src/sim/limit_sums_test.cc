#include "sim/limit_sums.h"

#include <gtest/gtest.h>

#include "sched/testing.h"
#include "sim/usage_sums.h"

namespace muster::sim {
namespace {

using namespace muster::sched;
using enum LimitKind;

const Time kNow = from_unix(1'000'000);

// root 1 · team 2 · ann 3, bob 4; the QOS fast, of the partition too.
Cluster with_accounts() {
  Cluster c = a_cluster().nodes(2).cpus(4).partition([](Partition& p) { p.qos = "night"; }).build();
  AccountChanges changes;
  const std::tuple<const char*, const char*, uint32_t> all[] = {{"root", "", 0}, {"team", "", 1}, {"team", "ann", 2}, {"team", "bob", 2}};
  for (const auto& [account, user, parent] : all) {
    AssociationRecord& a = changes.associations.emplace_back();
    a.id = static_cast<uint32_t>(changes.associations.size());
    a.account = account;
    a.user = user;
    a.parent_id = parent;
  }
  changes.associations[1].limits = {{kGrpTres, "cpu", 6}, {kMaxWall, "", 30}, {kGrpJobs, "", 2}};
  changes.associations[2].limits = {{kMaxWall, "", 20}, {kMaxJobs, "", 1}};
  changes.qos.emplace_back().name = "fast";
  changes.qos.emplace_back().name = "night";
  changes.qos[0].limits = {{kGrpJobs, "", 5}, {kMaxJobsPerUser, "", 4}};
  changes.qos[1].limits = {{kGrpJobs, "", 3}};
  auto directory = std::make_shared<AccountDirectory>();
  directory->learn(changes);
  c.directory = directory;
  return c;
}

JobBuilder of(const char* user) {
  return a_job().nodes(1).cpus_per_task(2).minutes(30).with([&](JobRequest& r) {
    r.user_name = user;
    r.uid = Uid(user[0]);
    r.account = "team";
    r.qos = "fast";
  });
}

JobId start(Cluster& c, const char* user, uint32_t association) {
  const JobId job = submit(c, of(user));
  Allocation a;
  a.nodes.push_back({NodeId(0), Bitmap(2, true), 100});
  a.licenses = {{"tool", 1}};
  Job* j = c.jobs.edit(job.value);
  j->state = JobState::kRunning;
  j->association = association;
  j->allocation = std::make_shared<const Allocation>(std::move(a));
  j->started = kNow;
  j->ends = kNow + minutes(30);
  return job;
}

std::vector<std::string> texts(const std::vector<BoundBy>& bounds) {
  std::vector<std::string> out;
  for (const BoundBy& b : bounds)
    out.push_back(b.whom() + " " + std::to_string(static_cast<int>(b.limit.kind)) + " " + std::to_string(b.limit.value));
  return out;
}

TEST(LimitSums, TheFirstThatIsSetApplies) {
  const Cluster c = with_accounts();
  const std::vector<BoundBy> bounds = bounds_of(c, of("ann").request, 3, c.partitions.at(0));
  EXPECT_EQ(texts(bounds), (std::vector<std::string>{"QOS night 1 3", "QOS fast 18 4", "account team ann 11 20", "account team  5 6"}));
}

TEST(LimitSums, CountThoseWhomTheLimitIsAbout) {
  Cluster c = with_accounts();
  start(c, "ann", 3);
  start(c, "bob", 4);
  submit(c, of("ann"));
  const RequestBody ann = of("ann").request;
  const BoundBy team{{kGrpTres, "cpu", 6}, nullptr, c.directory->associations.find(2)};
  const LimitSums sums(c, team, ann);
  EXPECT_EQ(sums.held("cpu"), 4u);
  EXPECT_EQ(sums.held("mem"), 200u);
  EXPECT_EQ(sums.held("node"), 1u);
  EXPECT_EQ(sums.held("billing"), 4u);
  EXPECT_EQ(sums.held("license/tool"), 2u);
  EXPECT_EQ(sums.running(), 2u);
  EXPECT_EQ(sums.run_minutes("cpu", kNow + minutes(10), false), 80u);
  const BoundBy user{{kMaxJobsPerUser, "", 4}, c.directory->qos.find("fast"), nullptr};
  EXPECT_EQ(LimitSums(c, user, ann).running(), 1u);
  const BoundBy own{{kMaxJobs, "", 1}, nullptr, c.directory->associations.find(4)};
  EXPECT_EQ(LimitSums(c, own, ann).running(), 1u);
}

TEST(UsageSums, DecayAndStandStill) {
  Cluster c = with_accounts();
  const JobId job = start(c, "ann", 3);
  const BoundBy team{{kGrpTresMins, "cpu", 6}, nullptr, c.directory->associations.find(2)};
  const RequestBody ann = of("ann").request;
  const LimitSums counts(c, team, ann);
  event::JobStarted started;
  started.job = job;
  started.time = kNow;
  started.association = 3;
  started.allocation = c.jobs.at(job.value).allocation;
  event::JobSuspended stopped{job, false, kNow + minutes(10)}, resumed{job, true, kNow + minutes(20)};
  event::JobEnding ending;
  ending.job = job;
  ending.time = kNow + minutes(25);
  for (const Duration half_life : {Duration{}, Duration(minutes(60))}) {
    UsageSums usage(half_life);
    usage.take(started, c);
    EXPECT_NEAR(usage.minutes(counts, "cpu", kNow + minutes(10)), half_life == Duration{} ? 20 : 20 * (1 - 0.0563), 0.05);
    usage.take(stopped, c);
    usage.take(resumed, c);
    usage.take(ending, c);
    const double all = usage.minutes(counts, "", kNow + minutes(85));
    if (half_life == Duration{}) EXPECT_DOUBLE_EQ(all, 15);
    else EXPECT_NEAR(all, 60 / 0.6931 * (0.4204 - 0.3746 + 0.5 - 0.4719), 0.05);
    usage.take(event::UsageReset{}, c);
    EXPECT_TRUE(usage.empty());
  }
}

}  // namespace
}  // namespace muster::sim
