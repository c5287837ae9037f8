// What one calculation of fair shares costs a cluster with many associations. Run: build/…/fair_share_bench
#include <benchmark/benchmark.h>

#include <algorithm>

#include "acct/fair_share.h"
#include "base/random.h"

namespace muster::acct {
namespace {

constexpr uint32_t kUsersPerAccount = 50;

void add(std::vector<ShareNode>& tree, uint32_t parent, uint64_t shares, double usage, bool user) {
  const uint32_t any_order = static_cast<uint32_t>(tree.size() + 1) * 2654435761u;
  tree.push_back({any_order, parent, shares, usage, user});
}

// Accounts in three levels below root, each with four children on the next level at most, and 50 users in each account.
std::vector<ShareNode> site(size_t associations, bool used) {
  Random rng(1);
  std::vector<ShareNode> tree{{1, kNoParent, 1, 0, false}};
  std::vector<uint32_t> level{0};
  const size_t accounts = associations / (kUsersPerAccount + 1);
  const size_t tops = std::max<size_t>(1, accounts / 21);  // each with 4 below, and 16 below those
  for (size_t children : {tops, size_t{4}, size_t{4}}) {
    std::vector<uint32_t> next;
    for (uint32_t parent : level)
      for (size_t k = 0; k < children && tree.size() < associations; ++k) {
        next.push_back(static_cast<uint32_t>(tree.size()));
        add(tree, parent, rng.uniform(1, 100), 0, false);
        for (uint32_t u = 0; u < kUsersPerAccount && tree.size() < associations; ++u)
          add(tree, next.back(), rng.uniform(1, 10), used ? static_cast<double>(rng.uniform(0, 1'000'000)) : 0, true);
      }
    level = std::move(next);
  }
  while (tree.size() < associations) add(tree, level.front(), 1, 1, true);
  return tree;
}

void measure(benchmark::State& state, const FairShareRule& rule, bool used) {
  const auto tree = site(static_cast<size_t>(state.range(0)), used);
  for (auto _ : state) benchmark::DoNotOptimize(fair_shares(tree, rule));
  state.counters["associations"] = static_cast<double>(tree.size());
}

void FairTree(benchmark::State& state) { measure(state, {}, true); }
BENCHMARK(FairTree)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

// Everybody ties, so all children of a depth are one level.
void FairTreeUnused(benchmark::State& state) { measure(state, {}, false); }
BENCHMARK(FairTreeUnused)->Arg(10'000)->Unit(benchmark::kMillisecond);

void Classic(benchmark::State& state) { measure(state, {.kind = FairShareKind::kClassic}, true); }
BENCHMARK(Classic)->Arg(10'000)->Unit(benchmark::kMillisecond);

void DepthOblivious(benchmark::State& state) { measure(state, {.depth_oblivious = true}, true); }
BENCHMARK(DepthOblivious)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::acct

BENCHMARK_MAIN();
