// The blobs of SqliteLog, and the reader for other threads.
#include <mutex>

#include "store/log_rules.h"
#include "store/sqlite_log.h"
#include "store/sqlite_schema.h"

namespace muster::store {
namespace {

// Bounds what waits in memory for the next append. Past it (appends fail for long, or nobody appends) it is written in a transaction of
// its own.
constexpr size_t kMaxWaitingBlobBytes = size_t{64} << 20;
constexpr size_t kMaxWaitingDrops = 100'000;

class SqliteBlobs final : public BlobReader {
 public:
  SqliteBlobs(Database db, Statement get) : db_(std::move(db)), get_(std::move(get)) {}

  Result<std::string> get_blob(const BlobHash& hash) override {
    std::lock_guard hold(mutex_);
    return find_blob(db_, get_, hash);
  }

 private:
  std::mutex mutex_;
  Database db_;
  Statement get_;
};

}  // namespace

Result<std::string> find_blob(Database& db, Statement& get, const BlobHash& hash) {
  Reading reading(get);
  MUSTER_TRY(row, get.bind_text(1, hash).step());
  if (!row) return std::unexpected(no_such_blob(hash));
  std::string bytes(get.bytes(0));
  if (blob_hash(bytes) != hash) return std::unexpected(damaged(db.path(), "content of blob " + hash));
  return bytes;
}

Result<std::string> SqliteLog::get_blob(const BlobHash& hash) {
  if (auto it = put_.find(hash); it != put_.end()) return it->second;
  if (dropped_.contains(hash)) return std::unexpected(no_such_blob(hash));
  return find_blob(db_, s_.get_blob, hash);
}

Result<bool> SqliteLog::blob_stored(const BlobHash& hash) {
  Reading reading(s_.has_blob);
  return s_.has_blob.bind_text(1, hash).step();
}

Result<BlobHash> SqliteLog::put_blob(std::string_view bytes) {
  if (bytes.size() > kMaxRecordBytes)
    return fail(Errc::kInvalidArgument,
                "a blob of " + std::to_string(bytes.size()) + " bytes is over the limit of " + std::to_string(kMaxRecordBytes));
  BlobHash hash = blob_hash(bytes);
  if (put_.contains(hash) || dropped_.erase(hash) > 0) return hash;
  MUSTER_TRY(stored, blob_stored(hash));
  if (stored) return hash;
  if (put_bytes_ + bytes.size() > kMaxWaitingBlobBytes) MUSTER_TRY_VOID(commit_blobs());
  put_.emplace(hash, bytes);
  put_bytes_ += bytes.size();
  return hash;
}

Result<> SqliteLog::drop_blob(const BlobHash& hash) {
  if (auto it = put_.find(hash); it != put_.end()) {
    put_bytes_ -= it->second.size();
    put_.erase(it);
    return {};
  }
  MUSTER_TRY(stored, blob_stored(hash));
  if (!stored) return {};
  if (dropped_.size() >= kMaxWaitingDrops) MUSTER_TRY_VOID(commit_blobs());
  dropped_.insert(hash);
  return {};
}

// Call inside a transaction. Once that transaction is durable, the caller clears what was waiting.
Result<> SqliteLog::write_blobs() {
  for (const auto& [hash, bytes] : put_) MUSTER_TRY_VOID(s_.add_blob.bind_text(1, hash).bind_bytes(2, bytes).run());
  for (const BlobHash& hash : dropped_) MUSTER_TRY_VOID(s_.drop_blob.bind_text(1, hash).run());
  return {};
}

Result<> SqliteLog::commit_blobs() {
  if (put_.empty() && dropped_.empty()) return {};
  MUSTER_TRY_VOID(transaction([this] { return write_blobs(); }));
  put_.clear();
  put_bytes_ = 0;
  dropped_.clear();
  return {};
}

Result<std::vector<BlobHash>> SqliteLog::list_blobs() {
  std::vector<BlobHash> out;
  Reading reading(s_.list_blobs);
  auto next = put_.begin();  // sorted as the rows are
  for (;;) {
    MUSTER_TRY(row, s_.list_blobs.step());
    if (!row) break;
    BlobHash hash(s_.list_blobs.bytes(0));
    for (; next != put_.end() && next->first < hash; ++next) out.push_back(next->first);
    if (!dropped_.contains(hash)) out.push_back(std::move(hash));
  }
  for (; next != put_.end(); ++next) out.push_back(next->first);
  return out;
}

Result<std::unique_ptr<EventLog>> open_sqlite_log(const std::string& directory) {
  MUSTER_TRY(log, SqliteLog::open(directory));
  return log;
}

Result<std::unique_ptr<BlobReader>> open_sqlite_blobs(const std::string& directory) {
  MUSTER_TRY(db, open_for_reading(directory));
  MUSTER_TRY(get, db.prepare("SELECT bytes FROM blobs WHERE hash = ?"));
  return std::make_unique<SqliteBlobs>(std::move(db), std::move(get));
}

}  // namespace muster::store
