#include "store/memory_log.h"

#include <algorithm>

#include "base/check.h"
#include "store/log_rules.h"

namespace muster::store {

MemoryLog::MemoryLog(std::shared_ptr<MemoryDisk> disk, std::function<AppendFault()> next_fault)
    : disk_(std::move(disk)), next_fault_(std::move(next_fault)) {
  MUSTER_CHECK(disk_ != nullptr);
}

MemoryLog::~MemoryLog() = default;

Position MemoryLog::last_position() const { return disk_->first + disk_->records.size() - 1; }
Term MemoryLog::last_term() const { return disk_->term; }

void MemoryLog::sync_batch(Term term, std::span<const std::string> records) {
  MemoryDisk& d = *disk_;
  if (records.empty() && unsynced_blobs_.empty() && unsynced_drops_.empty() && term == d.term) return;
  d.term = term;
  d.records.insert(d.records.end(), records.begin(), records.end());
  d.blobs.merge(unsynced_blobs_);
  unsynced_blobs_.clear();
  for (const BlobHash& h : unsynced_drops_) d.blobs.erase(h);
  unsynced_drops_.clear();
  ++d.syncs;
}

Result<Position> MemoryLog::append(Term term, std::span<const std::string> records) {
  MUSTER_CHECK(!crashed_);
  // The fault is drawn first, so that the sequence of faults does not depend on what the batch holds.
  AppendFault fault = next_fault_ ? next_fault_() : AppendFault::kNone;
  MUSTER_TRY_VOID(check_term(term, disk_->term));
  MUSTER_TRY_VOID(check_sizes("record", records));
  switch (fault) {
    case AppendFault::kNone: break;
    case AppendFault::kDiskFull: return fail(Errc::kDiskFull);
    case AppendFault::kIoError: return fail(Errc::kStateNotSaved, std::string(errc_text(Errc::kStateNotSaved)) + ": disk I/O error");
    case AppendFault::kCrashBeforeSync: crashed_ = true; throw SimulatedCrash{};
    case AppendFault::kCrashAfterSync:
      sync_batch(term, records);
      crashed_ = true;
      throw SimulatedCrash{};
  }
  sync_batch(term, records);
  return last_position();
}

Result<> MemoryLog::read(Position after, const std::function<Result<>(Position, std::string_view)>& f) {
  MUSTER_CHECK(!crashed_);
  MUSTER_TRY_VOID(check_read(after, disk_->first - 1));
  Position last = last_position();
  for (Position p = after; p < last; ++p) MUSTER_TRY_VOID(f(p + 1, disk_->records[p + 1 - disk_->first]));
  return {};
}

Result<> MemoryLog::save_snapshot(Term term, const Snapshot& snapshot) {
  MUSTER_CHECK(!crashed_);
  MemoryDisk& d = *disk_;
  MUSTER_TRY_VOID(check_term(term, d.term));
  MUSTER_TRY_VOID(check_sizes("snapshot chunk", snapshot.chunks));
  MUSTER_TRY_VOID(check_snapshot_position(snapshot.position, last_position(), d.snapshot ? d.snapshot->position : 0));
  d.term = term;
  d.snapshot = snapshot;
  ++d.syncs;
  return {};
}

Result<std::optional<EventLog::Snapshot>> MemoryLog::load_snapshot() {
  MUSTER_CHECK(!crashed_);
  return disk_->snapshot;
}

Result<> MemoryLog::trim() {
  MUSTER_CHECK(!crashed_);
  MemoryDisk& d = *disk_;
  if (!d.snapshot || d.snapshot->position < d.first) return {};
  Position keep_from = d.snapshot->position + 1;
  d.records.erase(d.records.begin(), d.records.begin() + static_cast<ptrdiff_t>(keep_from - d.first));
  d.first = keep_from;
  ++d.syncs;
  return {};
}

Result<BlobHash> MemoryLog::put_blob(std::string_view bytes) {
  MUSTER_CHECK(!crashed_);
  if (bytes.size() > kMaxRecordBytes)
    return fail(Errc::kInvalidArgument,
                "a blob of " + std::to_string(bytes.size()) + " bytes is over the limit of " + std::to_string(kMaxRecordBytes));
  BlobHash hash = blob_hash(bytes);
  unsynced_drops_.erase(hash);
  if (!disk_->blobs.contains(hash)) unsynced_blobs_.emplace(hash, bytes);
  return hash;
}

Result<> MemoryLog::drop_blob(const BlobHash& hash) {
  MUSTER_CHECK(!crashed_);
  unsynced_blobs_.erase(hash);
  if (disk_->blobs.contains(hash)) unsynced_drops_.insert(hash);
  return {};
}

Result<std::vector<BlobHash>> MemoryLog::list_blobs() {
  MUSTER_CHECK(!crashed_);
  std::set<BlobHash> all;
  for (const auto& [hash, bytes] : unsynced_blobs_) all.insert(hash);
  for (const auto& [hash, bytes] : disk_->blobs)
    if (!unsynced_drops_.contains(hash)) all.insert(hash);
  return std::vector<BlobHash>(all.begin(), all.end());
}

Result<std::string> MemoryLog::get_blob(const BlobHash& hash) {
  MUSTER_CHECK(!crashed_);
  if (auto it = unsynced_blobs_.find(hash); it != unsynced_blobs_.end()) return it->second;
  auto it = disk_->blobs.find(hash);
  if (it == disk_->blobs.end() || unsynced_drops_.contains(hash)) return std::unexpected(no_such_blob(hash));
  return it->second;
}

}  // namespace muster::store
