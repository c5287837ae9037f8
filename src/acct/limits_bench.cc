// What holding a job to its limits costs with 10,000 associations: 100 accounts of 100 users, each account and each user with limits on jobs,
// CPUs, GPUs and minutes, and a QOS with limits for users. A pass gathers the limits once for all jobs of a user in an account and a QOS, and
// compares for each job; a submission and a start do both. The aim of the issue: under 2 µs a job in a pass.
#include <benchmark/benchmark.h>

#include "acct/exhaustion.h"
#include "acct/limits.h"
#include "model/account_directory_testing.h"

namespace muster::acct {
namespace {

constexpr uint32_t kAccounts = 100, kUsersEach = 100;
const Time kNow = from_unix(1'700'000'000);

struct Site {
  Cluster cluster;
  Partition partition;
  Site() {
    ADirectory d;
    d.qos("normal").account("root");
    for (uint32_t a = 0; a < kAccounts; ++a) {
      const std::string account = "account" + std::to_string(a);
      d.account(account);
      for (uint32_t u = 0; u < kUsersEach; ++u) {
        const std::string user = "user" + std::to_string(a * kUsersEach + u);
        d.user(user, account).association(user, account, {"normal"});
      }
    }
    rpc::Entities all = d.entities();
    for (AssociationRecord& a : all.associations)
      a.limits = {{LimitKind::kGrpJobs, "", 1'000'000},      {LimitKind::kGrpTres, "cpu", 1'000'000},
                  {LimitKind::kGrpTres, "gres/gpu", 10'000}, {LimitKind::kGrpTresMins, "gres/gpu", 1'000'000'000},
                  {LimitKind::kMaxJobs, "", 10'000},         {LimitKind::kMaxTresPerNode, "gres/gpu", 8},
                  {LimitKind::kMaxWall, "", 10'000}};
    all.qos[0].limits = {{LimitKind::kMaxTresPerUser, "gres/gpu", 10'000}, {LimitKind::kMaxTresRunMinsPerUser, "cpu", 1'000'000'000}};
    for (const AccountChanges& part : changes_to(nullptr, all)) cluster.learn_accounts(part, kNow);
    cluster.know_tres({"gres/gpu"});
    partition.name = "main";
    cluster.change_partition(0, &partition, kNow);
    for (uint32_t id = 3; id < 9000; id += 3) hold(id);
  }
  void hold(uint32_t association) {
    const AssociationRecord* a = cluster.directory->associations.find(association);
    if (!a || a->user.empty()) return;
    Charge c;
    c.association = association;
    c.submitted = c.running = 1;
    RequestBody r;
    r.uid = Uid(association);
    r.account = a->account;
    r.qos = "normal";
    c.request = std::make_shared<const RequestBody>(r);
    auto held = std::make_shared<Allocation>();
    held->nodes.emplace_back().cpus = Bitmap(8, true);
    held->nodes.back().gres.push_back({"gpu", "", 2, {}, {}});
    c.allocation = held;
    c.accrues = true;
    c.due = Charge::second_of(kNow + minutes(600));
    cluster.recharge({}, c, kNow);
  }
  std::vector<Bound> bounds(uint32_t association) const {
    const AssociationRecord* a = cluster.directory->associations.find(association);
    return bounds_on(cluster, {true, true}, {a, a->account, "normal", Uid(association)}, partition);
  }
};

const Site& site() {
  static const Site kSite;
  return kSite;
}

Wanted wanted() {
  Wanted w;
  w.tres.add(TresTable::kCpu, 8);
  w.tres.add(TresTable::kNode, 1);
  w.tres.add(site().cluster.tres_table().find("gres/gpu"), 2);
  w.each_node = w.tres;
  w.time_limit_min = 600;
  return w;
}

uint32_t a_user(uint32_t i) { return 3 + (i * 7) % kUsersEach; }

void BM_CompareOneJob(benchmark::State& state) {  // of a pass
  std::vector<std::vector<Bound>> bounds;
  for (uint32_t i = 0; i < kUsersEach; ++i) bounds.push_back(site().bounds(a_user(i)));
  const Wanted w = wanted();
  size_t i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        first_exceeded(bounds[i++ % bounds.size()], {site().cluster, site().cluster.ledger, kNow + seconds(60)}, w, kBeforeNodes));
  state.counters["limits"] = static_cast<double>(bounds[0].size());
}
BENCHMARK(BM_CompareOneJob);

void BM_GatherForOneUser(benchmark::State& state) {
  uint32_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(site().bounds(a_user(i++)));
}
BENCHMARK(BM_GatherForOneUser);

void BM_MomentOfOneHolder(benchmark::State& state) {  // when its minutes are used up
  uint32_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(used_up_at(site().cluster, Holder::association(a_user(i++)), kNow + seconds(60)));
}
BENCHMARK(BM_MomentOfOneHolder);

}  // namespace
}  // namespace muster::acct

BENCHMARK_MAIN();
