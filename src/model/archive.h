// Archives of accounting records: what a file of ArchiveDir holds, and what sacctmgr archive asks slurmdbd. sacctmgr(1) ARCHIVE
// FUNCTIONALITY, slurmdbd.conf(5) ArchiveDir.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/time.h"
#include "model/accounting.h"
#include "model/accounts.h"
#include "model/job_content.h"
#include "model/usage_report.h"
#include "model/usage_time.h"

namespace muster {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

// What is purged by its age, each kind on its own. On the wire: append only.
enum class RecordKind : uint8_t { kJobs, kSteps, kEvents, kReservations, kTransactions, kUsage, kScripts, kEnvironments };

// The age at which records are purged: a number with hours, days or months.
enum class PurgeUnit : uint8_t { kHour, kDay, kMonth };
struct PurgeAge {
  uint32_t count = 0;  // from 1 to kLongestPurgeAge
  PurgeUnit unit = PurgeUnit::kMonth;
  bool operator==(const PurgeAge&) const = default;
  MUSTER_FIELDS(field(1, "count", self.count); field(2, "unit", self.unit);)
};
inline constexpr uint32_t kLongestPurgeAge = 65'535;

// A row of usage as the database has it: a long roll-up takes several rows, its parts.
struct ArchivedUsage {
  UsagePeriod period{};
  Time at{};
  uint32_t part = 0;
  Usage usage;
  MUSTER_FIELDS(field(1, "period", self.period); field(2, "at", self.at); field(3, "part", self.part); field(4, "usage", self.usage);)
};

// Records of one cluster that were deleted together: one frame of an archive file.
struct ArchivePart {
  std::string cluster;  // "": transactions, which are no cluster's
  std::vector<JobRecord> jobs;
  std::vector<StepRecord> steps;
  std::vector<EventRecord> events;
  std::vector<ReservationRecord> reservations;
  std::vector<TransactionRecord> transactions;
  std::vector<ArchivedUsage> usage;
  std::vector<ArchivedContent> contents;
  size_t records() const {
    return jobs.size() + steps.size() + events.size() + reservations.size() + transactions.size() + usage.size() + contents.size();
  }
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "jobs", self.jobs); field(3, "steps", self.steps);
                field(4, "events", self.events); field(5, "reservations", self.reservations); field(6, "transactions", self.transactions);
                field(7, "usage", self.usage); field(8, "contents", self.contents);)
};

namespace rpc {

// What sacctmgr archive dump says of one kind of record; what it does not say is as slurmdbd.conf has it.
struct ArchiveChoice {
  RecordKind kind{};
  bool archive = false;           // its word was there: archived when purged
  std::optional<PurgeAge> after;  // Purge…After=
  MUSTER_FIELDS(field(1, "kind", self.kind); field(2, "archive", self.archive); field(3, "after", self.after);)
};
// Archives and purges now, for administrators. Errors: kDisabled (DisableArchiveCommands), kAccessDenied, kTryAgainLater (another one is
// under way), and what kept a file from being written; what was purged before that stays purged and is in its files.
struct ArchiveDump {
  std::string directory;  // "": ArchiveDir
  std::string script;     // "": ArchiveScript
  std::vector<ArchiveChoice> choices;
  MUSTER_FIELDS(field(1, "directory", self.directory); field(2, "script", self.script); field(3, "choices", self.choices);)
};
// What became of one kind of record of one cluster.
struct PurgedRecords {
  RecordKind kind{};
  std::string cluster;  // "": of all
  Time before{};        // older ones are purged
  uint64_t records = 0;
  std::vector<std::string> files;  // where they are now; empty: nowhere
  MUSTER_FIELDS(field(1, "kind", self.kind); field(2, "cluster", self.cluster); field(3, "before", self.before);
                field(4, "records", self.records); field(5, "files", self.files);)
};
struct ArchiveDumped {
  std::vector<PurgedRecords> purged;  // of which something went
  bool roll_ups_behind = false;       // younger ones stay until their usage is rolled up
  MUSTER_FIELDS(field(1, "purged", self.purged); field(2, "roll_ups_behind", self.roll_ups_behind);)
};

// Brings back what a file has: all of it or nothing. A record that is in the database is left as it is. kAlreadyDone: all of them are.
struct ArchiveLoad {
  std::string file;  // on slurmdbd's host; a relative one is in ArchiveDir
  MUSTER_FIELDS(field(1, "file", self.file);)
};
struct ArchiveLoaded {
  uint64_t added = 0, known = 0;
  MUSTER_FIELDS(field(1, "added", self.added); field(2, "known", self.known);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
