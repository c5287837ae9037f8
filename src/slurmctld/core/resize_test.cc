// A running job gives up nodes: scontrol update NumNodes=, NodeList=. scontrol(1), guide faq.
#include <gtest/gtest.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

std::vector<uint32_t> nodes_of(const Job& j) {
  std::vector<uint32_t> out;
  for (const NodeShare& s : j.allocation->nodes) out.push_back(s.node.value);
  return out;
}
using Ids = std::vector<uint32_t>;

struct Resized : Bench {
  explicit Resized(const std::string& conf = "") : Bench(conf) {
    job = submit([](JobRequest& r) {
      r.min_nodes = r.max_nodes = 4;
      r.exclusive = Exclusive::kNode;
    });
    plan();
    started(job);
  }
  StepId step(uint32_t nodes, bool no_kill, int32_t first = 0) {
    rpc::CreateStep c;
    c.job = job;
    c.request.min_nodes = c.request.max_nodes = c.request.num_tasks = nodes;
    c.request.relative = first;
    c.request.no_kill = no_kill;
    c.request.overlap = true;
    StepId id{};
    turn([&] {
      auto r = core.run(Caller::root(), c);
      ASSERT_TRUE(r) << r.error().message();
      id = r->step;
    });
    return id;
  }
  Errc refused(const std::string& key, const std::string& value) {
    auto r = update(job, key, value);
    return r ? Errc::kOk : r.error().code;
  }
  JobId job{};
};

TEST(Resize, NodesAreFreeOnceTheyAreRidOfTheJob) {
  Resized b;
  ASSERT_TRUE(b.update(b.job, "NumNodes", "2"));
  EXPECT_EQ(nodes_of(b.get(b.job)), (Ids{0, 1}));
  EXPECT_EQ(b.get(b.job).run->resized, b.now);
  EXPECT_TRUE(b.get(b.job).flags & kJobResizing);
  EXPECT_EQ(b.orders<node_rpc::TerminateJob>().size(), 2u);
  EXPECT_TRUE(b.node(3).flags & kNodeCompleting);
  EXPECT_TRUE(b.node(3).cpus_used.any());
  EXPECT_EQ(b.refused("NumNodes", "1"), Errc::kTransitionStateNoUpdate);
  b.gone(b.job, 2);
  b.gone(b.job, 2);  // said again: nothing more is freed
  EXPECT_TRUE(b.node(2).cpus_used.none());
  EXPECT_EQ(b.node(2).jobs_completing, 0u);
  EXPECT_TRUE(b.get(b.job).flags & kJobResizing);
  b.gone(b.job, 3);
  EXPECT_FALSE(b.get(b.job).flags & kJobResizing);
  EXPECT_EQ(b.state(b.job), JobState::kRunning);
  EXPECT_TRUE(b.core.indexes().obligations().empty());
  JobId next = b.submit([](JobRequest& r) {
    r.min_nodes = r.max_nodes = 2;
    r.exclusive = Exclusive::kNode;
  });
  b.plan();
  EXPECT_EQ(nodes_of(b.get(next)), (Ids{2, 3}));
  b.expect_replay_equal();
}

TEST(Resize, TheListNamesWhatStaysAndTheScriptsNodeIsInIt) {
  Resized b;
  EXPECT_EQ(b.refused("NodeList", "n[1-2]"), Errc::kInvalidNodeName);  // n0 runs the script
  EXPECT_EQ(b.refused("NodeList", "n0,n9"), Errc::kInvalidNodeName);
  EXPECT_EQ(b.refused("NumNodes", "5"), Errc::kNotSupportedHere);
  EXPECT_EQ(nodes_of(b.get(b.job)).size(), 4u);
  ASSERT_TRUE(b.update(b.job, "NodeList", "n[0,3]"));
  EXPECT_EQ(nodes_of(b.get(b.job)), (Ids{0, 3}));
  ASSERT_TRUE(b.update(b.submit(), "NumNodes", "1"));  // a waiting job asks for less
  b.expect_replay_equal();
}

TEST(Resize, TasksOnNodesThatStayGoOn) {
  Resized b;
  StepId kept = b.step(2, false), torn = b.step(4, false), lost = b.step(1, false, 3);
  ASSERT_TRUE(b.update(b.job, "NodeList", "n[0-1]"));
  EXPECT_TRUE(b.orders<node_rpc::SignalJob>().empty());
  std::map<uint32_t, size_t> shares;
  for (const Step& s : b.get(b.job).steps) shares[s.id.value] = s.shares.size();
  EXPECT_EQ(shares, (std::map<uint32_t, size_t>{{kept.value, 2}, {torn.value, 2}}));
  EXPECT_FALSE(shares.contains(lost.value));
  for (uint32_t node : {0u, 1u}) b.report(node, node_rpc::StepGone{b.job, 0, torn, 0, false, false});
  EXPECT_EQ(b.get(b.job).steps.size(), 1u);
  b.expect_replay_equal();
}

TEST(Resize, TheJobMayEndBeforeItsNodesAreClean) {
  Resized b;
  ASSERT_TRUE(b.update(b.job, "NumNodes", "1"));
  b.ends(b.job);
  EXPECT_EQ(b.state(b.job), JobState::kCompleted);
  EXPECT_TRUE(b.get(b.job).flags & kJobCompleting);
  for (uint32_t n : {1u, 2u, 3u}) b.gone(b.job, n);
  EXPECT_FALSE(b.get(b.job).flags & (kJobCompleting | kJobResizing));
  for (uint32_t n = 0; n < 4; ++n)
    EXPECT_TRUE(b.node(n).cpus_used.none() && b.node(n).whole_node_jobs == 0 && b.node(n).state() == NodeState::kIdle);
  b.wait(seconds(101));
  EXPECT_FALSE(b.exists(b.job));  // MinJobAge after that it is forgotten
  b.expect_replay_equal();
}

TEST(Resize, ANodeThatDiesWhileItIsGivenUpIsFree) {
  Resized b;
  ASSERT_TRUE(b.update(b.job, "NumNodes", "3"));
  b.turn([&] { b.core.node_disconnected(NodeId(3)); });
  b.wait(seconds(61));
  EXPECT_EQ(b.node(3).admin, NodeState::kDown);
  EXPECT_TRUE(b.node(3).cpus_used.none());
  EXPECT_EQ(b.state(b.job), JobState::kRunning);
  EXPECT_FALSE(b.get(b.job).flags & kJobResizing);
  b.expect_replay_equal();
}

TEST(Resize, NotWhereTheSiteOrTheLayoutForbidsIt) {
  Resized b("SchedulerParameters=disable_job_shrink\n");
  EXPECT_EQ(b.refused("NumNodes", "2"), Errc::kNotSupportedHere);
  Bench c;
  JobId j = c.submit([](JobRequest& r) {
    r.min_nodes = r.max_nodes = 2;
    r.distribution = "arbitrary";
  });
  c.plan();
  c.started(j);
  ASSERT_EQ(c.state(j), JobState::kRunning);
  EXPECT_EQ(c.update(j, "NumNodes", "1").error().code, Errc::kNotSupportedHere);
}

}  // namespace
}  // namespace muster::slurmctld
