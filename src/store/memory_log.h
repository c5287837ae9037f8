// An EventLog in memory with the faults of real storage, for tests and the simulator.
//
// The "disk" (MemoryDisk) outlives the log object: opening a log on a disk after crash() sees what was durable. The caller chooses the
// faults: full disk, an append that fails cleanly, an append that was synced but whose answer was lost with the crash
// (crash_after_sync), a crash before the sync (crash_before_sync: the batch is lost). A log that threw SimulatedCrash is dead: any
// further call on it is a programmer's error. Two logs on one disk stand for two controllers on shared storage: the higher term fences
// the lower.
//
// Deterministic; no clock, files or threads. Cost: a copy of the bytes; trim moves the records that stay.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "store/event_log.h"

namespace muster::store {

enum class AppendFault : uint8_t { kNone, kDiskFull, kIoError, kCrashBeforeSync, kCrashAfterSync };

struct MemoryDisk {
  std::vector<std::string> records;  // durable; records[i] is position first + i
  Position first = 1;
  Term term = 0;
  std::optional<EventLog::Snapshot> snapshot;
  std::map<BlobHash, std::string> blobs;  // durable
  uint64_t syncs = 0;
};

// Thrown by append on kCrashBeforeSync/kCrashAfterSync, so that the simulated controller unwinds as if it had been killed; only the
// simulator catches it.
struct SimulatedCrash {};

class MemoryLog final : public EventLog {
 public:
  // `next_fault` is asked before every append; empty means never.
  explicit MemoryLog(std::shared_ptr<MemoryDisk> disk, std::function<AppendFault()> next_fault = {});
  ~MemoryLog() override;

  Result<Position> append(Term term, std::span<const std::string> records) override;
  Position last_position() const override;
  Term last_term() const override;
  Result<> read(Position after, const std::function<Result<>(Position, std::string_view)>& f) override;
  Result<> save_snapshot(Term term, const Snapshot& snapshot) override;
  Result<std::optional<Snapshot>> load_snapshot() override;
  Result<> trim() override;
  Result<BlobHash> put_blob(std::string_view bytes) override;
  Result<> drop_blob(const BlobHash& hash) override;
  Result<std::vector<BlobHash>> list_blobs() override;
  Result<std::string> get_blob(const BlobHash& hash) override;

 private:
  void sync_batch(Term term, std::span<const std::string> records);

  std::shared_ptr<MemoryDisk> disk_;
  std::function<AppendFault()> next_fault_;
  std::map<BlobHash, std::string> unsynced_blobs_;
  std::set<BlobHash> unsynced_drops_;
  bool crashed_ = false;
};

}  // namespace muster::store
