#include "slurmctld/core/job_ids.h"

#include <gtest/gtest.h>

#include <set>

#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(JobIds, GoOnAfterTheLastAndBeginAnewBeyondTheGreatest) {
  Bench b("FirstJobId=10\nMaxJobId=12\n");
  EXPECT_EQ(b.submit(), JobId(10));
  EXPECT_EQ(b.submit(), JobId(11));
  EXPECT_EQ(expected_job_id(b.core.cluster(), b.settings.config()), JobId(12));
  EXPECT_EQ(b.submit(), JobId(12));
  Result<rpc::JobSubmitted> none = fail(Errc::kError);
  b.turn([&] { none = b.core.run(Caller{Uid(1000), Gid(1000), {}, {}}, Bench::request()); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kTryAgainLater);
  EXPECT_EQ(expected_job_id(b.core.cluster(), b.settings.config()), JobId{});
  b.expect_replay_equal();
}

// A task of an array that starts gets its record under an id that is allowed, and the array still finds it.
TEST(JobIds, OfTasksBeginAnewToo) {
  Bench b("FirstJobId=1\nMaxJobId=6\n");
  for (int i = 0; i < 4; ++i) b.submit();
  const JobId array = b.submit([](JobRequest& r) { r.array = "0-2"; });
  ASSERT_EQ(array, JobId(5));
  b.cancel(JobId(1));
  b.cancel(JobId(2));
  b.cancel(JobId(3));
  b.wait(seconds(200));     // MinJobAge: forgotten
  EXPECT_EQ(b.plan(), 4u);  // each takes the memory of a node
  std::set<uint32_t> ids;
  b.core.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.array_job_id == array) ids.insert(id);
  });
  EXPECT_EQ(ids, (std::set<uint32_t>{1, 5, 6}));
  b.cancel(array);
  for (uint32_t id : ids) EXPECT_EQ(b.state(JobId(id)), JobState::kCancelled) << id;
  b.expect_replay_equal();
}

// Whether an id was ever given is known also after they began anew.
TEST(JobIds, ThatWereGivenOnceAreRemembered) {
  Cluster c;
  c.give(JobId(7));
  EXPECT_TRUE(c.was_given(JobId(7)));
  EXPECT_FALSE(c.was_given(JobId(8)));
  c.give(JobId(1));
  EXPECT_TRUE(c.was_given(JobId(8)));
  EXPECT_EQ(c.last_job_id, JobId(1));
}

}  // namespace
}  // namespace muster::slurmctld
