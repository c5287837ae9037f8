#include <gtest/gtest.h>

#include "model/account_directory.h"
#include "sched/pass/random_world.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);  // on the grid of backfill

Plan quick(Cluster& c, const Params& params = {}) { return Planner().plan(c, params, kNow, Pass::kQuick); }
Plan full(Cluster& c, const Params& params = {}) { return Planner().plan(c, params, kNow, Pass::kFull); }

std::vector<JobId> submit_together(Cluster& c, const std::vector<JobBuilder>& components, Time now = kNow) {
  std::vector<JobId> ids;
  for (const JobBuilder& b : components) ids.push_back(submit(c, b, now));
  join(c, ids);
  return ids;
}

TEST(Together, ComponentsStartInOneItem) {
  for (const Pass pass : {Pass::kQuick, Pass::kFull}) {
    Cluster c = a_cluster().nodes(3).cpus(4).build();
    const auto ids = submit_together(c, {a_job().nodes(1).exclusive(), a_job().nodes(2).exclusive()});
    const Plan p = Planner().plan(c, {}, kNow, pass);
    ASSERT_EQ(p.starts.size(), 1u);
    EXPECT_EQ(p.starts[0].job, ids[0]);
    ASSERT_EQ(p.starts[0].together.size(), 1u);
    EXPECT_EQ(p.starts[0].together[0].job, ids[1]);
    EXPECT_EQ(p.starts[0].together[0].allocation->nodes.size(), 2u);
    EXPECT_TRUE(p.verdicts.empty());
  }
}

TEST(Together, NoneStartsWhereOneHasNoRoom) {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  submit(c, a_job().nodes(1).exclusive().minutes(30));
  apply_starts(c, quick(c), kNow);
  const auto ids = submit_together(c, {a_job().nodes(1).exclusive().minutes(10), a_job().nodes(2).exclusive().minutes(10)});
  Plan p = quick(c);
  EXPECT_TRUE(p.starts.empty());
  p = full(c);
  EXPECT_TRUE(p.starts.empty());
  for (JobId id : ids) {
    ASSERT_TRUE(verdict_of(p, id));
    EXPECT_EQ(verdict_of(p, id)->reason, Reason::kResources);
    EXPECT_EQ(verdict_of(p, id)->expected_start, kNow + minutes(30));
  }
}

TEST(Together, TheyMayShareANodeNow) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  submit_together(c, {a_job().tasks(2), a_job().tasks(2)});
  const Plan p = quick(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].allocation->nodes[0].cpus.to_ranges(), "0-1");
  EXPECT_EQ(p.starts[0].together[0].allocation->nodes[0].cpus.to_ranges(), "2-3");
}

// n0 and n1 are full for five minutes, n2 is idle and promised to a job that wants all three then.
struct BehindAPromise {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  JobId wide;
  explicit BehindAPromise(uint32_t tasks_on_each) {
    submit(c, a_job().nodes(2).exclusive().minutes(5), kNow);
    apply_starts(c, quick(c), kNow);
    wide = submit(c, a_job().nodes(3).tasks(3 * tasks_on_each).tasks_per_node(tasks_on_each).minutes(30).priority(2000));
  }
  size_t started(uint32_t first, uint32_t second, uint32_t limit) {
    submit_together(c, {a_job().tasks(first).minutes(limit), a_job().tasks(second).minutes(limit)});
    const Plan plan = full(c);
    EXPECT_EQ(verdict_of(plan, wide)->expected_start, kNow + minutes(5));
    apply_starts(c, plan, kNow);
    EXPECT_EQ(verdict_of(full(c), wide)->expected_start, kNow + minutes(5)) << "it was delayed";
    return plan.starts.size();
  }
};

TEST(Together, TheyShareANodeBesideAPromise) {
  EXPECT_EQ(BehindAPromise(4).started(1, 1, 1), 1u);   // they are over when it begins
  EXPECT_EQ(BehindAPromise(4).started(1, 1, 60), 0u);  // it wants the whole node
  EXPECT_EQ(BehindAPromise(2).started(1, 1, 60), 1u);  // it leaves two CPUs
  EXPECT_EQ(BehindAPromise(3).started(1, 1, 60), 0u);  // and only one: each would fit, not both
}

// Where no nodes apart are to be had, each has its place kept, and the job is not passed over for ever.
TEST(Together, WhereOnlySharedNodesWouldDoTheyHavePlacesOneAfterTheOther) {
  Cluster c = a_cluster().nodes(1).cpus(4).build();
  const JobId running = submit(c, a_job().tasks(4).minutes(30));
  apply_starts(c, quick(c), kNow);
  const auto ids = submit_together(c, {a_job().tasks(2).minutes(10), a_job().tasks(2).minutes(10)});
  const JobId behind = submit(c, a_job().tasks(4).minutes(60).priority(1));
  const Plan p = full(c);
  for (JobId id : ids) EXPECT_EQ(verdict_of(p, id)->expected_start, kNow + minutes(30));
  EXPECT_GE(verdict_of(p, behind)->expected_start, kNow + minutes(40));
  end_job(c, running, kNow);
  EXPECT_EQ(quick(c).starts.size(), 1u);
}

TEST(Together, TooMuchTogetherThoughEachWouldFit) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  const auto ids = submit_together(c, {a_job().nodes(2).exclusive(), a_job().tasks(1)});
  const Plan p = full(c);
  EXPECT_TRUE(p.starts.empty());
  for (JobId id : ids) {
    EXPECT_EQ(verdict_of(p, id)->reason, Reason::kBadConstraints);
    EXPECT_EQ(verdict_of(p, id)->expected_start, Time{});
    EXPECT_EQ(verdict_of(p, id)->detail, "the components together would not fit if all nodes were idle");
  }
  // It keeps nothing from those behind it.
  const JobId behind = submit(c, a_job().nodes(2).exclusive().priority(1));
  const Plan with = full(c);
  ASSERT_EQ(with.starts.size(), 1u);
  EXPECT_EQ(with.starts[0].job, behind);
}

// Each is chosen for beside those before it. Of the two nodes the first component may have either, the second only one.
TEST(Together, TheOneThatFindsNothingGoesFirst) {
  for (const char* only : {"n1", "n2"}) {
    Cluster c = a_cluster().nodes(2).cpus(4).build();
    const auto ids = submit_together(c, {a_job().nodes(1).exclusive(), a_job().nodes(1).exclusive().nodelist(only)});
    for (const Pass pass : {Pass::kQuick, Pass::kFull}) {
      const Plan p = Planner().plan(c, {}, kNow, pass);
      ASSERT_EQ(p.starts.size(), 1u) << only;
      EXPECT_EQ(p.starts[0].job, ids[0]);
      EXPECT_NE(p.starts[0].allocation->nodes[0].node, p.starts[0].together[0].allocation->nodes[0].node);
    }
  }
}

TEST(Together, WithoutBackfillNobodyWaitsBehindWhatNeverFits) {
  Cluster c = a_cluster().nodes(2).cpus(4).build();
  Params params;
  params.backfill = false;
  const auto ids = submit_together(c, {a_job().nodes(2).exclusive(), a_job().tasks(1)});
  const JobId behind = submit(c, a_job().tasks(1).priority(1));
  for (const Pass pass : {Pass::kQuick, Pass::kFull}) {
    const Plan p = Planner().plan(c, params, kNow, pass);
    ASSERT_EQ(p.starts.size(), 1u);
    EXPECT_EQ(p.starts[0].job, behind);
    EXPECT_EQ(verdict_of(p, ids[0])->reason, Reason::kBadConstraints);
  }
}

TEST(Together, AJobBehindFillsWhatTheyLeave) {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  submit(c, a_job().nodes(2).exclusive().minutes(30));
  apply_starts(c, quick(c), kNow);
  const auto ids = submit_together(c, {a_job().nodes(1).exclusive().minutes(60), a_job().nodes(2).exclusive().minutes(60)});
  const JobId shorter = submit(c, a_job().nodes(1).exclusive().minutes(20).priority(1));
  const JobId longer = submit(c, a_job().nodes(1).exclusive().minutes(40).priority(1));
  const Plan p = full(c);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, shorter);
  EXPECT_GE(verdict_of(p, longer)->expected_start, kNow + minutes(90));
  EXPECT_EQ(verdict_of(p, ids[1])->expected_start, kNow + minutes(30));
}

TEST(Together, AComponentThatIsHeldHoldsTheOthersBack) {
  Cluster c = a_cluster().nodes(3).cpus(4).build();
  const auto ids = submit_together(c, {a_job().tasks(1), a_job().tasks(1)});
  Job* held = c.jobs.edit(ids[1].value);
  held->priority = 0;
  held->reason = Reason::kJobHeldUser;
  const Plan p = full(c);
  EXPECT_TRUE(p.starts.empty());
  EXPECT_EQ(verdict_of(p, ids[0])->reason, Reason::kJobHeldUser);
  EXPECT_EQ(verdict_of(p, ids[0])->detail, "component " + std::to_string(ids[0].value) + "+1 of the job waits");
  EXPECT_EQ(verdict_of(p, ids[1])->reason, Reason::kJobHeldUser);
}

TEST(Together, TheirTurnIsThatOfTheHighestPriorityOrAsAskedFor) {
  using Turn = BackfillRules::HetTurn;
  for (const auto& [turn, first] : {std::pair(Turn::kMax, true), std::pair(Turn::kAvg, false), std::pair(Turn::kMin, false)}) {
    Cluster c = a_cluster().nodes(2).cpus(4).build();
    Params params;
    params.bf.het_turn = turn;
    const auto ids = submit_together(c, {a_job().nodes(1).exclusive().priority(100), a_job().nodes(1).exclusive().priority(10)});
    const JobId plain = submit(c, a_job().nodes(2).exclusive().priority(60));
    for (const Pass pass : {Pass::kQuick, Pass::kFull}) {
      const Plan p = Planner().plan(c, params, kNow, pass);
      ASSERT_EQ(p.starts.size(), 1u);
      EXPECT_EQ(p.starts[0].job, first ? ids[0] : plain);
    }
  }
}

// Where each would start by itself and nobody else is there, they start at once, or no start is within sight: they never wait for nodes that
// are idle already.
TEST(Together, NoneIsPromisedIdleNodesForLater) {
  size_t started = 0, waiting = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    RandomWorld w(seed);
    std::vector<JobBuilder> components;
    for (uint32_t i = 2 + w.roll(2); i > 0; --i) components.push_back(w.job().user(1));
    for (JobBuilder& one : components) one.with([](JobRequest& r) { r.switches = 0; });  // that waits for a while in any case
    const bool each = std::ranges::all_of(components, [&](const JobBuilder& one) {
      Cluster alone = w.cluster;
      submit(alone, one, kNow);
      return !Planner().plan(alone, w.params, kNow, Pass::kFull).starts.empty();
    });
    if (!each) continue;
    const auto ids = submit_together(w.cluster, components);
    const Plan p = Planner().plan(w.cluster, w.params, kNow, Pass::kFull);
    started += p.starts.size();
    waiting += p.starts.empty();
    if (!p.starts.empty()) continue;
    for (JobId id : ids) EXPECT_EQ(verdict_of(p, id)->expected_start, Time{}) << "seed " << seed << ", job " << id.value;
  }
  EXPECT_GE(started, 50u);
  EXPECT_GE(waiting, 5u);
}

// The first job's cores are more than the limit leaves; that says nothing of the second one, whose user is the same.
TEST(Together, ALimitThatHoldsOneJobBackIsAskedAgainOfTheNext) {
  Cluster c = a_cluster().nodes(2).layout(1, 4, 2).build();
  auto directory = std::make_shared<AccountDirectory>();
  AccountChanges changes;
  AssociationRecord own;
  own.id = 1;
  own.account = "team";
  own.user = "ann";
  own.limits = {{LimitKind::kGrpTres, "cpu", 5}};
  changes.associations = {own};
  directory->learn(changes);
  c.directory = directory;
  Params params;
  params.allocate_cores = params.enforcement.associations = params.enforcement.limits = true;
  auto of_ann = [](JobRequest& r) { r.user_name = "ann", r.account = "team"; };
  const JobBuilder large = a_job().nodes(1).cpus_per_task(5).priority(9).with(of_ann), small = a_job().tasks(1).priority(8).with(of_ann);
  const auto first = submit_together(c, {large, small}), second = submit_together(c, {small, small});
  const Plan p = full(c, params);
  ASSERT_TRUE(verdict_of(p, first[0]));
  EXPECT_EQ(verdict_of(p, first[0])->reason, Reason::kAssocGrpCpuLimit);
  ASSERT_EQ(p.starts.size(), 1u);
  EXPECT_EQ(p.starts[0].job, second[0]);
}

// In worlds of random jobs: nothing is handed out twice, all components start or none, and a planner that is kept says what a fresh one says.
TEST(Together, AllOrNoneInRandomWorlds) {
  size_t wholes = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    RandomWorld w(seed);
    Planner kept;
    Time now = kNow;
    for (int turn = 0; turn < 6; ++turn) {
      for (uint32_t i = w.roll(4); i > 0; --i) submit(w.cluster, w.job(), now);
      std::vector<JobBuilder> components;
      for (uint32_t i = 2 + w.roll(3); i > 0; --i) components.push_back(w.job());
      for (size_t i = 1; i < components.size(); ++i)
        components[i].with([](JobRequest& r) {  // only the first may ask for licences
          r.licenses.clear();
          if (r.tres_per_task.text().find("license") != std::string::npos) r.tres_per_task.clear();
        });
      submit_together(w.cluster, components, now);
      const Pass pass = w.roll(2) ? Pass::kFull : Pass::kQuick;
      const Plan plan = kept.plan(w.cluster, w.params, now, pass), fresh = Planner().plan(w.cluster, w.params, now, pass);
      ASSERT_EQ(plan.starts.size(), fresh.starts.size()) << "seed " << seed;
      for (const StartItem& item : plan.starts) {
        const HetPart het = w.cluster.jobs.at(item.job.value).het;
        ASSERT_EQ(item.together.size() + 1, het ? het.size : 1u) << "seed " << seed;
        wholes += !item.together.empty();
        std::vector<const StartItem*> all{&item};
        for (const StartItem& other : item.together) all.push_back(&other);
        for (size_t i = 0; i < all.size(); ++i) {
          if (het) {
            ASSERT_EQ(all[i]->job, het.component(static_cast<uint32_t>(i)));
          }
          const RequestBody& r = *w.cluster.jobs.at(all[i]->job.value).request;
          const auto fits = still_fits(w.cluster, w.params, r, *all[i], from_unix(1000000), 60);
          ASSERT_TRUE(fits.has_value()) << "seed " << seed << ", job " << all[i]->job.value << ": " << fits.error().message();
          apply_start(w.cluster, *all[i], now);
        }
      }
      now += minutes(10);
      std::vector<JobId> ends;
      w.cluster.jobs.for_each([&](uint32_t, const Job& j) {
        if (j.state == JobState::kRunning && w.roll(2)) ends.push_back(j.id);
      });
      for (JobId id : ends) end_job(w.cluster, id, now);
    }
  }
  EXPECT_GE(wholes, 10u);
}

}  // namespace
}  // namespace muster::sched
