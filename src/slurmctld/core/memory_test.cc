// What a pending job takes of memory when its name and its paths are its own, as in most queues.
#include <gtest/gtest.h>
#include <malloc.h>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

JobRequest own_paths(int i) {
  return Bench::request([&](JobRequest& r) {
    const std::string n = std::to_string(i);
    r.user_name = "ann";
    r.account = "physics";
    r.num_tasks = 16;
    r.hold = true;
    r.name = "sweep-" + n;
    r.work_dir = "/home/ann/project/sweep";
    r.std_out = "/home/ann/project/sweep/logs/" + n + ".out";
    r.argv = {"/home/ann/project/sweep/run.sh", "--seed", n};
    r.script_hash = std::string(64, 'a');
    r.environment_hash = std::string(64, 'b');
    r.submit_line = "sbatch -n16 -J sweep-" + n + " -o logs/" + n + ".out run.sh --seed " + n;
  });
}

size_t allocated() {
  const struct mallinfo2 m = ::mallinfo2();
  return m.uordblks + m.hblkhd;
}

TEST(Memory, JobsThatDifferInTheirTextsShareTheRest) {
  Bench b;
  const Job& one = b.get(b.submit([](JobRequest& r) { r = own_paths(1); }));
  const Job& other = b.get(b.submit([](JobRequest& r) { r = own_paths(2); }));
  EXPECT_EQ(one.request, other.request);
  EXPECT_EQ(one.whole_request(), own_paths(1));
  EXPECT_EQ(other.whole_request(), own_paths(2));
  b.expect_replay_equal();
}

TEST(Memory, AnUpdatedBodyIsItsOwnAndGoesWithTheJob) {
  Bench b;
  const JobId one = b.submit([](JobRequest&r) { r = own_paths(1); }), other = b.submit([](JobRequest&r) { r = own_paths(2); });
  ASSERT_TRUE(b.update(one, "NumTasks", "2"));
  EXPECT_NE(b.get(one).request, b.get(other).request);
  ASSERT_TRUE(b.update(one, "NumTasks", "16"));
  EXPECT_EQ(b.get(one).request, b.get(other).request);
  ASSERT_TRUE(b.update(one, "Name", "new"));
  EXPECT_EQ(b.get(one).name(), "new");
  EXPECT_EQ(b.get(one).request, b.get(other).request);
  b.expect_replay_equal();
}

TEST(Memory, AJobWithPathsOfItsOwnTakesLessThanOneKiB) {
  constexpr int kJobs = 4000;
  Bench b;
  const size_t before = allocated();
  for (int i = 0; i < kJobs; ++i) {
    b.submit([&](JobRequest& r) { r = own_paths(i); });
    b.log.clear();  // which the controller has on disk
  }
  const size_t after = allocated();
  if (after == before) GTEST_SKIP() << "this build counts its memory elsewhere";
  EXPECT_EQ(b.core.cluster().requests.size(), size_t{kJobs});
  EXPECT_LT((after - before) / kJobs, 1024u);
}

}  // namespace
}  // namespace muster::slurmctld
