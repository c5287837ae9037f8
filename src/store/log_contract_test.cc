// The contract of event_log.h, run against every implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/event_log.h"
#include "store/memory_log.h"
#include "store/store_testing.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// Storage that outlives the logs opened on it.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::unique_ptr<EventLog> open() = 0;
};

class MemoryStorage final : public Storage {
 public:
  std::unique_ptr<EventLog> open() override { return std::make_unique<MemoryLog>(disk_); }

 private:
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
};

class SqliteStorage final : public Storage {
 public:
  std::unique_ptr<EventLog> open() override {
    auto log = open_sqlite_log(dir_.path());
    EXPECT_TRUE(log) << log.error().message();
    return log ? std::move(*log) : nullptr;
  }

 private:
  TempDir dir_;
};

enum class Kind { kMemory, kSqlite };

class LogContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kMemory) storage_ = std::make_unique<MemoryStorage>();
    else storage_ = std::make_unique<SqliteStorage>();
    log_ = storage_->open();
    ASSERT_NE(log_, nullptr);
  }
  void reopen() {
    log_.reset();
    log_ = storage_->open();
    ASSERT_NE(log_, nullptr);
  }
  Position add(Records records, Term term = 1) {
    auto p = log_->append(term, records);
    EXPECT_TRUE(p) << p.error().message();
    return p.value_or(0);
  }
  Seen all(Position after = 0) {
    auto seen = read_all(*log_, after);
    EXPECT_TRUE(seen) << seen.error().message();
    return seen.value_or(Seen{});
  }

  std::unique_ptr<Storage> storage_;
  std::unique_ptr<EventLog> log_;
};

INSTANTIATE_TEST_SUITE_P(Each, LogContract, ::testing::Values(Kind::kMemory, Kind::kSqlite),
                         [](const auto& info) { return info.param == Kind::kMemory ? "Memory" : "Sqlite"; });

TEST_P(LogContract, StartsEmpty) {
  EXPECT_EQ(log_->last_position(), 0u);
  EXPECT_EQ(log_->last_term(), 0u);
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_EQ(log_->load_snapshot().value(), std::nullopt);
  EXPECT_THAT(log_->list_blobs().value(), IsEmpty());
}

TEST_P(LogContract, AppendsAtTheNextPositions) {
  EXPECT_EQ(add({"a"}), 1u);
  EXPECT_EQ(add({"b", "c", "d"}), 4u);
  EXPECT_EQ(log_->last_position(), 4u);
  EXPECT_THAT(all(), ElementsAre(Pair(1, "a"), Pair(2, "b"), Pair(3, "c"), Pair(4, "d")));
  EXPECT_THAT(all(2), ElementsAre(Pair(3, "c"), Pair(4, "d")));
  EXPECT_THAT(all(4), IsEmpty());
  EXPECT_THAT(all(400), IsEmpty());
}

TEST_P(LogContract, KeepsEverythingOverReopening) {
  add({"a", "b"}, 3);
  reopen();
  EXPECT_EQ(log_->last_position(), 2u);
  EXPECT_EQ(log_->last_term(), 3u);
  EXPECT_EQ(add({"c"}, 3), 3u);
  EXPECT_THAT(all(), ElementsAre(Pair(1, "a"), Pair(2, "b"), Pair(3, "c")));
}

TEST_P(LogContract, RecordsAreAnyBytes) {
  Records records = {"", std::string("\0\xff\n'", 4), std::string(3 << 20, 'x'), "", std::string(1 << 20, 'y'), "end"};
  EXPECT_EQ(add(records), 6u);
  reopen();
  Seen seen = all();
  ASSERT_EQ(seen.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(seen[i].first, i + 1);
    EXPECT_TRUE(seen[i].second == records[i]) << i;
  }
  EXPECT_THAT(all(5), ElementsAre(Pair(6, "end")));
}

TEST_P(LogContract, ALowerTermIsFencedAndWritesNothing) {
  add({"a"}, 5);
  auto p = log_->append(4, Records{"stale"});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, Errc::kStateNotSaved);
  EXPECT_THAT(std::string(p.error().message()), HasSubstr("another controller took over"));
  auto s = log_->save_snapshot(4, {.position = 1, .chunks = {"stale"}});
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().code, Errc::kStateNotSaved);
  EXPECT_THAT(all(), ElementsAre(Pair(1, "a")));
  EXPECT_EQ(log_->load_snapshot().value(), std::nullopt);
  EXPECT_EQ(add({"b"}, 5), 2u);
}

TEST_P(LogContract, AnEmptyBatchClaimsATerm) {
  add({"a"}, 1);
  EXPECT_EQ(add({}, 7), 1u);
  reopen();
  EXPECT_EQ(log_->last_term(), 7u);
  EXPECT_FALSE(log_->append(6, Records{"stale"}));
}

TEST_P(LogContract, TheTermOutlivesItsRecordsAndComesWithSnapshots) {
  add({"a"}, 2);
  ASSERT_TRUE(log_->save_snapshot(9, {.position = 1, .chunks = {"s"}}));
  ASSERT_TRUE(log_->trim());
  reopen();
  EXPECT_EQ(log_->last_term(), 9u);
  EXPECT_EQ(log_->last_position(), 1u);
  EXPECT_FALSE(log_->append(8, Records{"stale"}));
}

TEST_P(LogContract, ATermOverTheLimitIsRefused) {
  auto p = log_->append(kMaxTerm + 1, Records{"a"});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(add({"a"}, kMaxTerm), 1u);
  reopen();
  EXPECT_EQ(log_->last_term(), kMaxTerm);
}

TEST_P(LogContract, TheReadersErrorEndsTheRead) {
  add({"a", "b", "c"});
  add({"d"});
  int calls = 0;
  auto done = log_->read(0, [&](Position p, std::string_view) -> Result<> {
    ++calls;
    return p == 2 ? Result<>(fail("enough")) : Result<>();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "enough");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(add({"e"}), 5u);
  EXPECT_EQ(all().size(), 5u);
}

TEST_P(LogContract, SnapshotComesBackWholeAndTheNewestWins) {
  add({"a", "b", "c"});
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 2, .chunks = {"one", "", "three"}}));
  reopen();
  auto s = log_->load_snapshot();
  ASSERT_TRUE(s && *s);
  EXPECT_EQ((*s)->position, 2u);
  EXPECT_THAT((*s)->chunks, ElementsAre("one", "", "three"));
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 3, .chunks = {"newer"}}));
  reopen();
  s = log_->load_snapshot();
  ASSERT_TRUE(s && *s);
  EXPECT_EQ((*s)->position, 3u);
  EXPECT_THAT((*s)->chunks, ElementsAre("newer"));
}

TEST_P(LogContract, SnapshotPositionsAreChecked) {
  add({"a", "b", "c"});
  auto past = log_->save_snapshot(1, {.position = 4, .chunks = {}});
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, Errc::kInvalidArgument);
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 2, .chunks = {"two"}}));
  auto older = log_->save_snapshot(1, {.position = 1, .chunks = {"one"}});
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Errc::kInvalidArgument);
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 2, .chunks = {"two again"}}));
  EXPECT_THAT((*log_->load_snapshot())->chunks, ElementsAre("two again"));
}

TEST_P(LogContract, TrimDropsUpToTheSnapshotAndNotMore) {
  add({"a", "b", "c"});
  add({"d"});
  ASSERT_TRUE(log_->trim());  // no snapshot: nothing to drop
  EXPECT_EQ(all().size(), 4u);
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 2, .chunks = {"s"}}));
  EXPECT_EQ(all().size(), 4u);
  ASSERT_TRUE(log_->trim());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(all(2), ElementsAre(Pair(3, "c"), Pair(4, "d")));
    auto gap = read_all(*log_, 1);
    ASSERT_FALSE(gap);
    EXPECT_EQ(gap.error().code, Errc::kNotFound);
    EXPECT_EQ(log_->last_position(), 4u);
    reopen();
  }
  ASSERT_TRUE(log_->save_snapshot(1, {.position = 4, .chunks = {"t"}}));
  ASSERT_TRUE(log_->trim());
  ASSERT_TRUE(log_->trim());
  EXPECT_THAT(all(4), IsEmpty());
  reopen();
  EXPECT_EQ(log_->last_position(), 4u);
  EXPECT_EQ(add({"e"}), 5u);
  EXPECT_THAT(all(4), ElementsAre(Pair(5, "e")));
}

TEST_P(LogContract, BlobHashIsSha256) {
  EXPECT_EQ(blob_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(blob_hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_P(LogContract, BlobsAreThereAtOnceAndDurableWithTheNextAppend) {
  std::string script(100'000, 's');
  auto kept = log_->put_blob(script);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, blob_hash(script));
  EXPECT_EQ(log_->put_blob(script).value(), *kept);
  EXPECT_EQ(log_->get_blob(*kept).value(), script);
  add({"a"});
  auto lost = log_->put_blob("never followed by an append");
  ASSERT_TRUE(lost);
  EXPECT_EQ(log_->list_blobs().value().size(), 2u);
  reopen();
  EXPECT_EQ(log_->get_blob(*kept).value(), script);
  EXPECT_EQ(log_->get_blob(*lost).error().code, Errc::kNotFound);
  EXPECT_THAT(log_->list_blobs().value(), ElementsAre(*kept));
}

TEST_P(LogContract, AnEmptyBatchMakesBlobsDurable) {
  auto empty = log_->put_blob("");
  ASSERT_TRUE(empty);
  EXPECT_EQ(add({}), 0u);
  reopen();
  EXPECT_EQ(log_->get_blob(*empty).value(), "");
}

TEST_P(LogContract, ADroppedBlobIsGoneWithTheNextAppend) {
  auto one = log_->put_blob("one"), two = log_->put_blob("two");
  add({"a"});
  ASSERT_TRUE(log_->drop_blob(*one));
  ASSERT_TRUE(log_->drop_blob(*one));
  ASSERT_TRUE(log_->drop_blob(blob_hash("unknown")));
  EXPECT_EQ(log_->get_blob(*one).error().code, Errc::kNotFound);
  EXPECT_THAT(log_->list_blobs().value(), ElementsAre(*two));
  reopen();  // no append: the drop was not durable
  EXPECT_EQ(log_->get_blob(*one).value(), "one");
  ASSERT_TRUE(log_->drop_blob(*one));
  add({"b"});
  reopen();
  EXPECT_THAT(log_->list_blobs().value(), ElementsAre(*two));
}

TEST_P(LogContract, TheLastOfPutAndDropCounts) {
  auto stored = log_->put_blob("stored");
  add({"a"});
  ASSERT_TRUE(log_->drop_blob(*stored));
  ASSERT_TRUE(log_->put_blob("stored"));
  auto fresh = log_->put_blob("fresh");
  ASSERT_TRUE(log_->drop_blob(*fresh));
  EXPECT_EQ(log_->get_blob(*fresh).error().code, Errc::kNotFound);
  EXPECT_EQ(log_->get_blob(*stored).value(), "stored");
  add({"b"});
  reopen();
  EXPECT_THAT(log_->list_blobs().value(), ElementsAre(*stored));
}

TEST_P(LogContract, BlobsAreListedSortedWhateverIsDurableYet) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(log_->put_blob("durable " + std::to_string(i)));
  add({"a"});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(log_->put_blob("waiting " + std::to_string(i)));
  auto all_blobs = log_->list_blobs().value();
  EXPECT_EQ(all_blobs.size(), 40u);
  EXPECT_TRUE(std::ranges::is_sorted(all_blobs));
}

}  // namespace
}  // namespace muster::store
