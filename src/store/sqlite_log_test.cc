// What only a file has: modes, locks, versions, damage, other connections.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/store_testing.h"

namespace muster::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::unique_ptr<EventLog> must_open(const std::string& directory) {
  auto log = open_sqlite_log(directory);
  EXPECT_TRUE(log) << log.error().message();
  return log ? std::move(*log) : nullptr;
}

// Changes the file behind the log's back.
void edit(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
  sqlite3_free(message);
  sqlite3_close(db);
}

int mode_of(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : -1;
}

class SqliteLogTest : public ::testing::Test {
 protected:
  // A closed log with records a, b | c | d and the blob "script".
  void write_some() {
    auto log = must_open(dir_.path());
    ASSERT_TRUE(log->append(1, Records{"a", "b"}));
    ASSERT_TRUE(log->put_blob("script"));
    ASSERT_TRUE(log->append(1, Records{"c"}));
    ASSERT_TRUE(log->append(1, Records{"d"}));
    ASSERT_TRUE(log->save_snapshot(1, {.position = 1, .chunks = {"chunk", "chunk two"}}));
  }
  Error open_error() {
    auto log = open_sqlite_log(dir_.path());
    EXPECT_FALSE(log);
    return log ? Error() : log.error();
  }

  TempDir dir_;
  std::string db_ = dir_.file("muster.db");
};

TEST_F(SqliteLogTest, CreatesMissingDirectoriesForTheOwnerOnly) {
  mode_t before = umask(0);
  auto log = must_open(dir_.file("a/b/"));
  umask(before);
  ASSERT_TRUE(log->append(1, Records{"r"}));
  EXPECT_EQ(mode_of(dir_.file("a")), 0700);
  EXPECT_EQ(mode_of(dir_.file("a/b")), 0700);
  for (const char* name : {"muster.db", "muster.db-wal", "muster.db-shm", "muster.lock"})
    EXPECT_EQ(mode_of(dir_.file("a/b/") + name), 0600) << name;
}

TEST_F(SqliteLogTest, ADirectoryThatCannotBeIsNamed) {
  std::ofstream(dir_.file("file")) << "x";
  auto log = open_sqlite_log(dir_.file("file/state"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, Errc::kStateNotSaved);
  EXPECT_THAT(log.error().text, AllOf(HasSubstr(dir_.file("file")), HasSubstr("Not a directory")));
  EXPECT_EQ(open_sqlite_log("").error().code, Errc::kInvalidArgument);
}

TEST_F(SqliteLogTest, ASecondWriterIsToldThePidOfTheFirst) {
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    auto log = open_sqlite_log(dir_.path());
    char c = log ? 'y' : 'n';
    (void)!write(ready[1], &c, 1);
    (void)!read(done[0], &c, 1);  // until the parent closes its end
    _exit(0);
  }
  close(done[0]);
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  ASSERT_EQ(c, 'y');
  Error e = open_error();
  EXPECT_EQ(e.code, Errc::kStateNotSaved);
  EXPECT_THAT(e.text, AllOf(HasSubstr(dir_.path()), HasSubstr("pid " + std::to_string(child) + " ")));
  close(done[1]);
  close(ready[0]);
  close(ready[1]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_NE(must_open(dir_.path()), nullptr);
}

TEST_F(SqliteLogTest, ASecondLogInTheSameProcessIsRefusedToo) {
  auto log = must_open(dir_.path());
  EXPECT_THAT(open_error().text, HasSubstr("pid " + std::to_string(getpid())));
}

TEST_F(SqliteLogTest, ANewerSchemaIsRefusedAndLeftAlone) {
  write_some();
  edit(db_, "PRAGMA user_version = 7");
  Error e = open_error();
  EXPECT_EQ(e.code, Errc::kStateNotSaved);
  EXPECT_THAT(e.text, AllOf(HasSubstr(db_), HasSubstr("newer Muster"), HasSubstr("version 7"), HasSubstr("up to 1")));
  EXPECT_FALSE(e.hint.empty());
  EXPECT_FALSE(open_sqlite_blobs(dir_.path()));
  edit(db_, "PRAGMA user_version = 1");
  EXPECT_EQ(read_all(*must_open(dir_.path())).value().size(), 4u);
}

TEST_F(SqliteLogTest, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  edit(db_, "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)");
  EXPECT_THAT(open_error().text, AllOf(HasSubstr(db_), HasSubstr("another program")));
  EXPECT_FALSE(std::filesystem::exists(db_ + "-wal"));
  edit(db_, "INSERT INTO theirs VALUES(2)");
}

TEST_F(SqliteLogTest, AFileThatIsNoDatabaseIsNamed) {
  std::ofstream(db_) << std::string(10'000, 'x');
  Error e = open_error();
  EXPECT_EQ(e.code, Errc::kStateNotSaved);
  EXPECT_THAT(e.text, AllOf(HasSubstr(db_), HasSubstr("is damaged"), HasSubstr("not a database")));
}

TEST_F(SqliteLogTest, AnOverwrittenPageIsReportedNotRead) {
  {
    auto log = must_open(dir_.path());
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(log->append(1, Records{std::string(3000, 'r')}));
  }
  auto size = std::filesystem::file_size(db_);
  std::fstream file(db_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2 / 4096 * 4096));
  file << std::string(4096, '\xaa');
  file.close();
  auto log = must_open(dir_.path());
  auto seen = read_all(*log);
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, Errc::kStateNotSaved);
  EXPECT_THAT(seen.error().text, AllOf(HasSubstr(db_), HasSubstr("is damaged")));
}

struct Damage {
  const char* name;
  const char* sql;
  const char* words;
};

class DamagedRow : public SqliteLogTest, public ::testing::WithParamInterface<Damage> {};

// Damage that SQLite itself cannot notice: it is reported, and no record of the row is shown.
TEST_P(DamagedRow, IsReported) {
  write_some();
  edit(db_, GetParam().sql);
  auto log = open_sqlite_log(dir_.path());
  Error e;
  if (!log) {
    e = log.error();
  } else {
    Seen seen;
    Result<> done = (*log)->read(0, [&](Position p, std::string_view r) -> Result<> {
      seen.emplace_back(p, r);
      return {};
    });
    auto snapshot = (*log)->load_snapshot();
    auto blob = (*log)->get_blob(blob_hash("script"));
    ASSERT_EQ(!done + !snapshot + !blob, 1);
    e = !done ? done.error() : !snapshot ? snapshot.error() : blob.error();
    Seen whole = {{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}};
    ASSERT_LE(seen.size(), whole.size());
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), whole.begin()));
  }
  EXPECT_EQ(e.code, Errc::kStateNotSaved);
  EXPECT_THAT(e.text, AllOf(HasSubstr(db_), HasSubstr("is damaged"), HasSubstr(GetParam().words)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedRow,
    ::testing::Values(Damage{"Bytes", "UPDATE batches SET records = x'010000007a' WHERE first = 3", "from position 3"},
                      Damage{"Checksum", "UPDATE batches SET checksum = checksum + 1 WHERE first = 1", "from position 1"},
                      Damage{"Term", "UPDATE batches SET term = 0 WHERE first = 3", "from position 3"},
                      Damage{"Count", "UPDATE batches SET count = 1 WHERE first = 1", "from position 1"},
                      Damage{"Type", "UPDATE batches SET records = NULL || 5 WHERE 0; UPDATE batches SET records = 5 WHERE first = 3",
                             "from position 3"},
                      Damage{"MissingFirst", "DELETE FROM batches WHERE first = 1", "missing"},
                      Damage{"MissingMiddle", "DELETE FROM batches WHERE first = 3", "missing"},
                      Damage{"MissingAll", "DELETE FROM batches", "last record is 0"},
                      Damage{"HugePosition", "UPDATE batches SET count = 9223372036854775807 WHERE first = 4", "table meta"},
                      Damage{"LateTerm", "UPDATE batches SET term = 99 WHERE first = 4", "table meta"},
                      Damage{"NegativeTerm", "UPDATE meta SET value = -1 WHERE name = 'term'", "table meta"},
                      Damage{"SnapshotPosition", "UPDATE snapshots SET position = 50", "snapshot's position 50"},
                      Damage{"Chunk", "UPDATE snapshot_chunks SET bytes = x'00' WHERE seq = 1", "chunk 1"},
                      Damage{"LastChunk", "DELETE FROM snapshot_chunks WHERE seq = 1", "lost chunks"},
                      Damage{"FirstChunk", "DELETE FROM snapshot_chunks WHERE seq = 0", "chunk 0"},
                      Damage{"Blob", "UPDATE blobs SET bytes = x'00'", "content of blob"}),
    [](const auto& info) { return info.param.name; });

TEST_F(SqliteLogTest, AMissingTableIsAnErrorThatNamesTheFile) {
  write_some();
  edit(db_, "DROP TABLE blobs");
  EXPECT_THAT(open_error().text, AllOf(HasSubstr(db_), HasSubstr("no such table")));
}

TEST_F(SqliteLogTest, ABatchOverManyRowsIsOneBatch) {
  Records records(5000, std::string(1000, 'r'));
  {
    auto log = must_open(dir_.path());
    EXPECT_EQ(log->append(1, records).value(), 5000u);
    ASSERT_TRUE(log->save_snapshot(1, {.position = 2500, .chunks = {"s"}}));
    ASSERT_TRUE(log->trim());
  }
  auto log = must_open(dir_.path());
  auto seen = read_all(*log, 2500).value();
  ASSERT_EQ(seen.size(), 2500u);
  EXPECT_EQ(seen.front().first, 2501u);
  EXPECT_EQ(seen.back().first, 5000u);
}

TEST_F(SqliteLogTest, AReaderOnAnotherConnectionSeesWhatIsDurable) {
  EXPECT_FALSE(open_sqlite_blobs(dir_.path()));  // nothing there yet
  auto log = must_open(dir_.path());
  auto reader = open_sqlite_blobs(dir_.path());
  ASSERT_TRUE(reader) << reader.error().message();
  auto hash = log->put_blob("script");
  EXPECT_EQ((*reader)->get_blob(*hash).error().code, Errc::kNotFound);
  ASSERT_TRUE(log->append(1, Records{"a"}));
  EXPECT_EQ((*reader)->get_blob(*hash).value(), "script");
  ASSERT_TRUE(log->drop_blob(*hash));
  EXPECT_EQ((*reader)->get_blob(*hash).value(), "script");
  ASSERT_TRUE(log->append(1, Records{"b"}));
  EXPECT_EQ((*reader)->get_blob(*hash).error().code, Errc::kNotFound);
  log.reset();  // the reader may outlive the log
  EXPECT_EQ((*reader)->get_blob(*hash).error().code, Errc::kNotFound);
}

TEST_F(SqliteLogTest, ManyWaitingBlobsAreWrittenBeforeTheyFillMemory) {
  auto log = must_open(dir_.path());
  auto reader = open_sqlite_blobs(dir_.path());
  ASSERT_TRUE(reader);
  std::string big(24 << 20, 'b');
  std::vector<BlobHash> hashes;
  for (char c : {'1', '2', '3'}) {
    big[0] = c;
    hashes.push_back(log->put_blob(big).value());
  }
  EXPECT_TRUE((*reader)->get_blob(hashes[0]));
  EXPECT_TRUE((*reader)->get_blob(hashes[1]));
  EXPECT_FALSE((*reader)->get_blob(hashes[2]));
  EXPECT_EQ(log->list_blobs().value().size(), 3u);
}

}  // namespace
}  // namespace muster::store
