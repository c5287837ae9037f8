// Collectors by small traces that can be worked out by hand.
#include "sim/replay/collector.h"

#include <gtest/gtest.h>

#include "sim/replay/report.h"

namespace muster::sim::replay {
namespace {

const Time kStart = from_unix(1'800'000'000);
Time at(int64_t s) { return kStart + seconds(s); }

AllocationPtr held(std::initializer_list<uint32_t> nodes, uint32_t cpus, uint64_t gpus) {
  auto a = std::make_shared<Allocation>();
  for (uint32_t n : nodes) {
    NodeShare s;
    s.node = NodeId(n);
    s.cpus = Bitmap(cpus);
    for (uint32_t i = 0; i < cpus; ++i) s.cpus.set(i);
    if (gpus) s.gres.push_back({"gpu", "", gpus, {}, {}});
    a->nodes.push_back(std::move(s));
  }
  return a;
}

struct Bench {
  explicit Bench(uint32_t jobs, uint32_t accounts = 1) {
    for (uint32_t i = 0; i < jobs; ++i) {
      TraceJob j;
      j.number = i + 1;
      j.account = trace.accounts.add("a" + std::to_string(i % accounts));
      trace.jobs.push_back(j);
    }
    collector.emplace(trace, kStart, minutes(1));
  }
  void submit(uint32_t i, int64_t s) { collector->submitted(i, JobId(i + 1), at(s)); }
  void start(uint32_t i, int64_t s, AllocationPtr a) {
    event::JobStarted e;
    e.job = JobId(i + 1);
    e.time = at(s);
    e.allocation = std::move(a);
    collector->take(e, cluster);
  }
  void end(uint32_t i, int64_t s, JobState state, uint32_t flags = 0) {
    event::JobEnding e;
    e.job = JobId(i + 1);
    e.time = at(s);
    e.state = state;
    e.flags = flags;
    collector->take(e, cluster);
  }
  void requeue(uint32_t i, int64_t s) {
    event::JobRequeued e;
    e.job = JobId(i + 1);
    e.time = at(s);
    collector->take(e, cluster);
  }
  void suspend(uint32_t i, int64_t s, bool resumed) { collector->take(event::JobSuspended{JobId(i + 1), resumed, at(s)}, cluster); }
  Trace trace;
  Cluster cluster;
  std::optional<Collector> collector;
};

TEST(UsageLine, AveragesByHand) {
  UsageLine line(kStart, minutes(1));
  line.change(Amount::kCpus, 4, at(30));
  line.change(Amount::kCpus, -4, at(90));
  line.advance(at(150));
  const auto all = line.averages();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_DOUBLE_EQ(all[0][0], 2);
  EXPECT_DOUBLE_EQ(all[1][0], 2);
  EXPECT_DOUBLE_EQ(all[2][0], 0) << "of the half minute that has come";
  EXPECT_DOUBLE_EQ(line.average(at(0), at(120))[0], 2);
  EXPECT_DOUBLE_EQ(line.average(at(0), at(150))[0], 1.6);
}

TEST(Quantiles, NearestRank) {
  std::vector<double> v{5, 1, 4, 2, 3, 6, 7, 8, 9, 10};
  const Quantiles q = quantiles(v);
  EXPECT_EQ(q.count, 10u);
  EXPECT_DOUBLE_EQ(q.mean, 5.5);
  EXPECT_DOUBLE_EQ(q.median, 5);
  EXPECT_DOUBLE_EQ(q.p90, 9);
  EXPECT_DOUBLE_EQ(q.p99, 10);
  std::vector<double> none;
  EXPECT_EQ(quantiles(none).count, 0u);
}

TEST(Collector, UseIsWhatJobsHoldWhileTheyRun) {
  Bench b(2);
  b.submit(0, 0);
  b.submit(1, 0);
  b.start(0, 0, held({0, 1}, 4, 2));
  b.start(1, 30, held({1}, 2, 0));
  b.end(0, 60, JobState::kCompleted);
  b.end(1, 120, JobState::kFailed);
  b.collector->finish(at(120));
  const auto line = b.collector->line().averages();
  ASSERT_EQ(line.size(), 2u);
  EXPECT_DOUBLE_EQ(line[0][static_cast<size_t>(Amount::kCpus)], 9);  // 8, and 2 for half of the minute
  EXPECT_DOUBLE_EQ(line[0][static_cast<size_t>(Amount::kGpus)], 4);
  EXPECT_DOUBLE_EQ(line[0][static_cast<size_t>(Amount::kNodes)], 2);
  EXPECT_DOUBLE_EQ(line[0][static_cast<size_t>(Amount::kWaiting)], 0.5);
  EXPECT_DOUBLE_EQ(line[1][static_cast<size_t>(Amount::kNodes)], 1);
  const Used& used = b.collector->used_by_account()[1];
  EXPECT_DOUBLE_EQ(used.cpu_seconds, 8 * 60 + 2 * 90);
  EXPECT_DOUBLE_EQ(used.gpu_seconds, 4 * 60);
  EXPECT_DOUBLE_EQ(used.node_seconds, 2 * 60 + 90);
  const Used& contended = b.collector->used_while_waiting()[1];
  EXPECT_DOUBLE_EQ(contended.cpu_seconds, 8 * 30) << "nobody waited after half a minute";
  EXPECT_EQ(b.collector->jobs()[0].state, JobState::kCompleted);
  EXPECT_EQ(b.collector->jobs()[1].cpus, 2u);
}

TEST(Collector, PreemptionsAreSeenByTheirEvents) {
  Bench b(3);
  for (uint32_t i = 0; i < 3; ++i) b.submit(i, 0);
  b.start(0, 0, held({0}, 4, 1));
  b.start(1, 0, held({1}, 4, 1));
  b.start(2, 0, held({2}, 4, 1));
  b.end(0, 100, JobState::kPreempted, kJobRequeued);
  b.requeue(0, 100);
  b.end(1, 50, JobState::kPreempted);
  b.suspend(2, 10, false);
  b.suspend(2, 40, true);
  b.end(2, 60, JobState::kCompleted);
  b.start(0, 200, held({0}, 4, 1));
  b.end(0, 300, JobState::kCompleted);
  b.collector->finish(at(300));
  const Preempted& p = b.collector->preempted();
  EXPECT_EQ(p.requeued, 1u);
  EXPECT_EQ(p.cancelled, 1u);
  EXPECT_EQ(p.suspended, 1u);
  EXPECT_DOUBLE_EQ(p.lost.gpu_seconds, 150);
  const JobResult& twice = b.collector->jobs()[0];
  EXPECT_EQ(twice.starts, 2);
  EXPECT_EQ(twice.preempted, 1);
  EXPECT_EQ(twice.first_start, at(0));
  EXPECT_EQ(twice.start, at(200));
  EXPECT_EQ(twice.state, JobState::kCompleted);
  EXPECT_DOUBLE_EQ(b.collector->used_by_account()[1].gpu_seconds, 100 + 100 + 50 + 30) << "a suspended job uses nothing";
  EXPECT_EQ(b.collector->waiting(), 0u);
  EXPECT_EQ(b.collector->running(), 0u);
  EXPECT_EQ(b.collector->ended(), 3u);
}

TEST(Collector, PromisesThatArePutOff) {
  Bench b(2);
  b.submit(0, 0);
  b.submit(1, 0);
  auto promise = [&](int64_t now, int64_t first, int64_t second) {
    sched::Plan plan;
    Verdict v;
    v.expected_start = at(first);
    plan.verdicts.emplace_back(JobId(1), v);
    v.expected_start = second ? at(second) : Time{};
    plan.verdicts.emplace_back(JobId(2), v);
    b.collector->promises(plan, at(now));
  };
  promise(0, 600, 0);
  promise(30, 630, 900);   // less than a minute later is the same
  promise(60, 1200, 600);  // put off; moved up
  promise(90, 900, 600);
  b.start(0, 900, held({0}, 1, 0));
  promise(950, 5000, 900);
  const JobResult &one = b.collector->jobs()[0], &two = b.collector->jobs()[1];
  EXPECT_EQ(one.first_promise, at(600));
  EXPECT_EQ(one.last_promise, at(900));
  EXPECT_EQ(one.delays, 1);
  EXPECT_EQ(one.delayed, seconds(570));
  EXPECT_EQ(two.first_promise, at(900));
  EXPECT_EQ(two.promised_at, at(30));
  EXPECT_EQ(two.delays, 1);
}

}  // namespace
}  // namespace muster::sim::replay
