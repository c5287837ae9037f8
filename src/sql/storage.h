// Storage: what slurmdbd keeps, in a database of either kind: job and step records, sacctmgr's nouns, transactions. It knows no rules of
// accounting (slurmdbd/core) and no connections. One thread uses a Storage; several may be open on one database, one of them writing.
// Errors as in connection.h.
//
// Cost with a million jobs: a few index steps for one job by its id, or for one user's day; a store about 20 µs a record and one sync.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/accounts.h"
#include "model/archive.h"
#include "model/record_audience.h"
#include "model/usage_report.h"
#include "model/usage_time.h"
#include "sql/connection.h"

namespace muster::sql {

// One noun as the database keeps it. (kind, name) is its key.
struct EntityRow {
  Entity kind = Entity::kAccount;
  std::string name;    // for a noun without a name its number as text; at most 255 bytes
  std::string record;  // encoded
};
struct EntityChanges {
  std::vector<EntityRow> put;
  std::vector<std::pair<Entity, std::string>> gone;
  std::vector<TransactionRecord> transactions;  // their `id` is set on writing
};

// How far a cluster's usage is rolled up: every hour within [first, rolled). Both unset: nothing is yet.
struct UsageState {
  Time first{}, rolled{};
  bool operator==(const UsageState&) const = default;
};
struct UsageRow {
  UsagePeriod period{};
  Time at{};
  Usage usage;  // one without anything takes the row away
};
struct Purged {
  size_t records = 0;  // of the kind that was asked for
  bool more = false;   // there may be more to delete
};

// Keeps rows that are about to be deleted.
class RowKeeper {
 public:
  virtual ~RowKeeper() = default;
  // Takes some of them, of one cluster; called as often as it takes. May not use the Storage.
  virtual Result<> keep(ArchivePart part) = 0;
  // Returns once all of them are safe: they are deleted next.
  virtual Result<> make_durable() = 0;
};
struct Restored {
  size_t added = 0, known = 0;  // known: there already, and left as they are
};

// A job's script or environment, as far as it is kept.
struct KeptContent {
  std::string hash;   // "": none
  uint64_t size = 0;  // of the whole; its bytes are kept unless it is too long
  bool whole = false;
};
inline constexpr size_t kContentPiece = size_t{512} << 10;  // less than any server's max_allowed_packet

// Of a run what a report of sizes counts. Views are valid until the callback returns.
struct UsedRun {
  std::string_view cluster, account, wckey;
  Span used;
  std::string_view amounts;  // the encoded TresAmounts of what it had
  Time resized{};            // when its job went on with fewer nodes, as another record; unset: it did not
};

struct UsageBatch {
  std::vector<UsageRow> rows;
  UsageState state;
  std::vector<Span> still_changed;  // what has to be rolled again of all that had to
};

class Storage {
 public:
  // Creates the tables if the database has none.
  static Result<std::unique_ptr<Storage>> open(std::unique_ptr<Connection> connection);

  // Stores all or nothing, on disk when it returns. Of two records with one key the one of the higher position stands.
  Result<> store(const rpc::StoreRecords& records);

  // What reports need (usage_storage.cc). A change of a record whose time is rolled already marks that time: it is to be rolled again.
  Result<UsageState> usage_state(const std::string& cluster);
  Result<std::vector<Span>> changed_times(const std::string& cluster);
  Result<> put_usage(const std::string& cluster, const UsageBatch& batch);  // all or nothing
  // Roll-ups that begin within [from, until), in order; a long one comes in several pieces, of which the first has the cluster's time.
  Result<> load_usage(const std::string& cluster, UsagePeriod period, Time from, Time until,
                      const std::function<Result<>(Time, const Usage&)>& each);
  // Records that were at some time within [from, until), jobs also if they only waited. `each` may not use this Storage.
  Result<> jobs_within(const std::string& cluster, Time from, Time until,
                       const std::function<Result<>(const JobRecord&, uint64_t joules)>& each);
  Result<> events_within(const std::string& cluster, Time from, Time until, const std::function<Result<>(const EventRecord&)>& each);
  Result<> reservations_within(const std::string& cluster, Time from, Time until,
                               const std::function<Result<>(const ReservationRecord&)>& each);
  // All runs that match and that the audience may see, in no order; `still_wanted` as for find_jobs.
  Result<> matching_jobs(const rpc::JobRecordFilter& filter, const RecordAudience& audience, const std::function<bool()>& still_wanted,
                         const std::function<Result<>(const JobRecord&)>& each);
  // The same of what reports of sizes need: most of a record is passed over, unless the filter asks about that.
  Result<> used_runs(const rpc::JobRecordFilter& filter, const RecordAudience& audience, const std::function<bool()>& still_wanted,
                     const std::function<Result<>(const UsedRun&)>& each);
  Result<Time> first_time(const std::string& cluster);  // of its records; kTimeInfinite: there are none
  Result<> store_cluster_events(const std::string& cluster, const std::vector<EventRecord>& events);

  // Purging (purge_storage.cc). Deletes what ended before `before`, the earliest first, in one transaction: at most `most_rows` rows, of which
  // the steps of jobs are part. What has not ended stays, however long ago it began. A roll-up goes once its whole time is before that. Steps
  // and transactions are those of all clusters. With a `keeper`, nothing is deleted that it has not made durable: its error is returned and
  // nothing changes. Cost: a few index steps a row.
  Result<Purged> purge(RecordKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper = nullptr);
  // Brings such rows back, within a transaction of the caller. Those whose key is there are left as they are, so doing it twice adds nothing.
  // Time that was purged is not rolled up again; roll-ups that come back are shown again.
  Result<> restore(const ArchivePart& part, Restored& counts);
  // Of time before this, records of the cluster may have been purged: nothing of it is rolled up (again). kTimeUnset: nothing was purged.
  Result<Time> whole_from(const std::string& cluster);
  Result<std::vector<std::string>> recorded_clusters(
      RecordKind kind);  // that have records of that kind; for steps and transactions one, ""

  // Scripts and environments of jobs (content_storage.cc), which records name by their hash; equal ones are kept once. store() notes which
  // job has which. Returns those hashes of the records that no content is kept for.
  Result<std::vector<std::string>> missing_contents(const rpc::StoreRecords& records);
  // Keeps a content if a job has it. kInvalidArgument: the bytes are not those of the hash.
  Result<> store_content(const rpc::StoreContent& content);
  Result<KeptContent> content_of(const JobRecord& job, ContentKind kind);
  // The bytes of a content, kContentPiece at a time; pieces count from 0, and behind the last one there are none.
  Result<std::string> content_piece(const std::string& hash, int64_t piece);

  // For jobs that name no account or QOS (or, with `wckeys`, no wckey), fills in those that they are already recorded with.
  Result<> keep_charged(rpc::StoreRecords& records, bool wckeys);

  // Whether there is a record that matches the filter, of that user and in that partition ("": any). Stops at the first.
  Result<bool> any_job(const rpc::JobRecordFilter& filter, const std::string& user, const std::string& partition);

  // The numbers of the job records that match the filter and that the audience may see, in the order of an answer: cluster, job id (tasks
  // by their array), run. A run that is named by its SLUID is there although it is not the last one of its job.
  // kResultTooLarge: more than kMostJobs. `still_wanted` is asked from time to time; when it says no, the search ends with an error.
  Result<std::vector<int64_t>> find_jobs(const rpc::JobRecordFilter& filter, const RecordAudience& audience,
                                         const std::function<bool()>& still_wanted = {});
  // Loads those records, as far as they still exist, and their steps if `steps`. A call loads jobs of one cluster: it stops where the
  // next cluster begins, or after kPartSteps steps or kPartBytes, and says in `taken` how many numbers were used. A job whose steps go
  // on is not among those: `next_step` says where, and the next call gives its record again and the steps from there. Set it to 0 at
  // first; it may be null only without steps.
  Result<> load_jobs(std::span<const int64_t> numbers, bool steps, rpc::JobRecords& out, size_t& taken, int64_t* next_step = nullptr);
  Result<> replace_jobs(const std::vector<JobRecord>& jobs);  // edits: keys and positions as they were

  Result<std::vector<EntityRow>> load_entities();
  Result<> change_entities(const EntityChanges& changes);  // all or nothing
  // Transactions within [from, until), the oldest first; unset: no bound.
  Result<> transactions(Time from, Time until, const std::function<Result<>(TransactionRecord)>& each);

  Connection& connection() { return *connection_; }

 private:
  explicit Storage(std::unique_ptr<Connection> c) : connection_(std::move(c)) {}
  Result<> store_job(const std::string& cluster, const JobRecord& record, bool replace, std::vector<Span>& changed);
  Result<> store_event(const std::string& cluster, const EventRecord& record, std::vector<Span>& changed);
  Result<> store_reservation(const std::string& cluster, const ReservationRecord& record, std::vector<Span>& changed);
  Result<> raise_whole_from(const std::string& cluster, Time before);
  Result<Purged> purge_rows(RecordKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper);
  Result<Purged> purge_jobs(const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper);
  Result<Purged> purge_contents(ContentKind kind, const std::string& cluster, Time before, size_t most_rows, RowKeeper* keeper);
  Result<> note_contents(const std::string& cluster, const JobRecord& record);
  Result<> note_content(const std::string& cluster, const JobRecordKey& job, ContentKind kind, const std::string& hash, Time ended);
  Result<> note_end(const std::string& cluster, const JobRecordKey& job, Time ended);
  Result<> hand_content(const std::string& cluster, ArchivedContent content, bool with_bytes, size_t& handed, RowKeeper& keeper);
  Result<> write_content(const rpc::StoreContent& content);
  Result<std::string> whole_content(const std::string& hash);
  Result<> drop_unused_content(const std::string& hash);
  Result<> restore_content(const std::string& cluster, const ArchivedContent& content, Restored& counts);
  Result<bool> is_there(RecordKind kind, Values key);
  Result<> restore_transaction(const TransactionRecord& transaction, Restored& counts);
  Result<> restore_usage(const std::string& cluster, const std::vector<ArchivedUsage>& rows, Restored& counts);
  Result<size_t> look_into_steps(size_t most_rows);
  Result<> mark_changed(const std::string& cluster, std::vector<Span> spans);
  Result<> put_usage_row(const std::string& cluster, const UsageRow& row);
  Result<> store_step(const std::string& cluster, const StepRecord& record, std::vector<Span>& changed);
  Result<> sum_energy(const std::string& cluster, const StepRecord& step, std::vector<Span>& changed);
  Result<> load_steps(const JobRecord& job, size_t& bytes, std::vector<StepRecord>& out, int64_t& next);

  std::unique_ptr<Connection> connection_;
};

inline constexpr size_t kPartSteps = 2000, kPartBytes = size_t{4} << 20;
inline constexpr size_t kMostJobs = 5'000'000;  // 56 bytes each while they are sorted

}  // namespace muster::sql
