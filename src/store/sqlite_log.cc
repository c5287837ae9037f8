#include "store/sqlite_log.h"

#include "base/check.h"
#include "store/log_rules.h"
#include "store/sqlite_schema.h"

namespace muster::store {
namespace {

// A row is closed once it holds this much, which bounds what a reader of the log holds in memory.
constexpr size_t kRowBytes = size_t{1} << 20;

void put_length(std::string& out, size_t n) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(n >> (8 * i) & 0xff);
}

size_t get_length(std::string_view s) {
  size_t n = 0;
  for (size_t i = 0; i < 4; ++i) n |= static_cast<size_t>(static_cast<unsigned char>(s[i])) << (8 * i);
  return n;
}

}  // namespace

Result<std::unique_ptr<SqliteLog>> SqliteLog::open(const std::string& directory) {
  std::unique_ptr<SqliteLog> log(new SqliteLog());
  MUSTER_TRY_VOID(make_directories(directory));
  MUSTER_TRY(lock, DirectoryLock::take(directory));
  log->lock_ = std::move(lock);
  MUSTER_TRY(db, open_for_writing(directory));
  log->db_ = std::move(db);
  MUSTER_TRY_VOID(log->prepare());
  MUSTER_TRY_VOID(log->load());
  return log;
}

Result<> SqliteLog::prepare() {
  const std::pair<Statement*, std::string_view> all[] = {
      {&s_.begin, "BEGIN IMMEDIATE"},
      {&s_.commit, "COMMIT"},
      {&s_.rollback, "ROLLBACK"},
      {&s_.repair, "UPDATE meta SET value = value + 1 WHERE name = 'repairs'"},
      {&s_.set_meta, "UPDATE meta SET value = ?2 WHERE name = ?1"},
      {&s_.add_batch, "INSERT INTO batches(first, count, term, checksum, records) VALUES(?, ?, ?, ?, ?)"},
      // Starts at the row that holds position ?1, if any.
      {&s_.read_batches, "SELECT first, count, term, checksum, records FROM batches WHERE first >="
                         " (SELECT coalesce(max(first), 0) FROM batches WHERE first <= ?1) ORDER BY first"},
      // The row that holds the snapshot's position may hold later records too, so it stays until the next snapshot.
      {&s_.drop_batches, "DELETE FROM batches WHERE first + count <= ?1 + 1 AND first <= ?1"},
      {&s_.add_snapshot, "INSERT INTO snapshots(id, position, term, chunks) VALUES(?, ?, ?, ?)"},
      {&s_.add_chunk, "INSERT INTO snapshot_chunks(snapshot, seq, checksum, bytes) VALUES(?, ?, ?, ?)"},
      {&s_.drop_snapshots, "DELETE FROM snapshots"},
      {&s_.drop_chunks, "DELETE FROM snapshot_chunks"},
      {&s_.newest_snapshot, "SELECT id, position, chunks FROM snapshots ORDER BY id DESC LIMIT 1"},
      {&s_.read_chunks, "SELECT seq, checksum, bytes FROM snapshot_chunks WHERE snapshot = ? ORDER BY seq"},
      {&s_.has_blob, "SELECT 1 FROM blobs WHERE hash = ?"},
      {&s_.get_blob, "SELECT bytes FROM blobs WHERE hash = ?"},
      {&s_.add_blob, "INSERT INTO blobs(hash, bytes) VALUES(?, ?) ON CONFLICT DO NOTHING"},
      {&s_.drop_blob, "DELETE FROM blobs WHERE hash = ?"},
      {&s_.list_blobs, "SELECT hash FROM blobs ORDER BY hash"},
  };
  for (auto [statement, sql] : all) {
    MUSTER_TRY(prepared, db_.prepare(sql));
    *statement = std::move(prepared);
  }
  return {};
}

Result<> SqliteLog::load() {
  MUSTER_TRY(term, db_.number("SELECT value FROM meta WHERE name = 'term'"));
  MUSTER_TRY(trimmed, db_.number("SELECT value FROM meta WHERE name = 'trimmed'"));
  if (term < 0 || trimmed < 0) return std::unexpected(damaged(db_.path(), "a negative number in table meta"));
  term_ = static_cast<Term>(term);
  trimmed_ = static_cast<Position>(trimmed);
  Reading reading(s_.newest_snapshot);
  MUSTER_TRY(row, s_.newest_snapshot.step());
  if (row) snapshot_ = {s_.newest_snapshot.number(0), static_cast<Position>(s_.newest_snapshot.number(1)), s_.newest_snapshot.number(2)};
  return load_end_of_log();
}

Result<> SqliteLog::load_end_of_log() {
  MUSTER_TRY(newest, db_.prepare("SELECT first, count, term FROM batches ORDER BY first DESC LIMIT 1"));
  MUSTER_TRY(row, newest.step());
  last_ = trimmed_;
  if (row) {
    int64_t first = newest.number(0), count = newest.number(1);
    // Subtraction, because the sum of two damaged numbers may overflow.
    if (first < 1 || count < 1 || count > INT64_MAX - first || static_cast<Term>(newest.number(2)) > term_)
      return std::unexpected(damaged(db_.path(), "the newest row of table batches contradicts table meta"));
    last_ = static_cast<Position>(first + count - 1);
  }
  if (last_ < trimmed_ || last_ < snapshot_.position || snapshot_.position < trimmed_)
    return std::unexpected(damaged(db_.path(), "the last record is " + std::to_string(last_) + ", the snapshot's position " +
                                                   std::to_string(snapshot_.position) + ", and records were dropped up to " +
                                                   std::to_string(trimmed_)));
  return {};
}

// A COMMIT that fails in its sync has left a complete transaction in the write-ahead log, which a recovery after a crash would take for
// good. The next commit overwrites it from its first page on. So such a commit is made at once, and no append is tried before one
// succeeded.
Result<> SqliteLog::repair_after_failed_commit() {
  if (!failed_commit_in_wal_) return {};
  Result<> done = s_.begin.run();
  if (done) done = s_.repair.run();
  if (done) done = s_.commit.run();
  if (!done) {
    if (db_.in_transaction()) (void)s_.rollback.run();
    return done;
  }
  failed_commit_in_wal_ = false;
  return {};
}

Result<> SqliteLog::transaction(const std::function<Result<>()>& body) {
  MUSTER_TRY_VOID(repair_after_failed_commit());
  MUSTER_TRY_VOID(s_.begin.run());
  Result<> done = body();
  if (done) {
    done = s_.commit.run();
    if (!done) failed_commit_in_wal_ = true;
  }
  if (done) return {};
  // SQLite has rolled back by itself after some errors.
  if (db_.in_transaction()) (void)s_.rollback.run();
  (void)repair_after_failed_commit();  // tried again by the next transaction
  return done;
}

Result<> SqliteLog::write_meta(std::string_view name, uint64_t value) {
  return s_.set_meta.bind_text(1, name).bind(2, static_cast<int64_t>(value)).run();
}

Result<Position> SqliteLog::append(Term term, std::span<const std::string> records) {
  MUSTER_TRY_VOID(check_term(term, term_));
  MUSTER_TRY_VOID(check_sizes("record", records));
  if (records.empty() && put_.empty() && dropped_.empty() && term == term_) return last_;
  MUSTER_TRY_VOID(transaction([&]() -> Result<> {
    if (term != term_) MUSTER_TRY_VOID(write_meta("term", term));
    MUSTER_TRY_VOID(write_blobs());
    return write_batch(term, records);
  }));
  put_.clear();
  put_bytes_ = 0;
  dropped_.clear();
  term_ = term;
  last_ += records.size();
  return last_;
}

Result<> SqliteLog::write_batch(Term term, std::span<const std::string> records) {
  Position first = last_ + 1;
  uint64_t count = 0;
  row_.clear();
  for (const std::string& r : records) {
    if (count > 0 && row_.size() + r.size() > kRowBytes) {
      MUSTER_TRY_VOID(write_row(first, count, term));
      first += count;
      count = 0;
      row_.clear();
    }
    put_length(row_, r.size());
    row_ += r;
    ++count;
  }
  if (count > 0) MUSTER_TRY_VOID(write_row(first, count, term));
  if (row_.capacity() > 4 * kRowBytes) row_ = {};
  return {};
}

Result<> SqliteLog::write_row(Position first, uint64_t count, Term term) {
  return s_.add_batch.bind(1, static_cast<int64_t>(first))
      .bind(2, static_cast<int64_t>(count))
      .bind(3, static_cast<int64_t>(term))
      .bind(4, checksum_({first, count, term}, row_))
      .bind_bytes(5, row_)
      .run();
}

// Reads one row of read_batches. It is checked as a whole before the first of its records is shown.
Result<> SqliteLog::read_row(Position after, const std::function<Result<>(Position, std::string_view)>& f) {
  const Statement& statement = s_.read_batches;
  auto first = static_cast<Position>(statement.number(0));
  auto count = static_cast<uint64_t>(statement.number(1));
  std::string_view bytes = statement.bytes(4);
  if (statement.number(3) != checksum_({first, count, static_cast<Term>(statement.number(2))}, bytes))
    return std::unexpected(damaged(db_.path(), "checksum of the records from position " + std::to_string(first)));
  for (uint64_t i = 0; i < count; ++i) {
    if (bytes.size() < 4 || bytes.size() - 4 < get_length(bytes))
      return std::unexpected(damaged(db_.path(), "length of record " + std::to_string(first + i)));
    std::string_view record = bytes.substr(4, get_length(bytes));
    bytes.remove_prefix(4 + record.size());
    if (first + i > after) MUSTER_TRY_VOID(f(first + i, record));
  }
  if (!bytes.empty()) return std::unexpected(damaged(db_.path(), "bytes left over in row " + std::to_string(first)));
  return {};
}

Result<> SqliteLog::read(Position after, const std::function<Result<>(Position, std::string_view)>& f) {
  MUSTER_TRY_VOID(check_read(after, trimmed_));
  if (after >= last_) return {};
  Statement& statement = s_.read_batches;
  Reading reading(statement);
  statement.bind(1, static_cast<int64_t>(after + 1));
  Position next = 0;
  for (;;) {
    MUSTER_TRY(row, statement.step());
    if (!row) break;
    auto first = static_cast<Position>(statement.number(0));
    if (next == 0 ? first > after + 1 : first != next)
      return std::unexpected(damaged(
          db_.path(), "records " + std::to_string(next == 0 ? after + 1 : next) + " are missing before position " + std::to_string(first)));
    MUSTER_TRY_VOID(read_row(after, f));
    next = first + static_cast<uint64_t>(statement.number(1));
  }
  if (next != last_ + 1) return std::unexpected(damaged(db_.path(), "records after " + std::to_string(next) + " are missing"));
  return {};
}

Result<> SqliteLog::save_snapshot(Term term, const Snapshot& snapshot) {
  MUSTER_TRY_VOID(check_term(term, term_));
  MUSTER_TRY_VOID(check_sizes("snapshot chunk", snapshot.chunks));
  MUSTER_TRY_VOID(check_snapshot_position(snapshot.position, last_, snapshot_.position));
  int64_t id = snapshot_.id + 1;
  MUSTER_TRY_VOID(transaction([&] { return write_snapshot(id, term, snapshot); }));
  term_ = term;
  snapshot_ = {id, snapshot.position, static_cast<int64_t>(snapshot.chunks.size())};
  return {};
}

Result<> SqliteLog::write_snapshot(int64_t id, Term term, const Snapshot& snapshot) {
  if (term != term_) MUSTER_TRY_VOID(write_meta("term", term));
  MUSTER_TRY_VOID(s_.drop_snapshots.run());
  MUSTER_TRY_VOID(s_.drop_chunks.run());
  for (size_t i = 0; i < snapshot.chunks.size(); ++i) {
    const std::string& chunk = snapshot.chunks[i];
    s_.add_chunk.bind(1, id).bind(2, static_cast<int64_t>(i));
    s_.add_chunk.bind(3, checksum_({snapshot.position, i}, chunk)).bind_bytes(4, chunk);
    MUSTER_TRY_VOID(s_.add_chunk.run());
  }
  s_.add_snapshot.bind(1, id).bind(2, static_cast<int64_t>(snapshot.position));
  s_.add_snapshot.bind(3, static_cast<int64_t>(term)).bind(4, static_cast<int64_t>(snapshot.chunks.size()));
  return s_.add_snapshot.run();
}

Result<std::optional<EventLog::Snapshot>> SqliteLog::load_snapshot() {
  if (snapshot_.id == 0) return std::nullopt;
  Snapshot out;
  out.position = snapshot_.position;
  Statement& statement = s_.read_chunks;
  Reading reading(statement);
  statement.bind(1, snapshot_.id);
  for (int64_t seq = 0;; ++seq) {
    MUSTER_TRY(row, statement.step());
    if (!row) break;
    if (statement.number(0) != seq || statement.number(1) != checksum_({out.position, static_cast<uint64_t>(seq)}, statement.bytes(2)))
      return std::unexpected(
          damaged(db_.path(), "chunk " + std::to_string(seq) + " of the snapshot at position " + std::to_string(out.position)));
    out.chunks.emplace_back(statement.bytes(2));
  }
  if (static_cast<int64_t>(out.chunks.size()) != snapshot_.chunks)
    return std::unexpected(damaged(db_.path(), "the snapshot at position " + std::to_string(out.position) + " has lost chunks"));
  return out;
}

Result<> SqliteLog::trim() {
  if (snapshot_.id == 0 || snapshot_.position <= trimmed_) return {};
  auto position = static_cast<int64_t>(snapshot_.position);
  MUSTER_TRY_VOID(transaction([&]() -> Result<> {
    MUSTER_TRY_VOID(write_meta("trimmed", snapshot_.position));
    return s_.drop_batches.bind(1, position).run();
  }));
  trimmed_ = snapshot_.position;
  return {};
}

}  // namespace muster::store
