// Fair shares, through the production controller and planner: two accounts with shares 2:1 that always have more work than there is room for
// come to use 2:1, within two half-lives, whether they begin together or one of them has had the cluster for itself. Guides fair_tree,
// priority_multifactor.
#include <gtest/gtest.h>

#include "base/random.h"
#include "config/load.h"
#include "sim/replay/accounts_file.h"
#include "sim/replay/driver.h"

namespace muster::sim::replay {
namespace {

constexpr int64_t kHalfLife = 30 * 60;

slurmctld::Settings settings() {
  config::MemoryFiles files{{"/etc/slurm/slurm.conf",
                             "ClusterName=c\nSlurmctldHost=ctl\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
                             "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations\n"
                             "PriorityType=priority/multifactor\nPriorityWeightFairshare=100000\nPriorityDecayHalfLife=00:30:00\n"
                             "PriorityCalcPeriod=1\nNodeName=n[1-4] CPUs=8\nPartitionName=main Nodes=ALL Default=YES MaxTime=60\n"}};
  auto loaded = config::load_config(files, "/etc/slurm/slurm.conf");
  EXPECT_TRUE(loaded) << (loaded ? "" : config::to_text(loaded.error()));
  return slurmctld::make_settings(std::make_shared<const config::LoadedConfig>(std::move(*loaded)), Uid{0}, false);
}

// More than 32 CPUs can do in the time that is looked at, of each account; those of `large` come later by so much.
Trace work(uint64_t seed, int64_t later) {
  Trace out;
  Random rng(seed);
  const uint32_t small = out.accounts.add("small"), large = out.accounts.add("large"), ann = out.users.add("ann"),
                 bob = out.users.add("bob");
  for (const auto& [account, user, submit] : {std::tuple(small, ann, int64_t{0}), std::tuple(large, bob, later)})
    for (int i = 0; i < 700; ++i) {
      TraceJob& job = out.jobs.emplace_back();
      job.number = out.jobs.size();
      job.submit = job.eligible = job.start = submit;
      job.run = static_cast<int64_t>(rng.uniform(60, 240));
      job.end = submit + job.run;
      job.limit_min = 10;
      job.cpus = 2;  // of one size: else those of less priority fill what others leave, and that is no share
      job.account = account;
      job.user = user;
    }
  return out;
}

// How many times as much `large` used as `small`, from two half-lives after both were there, for two more.
double ratio_of_use(uint64_t seed, int64_t later) {
  const Trace trace = work(seed, later);
  rpc::Entities accounts = accounts_of(trace);
  for (AssociationRecord& a : accounts.associations) {
    std::erase_if(a.limits, [](const Limit& l) { return l.kind == LimitKind::kShares; });
    a.limits.push_back({LimitKind::kShares, "", a.user.empty() && a.account == "large" ? 2u : 1u});
  }
  Driver driver(trace, settings(), accounts, {}, {}, minutes(10));
  const Time from = driver.begin() + seconds(later + 2 * kHalfLife), until = from + seconds(2 * kHalfLife);
  std::vector<Used> before;
  driver.run([&](const Standing& at) {
    if (before.empty() && at.now >= from) before = driver.collector().used_by_account();
    return at.now < until;
  });
  EXPECT_FALSE(before.empty());
  EXPECT_GT(driver.collector().waiting(), 100u) << "the work did not last";
  const std::vector<Used>& after = driver.collector().used_by_account();
  const auto used = [&](size_t account) { return after[account].cpu_seconds - before[account].cpu_seconds; };
  EXPECT_GT(used(1) + used(2), 0.95 * 32 * 2 * kHalfLife) << "there was room left";
  return used(2) / used(1);
}

TEST(Shares, TwoToOneUnderSaturation) {
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_NEAR(ratio_of_use(seed, 0), 2, 0.1) << seed;
}

TEST(Shares, TwoToOneAfterOneHadAllForAHalfLife) {
  for (uint64_t seed = 4; seed <= 6; ++seed) EXPECT_NEAR(ratio_of_use(seed, kHalfLife), 2, 0.2) << seed;
}

}  // namespace
}  // namespace muster::sim::replay
