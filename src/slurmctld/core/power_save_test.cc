#include "slurmctld/core/power_save.h"

#include <set>

#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/reservations_testing.h"

namespace muster::slurmctld {
namespace {

const std::string kPrograms = "SuspendProgram=/s\nResumeProgram=/r\nResumeFailProgram=/f\nSuspendTimeout=20\nResumeTimeout=100\n";

std::set<uint32_t> going(const Bench& b) {
  std::set<uint32_t> out;
  for (uint32_t i = 0; i < 4; ++i)
    if (b.node(i).flags & (kNodePoweringDown | kNodePoweredDown)) out.insert(i);
  return out;
}
std::vector<NodeId> run_for(const Bench& b, event::PowerProgram program) {
  for (const Effect& e : b.effects)
    if (auto* power = std::get_if<PowerNodes>(&e); power && power->program == program) return power->nodes;
  return {};
}
JobId on(Bench& b, uint32_t node) {
  const JobId job = b.submit([&](JobRequest& r) { r.required_nodes = "n" + std::to_string(node); });
  EXPECT_EQ(b.plan(), 1u);
  b.started(job);
  return job;
}
using Nodes = std::set<uint32_t>;

TEST(PowerSave, NodesThatNobodyNeedsForSuspendTimeGoDown) {
  Bench b(kPrograms + "SuspendTime=300\n");
  const JobId job = on(b, 1);
  b.wait(seconds(299));
  EXPECT_EQ(going(b), Nodes());
  b.wait(seconds(11));
  EXPECT_EQ(going(b), (Nodes{0, 2, 3}));
  EXPECT_EQ(run_for(b, event::PowerProgram::kSuspend).size(), 3u);
  b.ends(job);
  b.wait(seconds(290));
  EXPECT_EQ(going(b), (Nodes{0, 2, 3}));
  b.wait(seconds(20));
  EXPECT_EQ(going(b), (Nodes{0, 1, 2, 3}));
  EXPECT_TRUE(b.node(0).flags & kNodePoweredDown);
  b.expect_replay_equal();
}

TEST(PowerSave, WithoutProgramsOrTimeNothingGoesDown) {
  for (const std::string& conf : {kPrograms, std::string("SuspendTime=5\n"), kPrograms + "SuspendTime=INFINITE\n"}) {
    Bench b(conf);
    b.wait(minutes(60));
    EXPECT_EQ(going(b), Nodes()) << conf;
  }
}

TEST(PowerSave, TheTimeOfTheNodeComesBeforeThatOfItsPartitionsAndOfTheCluster) {
  Bench b(kPrograms + "SuspendTime=1000\nPartitionName=a Nodes=n[0-1] SuspendTime=100\nPartitionName=b Nodes=n1 SuspendTime=500\n");
  b.wait(seconds(110));
  EXPECT_EQ(going(b), (Nodes{0}));
  b.wait(seconds(400));
  EXPECT_EQ(going(b), (Nodes{0, 1}));
  b.wait(seconds(500));
  EXPECT_EQ(going(b), (Nodes{0, 1, 2, 3}));
}

TEST(PowerSave, WhatIsExcludedStaysUp) {
  struct {
    const char* conf;
    Nodes down;
  } const cases[] = {
      {"SuspendExcNodes=n[0-1]\n", {2, 3}},
      {"SuspendExcNodes=n[0-2]:2\n", {2, 3}},
      {"SuspendExcNodes=n[0-1]:1,n[2-3]:1\n", {1, 3}},
      {"SuspendExcParts=some\nPartitionName=some Nodes=n[1-2]\n", {0, 3}},
      {"SuspendExcStates=DRAIN,DOWN\n", {0, 1}},
      {"", {0, 1, 2, 3}},
  };
  for (const auto& at : cases) {
    Bench b(kPrograms + "SuspendTime=300\n" + at.conf);
    b.set_node("n2", "DRAIN");
    b.set_node("n3", "DOWN");
    if (std::string(at.conf).find("SuspendExcStates") == std::string::npos) b.set_node("n2", "RESUME"), b.set_node("n3", "RESUME");
    b.wait(seconds(311));
    EXPECT_EQ(going(b), at.down) << at.conf;
  }
}

// What is not stored of a node: it follows from reservations and from its connection.
struct ExcludedState {
  const char* states;
  Nodes down;
};
class PowerSaveStates : public ReservationTest, public testing::WithParamInterface<ExcludedState> {
 public:
  PowerSaveStates() : ReservationTest(kPrograms + "SuspendTime=300\nSuspendExcStates=" + GetParam().states + "\n") {}
};

TEST_P(PowerSaveStates, StayUpToo) {
  created("ReservationName=r StartTime=now Duration=60 Users=root Nodes=n1");
  created("ReservationName=m StartTime=now Duration=60 Users=root Nodes=n2 Flags=MAINT");
  b.turn([&] { b.core.node_disconnected(NodeId(3)); });
  b.wait(seconds(301));
  b.wait(seconds(10));
  EXPECT_EQ(going(b), GetParam().down);
}

INSTANTIATE_TEST_SUITE_P(PowerSave, PowerSaveStates,
                         testing::Values(ExcludedState{"MAINTENANCE", {0, 1, 3}}, ExcludedState{"reserved", {0, 3}},
                                         ExcludedState{"RESERVED,NOT_RESPONDING", {0}}));

TEST(PowerSave, NodesThatArePlannedStayUpWhereThatIsSaid) {
  for (const char* states : {"PLANNED", "DRAIN"}) {
    Bench b(kPrograms + "SuspendTime=300\nSuspendExcStates=" + states + "\n");
    on(b, 0);
    b.submit([](JobRequest& r) { r.min_nodes = 2, r.required_nodes = "n[0-1]", r.exclusive = Exclusive::kNode; });
    b.plan();
    b.wait(seconds(311));
    EXPECT_EQ(going(b), std::string(states) == "PLANNED" ? (Nodes{2, 3}) : (Nodes{1, 2, 3})) << states;
  }
}

TEST(PowerSave, SuspendRateBoundsHowManyGoInAMinute) {
  Bench b(kPrograms + "SuspendTime=300\nSuspendRate=2\n");
  b.wait(seconds(301));
  EXPECT_EQ(going(b).size(), 2u);
  b.wait(seconds(30));
  EXPECT_EQ(going(b).size(), 2u);
  b.wait(seconds(31));
  EXPECT_EQ(going(b).size(), 4u);
}

TEST(PowerSave, PowerDownOnIdleGoesDownAfterItsFirstJob) {
  Bench b(kPrograms + "PartitionName=cloud Nodes=n[0-1] PowerDownOnIdle=YES\n");
  for (const uint32_t node : {0, 1}) {  // their slurmd has started since they were defined
    node_rpc::Register r;
    r.node = "n" + std::to_string(node);
    r.hardware = *b.node(node).hardware;
    r.hardware.slurmd_start = b.now + seconds(1);
    b.report(node, r);
  }
  b.wait(minutes(30));
  EXPECT_EQ(going(b), Nodes());
  const JobId job = on(b, 1);
  b.wait(seconds(5));
  b.ends(job);
  b.wait(seconds(11));
  EXPECT_EQ(going(b), (Nodes{1}));
}

TEST(PowerSave, ANodeThatDoesNotComeUpIsToldToResumeFailProgram) {
  Bench b(kPrograms + "SuspendTime=300\n");
  b.wait(seconds(301));
  b.wait(seconds(21));
  ASSERT_TRUE(b.node(2).flags & kNodePoweredDown);
  const JobId job = b.submit([](JobRequest& r) {
    r.required_nodes = "n2";
    r.requeue = TriState::kYes;
  });
  ASSERT_EQ(b.plan(), 1u);
  EXPECT_EQ(run_for(b, event::PowerProgram::kResume), std::vector<NodeId>{NodeId(2)});
  b.wait(seconds(101));
  EXPECT_EQ(run_for(b, event::PowerProgram::kResumeFailed), std::vector<NodeId>{NodeId(2)});
  EXPECT_EQ(b.node(2).admin, NodeState::kDown);
  EXPECT_EQ(b.state(job), JobState::kPending);
  b.expect_replay_equal();
}

TEST(PowerSave, IdleOnNodeSuspendForgetsWhatWasWrong) {
  for (const bool idle : {false, true}) {
    Bench b(kPrograms + "SuspendTime=300\n" + (idle ? "SlurmctldParameters=idle_on_node_suspend\n" : ""));
    b.set_node("n2", "DOWN");
    b.set_node("n3", "DRAIN");
    b.wait(seconds(311));
    EXPECT_EQ(going(b), (Nodes{0, 1, 2, 3}));
    EXPECT_EQ(b.node(2).admin, idle ? NodeState::kIdle : NodeState::kDown);
    EXPECT_EQ((b.node(3).flags & kNodeDrain) != 0, !idle);
  }
}

TEST(PowerSave, SetsWithACount) {
  const auto kept = config::parse_kept_up("nid[10-12]:2, gpu1 ,x[1,3]");
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->size(), 3u);
  EXPECT_EQ((*kept)[0].nodes.size(), 3u);
  EXPECT_EQ((*kept)[0].count, 2u);
  EXPECT_EQ((*kept)[1].nodes, std::vector<std::string>{"gpu1"});
  EXPECT_EQ((*kept)[1].count, std::nullopt);
  EXPECT_EQ((*kept)[2].nodes, (std::vector<std::string>{"x1", "x3"}));
  EXPECT_FALSE(config::parse_kept_up("n[1-3]:x"));
  EXPECT_FALSE(config::parse_kept_up("n[1-"));
}

}  // namespace
}  // namespace muster::slurmctld
