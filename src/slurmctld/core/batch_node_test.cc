// --batch: the node of the allocation that runs the script.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

struct Featured : Bench {
  Featured() {
    feature("n[0-1,3]", "slow");
    feature("n2", "slow,fast");
  }
  void feature(const std::string& nodes, const std::string& list) {
    rpc::UpdateNode c{nodes, {{"AvailableFeatures", "=", list}, {"ActiveFeatures", "=", list}}};
    turn([&] { EXPECT_TRUE(core.run(Caller::root(), c).has_value()); });
  }
  JobId job(const std::string& constraint, const std::string& batch) {
    JobId id = submit([&](JobRequest& r) {
      r.min_nodes = 4;
      r.features = constraint;
      r.batch_features = batch;
    });
    plan();
    return id;
  }
  Errc refused(const std::string& constraint, const std::string& batch) {
    Errc code = Errc::kOk;
    turn([&] {
      auto r = core.run(Caller{Uid(1000), Gid(1000), {}, {}}, request([&](JobRequest& q) {
                          q.features = constraint;
                          q.batch_features = batch;
                        }));
      if (!r) code = r.error().code;
    });
    return code;
  }
};

TEST(BatchNode, HasTheFeaturesAskedFor) {
  Featured b;
  JobId id = b.job("slow|fast", "fast");
  ASSERT_EQ(b.state(id), JobState::kRunning);
  EXPECT_EQ(b.get(id).run->batch_host, "n2");
  auto launches = b.orders<node_rpc::LaunchBatch>();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].job.share.node.value, 2u);  // its own part, with its CPUs
  for (const Effect& e : b.effects)
    if (auto* o = std::get_if<Order>(&e); o && std::holds_alternative<node_rpc::LaunchBatch>(o->order)) {
      EXPECT_EQ(o->node.value, 2u);
    }
  b.expect_replay_equal();
}

TEST(BatchNode, ItsEndIsTheJobsAndNoOthers) {
  Featured b;
  JobId id = b.job("slow|fast", "fast");
  node_rpc::BatchFinished over;
  over.job = id;
  b.turn([&] { b.core.report(NodeId(0), over); });
  EXPECT_EQ(b.state(id), JobState::kRunning);
  b.turn([&] { b.core.report(NodeId(2), over); });
  EXPECT_EQ(b.state(id), JobState::kCompleted);
  b.expect_replay_equal();
}

TEST(BatchNode, OtherwiseItIsTheFirst) {
  Featured b;
  EXPECT_EQ(b.get(b.job("", "")).run->batch_host, "n0");
  Featured c;
  EXPECT_EQ(c.get(c.job("slow|(slow&fast)", "fast&slow")).run->batch_host, "n2");
}

TEST(BatchNode, AsksForPartOfTheConstraint) {
  Featured b;
  EXPECT_EQ(b.refused("slow", "fast"), Errc::kBatchConstraint);
  EXPECT_EQ(b.refused("", "fast"), Errc::kBatchConstraint);
  EXPECT_EQ(b.refused("slow|fast", "fast*2"), Errc::kBatchConstraint);
  EXPECT_EQ(b.refused("slow|fast", "fast|slow"), Errc::kOk);
}

}  // namespace
}  // namespace muster::slurmctld
