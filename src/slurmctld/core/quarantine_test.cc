// Nodes in quarantine: put there, emptied, tested, given back; never too many, and never one that a person has taken over.
#include "slurmctld/core/quarantine.h"

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using enum QuarantinePhase;

struct Ward : Bench {
  explicit Ward(const std::string& conf = "SlurmctldParameters=quarantine=1\n") : Bench(conf) {}

  JobId run(uint32_t node, uint32_t user) {
    const JobId job = submit([&](JobRequest& r) {
      r.uid = Uid(user);
      r.required_nodes = "n" + std::to_string(node);
      r.mem_per_node_mb = 100;
    });
    plan();
    started(job);
    return job;
  }
  void fail_job(uint32_t node, uint32_t user) {
    const JobId job = run(node, user);
    ASSERT_TRUE(get(job).allocation);
    ends(job, 1 << 8);
  }
  void fail_jobs(uint32_t node) {
    for (uint32_t user : {1001, 1002, 1001, 1002}) fail_job(node, user);
  }
  QuarantinePhase phase(uint32_t node) const {
    const Quarantine* known = core.cluster().quarantines.find(node);
    return known ? known->phase : kNone;
  }
  bool drained(uint32_t i) const { return node(i).flags & kNodeDrain; }
  void answer(uint32_t node, bool tested, const std::string& fault = "") {
    report(node, node_rpc::NodeTested{core.cluster().quarantines.at(node).since, tested, fault});
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const Effect& e : effects)
      if (auto* line = std::get_if<LogLine>(&e)) out.push_back(line->text);
    return out;
  }
};

TEST(Quarantine, IsOffWhereNothingSaysSo) {
  Ward b("");
  b.fail_jobs(0);
  EXPECT_FALSE(b.drained(0));
}

TEST(Quarantine, ASuspectIsTestedAndReturns) {
  Ward b;
  b.fail_jobs(0);
  EXPECT_TRUE(b.drained(0));
  EXPECT_EQ(b.node(0).reason, "quarantine: the last 4 jobs of 2 users failed here (jobs 1,2,3,4)");
  EXPECT_EQ(b.node(0).reason_uid, Uid(64030));
  EXPECT_EQ(b.lines(), std::vector<std::string>{"node n0 is put into quarantine: the last 4 jobs of 2 users failed here (jobs 1,2,3,4)"});
  b.wait(seconds(1));
  EXPECT_EQ(b.phase(0), kTesting);
  ASSERT_EQ(b.orders<node_rpc::TestNode>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::TestNode>()[0].since, b.core.cluster().quarantines.at(0).since);
  b.report(0, node_rpc::NodeTested{b.now + seconds(9), true, ""});  // an answer to some other test
  EXPECT_TRUE(b.drained(0));
  b.report(1, node_rpc::NodeTested{b.core.cluster().quarantines.at(0).since, true, ""});  // another node's word for it
  EXPECT_TRUE(b.drained(0));
  b.answer(0, true);
  EXPECT_FALSE(b.drained(0));
  EXPECT_EQ(b.node(0).reason, "");
  EXPECT_EQ(b.phase(0), kReturned);
  EXPECT_EQ(b.lines(), std::vector<std::string>{"node n0 returns from quarantine: its test passed"});
  b.expect_replay_equal();
  for (uint32_t user : {1003, 1004, 1005}) b.fail_job(0, user);
  EXPECT_FALSE(b.drained(0)) << "its book was emptied";
}

TEST(Quarantine, JobsOfOneUserPutNoNodeThere) {
  Ward b;
  for (int i = 0; i < 20; ++i) b.fail_job(0, 1001);
  EXPECT_FALSE(b.drained(0));
  EXPECT_EQ(b.phase(0), kNone);
}

TEST(Quarantine, TheTestWaitsForTheJobs) {
  Ward b;
  const JobId other = b.run(0, 1003);
  b.fail_jobs(0);
  b.wait(seconds(1));
  EXPECT_EQ(b.phase(0), kEmptying);
  EXPECT_EQ(b.state(other), JobState::kRunning);
  b.ends(other);
  b.wait(seconds(1));
  EXPECT_EQ(b.phase(0), kTesting);
}

TEST(Quarantine, AFailedTestKeepsTheNode) {
  Ward b;
  b.fail_jobs(0);
  b.wait(seconds(1));
  b.answer(0, true, "gpu_checks: GPU 3:\n4 uncorrectable ECC errors");
  EXPECT_TRUE(b.drained(0));
  EXPECT_EQ(b.phase(0), kFailed);
  EXPECT_EQ(b.node(0).reason, "quarantine: the test failed: gpu_checks: GPU 3: 4 uncorrectable ECC errors");
  b.answer(0, true);
  b.wait(minutes(25 * 60));
  EXPECT_TRUE(b.drained(0));
  b.expect_replay_equal();
}

TEST(Quarantine, WithNothingToTestItReturnsAfterFiveMinutes) {
  Ward b;
  b.fail_jobs(0);
  b.wait(seconds(1));
  b.answer(0, false);
  b.wait(minutes(4));
  EXPECT_TRUE(b.drained(0));
  EXPECT_LE(b.core.next_timer(), b.now + minutes(1));
  b.wait(minutes(1));
  EXPECT_FALSE(b.drained(0));
  EXPECT_EQ(b.lines(), std::vector<std::string>{"node n0 returns from quarantine: it has nothing to test itself with"});
}

TEST(Quarantine, AnUnansweredTestIsAskedForAgain) {
  Ward b;
  b.fail_jobs(0);
  b.wait(seconds(1));
  b.wait(minutes(1));
  EXPECT_TRUE(b.orders<node_rpc::TestNode>().empty());
  b.wait(minutes(1));
  EXPECT_EQ(b.orders<node_rpc::TestNode>().size(), 1u);
  b.register_node(0, "boot1");
  EXPECT_EQ(b.orders<node_rpc::TestNode>().size(), 1u) << "in a new session it is asked at once";
}

TEST(Quarantine, OnceMoreWithinADayIsForTheAdministrator) {
  Ward b;
  b.fail_jobs(0);
  b.wait(seconds(1));
  b.answer(0, true);
  b.fail_jobs(0);
  EXPECT_EQ(b.phase(0), kAgain);
  EXPECT_TRUE(b.node(0).reason.starts_with("quarantine: again after a passed test: the last 4 jobs of 2 users")) << b.node(0).reason;
  b.wait(minutes(10));
  EXPECT_TRUE(b.orders<node_rpc::TestNode>().empty());
  EXPECT_TRUE(b.drained(0));
  b.set_node("n0", "RESUME");
  EXPECT_EQ(b.phase(0), kLifted);
  b.wait(minutes(25 * 60));
  EXPECT_EQ(b.phase(0), kNone) << "after a day nothing is remembered";
  b.expect_replay_equal();
}

TEST(Quarantine, NeverMoreThanItMayBe) {
  Ward b;
  b.fail_jobs(0);
  b.fail_jobs(1);
  EXPECT_FALSE(b.drained(1));
  ASSERT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.lines()[0],
            "node n1 is a suspect: the last 4 jobs of 2 users failed here (jobs 5,6,7,8); 1 in quarantine, which is the most that may be");
  b.fail_job(1, 1001);
  EXPECT_TRUE(b.lines().empty()) << "it is named once";
  b.answer(0, true);
  b.wait(seconds(1));
  EXPECT_TRUE(b.drained(1)) << "now there is room";
}

TEST(Quarantine, WhoeverTouchesTheNodeHasIt) {
  for (const char* state : {"DRAIN", "DOWN", "RESUME", "UNDRAIN"}) {
    Ward b;
    b.fail_jobs(0);
    b.wait(seconds(1));
    const Time since = b.core.cluster().quarantines.at(0).since;
    b.set_node("n0", state);
    EXPECT_EQ(b.phase(0), kLifted) << state;
    const bool was_drained = b.drained(0);
    b.report(0, node_rpc::NodeTested{since, true, ""});
    EXPECT_EQ(b.drained(0), was_drained) << state;
    b.expect_replay_equal();
  }
}

TEST(Quarantine, WhatFailedBeforeSomebodyReturnedItIsSettled) {
  Ward b;
  b.fail_jobs(0);
  b.set_node("n0", "RESUME");
  b.wait(seconds(1));
  b.fail_job(0, 1001);
  EXPECT_FALSE(b.drained(0));
  for (uint32_t user : {1002, 1001, 1002}) b.fail_job(0, user);
  EXPECT_TRUE(b.drained(0)) << "four new ones are a suspicion";
}

TEST(Quarantine, ANodeThatSomebodyHasDrainedIsLeftAlone) {
  Ward b;
  for (uint32_t user : {1001, 1002, 1001}) b.fail_job(0, user);
  const JobId last = b.run(0, 1002);
  b.set_node("n0", "DRAIN");
  b.ends(last, 1 << 8);
  EXPECT_EQ(b.phase(0), kNone);
  EXPECT_EQ(b.node(0).reason, "test");
}

TEST(Quarantine, ARestartKeepsIt) {
  Ward b;
  b.fail_jobs(0);
  Ward after;
  after.now = b.now;
  after.core.restore(Cluster(b.core.cluster()));
  after.register_node(0, "boot1");
  after.wait(seconds(1));
  EXPECT_EQ(after.phase(0), kTesting);
  after.answer(0, true);
  EXPECT_FALSE(after.drained(0));
}

TEST(Quarantine, AFailedAppendPutsNoNodeThere) {
  Ward b;
  for (uint32_t user : {1001, 1002, 1001}) b.fail_job(0, user);
  const JobId last = b.run(0, 1002);
  const node_rpc::BatchFinished end{last, 0, 1 << 8, true, false};
  b.failing_turn([&] { b.core.report(NodeId(0), end); });
  EXPECT_FALSE(b.drained(0));
  b.report(0, end);
  EXPECT_TRUE(b.drained(0));
}

TEST(NodeFault, DrainsTheNodeAndNobodyElses) {
  Ward b("");
  b.report(0, node_rpc::NodeFault{"gpu_checks: GPU 3: 4 uncorrectable ECC errors"});
  EXPECT_TRUE(b.drained(0));
  EXPECT_EQ(b.node(0).reason, "gpu_checks: GPU 3: 4 uncorrectable ECC errors");
  EXPECT_EQ(b.node(0).reason_uid, Uid(0));
  b.set_node("n1", "DRAIN");
  b.report(1, node_rpc::NodeFault{"gpu_checks: other"});
  EXPECT_EQ(b.node(1).reason, "test");
}

}  // namespace
}  // namespace muster::slurmctld
