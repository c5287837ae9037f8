// EventLog: what makes an acknowledgement durable. An append-only sequence of opaque records with snapshots and blobs.
//
// Contract of every implementation (log_contract_test.cc runs it against each):
//
//   append      All records of the batch or none, in order, at positions last_position()+1 …; returns only after they are on stable
//               storage. After an error nothing of the batch is visible to later reads, also after a crash, and a later append may
//               succeed. An empty batch is a way to make a new term durable.
//   term        A writer states its term (controller generation). An append or save_snapshot with a term lower than the highest seen
//               fails with kStateNotSaved ("another controller took over"): fencing.
//   read        Positions are contiguous. Asking for records that trim() dropped is an error (kNotFound), not a gap.
//   snapshot    save_snapshot(position, chunks) stores the state after `position`; the newest complete snapshot wins; records at or
//               before it may be dropped by trim(). A half-written snapshot is never seen. A position past the log's end or before the
//               stored snapshot is refused (kInvalidArgument).
//   blobs       Immutable bytes by content hash (scripts, environments). put_blob and drop_blob take effect for this object at once,
//               and for stable storage and other readers with the next successful append; after a failed append they stay due, so that
//               a retry is complete. A crash may leave blobs that no record refers to: list_blobs is for collecting those.
//
// The meaning of the records is not known here (wire/ encodes, slurmctld/core applies).
//
// Cost (SQLite): one transaction and one sync per append; the caller batches (group commit). put_blob: SHA-256 of the bytes, one index
// probe, one copy. save_snapshot and load_snapshot: the snapshot's size.
// Errors: kDiskFull (nothing written, retry may help), kNotFound (blob, dropped records), kInvalidArgument (named above; a record or
// chunk over kMaxRecordBytes), kStateNotSaved (everything else, with the system's words).
// Not thread safe: one owner (the core thread). Blob reads may run on other threads through BlobReader.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::store {

using Position = uint64_t;  // 0 = before the first record
using Term = uint64_t;      // at most kMaxTerm

constexpr Term kMaxTerm = INT64_MAX;
// The bound on the length of a record, a snapshot chunk and a blob.
constexpr size_t kMaxRecordBytes = size_t{256} << 20;

// 32 bytes of SHA-256 as 64 hex digits, lower case.
using BlobHash = std::string;

class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // kNotFound when no such blob exists. The bytes are checked against the hash.
  virtual Result<std::string> get_blob(const BlobHash& hash) = 0;
};

class EventLog : public BlobReader {
 public:
  // Returns the position of the batch's last record (last_position() for an empty batch).
  virtual Result<Position> append(Term term, std::span<const std::string> records) = 0;
  virtual Position last_position() const = 0;
  virtual Term last_term() const = 0;
  // Calls f(position, record) for every record after `after`, in order. f's error ends the read and is
  // returned. f must not call this log. The view is valid during the call only.
  virtual Result<> read(Position after, const std::function<Result<>(Position, std::string_view)>& f) = 0;

  struct Snapshot {
    Position position = 0;
    std::vector<std::string> chunks;
  };
  virtual Result<> save_snapshot(Term term, const Snapshot& snapshot) = 0;
  virtual Result<std::optional<Snapshot>> load_snapshot() = 0;
  // Drops records up to the newest snapshot's position; does nothing without a snapshot.
  virtual Result<> trim() = 0;

  // Idempotent. The bytes are durable when the next append returns.
  virtual Result<BlobHash> put_blob(std::string_view bytes) = 0;
  // Idempotent; dropping an unknown blob is no error.
  virtual Result<> drop_blob(const BlobHash& hash) = 0;
  // Every blob that get_blob would find, sorted.
  virtual Result<std::vector<BlobHash>> list_blobs() = 0;
};

BlobHash blob_hash(std::string_view bytes);

// Opens the SQLite file `muster.db` in `directory` (WAL, synchronous=FULL). Locks the directory against a second writer (kStateNotSaved
// naming the holder's pid). Creates directory and file where absent, mode 0700/0600. A file that is damaged, not ours, or from a newer
// schema is refused with a text that names it. The process should ignore SIGXFSZ: a file size limit is then reported as kDiskFull.
Result<std::unique_ptr<EventLog>> open_sqlite_log(const std::string& directory);
// A reader of blobs on its own connection, for I/O threads; may be shared between threads. The log must exist.
Result<std::unique_ptr<BlobReader>> open_sqlite_blobs(const std::string& directory);

}  // namespace muster::store
