// What nodes tell of their NVLink fabric: it is kept and told, and moves nothing.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/query.h"

namespace muster::slurmctld {
namespace {

constexpr GpuFabric kRack{1, 2, 7}, kOtherRack{3, 4, 7};

void tells(Bench& b, uint32_t node, const GpuFabric& fabric) {
  node_rpc::Register r;
  r.node = b.node(node).spec->name;
  r.hardware = *b.node(node).hardware;
  r.hardware.fabric = fabric;
  b.report(node, r);
}

Result<rpc::TopologyAnswer> asked(const Bench& b, const Caller& who) {
  const QueryTexts none;
  const QueryContext context(b.core.snapshot(), std::make_shared<const Settings>(b.settings), b.now, who, none);
  MUSTER_TRY(answer, query_from(context, rpc::QueryTopology{}));
  return std::get<AnswerInParts<rpc::QueryTopology>>(std::move(answer)).last;
}

TEST(Fabric, IsTheLastThatTheNodeTold) {
  Bench b;
  tells(b, 1, kRack);
  tells(b, 2, kRack);
  tells(b, 2, kOtherRack);  // its tray was moved
  tells(b, 3, kRack);
  tells(b, 3, {});
  const auto answer = asked(b, Caller::root());
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->fabrics, (std::vector<GpuFabric>{{}, kRack, kOtherRack, {}}));
  EXPECT_EQ(answer->nodes.size(), answer->fabrics.size());
  b.expect_replay_equal();
}

TEST(Fabric, AsBeforeIsNoNews) {
  Bench b;
  tells(b, 1, kRack);
  tells(b, 1, kRack);
  for (const Event& e : b.last_events) EXPECT_FALSE(std::holds_alternative<event::NodeRegistered>(e));
}

TEST(Fabric, WhatANodeClaimsMovesNothing) {
  Bench b;
  tells(b, 0, kRack);
  tells(b, 1, kRack);
  const JobId job = b.submit();
  ASSERT_EQ(b.plan(), 1u);
  const auto topologies = b.core.cluster().topologies;
  const Job before = b.get(job);
  tells(b, 3, kRack);  // a node that was broken into
  tells(b, 3, kOtherRack);
  EXPECT_EQ(b.core.cluster().topologies, topologies);
  EXPECT_EQ(b.get(job), before);
  for (uint32_t n = 0; n < 4; ++n) EXPECT_EQ(b.node(n).admin, NodeState::kIdle);
}

TEST(Fabric, IsPrivateWhereNodesAre) {
  Bench b("PrivateData=nodes\n");
  tells(b, 1, kRack);
  EXPECT_TRUE(asked(b, Caller::root()));
  EXPECT_FALSE(asked(b, Caller{Uid(1000), Gid(1000), {}, {}}));
}

}  // namespace
}  // namespace muster::slurmctld
