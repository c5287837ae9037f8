#include "slurmctld/core/resume_queue.h"

#include <set>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

using Nodes = std::set<uint32_t>;

// Four nodes that are powered down, and their power switch.
class ResumeRate : public testing::Test {
 protected:
  void begin(const std::string& rate) {
    bench = std::make_unique<Bench>(
        "SuspendProgram=/s\nResumeProgram=/r\nSuspendTimeout=1\nResumeTimeout=100\nSlurmctldParameters=power_save_interval=1000\n" + rate);
    for (uint32_t i = 0; i < 4; ++i) bench->set_node("n" + std::to_string(i), "POWER_DOWN");
    bench->wait(seconds(2));
  }
  JobId job_on(const std::string& nodes, uint32_t count) {
    const JobId job = bench->submit([&](JobRequest& r) {
      r.required_nodes = nodes;
      r.min_nodes = r.max_nodes = count;
    });
    EXPECT_EQ(bench->plan(), 1u);
    return job;
  }
  // The nodes that this turn told ResumeProgram of.
  Nodes told() const {
    Nodes out;
    for (const Effect& e : bench->effects)
      if (auto* power = std::get_if<PowerNodes>(&e); power && power->program == event::PowerProgram::kResume)
        for (const NodeId node : power->nodes) out.insert(node.value);
    return out;
  }
  bool waits(uint32_t node) const { return ResumeQueue::waits(bench->node(node)); }
  std::unique_ptr<Bench> bench;
};

TEST_F(ResumeRate, AJobThatFitsIsToldAtOnceAndWhole) {
  begin("ResumeRate=2\n");
  job_on("n[1-2]", 2);
  EXPECT_EQ(told(), (Nodes{1, 2}));
  EXPECT_EQ(bench->node(1).resume_deadline, bench->now + seconds(100));
  EXPECT_EQ(bench->core.next_timer(), bench->now + seconds(100));
  bench->expect_replay_equal();
}

TEST_F(ResumeRate, AJobThatDoesNotFitWaitsForAllOfItsNodesTogether) {
  begin("ResumeRate=3\n");
  job_on("n[0-1]", 2);
  EXPECT_EQ(told(), (Nodes{0, 1}));
  bench->wait(seconds(5));
  const JobId second = job_on("n[2-3]", 2);
  EXPECT_EQ(told(), Nodes());
  EXPECT_TRUE(waits(2) && waits(3));
  EXPECT_TRUE(bench->get(second).flags & kJobConfiguring);
  EXPECT_EQ(bench->core.next_timer(), bench->now + seconds(55));
  bench->wait(seconds(54));
  EXPECT_EQ(told(), Nodes());
  bench->wait(seconds(1));
  EXPECT_EQ(told(), (Nodes{2, 3}));
  EXPECT_EQ(bench->node(3).resume_deadline, bench->now + seconds(100));  // its time begins now
  bench->expect_replay_equal();
}

TEST_F(ResumeRate, NobodyOvertakesALargerJob) {
  begin("ResumeRate=2\n");
  job_on("n0", 1);
  job_on("n[1-2]", 2);
  EXPECT_EQ(told(), Nodes());
  job_on("n3", 1);
  EXPECT_EQ(told(), Nodes());
  bench->wait(minutes(1));
  EXPECT_EQ(told(), (Nodes{1, 2}));
  bench->wait(minutes(1));
  EXPECT_EQ(told(), (Nodes{3}));
}

TEST_F(ResumeRate, AJobLargerThanTheRateGetsItsNodesByTheMinute) {
  begin("ResumeRate=3\n");
  const JobId job = job_on("n[0-3]", 4);
  EXPECT_EQ(told(), (Nodes{0, 1, 2}));
  for (uint32_t i = 0; i < 3; ++i) bench->register_node(i, "boot2");
  EXPECT_TRUE(bench->get(job).flags & kJobConfiguring);
  bench->wait(minutes(1));
  EXPECT_EQ(told(), (Nodes{3}));
  bench->register_node(3, "boot2");
  EXPECT_FALSE(bench->get(job).flags & kJobConfiguring);
  bench->expect_replay_equal();
}

TEST_F(ResumeRate, ZeroIsNoBound) {
  begin("ResumeRate=0\n");
  job_on("n[0-3]", 4);
  EXPECT_EQ(told(), (Nodes{0, 1, 2, 3}));
}

TEST_F(ResumeRate, ANodeWhoseJobIsCancelledMeanwhileStaysDown) {
  begin("ResumeRate=1\n");
  job_on("n0", 1);
  const JobId job = job_on("n1", 1);
  ASSERT_TRUE(waits(1));
  bench->cancel(job);
  bench->wait(minutes(1));
  EXPECT_EQ(told(), Nodes());
  EXPECT_TRUE(bench->node(1).flags & kNodePoweredDown);
  EXPECT_FALSE(bench->node(1).flags & kNodePoweringUp);
  bench->expect_replay_equal();
}

TEST_F(ResumeRate, WhoWaitsOutlivesTheController) {
  begin("ResumeRate=1\n");
  job_on("n0", 1);
  job_on("n1", 1);
  Core other(bench->settings);
  for (const Event& e : bench->log) other.replay(e);
  other.begin(bench->now);
  other.housekeep();
  other.commit();
  size_t told = 0;
  for (const Effect& e : other.take_effects(bench->now))
    if (auto* power = std::get_if<PowerNodes>(&e)) told += power->nodes == std::vector<NodeId>{NodeId(1)};
  EXPECT_EQ(told, 1u);
}

TEST_F(ResumeRate, ATurnThatIsTakenBackTellsLater) {
  begin("ResumeRate=2\n");
  bench->submit([](JobRequest& r) { r.required_nodes = "n1"; });
  const auto plan = bench->planner.plan(*bench->core.snapshot(), bench->settings.sched, bench->now, sched::Pass::kFull);
  bench->failing_turn([&] { bench->core.carry_out(plan); });
  EXPECT_TRUE(bench->node(1).flags & kNodePoweredDown);
  EXPECT_EQ(bench->plan(), 1u);
  EXPECT_EQ(told(), (Nodes{1}));
}

}  // namespace
}  // namespace muster::slurmctld
