// The ledger, kept by the change of each job, is what a count of all jobs says: through lives, and while the tree of accounts moves.
#include "model/ledger.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "model/account_directory_testing.h"
#include "model/cluster.h"

namespace muster {
namespace {

constexpr Uid kAlice{1000};

// root(1) above team(2) above crew(3), and other(4); alice(5) in crew, bob(6) in team.
ADirectory a_tree() {
  ADirectory d;
  d.qos("normal").qos("fast").account("root").account("team").account("crew", "team").account("other");
  d.user("alice", "crew").association("alice", "crew", {"normal", "fast"}).user("bob", "team").association("bob", "team", {"normal"});
  return d;
}

Cluster a_cluster(const ADirectory& accounts = a_tree()) {
  Cluster c;
  for (const AccountChanges& part : changes_to(nullptr, accounts.entities())) c.learn_accounts(part);
  return c;
}

AllocationPtr an_allocation(uint32_t nodes, uint32_t cpus, uint64_t gpus = 0, const std::string& type = "H100") {
  auto out = std::make_shared<Allocation>();
  for (uint32_t i = 0; i < nodes; ++i) {
    NodeShare& s = out->nodes.emplace_back();
    s.node = NodeId(i);
    s.cpus = Bitmap(cpus, true);
    s.mem_mb = 100;
    if (gpus) s.gres.push_back({"gpu", type, gpus, {}, {}});
  }
  return out;
}

Job a_job(uint32_t id, uint32_t association, const std::string& account = "crew", const std::string& qos = "fast", Uid uid = kAlice) {
  Job j;
  j.id = JobId(id);
  j.association = association;
  JobRequest r;
  r.uid = uid;
  r.account = account;
  r.qos = qos;
  j.ask(r);
  return j;
}

// Puts the job in the place of the one with its number, as apply does.
void put(Cluster& c, Job job) {
  const Job* old = c.jobs.find(job.id.value);
  const Charge was = old ? Charge::of(*old, c.partitions) : Charge(), is = Charge::of(job, c.partitions);
  c.jobs.set(job.id.value, std::move(job));
  c.recharge(was, is);
}

Job running(Job job, AllocationPtr allocation) {
  job.state = JobState::kRunning;
  job.allocation = std::move(allocation);
  job.array_tasks = nullptr;
  return job;
}

uint64_t held(const Cluster& c, const Holder& holder, const char* tres) { return c.ledger.use_of(holder).held[c.tres_table().find(tres)]; }

TEST(TresTable, NamesHaveOneIndexWhateverTheirCase) {
  TresTable t;
  EXPECT_EQ(t.find("cpu"), TresTable::kCpu);
  EXPECT_EQ(t.find("billing"), TresTable::kBilling);
  EXPECT_EQ(t.find("gres/gpu"), TresTable::kUnknown);
  NodeSpec node;
  node.gres.push_back({"gpu", "H100", 8, 0, false, {}, {}, {}, 0, false});
  EXPECT_FALSE(t.knows(tres_of(node)));
  t.learn(tres_of(node));
  t.learn({tres_of_license("matlab")});
  const uint32_t size = t.size();
  t.learn(tres_of(node));
  EXPECT_EQ(t.size(), size);
  EXPECT_EQ(t.name(t.find("gres/gpu:h100")), "gres/gpu:h100");
  auto with_license = std::make_shared<Allocation>(*an_allocation(2, 4, 3));
  with_license->licenses = {{"matlab", 5}, {"unheard", 1}};
  const TresCounts n = counts_of(*with_license, t);
  EXPECT_EQ(n[TresTable::kCpu], 8u);
  EXPECT_EQ(n[TresTable::kMem], 200u);
  EXPECT_EQ(n[TresTable::kNode], 2u);
  EXPECT_EQ(n[TresTable::kBilling], 8u);
  EXPECT_EQ(n[t.find("gres/gpu")], 6u);
  EXPECT_EQ(n[t.find("gres/gpu:h100")], 6u);
  EXPECT_EQ(n[t.find("license/matlab")], 5u);
}

TEST(TresCounts, StayWithinTheirRange) {
  TresCounts a, b;
  a.add(2, UINT64_MAX - 1);
  b.add(2, 5);
  b.add(0, 1);
  a.add(b);
  EXPECT_EQ(a[2], UINT64_MAX);
  EXPECT_EQ(a[0], 1u);
  EXPECT_EQ(a[9], 0u);
  b.take(a);
  EXPECT_TRUE(b.none());
  EXPECT_EQ(b, TresCounts());
}

TEST(Ledger, ANodeThatJobsShareCountsOnce) {
  Cluster c = a_cluster();
  put(c, running(a_job(1, 5), an_allocation(2, 1)));
  put(c, running(a_job(2, 5), an_allocation(3, 1)));
  put(c, running(a_job(3, 6, "team", "normal", Uid{1001}), an_allocation(4, 1)));
  EXPECT_EQ(held(c, Holder::association(5), "node"), 3u);
  EXPECT_EQ(held(c, Holder::association(2), "node"), 4u);
  EXPECT_EQ(held(c, Holder::qos("fast"), "node"), 3u);
  EXPECT_EQ(held(c, Holder::association(2), "cpu"), 9u);
  Job over = c.jobs.at(2);
  over.state = JobState::kCompleted;
  put(c, over);
  EXPECT_EQ(held(c, Holder::association(5), "node"), 2u);
  EXPECT_EQ(held(c, Holder::association(2), "node"), 4u);
}

TEST(Ledger, AJobCountsForItsAssociationAndThoseAboveIt) {
  Cluster c = a_cluster();
  put(c, a_job(1, 5));
  EXPECT_EQ(c.ledger.use_of(Holder::association(5)).submitted, 1u);
  EXPECT_EQ(c.ledger.use_of(Holder::association(1)).running, 0u);
  put(c, running(c.jobs.at(1), an_allocation(2, 4, 1)));
  for (uint32_t id : {5u, 3u, 2u, 1u}) {
    EXPECT_EQ(c.ledger.use_of(Holder::association(id)).running, 1u) << id;
    EXPECT_EQ(held(c, Holder::association(id), "gres/gpu:h100"), 2u) << id;
  }
  EXPECT_TRUE(c.ledger.use_of(Holder::association(4)).none());
  EXPECT_EQ(held(c, Holder::qos("fast"), "cpu"), 8u);
  EXPECT_EQ(held(c, Holder::user_of_qos("fast", kAlice), "cpu"), 8u);
  EXPECT_EQ(held(c, Holder::account_of_qos("fast", "crew"), "cpu"), 8u);
  EXPECT_EQ(held(c, Holder::user_of_partition(0, kAlice), "cpu"), 8u);
  Job over = c.jobs.at(1);
  over.state = JobState::kCompleted;  // nodes may still be busy with it
  put(c, over);
  EXPECT_EQ(c.ledger, Ledger());
}

TEST(Ledger, PendingTasksAreSubmittedAndASuspendedJobKeepsWhatItHas) {
  Cluster c = a_cluster();
  Job array = a_job(1, 5);
  auto tasks = std::make_shared<ArrayTasks>();
  tasks->pending = Bitmap(7, true);
  array.array_tasks = tasks;
  put(c, array);
  EXPECT_EQ(c.ledger.use_of(Holder::association(1)).submitted, 7u);
  EXPECT_EQ(c.ledger.use_of(Holder::qos("fast")).submitted, 7u);
  Job stopped = running(a_job(2, 5), an_allocation(1, 3));
  stopped.state = JobState::kSuspended;
  put(c, stopped);
  EXPECT_EQ(held(c, Holder::association(2), "cpu"), 3u);
  EXPECT_EQ(c.ledger.use_of(Holder::association(2)).running, 1u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
}

TEST(Ledger, WhatAnAssociationHasMovesWithItInTheTree) {
  Cluster c = a_cluster();
  put(c, running(a_job(1, 5), an_allocation(1, 4)));
  put(c, running(a_job(2, 6, "team"), an_allocation(1, 2)));
  auto of = [&](uint32_t id) { return held(c, Holder::association(id), "cpu"); };
  AccountChanges moved;
  AssociationRecord crew = *c.directory->associations.find(3), team = *c.directory->associations.find(2);
  crew.parent_id = 4;
  moved.associations = {crew};
  c.learn_accounts(moved);
  EXPECT_EQ(of(2), 2u);
  EXPECT_EQ(of(4), 4u);
  EXPECT_EQ(of(1), 6u);
  crew.parent_id = 1;  // both at once, one below the other's old place
  team.parent_id = 3;
  moved.associations = {team, crew};
  c.learn_accounts(moved);
  EXPECT_EQ(of(3), 6u);
  EXPECT_EQ(of(4), 0u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
  AccountChanges gone;
  gone.removed_associations = {3, 5};
  c.learn_accounts(gone);
  EXPECT_EQ(of(1), 0u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
  c.forget_accounts();
  EXPECT_EQ(of(6), 2u);
  EXPECT_EQ(of(2), 0u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
}

TEST(Ledger, ACopyStaysAsItWas) {
  Cluster c = a_cluster();
  put(c, running(a_job(1, 5), an_allocation(1, 4)));
  Ledger pass = c.ledger;
  pass.add(Charge::of(c.jobs.at(1), c.partitions), c.directory.get(), c.tres_table());
  EXPECT_EQ(pass.use_of(Holder::association(1)).running, 2u);
  EXPECT_EQ(c.ledger.use_of(Holder::association(1)).running, 1u);
}

TEST(Ledger, CountsForAreThoseThatItWasAddedTo) {
  Cluster c = a_cluster();
  const Charge charge = Charge::of(running(a_job(1, 5), an_allocation(1, 4)), {});
  EXPECT_TRUE(counts_for(charge, Holder::association(2), c.directory.get()));
  EXPECT_FALSE(counts_for(charge, Holder::association(4), c.directory.get()));
  EXPECT_TRUE(counts_for(charge, Holder::user_of_partition(0, kAlice), c.directory.get()));
  EXPECT_FALSE(counts_for(charge, Holder::user_of_qos("fast", Uid(1001)), c.directory.get()));
  EXPECT_FALSE(counts_for(Charge(), Holder::association(5), c.directory.get()));
}

// One of the things that happen to jobs and accounts.
void live(Cluster& c, Random& r) {
  const auto id = static_cast<uint32_t>(r.uniform(1, 12));
  const Job* old = c.jobs.find(id);
  const uint64_t what = r.uniform(0, 9);
  if (what == 0 && c.directory) {
    AccountChanges moved;
    for (uint32_t a : {3u, 5u, 6u})
      if (const AssociationRecord* record = c.directory->associations.find(a); record && r.chance(0.5)) {
        moved.associations.push_back(*record);
        moved.associations.back().parent_id = static_cast<uint32_t>(r.uniform(1, 4)) == 3 && a == 3 ? 1 : a == 3 ? 2 : a == 5 ? 3 : 4;
      }
    if (r.chance(0.2)) moved.removed_associations.push_back(static_cast<uint32_t>(r.uniform(2, 6)));
    return c.learn_accounts(moved);
  }
  if (what == 1) {
    if (r.chance(0.3)) return c.forget_accounts();
    const AccountDirectory* known = c.directory.get();
    for (const AccountChanges& part : changes_to(known, a_tree().entities())) c.learn_accounts(part);
    return;
  }
  if (!old || old->finished())
    return put(c, a_job(id, static_cast<uint32_t>(r.uniform(0, 6)), r.chance(0.5) ? "crew" : "team", r.chance(0.5) ? "fast" : "normal",
                        Uid(static_cast<uint32_t>(r.uniform(1000, 1002)))));
  Job next = *old;
  if (what == 2) next.state = JobState::kCancelled;
  else if (old->pending())
    next = running(next, an_allocation(static_cast<uint32_t>(r.uniform(1, 3)), 2, r.uniform(0, 2), r.chance(0.5) ? "a100" : ""));
  else if (what < 5) next.allocation = an_allocation(1, 1);  // it shrinks
  else if (what < 7) next.state = next.state == JobState::kSuspended ? JobState::kRunning : JobState::kSuspended;
  else next = a_job(id, old->association);  // again in the queue
  put(c, next);
}

TEST(Ledger, IsACountOfAllJobsThroughAnyLife) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random r(seed);
    Cluster c = a_cluster();
    for (int i = 0; i < 200; ++i) {
      live(c, r);
      ASSERT_TRUE(c.ledger == c.counted_ledger()) << "seed " << seed << ", change " << i;
    }
    Cluster again = c;
    again.ledger = {};
    again.recount_ledger();
    EXPECT_TRUE(again.ledger == c.ledger) << "seed " << seed;
  }
}

Partition a_partition(uint32_t index, const std::string& qos) {
  Partition p;
  p.index = index;
  p.name = "p" + std::to_string(index);
  p.qos = qos;
  return p;
}

TEST(Ledger, AJobCountsForTheQosOfItsPartitionOnceEach) {
  Cluster c = a_cluster();
  const Partition shared = a_partition(0, "Normal");
  c.change_partition(0, &shared);
  put(c, running(a_job(1, 5), an_allocation(1, 4)));
  put(c, running(a_job(2, 5, "crew", "normal"), an_allocation(1, 2)));
  EXPECT_EQ(held(c, Holder::qos("fast"), "cpu"), 4u);
  EXPECT_EQ(held(c, Holder::qos("normal"), "cpu"), 6u) << "the second job has it from both sides, and counts once";
  EXPECT_EQ(held(c, Holder::user_of_qos("normal", kAlice), "cpu"), 6u);
  EXPECT_EQ(held(c, Holder::account_of_qos("normal", "crew"), "cpu"), 6u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
}

TEST(Ledger, APartitionThatGetsAnotherQosTakesItsJobsAlong) {
  Cluster c = a_cluster();
  const Time start = from_unix(1'700'000'000), later = start + seconds(100);
  const Partition with = a_partition(0, "normal"), without = a_partition(0, "");
  c.change_partition(0, &without, start);
  Job j = running(a_job(1, 5), an_allocation(1, 4));
  j.started = start;
  const Charge none, is = Charge::of(j, c.partitions);
  c.jobs.set(1, j);
  c.recharge(none, is, start);
  EXPECT_TRUE(c.ledger.use_of(Holder::qos("normal")).none());
  c.change_partition(0, &with, later);
  EXPECT_EQ(held(c, Holder::qos("normal"), "cpu"), 4u);
  EXPECT_EQ(c.used_by_qos("normal", later + seconds(10)).of(TresTable::kCpu), 40) << "from then on";
  EXPECT_EQ(c.used_by_qos("fast", later + seconds(10)).of(TresTable::kCpu), 440);
  c.change_partition(0, nullptr, later + seconds(10));
  EXPECT_TRUE(c.ledger.use_of(Holder::qos("normal")).none());
  EXPECT_EQ(c.used_by_qos("normal", later + seconds(99)).of(TresTable::kCpu), 40) << "it stays used";
  EXPECT_EQ(c.ledger, c.counted_ledger());
}

TEST(Ledger, CountsWhichOfThoseThatWaitGrowInPriority) {
  Cluster c = a_cluster();
  Job j = a_job(1, 5);
  put(c, j);
  j.accrues = kTimeInfinite;
  put(c, j);
  EXPECT_EQ(c.ledger.use_of(Holder::association(2)).accruing, 0u);
  j.accrues = from_unix(1'700'000'000);
  put(c, j);
  for (const Holder& h : {Holder::association(2), Holder::qos("fast"), Holder::user_of_qos("fast", kAlice)})
    EXPECT_EQ(c.ledger.use_of(h).accruing, 1u);
  put(c, running(j, an_allocation(1, 1)));
  EXPECT_EQ(c.ledger.use_of(Holder::association(2)).accruing, 0u);
  EXPECT_EQ(c.ledger, c.counted_ledger());
}

TEST(Ledger, NamesUsersAndAccountsOfAQos) {
  Cluster c = a_cluster();
  put(c, running(a_job(1, 5), an_allocation(1, 4)));
  put(c, a_job(2, 5, "crew", "fast", Uid(1001)));
  std::set<std::string> all;
  c.ledger.each_within("fast", [&](std::string_view who, bool user, const Use& use) {
    all.insert((user ? "user " : "account ") + std::string(who) + " " + std::to_string(use.submitted));
  });
  EXPECT_EQ(all, (std::set<std::string>{"account crew 2", "user 1000 1", "user 1001 1"}));
  c.ledger.each_within("normal", [&](std::string_view, bool, const Use&) { FAIL(); });
}

}  // namespace
}  // namespace muster
