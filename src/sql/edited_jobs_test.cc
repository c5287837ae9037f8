// What becomes, in both kinds of database, of what sacctmgr modify job has set in a record that its controller goes on writing.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "sql/storage.h"
#include "sql/testing.h"

namespace muster::sql {
namespace {

PrivateMariaDb* server() {
  static std::unique_ptr<PrivateMariaDb> one = [] {
    auto s = std::make_unique<PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

class EditedJobs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (maria()) {
      if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      database_ = "muster_edited_" + std::to_string(++databases);
    }
    auto connection = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
    ASSERT_TRUE(connection) << connection.error().message();
    auto opened = Storage::open(std::move(*connection));
    ASSERT_TRUE(opened) << opened.error().message();
    storage_ = std::move(*opened);
  }
  bool maria() const { return std::string(GetParam()) == "mariadb"; }

  // As the controller sends it.
  void store(uint64_t position, const std::function<void(JobRecord&)>& change = {}) {
    JobRecord record;
    record.key = {JobId(1), from_unix(1'700'000'000), 0};
    record.position = position;
    record.state = JobState::kRunning;
    record.eligible = record.started = record.key.submitted;
    if (change) change(record);
    rpc::StoreRecords message;
    message.cluster = "c";
    message.jobs = {std::move(record)};
    const auto stored = storage_->store(message);
    ASSERT_TRUE(stored) << stored.error().message();
  }
  void edit(const std::function<void(JobRecord&)>& change) {
    JobRecord record = known();
    change(record);
    const auto replaced = storage_->replace_jobs({std::move(record)});
    ASSERT_TRUE(replaced) << replaced.error().message();
  }
  JobRecord known() {
    rpc::JobRecords out;
    size_t taken = 0;
    const auto numbers = storage_->find_jobs({}, RecordAudience::everybody());
    EXPECT_TRUE(numbers && storage_->load_jobs(*numbers, false, out, taken));
    EXPECT_EQ(out.jobs.size(), 1u);
    return out.jobs.empty() ? JobRecord() : out.jobs[0];
  }

 private:
  TemporaryDirectory directory_;
  std::string database_;
  std::unique_ptr<Storage> storage_;
};

TEST_P(EditedJobs, AreReplacedWithoutANewPosition) {
  store(9);
  edit([](JobRecord& r) { r.comment = "checked"; });
  EXPECT_EQ(known().comment, "checked");
  EXPECT_EQ(known().position, 9u);
}

TEST_P(EditedJobs, KeepTheirTextsWhereTheControllerHasNone) {
  store(1, [](JobRecord& r) { r.comment = "theirs"; });
  edit([](JobRecord& r) { r.comment = "ours", r.admin_comment = "admin", r.system_comment = "system", r.extra = "extra"; });
  store(2, [](JobRecord& r) { r.state = JobState::kCompleted, r.comment = "theirs", r.detail = "ended"; });
  EXPECT_EQ(known().comment, "theirs") << "a text of the controller's is the newer one";
  EXPECT_EQ(known().admin_comment, "admin");
  EXPECT_EQ(known().system_comment, "system");
  EXPECT_EQ(known().extra, "extra");
  EXPECT_EQ(known().state, JobState::kCompleted);
  store(3);
  EXPECT_EQ(known().comment, "theirs");
  EXPECT_EQ(known().detail, "") << "only those four texts stay";
}

TEST_P(EditedJobs, LoseTheTextThatAnEditTakesAway) {
  store(1, [](JobRecord& r) { r.admin_comment = "wrong"; });
  edit([](JobRecord& r) { r.admin_comment.clear(); });
  store(2);
  EXPECT_EQ(known().admin_comment, "");
}

INSTANTIATE_TEST_SUITE_P(Each, EditedJobs, testing::Values("sqlite", "mariadb"), [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace muster::sql
