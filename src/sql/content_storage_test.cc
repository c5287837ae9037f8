// Scripts and environments in both kinds of database: equal ones once, gone with the last job that has them, back from an archive, and a
// database of an older schema that learns of them.
#include <gtest/gtest.h>

#include <memory>

#include "sql/schema.h"
#include "sql/storage.h"
#include "sql/testing.h"
#include "store/event_log.h"

namespace muster::sql {
namespace {

PrivateMariaDb* server() {
  static std::unique_ptr<PrivateMariaDb> one = [] {
    auto s = std::make_unique<PrivateMariaDb>();
    return s->start() ? std::move(s) : nullptr;
  }();
  return one.get();
}

Time at(int64_t hour) { return from_unix(1'700'002'800) + minutes(60 * hour); }

using Hashes = std::vector<std::string>;

class ContentStorage : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (maria()) {
      if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
      ASSERT_NE(server(), nullptr);
      static int databases = 0;
      database_ = "muster_content_" + std::to_string(++databases);
    }
    open();
  }
  void open() {
    storage.reset();
    auto opened = Storage::open(connect());
    ASSERT_TRUE(opened) << opened.error().message();
    storage = std::move(*opened);
  }
  bool maria() const { return std::string(GetParam()) == "mariadb"; }
  std::unique_ptr<Connection> connect() {
    auto made = maria() ? open_mariadb(server()->options(database_)) : open_sqlite(directory_.path + "/accounting.db");
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return made ? std::move(*made) : nullptr;
  }
  static JobRecord job(uint32_t id, std::optional<int64_t> ended, const std::string& script, const std::string& environment = {}) {
    JobRecord record;
    record.key = {JobId(id), at(0), 0};
    record.position = id;
    record.cluster = "c";
    record.state = ended ? JobState::kCompleted : JobState::kRunning;
    if (ended) record.ended = at(*ended);
    if (!script.empty()) record.script_hash = store::blob_hash(script);
    if (!environment.empty()) record.environment_hash = store::blob_hash(environment);
    return record;
  }
  // What slurmdbd asks for after these.
  Hashes store(std::vector<JobRecord> jobs) {
    rpc::StoreRecords records;
    records.cluster = "c";
    records.jobs = std::move(jobs);
    EXPECT_TRUE(storage->store(records));
    auto missing = storage->missing_contents(records);
    EXPECT_TRUE(missing);
    return missing ? *missing : Hashes();
  }
  void keep(const std::string& bytes) { ASSERT_TRUE(storage->store_content({store::blob_hash(bytes), bytes.size(), bytes})); }
  std::string script(const JobRecord& of, ContentKind kind = ContentKind::kScript) {
    auto kept = storage->content_of(of, kind);
    EXPECT_TRUE(kept);
    std::string whole;
    for (int64_t piece = 0; kept && kept->whole; ++piece) {
      auto bytes = storage->content_piece(kept->hash, piece);
      EXPECT_TRUE(bytes);
      EXPECT_LE(bytes->size(), kContentPiece);
      if (bytes->empty()) break;
      whole += *bytes;
    }
    EXPECT_EQ(whole.size(), kept->size);
    return whole;
  }
  int64_t count(const std::string& table) {
    int64_t rows = -1;
    EXPECT_TRUE(storage->connection().query("SELECT COUNT(*) FROM " + table, {}, [&](const Row& row) -> Result<> {
      rows = row.number(0);
      return {};
    }));
    return rows;
  }

  TemporaryDirectory directory_;
  std::string database_;
  std::unique_ptr<Storage> storage;
};

TEST_P(ContentStorage, EqualOnesAreKeptOnceAndAskedForOnce) {
  const JobRecord first = job(1, {}, "#!/bin/sh\na", "A=1"), second = job(2, {}, "#!/bin/sh\na");
  EXPECT_EQ(store({first, second}).size(), 2u);
  EXPECT_EQ(script(first), "") << "it has not come";
  keep("#!/bin/sh\na");
  keep("A=1");
  keep("#!/bin/sh\na");
  EXPECT_EQ(count("muster_contents"), 2);
  EXPECT_EQ(script(first), "#!/bin/sh\na");
  EXPECT_EQ(script(second), "#!/bin/sh\na");
  EXPECT_EQ(script(first, ContentKind::kEnvironment), "A=1");
  EXPECT_EQ(script(second, ContentKind::kEnvironment), "");
  EXPECT_TRUE(store({job(3, {}, "#!/bin/sh\na")}).empty());
}

TEST_P(ContentStorage, RecordsDoNotHaveTheHashes) {
  ASSERT_EQ(store({job(1, {}, "secret", "X=1")}).size(), 2u);
  rpc::JobRecords found;
  size_t taken = 0;
  const auto numbers = storage->find_jobs({}, RecordAudience::everybody());
  ASSERT_TRUE(numbers);
  ASSERT_TRUE(storage->load_jobs(*numbers, false, found, taken));
  ASSERT_EQ(found.jobs.size(), 1u);
  EXPECT_EQ(found.jobs[0].script_hash + found.jobs[0].environment_hash, "");
}

TEST_P(ContentStorage, ALongOneIsInPiecesAndOfATooLongOneThereIsTheLength) {
  std::string mebibytes(3 * kContentPiece + 17, 'x');
  for (size_t i = 0; i < mebibytes.size(); ++i) mebibytes[i] = static_cast<char>(i * 7);
  const JobRecord large = job(1, {}, mebibytes), huge = job(2, {}, "huge");
  store({large, huge});
  keep(mebibytes);
  EXPECT_EQ(script(large), mebibytes);
  EXPECT_EQ(count("muster_content_pieces"), 4);
  ASSERT_TRUE(storage->store_content({huge.script_hash, 16u << 20, {}}));
  const auto kept = storage->content_of(huge, ContentKind::kScript);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->size, 16u << 20);
  EXPECT_FALSE(kept->whole);
  EXPECT_TRUE(store({huge}).empty()) << "it is not asked for again";
}

TEST_P(ContentStorage, WhatIsNotItsHashIsRefusedAndWhatNobodyHasIsNotKept) {
  const JobRecord one = job(1, {}, "one");
  store({one});
  const auto other = storage->store_content({one.script_hash, 5, "other"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::kInvalidArgument);
  ASSERT_FALSE(storage->store_content({one.script_hash, 50, "cut"}));
  keep("nobody's");
  EXPECT_EQ(count("muster_contents"), 0);
  JobRecord wrong = job(2, {}, "");
  wrong.script_hash = "' OR 1=1 --";
  EXPECT_TRUE(store({wrong}).empty());
  EXPECT_EQ(count("muster_job_contents"), 1);
}

TEST_P(ContentStorage, AContentGoesWithTheLastJobThatHasIt) {
  store({job(1, 1, "shared"), job(2, 5, "shared"), job(3, {}, "of one that runs"), job(4, 1, "", "E=4")});
  for (const char* bytes : {"shared", "of one that runs", "E=4"}) keep(bytes);
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(3), 100)->records, 1u);
  EXPECT_EQ(count("muster_contents"), 3);
  EXPECT_EQ(script(job(1, 1, "shared")), "");
  EXPECT_EQ(script(job(2, 5, "shared")), "shared");
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(100), 100)->records, 1u);
  EXPECT_EQ(count("muster_contents"), 2);
  EXPECT_EQ(storage->purge(RecordKind::kEnvironments, "c", at(3), 100)->records, 1u);
  EXPECT_EQ(count("muster_content_pieces"), 1) << "that of the running job";
  EXPECT_EQ(count("muster_jobs"), 4);
  EXPECT_EQ(*storage->whole_from("c"), kTimeUnset) << "no usage is made of scripts";
}

// The end comes later, in a record that may not name the script any more, or from sacctmgr.
TEST_P(ContentStorage, TheJobsEndIsTheirs) {
  store({job(1, {}, "one"), job(2, {}, "two")});
  JobRecord ended = job(1, 1, "");
  ended.position = 10;
  store({ended, job(2, {}, "two")});
  JobRecord by_hand = job(2, 2, "");
  ASSERT_TRUE(storage->replace_jobs({by_hand}));
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(2), 100)->records, 1u);
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(3), 100)->records, 1u);
}

struct Keeper final : RowKeeper {
  Result<> keep(ArchivePart part) override {
    parts.push_back(std::move(part));
    return {};
  }
  Result<> make_durable() override { return safe ? Result<>() : fail(Errc::kDiskFull); }
  std::vector<ArchivePart> parts;
  bool safe = true;
};

TEST_P(ContentStorage, WhatWasArchivedComesBackOnce) {
  const JobRecord first = job(1, 1, "shared"), second = job(2, 2, "shared"), never = job(3, 2, "that never came");
  store({first, second, never});
  keep("shared");
  Keeper keeper;
  keeper.safe = false;
  ASSERT_FALSE(storage->purge(RecordKind::kScripts, "c", at(9), 100, &keeper));
  EXPECT_EQ(script(first), "shared") << "nothing goes that is not safe";
  keeper = {};
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(9), 100, &keeper)->records, 3u);
  EXPECT_EQ(count("muster_contents") + count("muster_content_pieces") + count("muster_job_contents"), 0);
  ASSERT_EQ(keeper.parts.size(), 2u);
  EXPECT_EQ(keeper.parts[0].contents[0].bytes, "shared");
  EXPECT_EQ(keeper.parts[1].contents[0].bytes, "") << "the bytes stand in the archive once";
  for (const auto& [added, known] : {std::pair{2u, 0u}, {0u, 2u}}) {
    Restored counts;
    for (const ArchivePart& part : keeper.parts) ASSERT_TRUE(storage->restore(part, counts));
    EXPECT_EQ(counts.added, added);
    EXPECT_EQ(counts.known, known);
    EXPECT_EQ(script(first), "shared");
    EXPECT_EQ(script(second), "shared");
  }
  keeper.parts[0].contents[0].bytes = "changed";
  ASSERT_TRUE(storage->purge(RecordKind::kScripts, "c", at(9), 100));
  Restored counts;
  EXPECT_FALSE(storage->restore(keeper.parts[0], counts)) << "a file that somebody changed";
}

TEST_P(ContentStorage, APurgeTakesNoMoreThanItMay) {
  std::vector<JobRecord> jobs;
  for (uint32_t id = 1; id <= 5; ++id) jobs.push_back(job(id, id, "s" + std::to_string(id)));
  store(jobs);
  const auto some = storage->purge(RecordKind::kScripts, "c", at(9), 3);
  EXPECT_EQ(some->records, 3u);
  EXPECT_TRUE(some->more);
  EXPECT_EQ(storage->purge(RecordKind::kScripts, "c", at(9), 3)->records, 2u);
  EXPECT_EQ(*storage->recorded_clusters(RecordKind::kScripts), std::vector<std::string>{});
}

TEST_P(ContentStorage, ADatabaseOfTheSchemaBeforeKeepsItsRecordsAndLearnsOfContents) {
  store({job(1, {}, "")});
  Connection& connection = storage->connection();
  for (const char* statement : {"DROP TABLE muster_job_contents", "DROP TABLE muster_contents", "DROP TABLE muster_content_pieces",
                                "ALTER TABLE muster_jobs DROP COLUMN energy", "ALTER TABLE muster_steps DROP COLUMN energy",
                                "UPDATE muster_meta SET value = 3 WHERE name = 'schema'"})
    ASSERT_TRUE(connection.run(statement)) << statement;
  open();
  EXPECT_EQ(*schema_version(storage->connection()), kSchemaVersion);
  EXPECT_EQ(count("muster_jobs"), 1);
  JobRecord later = job(1, {}, "its script");
  later.position = 9;
  EXPECT_EQ(store({later}).size(), 1u);
  keep("its script");
  EXPECT_EQ(script(later), "its script");
}

INSTANTIATE_TEST_SUITE_P(Both, ContentStorage, testing::Values("sqlite", "mariadb"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace muster::sql
