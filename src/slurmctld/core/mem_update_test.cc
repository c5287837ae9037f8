// sbatch --mem-update: a running job gives back memory that it does not use, once.
#include "slurmctld/core/core_testing.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

constexpr char kGathers[] = "JobAcctGatherType=jobacct_gather/linux\n";
constexpr Bytes mebibytes(uint64_t count) { return Bytes(count << 20); }

// A job with 2000 MiB on each of its nodes that is measured after a minute.
struct Reduced : Bench {
  JobId job{};
  explicit Reduced(uint32_t nodes = 1, const std::string& conf = kGathers, const std::function<void(JobRequest&)>& more = {})
      : Bench(conf) {
    job = submit([&](JobRequest& r) {
      r.min_nodes = r.max_nodes = r.num_tasks = nodes;
      r.mem_per_node_mb = 2000;
      r.mem_update = "20@1";
      if (more) more(r);
    });
    plan();
    started(job);
  }
  uint32_t node_of(size_t index) const { return get(job).allocation->nodes[index].node.value; }
  uint64_t memory(size_t index = 0) const { return get(job).allocation->nodes[index].mem_mb; }
  void measured(size_t index, std::optional<Bytes> used) { report(node_of(index), node_rpc::JobMeasured{job, get(job).restarts, used}); }
  size_t reductions() const {
    return static_cast<size_t>(
        std::ranges::count_if(log, [](const Event& e) { return std::holds_alternative<event::JobMemoryReduced>(e); }));
  }
};

TEST(MemUpdate, TheMemoryThatAJobDoesNotUseIsFreeForOthers) {
  Reduced b;
  const JobId next = b.submit([&](JobRequest& r) {
    r.mem_per_node_mb = 3000;
    r.required_nodes = "n" + std::to_string(b.node_of(0));
  });
  b.wait(seconds(59));
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  b.wait(seconds(1));
  ASSERT_EQ(b.orders<node_rpc::MeasureJob>().size(), 1u);
  EXPECT_EQ(b.plan(), 0u);
  b.measured(0, mebibytes(500));
  EXPECT_EQ(b.memory(), 600u);
  EXPECT_EQ(b.node(b.node_of(0)).mem_used_mb, 600u);
  ASSERT_EQ(b.orders<node_rpc::LimitMemory>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::LimitMemory>()[0].mem_mb, 600u);
  EXPECT_EQ(b.plan(), 1u);
  EXPECT_EQ(b.state(next), JobState::kRunning);
  b.expect_replay_equal();
  b.ends(b.job);
  b.started(next);
  b.ends(next);
  EXPECT_EQ(b.node(0).mem_used_mb, 0u);
  b.expect_replay_equal();
}

TEST(MemUpdate, AllNodesGetTheLimitOfTheOneThatUsesMost) {
  Reduced b(3);
  b.wait(minutes(1));
  ASSERT_EQ(b.orders<node_rpc::MeasureJob>().size(), 3u);
  b.measured(0, mebibytes(100));
  b.measured(2, mebibytes(1000));
  b.measured(0, mebibytes(9));  // said again: the first word counts
  EXPECT_EQ(b.memory(), 2000u);
  b.measured(1, mebibytes(100));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(b.memory(i), 1200u);
  EXPECT_EQ(b.orders<node_rpc::LimitMemory>().size(), 3u);
  b.expect_replay_equal();
}

TEST(MemUpdate, ATenthOfWhatWasAskedStays) {
  Reduced b;
  b.wait(minutes(1));
  b.measured(0, Bytes(0));
  EXPECT_EQ(b.memory(), 200u);
  b.expect_replay_equal();
}

TEST(MemUpdate, TheLimitNeverGrowsAndIsSettledOnce) {
  Reduced b;
  b.wait(minutes(1));
  b.measured(0, mebibytes(1900));
  EXPECT_EQ(b.memory(), 2000u);
  EXPECT_EQ(b.reductions(), 1u);
  b.measured(0, mebibytes(10));
  b.wait(minutes(5));
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  EXPECT_EQ(b.memory(), 2000u);
  EXPECT_EQ(b.reductions(), 1u);
  b.expect_replay_equal();
}

TEST(MemUpdate, ANodeThatCannotTellKeepsTheJobAsItIs) {
  Reduced b(2);
  b.wait(minutes(1));
  b.measured(0, mebibytes(100));
  b.measured(1, std::nullopt);
  EXPECT_EQ(b.memory(), 2000u);
  EXPECT_EQ(b.reductions(), 1u);
  b.expect_replay_equal();
}

TEST(MemUpdate, OnlyANodeOfTheJobThatWasAskedIsHeard) {
  Reduced b;
  b.measured(0, Bytes(0));  // before it is due
  b.wait(minutes(1));
  b.report(b.node_of(0) + 1, node_rpc::JobMeasured{b.job, 0, Bytes(0)});
  b.report(b.node_of(0), node_rpc::JobMeasured{b.job, 7, Bytes(0)});  // of another run
  b.report(b.node_of(0), node_rpc::JobMeasured{JobId(99), 0, Bytes(0)});
  EXPECT_EQ(b.memory(), 2000u);
  b.measured(0, mebibytes(1000));
  EXPECT_EQ(b.memory(), 1200u);
}

TEST(MemUpdate, ANodeThatDoesNotAnswerIsAskedAgain) {
  Reduced b(2);
  b.wait(minutes(1));
  b.measured(0, mebibytes(100));
  b.wait(seconds(5));
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  b.wait(seconds(5));
  ASSERT_EQ(b.orders<node_rpc::MeasureJob>().size(), 1u);  // the other has answered
  b.measured(1, mebibytes(100));
  EXPECT_EQ(b.memory(1), 200u);
}

TEST(MemUpdate, ANodeThatTheJobHasLostIsNotWaitedFor) {
  Reduced b(2, kGathers, [](JobRequest& r) { r.no_kill = true; });
  b.wait(minutes(1));
  b.measured(0, mebibytes(500));
  b.turn([&] { b.core.node_disconnected(NodeId(b.node_of(1))); });
  b.set_node("n" + std::to_string(b.node_of(1)), "DOWN");
  ASSERT_EQ(b.get(b.job).allocation->nodes.size(), 1u);
  b.wait(seconds(10));
  EXPECT_EQ(b.memory(), 600u);
  b.expect_replay_equal();
}

TEST(MemUpdate, AControllerThatIsStartedAgainAsksAgain) {
  Reduced b(2);
  b.wait(minutes(1));
  b.measured(0, mebibytes(100));
  Core other(b.settings);
  for (const Event& e : b.log) other.replay(e);
  other.begin(b.now);
  other.node_connected(NodeId(b.node_of(0)));
  other.node_connected(NodeId(b.node_of(1)));
  other.housekeep();
  other.commit();
  size_t asked = 0;
  for (const Effect& e : other.take_effects(b.now))
    if (auto* o = std::get_if<Order>(&e)) asked += std::holds_alternative<node_rpc::MeasureJob>(o->order);
  EXPECT_EQ(asked, 2u);
}

TEST(MemUpdate, WhatALostTurnDecidedIsDecidedAgain) {
  Reduced b;
  b.wait(minutes(1));
  b.failing_turn([&] { b.core.report(NodeId(b.node_of(0)), node_rpc::JobMeasured{b.job, 0, mebibytes(500)}); });
  EXPECT_EQ(b.memory(), 2000u);
  EXPECT_EQ(b.node(b.node_of(0)).mem_used_mb, 2000u);
  b.wait(seconds(0));
  EXPECT_EQ(b.orders<node_rpc::MeasureJob>().size(), 1u);
  b.measured(0, mebibytes(500));
  EXPECT_EQ(b.memory(), 600u);
}

TEST(MemUpdate, ASuspendedJobIsMeasuredWhenItGoesOn) {
  Reduced b;
  b.control(rpc::JobAction::kSuspend, b.job);
  b.wait(minutes(2));
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  b.control(rpc::JobAction::kResume, b.job);
  b.wait(seconds(0));
  b.measured(0, mebibytes(500));
  EXPECT_EQ(b.memory(), 600u);
}

TEST(MemUpdate, TheNextRunHasAllItsMemoryAndIsMeasuredAgain) {
  Reduced b;
  b.wait(minutes(1));
  b.measured(0, mebibytes(500));
  b.control(rpc::JobAction::kRequeue, b.job);
  b.wait(seconds(2));
  b.gone(b.job, b.node_of(0));
  b.wait(minutes(3));
  ASSERT_EQ(b.plan(), 1u);
  b.started(b.job);
  EXPECT_EQ(b.memory(), 2000u);
  b.wait(minutes(1));
  EXPECT_EQ(b.orders<node_rpc::MeasureJob>().size(), 1u);
  b.measured(0, mebibytes(100));
  EXPECT_EQ(b.memory(), 200u);
  b.expect_replay_equal();
}

TEST(MemUpdate, TheDelayBeginsWithTheScriptAndNotBeforeItsNodesAreReady) {
  Bench b(kGathers);
  const JobId job = b.submit([](JobRequest& r) {
    r.mem_per_node_mb = 2000;
    r.mem_update = "20@1";
  });
  b.plan();
  b.wait(minutes(2));  // a long prolog
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  b.started(job);
  b.wait(seconds(59));
  EXPECT_TRUE(b.orders<node_rpc::MeasureJob>().empty());
  b.wait(seconds(1));
  EXPECT_EQ(b.orders<node_rpc::MeasureJob>().size(), 1u);
}

TEST(MemUpdate, ANodeThatRegistersHearsTheLimitAgain) {
  Reduced b;
  b.wait(minutes(1));
  b.measured(0, mebibytes(500));
  b.register_node(b.node_of(0), "boot1", {{b.job, 0, node_rpc::NodeJobState::kRunning, 0, true, {}}});
  ASSERT_EQ(b.orders<node_rpc::LimitMemory>().size(), 1u);
  EXPECT_EQ(b.orders<node_rpc::LimitMemory>()[0].mem_mb, 600u);
}

TEST(MemUpdate, StepsHaveWhatIsLeft) {
  Reduced b;
  rpc::CreateStep c;
  c.job = b.job;
  c.request.num_tasks = 1;
  c.request.overlap = true;
  c.request.mem_per_node_mb = 2000;  // as srun knows it from the job's environment
  const auto step = [&] {
    Result<rpc::StepCreated> made = fail(Errc::kError);
    b.turn([&] { made = b.core.run(Caller::root(), c); });
    return made ? made->nodes.at(0).mem_mb : 0;
  };
  EXPECT_EQ(step(), 2000u);
  b.wait(minutes(1));
  b.measured(0, mebibytes(500));
  EXPECT_EQ(b.get(b.job).steps.at(0).shares.at(0).mem_mb, 600u);
  EXPECT_EQ(step(), 600u);
  c.request.mem_per_node_mb = 50;
  EXPECT_EQ(step(), 50u);
  b.expect_replay_equal();
}

TEST(MemUpdate, MemoryPerCpuIsJudgedByTheNodeThatHasMost) {
  Reduced b(1, kGathers, [](JobRequest& r) {
    r.mem_per_node_mb.reset();
    r.mem_per_cpu_mb = 1000;
    r.cpus_per_task = 2;
  });
  ASSERT_EQ(b.memory(), 2000u);
  b.wait(minutes(1));
  b.measured(0, mebibytes(1000));
  EXPECT_EQ(b.memory(), 1200u);
}

TEST(MemUpdate, TheJobIsChargedForWhatItHasLeft) {
  Reduced b(1, std::string(kGathers) + "AccountingStorageType=accounting_storage/slurmdbd\n");
  b.turn([&] { b.core.records_stored(b.core.cluster().position); });
  b.wait(minutes(1));
  b.measured(0, mebibytes(500));
  const JobRecord record = make_job_record(b.core.cluster(), b.get(b.job));
  EXPECT_NE(tres_text(record.tres_allocated).find("mem=600M"), std::string::npos) << tres_text(record.tres_allocated);
  EXPECT_FALSE(b.core.indexes().unrecorded().empty());
  b.expect_replay_equal();
}

TEST(MemUpdate, ItIsRefusedWhereNothingIsMeasuredAndWhereTheValueIsWrong) {
  Bench b;
  const auto refused = [&](Bench& bench, const char* text) {
    const JobRequest q = Bench::request([&](JobRequest& r) { r.mem_update = text; });
    Result<rpc::JobSubmitted> made = fail(Errc::kError);
    bench.turn([&] { made = bench.core.run(Caller{q.uid, q.gid, {}, {}}, q); });
    return made ? std::string() : std::string(made.error().hint);
  };
  EXPECT_NE(refused(b, "20@10").find("JobAcctGatherType"), std::string::npos);
  Bench gathers(kGathers);
  EXPECT_EQ(refused(gathers, "20@10"), "");
  EXPECT_NE(refused(gathers, "20@x").find("--mem-update: the delay \"x\""), std::string::npos);
}

TEST(MemUpdate, SuchAJobHasNoStepManager) {
  Reduced b(1, std::string(kGathers) + "SlurmctldParameters=enable_stepmgr\n");
  EXPECT_FALSE(b.get(b.job).request->stepmgr);
  EXPECT_FALSE(b.get(b.job).managed);
}

}  // namespace
}  // namespace muster::slurmctld
