// Whose turn it is. The worked examples of guide gang_scheduling.
#include "sched/preempt/time_slicer.h"

#include <gtest/gtest.h>

#include "sched/testing.h"

namespace muster::sched {
namespace {

const Time kStart = from_unix(1'000'000);

// Five nodes of two CPUs; partition 0 has tier 1 and partition 1 tier 2.
struct World {
  Cluster c = a_cluster().nodes(5).cpus(2).build();
  World() {
    Partition high = c.partitions.at(0);
    high.name = "high";
    high.priority_tier = 2;
    ClusterBuilder::add_partition(c, high);
  }
  // A job on all CPUs of these nodes that runs since that second.
  JobId job(std::initializer_list<uint32_t> nodes, int second, uint32_t partition = 0) {
    auto a = std::make_shared<Allocation>();
    for (uint32_t n : nodes) a->nodes.push_back({.node = NodeId(n), .cpus = Bitmap(2, true)});
    const JobId id = submit(c, a_job().in(partition), kStart);
    Job& j = *c.jobs.edit(id.value);
    j.state = JobState::kRunning;
    j.allocation = a;
    j.started = kStart + seconds(second);
    return id;
  }
  // What is to be done, which is done at that second.
  std::string turn(int second, bool next_slice) {
    std::vector<const Job*> jobs;
    c.jobs.for_each([&](uint32_t, const Job& j) { jobs.push_back(&j); });
    std::string out;
    for (const Shift& s : shifts(c, jobs, next_slice)) {
      Job& j = *c.jobs.edit(s.job.value);
      j.state = s.resume ? JobState::kRunning : JobState::kSuspended;
      (s.resume ? j.run.edit().slice_began : j.run.edit().suspended) = kStart + seconds(second);
      j.run.edit().suspend_cause = s.cause;
      out += (out.empty() ? "" : " ") +
             std::string(s.resume                              ? "+"
                         : s.cause == SuspendCause::kPreempted ? "!"
                                                               : "-") +
             std::to_string(s.job.value);
    }
    return out;
  }
};

TEST(TimeSlicer, TwoJobsOfAllNodesSwap) {
  World w;
  w.job({0, 1, 2, 3, 4}, 0);
  EXPECT_EQ(w.turn(0, false), "");
  w.job({0, 1, 2, 3, 4}, 13);
  EXPECT_EQ(w.turn(13, false), "-2");
  EXPECT_EQ(w.turn(14, false), "");
  EXPECT_EQ(w.turn(43, true), "-1 +2");
  EXPECT_EQ(w.turn(73, true), "-2 +1");
}

// "Job 10 runs continually, while jobs 9 and 11 are timesliced".
TEST(TimeSlicer, AJobThatSharesNothingRunsAllTheTime) {
  World w;
  w.job({0, 1, 2}, 0);
  w.job({3, 4}, 0);
  w.job({0, 1, 2}, 1);
  EXPECT_EQ(w.turn(1, false), "-3");
  EXPECT_EQ(w.turn(31, true), "-1 +3");
  EXPECT_EQ(w.turn(61, true), "-3 +1");
}

// "Local backfilling": job 14 runs beside job 12 while job 13 waits for all five nodes; then 13 has them alone.
TEST(TimeSlicer, LocalBackfilling) {
  World w;
  w.job({0, 1, 2}, 0);
  w.job({0, 1, 2, 3, 4}, 1);
  EXPECT_EQ(w.turn(1, false), "-2");
  w.job({3, 4}, 2);
  EXPECT_EQ(w.turn(2, false), "");
  EXPECT_EQ(w.turn(31, true), "-1 -3 +2");
  EXPECT_EQ(w.turn(61, true), "-2 +1 +3");
}

TEST(TimeSlicer, AHigherTierCastsAShadow) {
  World w;
  w.job({0}, 0);
  w.job({1}, 0);
  w.job({0, 2}, 5, 1);
  EXPECT_EQ(w.turn(5, false), "!1");
  EXPECT_EQ(w.turn(35, true), "");  // slices make no difference
  w.c.jobs.edit(3)->state = JobState::kCompleted;
  EXPECT_EQ(w.turn(40, false), "+1");
}

TEST(TimeSlicer, WhoeverHasWaitedLongestGoesOn) {
  World w;
  for (int i = 0; i < 3; ++i) w.job({0}, i);
  EXPECT_EQ(w.turn(3, false), "-2 -3");
  w.c.jobs.edit(2)->run.edit().suspended = kStart + seconds(9);
  EXPECT_EQ(w.turn(30, true), "-1 +3");
  EXPECT_EQ(w.turn(60, true), "-3 +2");
}

// "Heterogeneous jobs are excluded": they always run, and nobody waits for them.
TEST(TimeSlicer, ComponentsOfHeterogeneousJobsTakeNoPart) {
  World w;
  const JobId plain = w.job({0}, 0), first = w.job({0}, 1), second = w.job({1}, 1), other = w.job({1}, 2);
  join(w.c, {first, second});
  EXPECT_EQ(w.turn(2, false), "");
  EXPECT_EQ(w.turn(30, true), "");
  w.job({0}, 31);
  EXPECT_EQ(w.turn(31, false), "-5");  // a plain job waits for plain jobs only
  EXPECT_EQ(w.turn(60, true), "-1 +5");
  Job* stopped = w.c.jobs.edit(second.value);  // as an older version left it
  stopped->state = JobState::kSuspended;
  stopped->run.edit().suspend_cause = SuspendCause::kTimeSlice;
  EXPECT_EQ(w.turn(61, false), "+3");
  w.c.jobs.edit(other.value)->state = JobState::kCompleted;
  w.c.jobs.edit(plain.value)->state = JobState::kCompleted;
  EXPECT_EQ(w.turn(90, true), "");
}

TEST(TimeSlicer, WhomAUserSuspendedStaysSuspended) {
  World w;
  const JobId id = w.job({0}, 0);
  w.c.jobs.edit(id.value)->state = JobState::kSuspended;
  EXPECT_EQ(w.turn(30, true), "");
}

}  // namespace
}  // namespace muster::sched
