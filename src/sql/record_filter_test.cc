#include "sql/record_filter.h"

#include <gtest/gtest.h>

#include "sql/schema.h"
#include "sql/testing.h"

namespace muster::sql {
namespace {

// By which indexes SQLite would find the jobs, in its own words.
class FoundBy : public testing::Test {
 protected:
  void SetUp() override {
    auto connection = open_sqlite(directory_.path + "/a.db");
    ASSERT_TRUE(connection) << connection.error().message();
    connection_ = std::move(*connection);
    ASSERT_TRUE(prepare_schema(*connection_));
    // As sacct asks: of one cluster, since a time.
    filter_.clusters = {"c"};
    filter_.from = from_unix(1'700'000'000);
  }
  std::string plan() {
    const Where where = where_of(filter_, audience_);
    std::string out;
    auto done =
        connection_->query("EXPLAIN QUERY PLAN SELECT id FROM muster_jobs" + where.text, where.values, [&](const Row& row) -> Result<> {
          out.append(row.bytes(3)).append("; ");
          return {};
        });
    EXPECT_TRUE(done) << done.error().message();
    return out;
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

  TemporaryDirectory directory_;
  std::unique_ptr<Connection> connection_;
  rpc::JobRecordFilter filter_;
  RecordAudience audience_ = RecordAudience::everybody();
};

TEST_F(FoundBy, AJobByItsIdAndByItsHeadNotByItsCluster) {
  filter_.jobs.emplace_back().job = JobId(7);
  filter_.users = {Uid(1000)};
  const std::string found = plan();
  EXPECT_TRUE(has(found, "muster_jobs_head (head=?)") && has(found, "(job=?)")) << found;
  EXPECT_FALSE(has(found, "muster_jobs_time") || has(found, "muster_jobs_uid") || has(found, "SCAN")) << found;
}
TEST_F(FoundBy, AUsersJobsByTheUser) {
  filter_.users = {Uid(1000)};
  filter_.accounts = {"a"};
  const std::string found = plan();
  EXPECT_TRUE(has(found, "muster_jobs_uid (uid=? AND ended>?)")) << found;
}
TEST_F(FoundBy, AnAccountsJobsByTheAccount) {
  filter_.accounts = {"a"};
  const std::string found = plan();
  EXPECT_TRUE(has(found, "muster_jobs_account (account=? AND ended>?)")) << found;
}
TEST_F(FoundBy, AllJobsOfATimeByTheirEnd) {
  const std::string found = plan();
  EXPECT_TRUE(has(found, "muster_jobs_time (cluster=? AND ended>?)")) << found;
}

TEST_F(FoundBy, WhatACoordinatorMaySeeByHimAndByHisAccounts) {
  audience_.all = false;
  audience_.uid = Uid(1000);
  EXPECT_TRUE(has(plan(), "muster_jobs_uid (uid=? AND ended>?)")) << plan();
  audience_.accounts["c"] = {"lab", "team"};
  const std::string found = plan();
  EXPECT_TRUE(has(found, "muster_jobs_uid (uid=?") && has(found, "muster_jobs_account (account=?")) << found;
  EXPECT_FALSE(has(found, "SCAN")) << found;
}

// sacct -j SLUID; sacctmgr modify job, which changes what is found and nothing else.
TEST(RecordRule, ARunIsMeantByItsSluidAndByThatOfItsFirstPart) {
  JobRecord first, part, next;
  first.key = {JobId(7), from_unix(1000), 0};
  part.key = {JobId(7), from_unix(1100), 0};  // the run gave up nodes then
  part.first_submitted = first.key.submitted;
  next.key = {JobId(7), from_unix(1200), 1};
  for (JobRecord* record : {&first, &part, &next}) record->state = JobState::kCompleted;
  const auto meant = [&](Sluid run) {
    rpc::JobRecordFilter filter;
    filter.jobs.emplace_back().job = job_of(run);
    filter.jobs.back().sluid = run;
    EXPECT_TRUE(needs_record(filter));
    const auto rule = RecordRule::make(filter);
    std::string out;
    for (const JobRecord* record : {&first, &part, &next}) {
      EXPECT_EQ(rule->matches(*record), rule->names_run(*record));
      out += rule->matches(*record) ? '1' : '0';
    }
    return out;
  };
  EXPECT_EQ(meant(first.sluid()), "110") << "what the run was called while it went on";
  EXPECT_EQ(meant(part.sluid()), "010");
  EXPECT_EQ(meant(next.sluid()), "001");
  EXPECT_EQ(meant(sluid_of(JobId(7), from_unix(1300), 1)), "000");
}

}  // namespace
}  // namespace muster::sql
