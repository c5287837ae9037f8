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

}  // namespace
}  // namespace muster::sql
