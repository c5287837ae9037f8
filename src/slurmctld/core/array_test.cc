// Arrays of very many tasks, and changes of a part of one.
#include "slurmctld/core/core_testing.h"

namespace muster::slurmctld {
namespace {

TEST(ManyTasks, AMillionAreOneRecordOfABitEach) {
  Bench b("MaxArraySize=1000001\nMaxJobCount=2000000\n");
  const JobId id = b.submit([](JobRequest& r) { r.array = "1-1000000%50000"; });
  EXPECT_EQ(b.core.cluster().jobs.size(), 1u);
  EXPECT_EQ(b.core.indexes().job_count(), 1'000'000u);
  EXPECT_EQ(b.get(id).array_tasks->pending.count(), 1'000'000u);
  EXPECT_EQ(b.get(id).array_tasks->max_running, 50'000u);
  EXPECT_EQ(b.last_events.size(), 2u);  // the request and the submission
  EXPECT_EQ(b.plan(), 4u);              // each takes the memory of a node
  EXPECT_EQ(b.get(id).array_tasks->pending.count(), 999'996u);
  b.cancel(id, "990000-1000000");
  EXPECT_EQ(b.get(id).array_tasks->pending.count(), 989'995u);
  b.cancel(id);
  EXPECT_EQ(b.state(id), JobState::kCancelled);
  b.expect_replay_equal();
}

TEST(ManyTasks, AreBoundedByMaxArraySizeAndMaxJobCount) {
  Bench b("MaxArraySize=1000001\nMaxJobCount=1000\n");
  auto refused = [&](const std::string& tasks) {
    Result<rpc::JobSubmitted> r;
    b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, Bench::request([&](JobRequest& q) { q.array = tasks; })); });
    return r ? Errc::kOk : r.error().code;
  };
  EXPECT_EQ(refused("1-1000001"), Errc::kInvalidArray);
  EXPECT_EQ(refused("1-1000000"), Errc::kTryAgainLater);
  EXPECT_EQ(refused("999000,1000000"), Errc::kOk);
}

TEST(PartOfAnArray, IsChangedAndTheRestIsAsItWas) {
  Bench b("MaxArraySize=100\n");
  const JobId id = b.submit([](JobRequest& r) {
    r.array = "1-6";
    r.begin = from_unix(1'800'000'000);
  });
  rpc::UpdateJob c;
  c.job.job = id;
  c.job.array_tasks = "1-3";
  c.changes = {{"TimeLimit", "=", "7"}, {"Comment", "=", "few"}};
  Result<rpc::Messages> r;
  b.turn([&] { r = b.core.run(Caller{Uid(1000), {}, {}, {}}, c); });
  ASSERT_TRUE(r.has_value() && r->errors.empty());
  size_t changed = 0;
  b.core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
    const bool meant = j.array_task >= 1 && j.array_task <= 3;
    changed += meant;
    EXPECT_EQ(j.time_limit_min, meant ? 7u : 10u);
    EXPECT_EQ(j.own.get(&RequestOwn::comment), meant ? "few" : "");
  });
  EXPECT_EQ(changed, 3u);
  EXPECT_EQ(b.get(id).array_tasks->pending.to_ranges(), "4-6");
  b.expect_replay_equal();
}

}  // namespace
}  // namespace muster::slurmctld
