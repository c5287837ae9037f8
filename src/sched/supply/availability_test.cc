#include "sched/supply/availability.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kNow = from_unix(1'000'020);

struct Held {
  NodeShare share;
  Allocation of;
  uint32_t partition = 0;
};

// All that a placement can see of a node.
std::string seen(const Availability& nodes, uint32_t id) {
  std::string out = nodes.use(id).cpus.to_ranges() + " mem " + std::to_string(nodes.mem_free(id)) + " units " +
                    std::to_string(nodes.units_free(id)) + (nodes.with_units(nodes.units_free(id)).test(id) ? "" : " lost") +
                    (nodes.idle().test(id) ? " idle" : "") + (nodes.shared().test(id) ? " shared" : "") +
                    (nodes.owned().test(id) ? " kept for " + std::to_string(nodes.owner(id).value) : "");
  for (uint64_t n : nodes.gres_free(id)) out += " gres " + std::to_string(n);
  for (const Bitmap& level : nodes.use(id).cpus_shared) out += " also " + level.to_ranges();
  for (const PartitionUse& u : nodes.by_partition(id)) out += " of " + std::to_string(u.partition) + ":" + u.cpus.to_ranges();
  return out;
}

Held some_job(Random& random, uint32_t cpus, uint32_t gpus) {
  Held h;
  h.share.node = NodeId(0);
  const auto first = static_cast<uint32_t>(random.uniform(0, cpus - 1)),
             count = 1 + static_cast<uint32_t>(random.uniform(0, cpus - first - 1));
  h.share.cpus.set_range(first, first + count);
  h.share.mem_mb = 1 + random.uniform(0, 49);
  if (const auto gpu = random.uniform(0, gpus); gpu < gpus) {
    GresShare g{"gpu", "", 1, {}, {}};
    g.devices.set(gpu);
    h.share.gres.push_back(g);
  }
  h.of.oversubscribe = true;
  h.of.exclusive_user = random.chance(0.25);
  h.partition = static_cast<uint32_t>(random.uniform(0, 1));
  return h;
}

// Whatever is taken and given back in whatever order: the node is as it was before each of them.
TEST(Availability, WhatIsGivenBackIsAsIfItHadNotBeenTaken) {
  const Cluster c = a_cluster().nodes(1).cpus(8).gres("gpu", "", 4).build();
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Availability nodes;
    nodes.update(c.nodes, {});
    const std::string idle = seen(nodes, 0);
    std::vector<Held> there;
    for (int i = 0; i < 6; ++i) there.push_back(some_job(random, 8, 0));
    for (const Held& h : there) nodes.consume(h.share, h.of, Uid(7), h.partition);
    // One more, with all that the others have not: gone, the node is as the others left it.
    const std::string before = seen(nodes, 0);
    Held last = some_job(random, 8, 4);
    last.of.exclusive_user = false;
    nodes.consume(last.share, last.of, Uid(7), last.partition);
    nodes.give_back(last.share, last.of, last.partition);
    EXPECT_EQ(seen(nodes, 0), before) << "seed " << seed;
    while (!there.empty()) {
      const auto at = static_cast<ptrdiff_t>(random.uniform(0, there.size() - 1));
      const uint64_t freed = nodes.freed();
      nodes.give_back(there[static_cast<size_t>(at)].share, there[static_cast<size_t>(at)].of, there[static_cast<size_t>(at)].partition);
      EXPECT_GT(nodes.freed(), freed);
      there.erase(there.begin() + at);
    }
    EXPECT_EQ(seen(nodes, 0), idle) << "seed " << seed;
  }
}

// Of the snapshot: what runs there seems gone until the next update.
TEST(Availability, ARunningJobIsGivenBackUntilTheNextUpdate) {
  Cluster c = a_cluster().nodes(2).cpus(8).gres("gpu", "", 4).build();
  const JobId whole = submit(c, a_job().nodes(1).exclusive().gpus(2), kNow), part = submit(c, a_job().tasks(3).gpus(1), kNow);
  apply_starts(c, Planner().plan(c, {}, kNow, Pass::kFull), kNow);
  Availability nodes;
  nodes.update(c.nodes, {});
  for (JobId id : {whole, part}) {
    const Job& job = c.jobs.at(id.value);
    ASSERT_TRUE(job.allocation);
    const NodeShare& share = job.allocation->nodes[0];
    const std::string held = seen(nodes, share.node.value);
    EXPECT_FALSE(nodes.idle().test(share.node.value));
    nodes.give_back(share, *job.allocation, job.partition);
    EXPECT_TRUE(nodes.idle().test(share.node.value));
    EXPECT_EQ(nodes.units_free(share.node.value), 8u);
    EXPECT_EQ(nodes.gres_free(share.node.value)[0], 4u);
    nodes.update(c.nodes, {});
    EXPECT_EQ(seen(nodes, share.node.value), held);
  }
}

}  // namespace
}  // namespace muster::sched
