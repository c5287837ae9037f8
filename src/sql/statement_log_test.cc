// What DebugFlags=DB_… tells of statements.
#include "sql/statement_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "model/accounts.h"
#include "sql/storage.h"
#include "sql/testing.h"

namespace muster::sql {
namespace {

struct Watch final : StatementWatch {
  bool watching() const override { return !subjects.empty(); }
  bool wants(StatementSubject s) const override { return subjects.contains(s); }
  void ran(StatementSubject s, const std::string& text) override { said.push_back(std::string(name_of(s)) + ": " + text); }
  bool has_said(std::string_view what) const {
    return std::ranges::any_of(said, [&](const std::string& line) { return line.contains(what); });
  }
  std::set<StatementSubject> subjects;
  std::vector<std::string> said;
};

TEST(StatementLog, AStatementIsAboutItsTable) {
  const std::pair<const char*, StatementSubject> kCases[] = {
      {"SELECT position FROM muster_jobs WHERE job = ?", StatementSubject::kJob},
      {"SELECT c.hash FROM muster_job_contents j JOIN muster_contents c ON c.hash = j.hash", StatementSubject::kJob},
      {"SELECT 1 FROM muster_jobs j JOIN muster_steps s ON s.job = j.job", StatementSubject::kStep},
      {"INSERT INTO muster_usage_changed(cluster, began, ended) VALUES(?,?,?)", StatementSubject::kUsage},
      {"DELETE FROM muster_events WHERE cluster = ?", StatementSubject::kEvent},
      {"SELECT record FROM muster_reservations", StatementSubject::kReservation},
      {"INSERT INTO muster_transactions(time, actor, record) VALUES(?,?,?)", StatementSubject::kQuery},
      {"SELECT kind, name, record FROM muster_entities", StatementSubject::kQuery},
      {"COMMIT", StatementSubject::kQuery},
  };
  for (const auto& [statement, subject] : kCases) EXPECT_EQ(name_of(subject_of(statement, {})), name_of(subject)) << statement;
}

TEST(StatementLog, ANounIsOfItsKind) {
  const std::pair<Entity, StatementSubject> kCases[] = {
      {Entity::kUser, StatementSubject::kAssociation},
      {Entity::kAccount, StatementSubject::kAssociation},
      {Entity::kQos, StatementSubject::kQos},
      {Entity::kTres, StatementSubject::kTres},
      {Entity::kWckey, StatementSubject::kWckey},
      {Entity::kResource, StatementSubject::kResource},
      {Entity::kFederation, StatementSubject::kFederation},
  };
  for (const auto& [kind, subject] : kCases) {
    const std::array<Value, 2> key{static_cast<int64_t>(kind), Text{"x"}};
    EXPECT_EQ(name_of(subject_of("DELETE FROM muster_entities WHERE kind = ? AND name = ?", key)), name_of(subject));
  }
}

struct Watching : testing::Test {
  TemporaryDirectory directory;
  Watch watch;
  std::unique_ptr<Connection> open() { return watched(std::move(*open_sqlite(directory.path + "/a.db")), watch); }
};

TEST_F(Watching, TellsValuesButNoBytesAndOnlyWhatIsWanted) {
  auto c = open();
  ASSERT_TRUE(c->run("CREATE TABLE muster_jobs(job BIGINT, name TEXT, record BLOB)"));
  const std::array<Value, 3> row{int64_t{17}, Text{"alice"}, Bytes{"SECRET"}};
  ASSERT_TRUE(c->run("INSERT INTO muster_jobs VALUES(?,?,?)", row));
  EXPECT_TRUE(watch.said.empty());
  watch.subjects = {StatementSubject::kJob};
  ASSERT_TRUE(c->begin());
  ASSERT_TRUE(c->run("INSERT INTO muster_jobs VALUES(?,?,?)", row));
  ASSERT_TRUE(c->commit());
  ASSERT_EQ(watch.said.size(), 1u);  // BEGIN and COMMIT are of DB_QUERY
  EXPECT_TRUE(watch.said[0].starts_with("DB_JOB: ")) << watch.said[0];
  EXPECT_TRUE(watch.said[0].ends_with(" ms, 0 rows: INSERT INTO muster_jobs VALUES(?,?,?) [17, 'alice', 6 bytes]")) << watch.said[0];
  int rows = 0;
  ASSERT_TRUE(c->query("SELECT job FROM muster_jobs", {}, [&](const Row&) -> Result<> { return ++rows, Result<>(); }));
  EXPECT_EQ(rows, 2);
  EXPECT_TRUE(watch.has_said("2 rows: SELECT job"));
  EXPECT_FALSE(c->run("SELECT nothing FROM muster_jobs"));
  EXPECT_TRUE(watch.said.back().ends_with("SELECT nothing FROM muster_jobs failed")) << watch.said.back();
}

TEST_F(Watching, LongListsOfValuesAreCut) {
  auto c = open();
  watch.subjects = {StatementSubject::kQuery};
  const std::string name(1000, 'x');
  std::vector<Value> values{Text{name}};
  std::string statement = "SELECT ?";
  for (int i = 0; i < 100; ++i) {
    values.emplace_back(int64_t{7});
    statement += ",?";
  }
  ASSERT_TRUE(c->query(statement, values, [](const Row&) -> Result<> { return {}; }));
  EXPECT_TRUE(watch.has_said("['" + std::string(100, 'x') + "…', 7, 7"));
  EXPECT_TRUE(watch.said[0].ends_with(", and 81 more]")) << watch.said[0];
}

TEST_F(Watching, APurgeIsArchivingWhicheverTableItIsAbout) {
  auto storage = Storage::open(open());
  ASSERT_TRUE(storage);
  watch.subjects = {StatementSubject::kArchive};
  ASSERT_TRUE((*storage)->purge(RecordKind::kJobs, "c", from_unix(1000), 100));
  EXPECT_TRUE(watch.has_said("DB_ARCHIVE: ") && watch.has_said("FROM muster_jobs WHERE cluster = ? AND ended < ?"));
  const size_t before = watch.said.size();
  ASSERT_TRUE((*storage)->whole_from("c"));  // of muster_purged
  ASSERT_TRUE((*storage)->load_entities());
  EXPECT_EQ(watch.said.size(), before + 1);
}

}  // namespace
}  // namespace muster::sql
