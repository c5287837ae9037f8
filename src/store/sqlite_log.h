// SqliteLog: EventLog over one SQLite file. Internal to store/: callers use open_sqlite_log (event_log.h).
//
// One transaction and one sync per append; a batch is one row (more only past kRowBytes). Nothing is written between appends: blobs put
// or dropped wait in memory for the next append.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "store/digest.h"
#include "store/directory_lock.h"
#include "store/event_log.h"
#include "store/sqlite_db.h"

namespace muster::store {

class SqliteLog final : public EventLog {
 public:
  static Result<std::unique_ptr<SqliteLog>> open(const std::string& directory);

  Result<Position> append(Term term, std::span<const std::string> records) override;
  Position last_position() const override { return last_; }
  Term last_term() const override { return term_; }
  Result<> read(Position after, const std::function<Result<>(Position, std::string_view)>& f) override;
  Result<> save_snapshot(Term term, const Snapshot& snapshot) override;
  Result<std::optional<Snapshot>> load_snapshot() override;
  Result<> trim() override;
  Result<BlobHash> put_blob(std::string_view bytes) override;
  Result<> drop_blob(const BlobHash& hash) override;
  Result<std::vector<BlobHash>> list_blobs() override;
  Result<std::string> get_blob(const BlobHash& hash) override;

 private:
  struct Statements {
    Statement begin, commit, rollback, repair;
    Statement set_meta, add_batch, read_batches, drop_batches;
    Statement add_snapshot, add_chunk, drop_snapshots, drop_chunks, newest_snapshot, read_chunks;
    Statement has_blob, get_blob, add_blob, drop_blob, list_blobs;
  };
  struct SnapshotRow {
    int64_t id = 0;
    Position position = 0;
    int64_t chunks = 0;
  };

  SqliteLog() = default;
  Result<> prepare();
  Result<> load();
  Result<> load_end_of_log();

  Result<> transaction(const std::function<Result<>()>& body);
  Result<> repair_after_failed_commit();
  Result<> write_meta(std::string_view name, uint64_t value);
  Result<> write_batch(Term term, std::span<const std::string> records);
  Result<> write_row(Position first, uint64_t count, Term term);
  Result<> write_blobs();
  Result<> commit_blobs();
  Result<> write_snapshot(int64_t id, Term term, const Snapshot& snapshot);
  Result<> read_row(Position after, const std::function<Result<>(Position, std::string_view)>& f);
  Result<bool> blob_stored(const BlobHash& hash);

  DirectoryLock lock_;
  Database db_;
  Statements s_;
  Checksum checksum_;
  Position last_ = 0;
  Position trimmed_ = 0;  // records up to here were dropped
  Term term_ = 0;
  SnapshotRow snapshot_;  // id 0: none
  bool failed_commit_in_wal_ = false;
  std::string row_;  // encoding buffer, kept between appends
  std::map<BlobHash, std::string> put_;
  size_t put_bytes_ = 0;
  std::set<BlobHash> dropped_;
};

// Looks one blob up and checks it; `get` is "SELECT bytes FROM blobs WHERE hash = ?".
Result<std::string> find_blob(Database& db, Statement& get, const BlobHash& hash);

}  // namespace muster::store
