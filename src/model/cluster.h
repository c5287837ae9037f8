// Cluster: all state that the controller's log determines, in persistent tables: a copy costs a few pointers and never changes.
// Snapshot: such a copy, handed to planners and queries on other threads. Only slurmctld/core's apply changes the live Cluster;
// everybody else reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/describe.h"
#include "base/pmap.h"
#include "base/rare_text.h"
#include "model/crontab.h"
#include "model/fair_factors.h"
#include "model/job.h"
#include "model/ledger.h"
#include "model/maintenance.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/quarantine.h"
#include "model/reservation.h"
#include "model/topology.h"
#include "model/trigger.h"
#include "model/usage_book.h"

namespace muster {

struct SharedRequest {
  RequestBodyPtr body;  // one for all requests whose bodies are equal
  PackedOwn own;
  uint32_t jobs = 0;  // records that refer to it; the entry goes with the last
};

// The planner's latest word on a pending job. It is not in the log: after a restart the planner works it out again.
struct Verdict {
  Reason reason = Reason::kNone;
  Time expected_start{};    // unset: not known (a dependency, a hold)
  RareText expected_nodes;  // host list
  RareText detail;          // who or what it waits for, for explain
  bool operator==(const Verdict&) const = default;
};

// Counts of an array's tasks, kept while any record of the array exists, for %limit and for dependencies on the whole array.
struct ArrayGroup {
  uint32_t total = 0, running = 0, ended_ok = 0, ended_bad = 0;
  uint32_t records = 0;                        // job records of the array; the group goes with the last
  uint32_t max_running = 0;                    // %limit; also for tasks that were requeued. 0 = none
  uint32_t lowest_exit = 0, highest_exit = 0;  // exit codes of the tasks that ended
  Bitmap dropped;                              // tasks cancelled before they started: they never had a record
  bool operator==(const ArrayGroup&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "total", self.total);
    field(2, "running", self.running);
    field(3, "ended_ok", self.ended_ok);
    field(4, "ended_bad", self.ended_bad);
    field(5, "records", self.records);
    field(6, "max_running", self.max_running);
    field(7, "lowest_exit", self.lowest_exit);
    field(8, "highest_exit", self.highest_exit);
    field(9, "dropped", self.dropped);
  }
};

struct AccountChanges;
struct AccountDirectory;
struct JobRecord;
struct StepRecord;
struct EventRecord;
struct ReservationRecord;

// What slurmdbd has still to be told about something that the cluster itself holds no longer: a step that ended, or a job that was
// purged or requeued; and what happened to a node or a reservation. One of them is set.
struct KeptRecord {
  uint64_t position = 0;  // of the event that took it away
  std::shared_ptr<const JobRecord> job;
  std::shared_ptr<const StepRecord> step;
  std::shared_ptr<const EventRecord> event;
  std::shared_ptr<const ReservationRecord> reservation;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "position", self.position);
    field(2, "job", self.job);
    field(3, "step", self.step);
    field(4, "event", self.event);
    field(5, "reservation", self.reservation);
  }
};

// A step that has ended before all of its nodes told what it used there. Its record is kept again when they have.
struct EndedStep {
  std::shared_ptr<const StepRecord> record;  // with what is known so far
  std::vector<NodeId> untold;
  bool recorded = true;  // what is known so far is in a kept record
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "record", self.record);
    field(2, "untold", self.untold);
    field(3, "recorded", self.recorded);
  }
};
struct EndedSteps {                      // of one job
  static constexpr size_t kMost = 1024;  // more would be of a user who ends steps that never were on a node: the oldest are given up
  JobId job{};
  std::vector<EndedStep> steps;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "steps", self.steps);
  }
};

// How usage decays: PriorityDecayHalfLife as the log has it, so that a replay gives the same numbers.
struct UsageRule {
  Duration half_life{};  // 0: it does not
  Time last_reset{};     // PriorityUsageResetPeriod
  bool operator==(const UsageRule&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "half_life", self.half_life);
    field(2, "last_reset", self.last_reset);
  }
};

// What slurmctld knows of the moment: the words of the scheduler's last pass, and what the configuration says of amounts. No event says it
// and no snapshot on disk has it: after a restart it is found anew. Core alone sets it (slurmctld/core/core.cc); apply only drops the verdict of
// a job that waits no more. (Of a node it is Node::connected and Node::last_response, which stand there because whoever follows nodes looks at
// differences of their records.)
struct Moment {
  PersistentMap<Verdict> verdicts;  // by JobId
  FairFactorsPtr fair_factors;      // null: fair share has no weight, or there was no pass yet
  Time last_pass{};                 // when the scheduler last went over the whole queue
  // How partitions with TRESBillingWeights bill; null: by the sum of all.
  std::shared_ptr<const BillingMethod> billing_method;
  // The licences that count as TRES of jobs (AccountingStorageTRES=license/NAME).
  std::shared_ptr<const std::set<std::string>> tracked_licenses;
};

struct Cluster {
  PersistentMap<Job> jobs;                  // by JobId
  PersistentMap<SharedRequest> requests;    // by RequestId
  PersistentMap<ArrayGroup> arrays;         // by array job id
  PersistentMap<Node> nodes;                // by NodeId
  PersistentMap<Partition> partitions;      // by index
  PersistentMap<Reservation> reservations;  // by number
  uint32_t last_reservation = 0;            // the highest number ever given
  // name → NodeId / partition index; replaced as a whole when the configuration changes
  std::shared_ptr<const std::unordered_map<std::string, uint32_t>> node_names, partition_names;
  JobId last_job_id{};              // the last id that was given
  bool job_ids_began_anew = false;  // after MaxJobId: greater ids than the last have been given, too
  bool was_given(JobId id) const { return job_ids_began_anew || id <= last_job_id; }
  void give(JobId id) {
    job_ids_began_anew = job_ids_began_anew || id < last_job_id;
    last_job_id = id;
  }
  RequestId last_request_id{};
  // Licences held by jobs that run, by name; follows from their allocations, so it is not stored.
  std::shared_ptr<const std::map<std::string, uint64_t>> licenses_used;
  // By IMEX channel: how many jobs hold it, components of one heterogeneous job. Follows from the jobs, so it is not stored.
  PersistentMap<uint32_t> channels;
  // What jobs hold for their associations, QOS and users. Follows from jobs and directory, so it is not stored.
  Ledger ledger;
  // The TRES that have been named since this controller started; null: only those that always exist. Not stored.
  std::shared_ptr<const TresTable> tres;
  uint32_t default_partition = kNoPartition;
  std::string name;          // ClusterName
  TopologiesPtr topologies;  // null: flat
  uint64_t position = 0;     // of the last event applied
  // Accounting: whether records are kept for slurmdbd, up to which position it has them, and the records of what the cluster no longer
  // holds.
  bool accounting = false;
  uint64_t recorded_position = 0;
  PersistentMap<KeptRecord> kept_records;  // by number, in the order of position
  uint32_t last_kept_record = 0;
  PersistentMap<EndedSteps> ended_steps;  // by JobId
  // scrontab: the users' files by uid, and the jobs of their entries by JobId, as long as those have a record.
  PersistentMap<Crontab> crontabs;
  PersistentMap<CronJob> cron_jobs;
  PersistentMap<Trigger> triggers;  // by number
  uint32_t last_trigger = 0;
  PersistentMap<Maintenance> maintenances;  // by number
  uint32_t last_maintenance = 0;
  PersistentMap<Quarantine> quarantines;  // by NodeId
  // Accounts, users, associations and QOS as slurmdbd told them last; null: nothing was ever heard, or accounting is off.
  std::shared_ptr<const AccountDirectory> directory;
  // What associations and QOS have used, and by which rule it decays. The amounts are settled whenever a rate of the ledger changes.
  UsageBook usage;
  UsageRule usage_rule;
  Moment moment;
  // Epochs: raised by apply; caches compare them instead of scanning.
  uint64_t nodes_epoch = 0;  // anything about nodes but their use by jobs
  uint64_t use_epoch = 0;    // resources became free
  uint64_t jobs_epoch = 0;   // the set of pending jobs or their order changed

  static constexpr uint32_t kNoPartition = 0xffffffffu;
  const Node* node(std::string_view name) const;
  const Partition* partition(std::string_view name) const;
  const Reservation* reservation(std::string_view name) const;  // in any case. O(reservations)
  uint64_t license_used(const std::string& name) const;
  bool tracks_license(const std::string& name) const { return moment.tracked_licenses && moment.tracked_licenses->contains(name); }
  const BillingMethod& billing() const;
  void count_licenses(const Job& job, bool held);  // a job that starts or ends
  void recount_licenses();                         // from all jobs: after a snapshot was read
  void count_channels(const Job& job, bool held);  // before and after each change of a job: what it holds of channels
  void recount_channels();
  const TresTable& tres_table() const;
  void know_tres(const std::vector<std::string>& names);
  // Both take the time of their event, since usage goes with what changes its place. A time that is not set settles nothing.
  void learn_accounts(const AccountChanges& changes, Time now = {});
  void forget_accounts();
  // Moves a job's charge from what it was to what it is now. A job that does not exist (before, or after) has an empty charge.
  void recharge(const Charge& was, const Charge& is, Time now = {});
  // A partition gets another QOS, or goes: what its jobs hold counts for that one from now on. `next` null: it goes.
  void change_partition(uint32_t index, const Partition* next, Time now = {});
  // What an association (with all below it) or a QOS has used, decayed to `now`.
  Spent used_by_association(uint32_t association, Time now) const;
  Spent used_by_qos(std::string_view qos, Time now) const;
  Spent used_by(const Holder& holder, Time now) const;  // nothing, of a user or an account in a QOS
  Duration half_life_of(const Holder& holder) const;    // of what it has used
  void set_half_life(Duration half_life, Time now);
  // From `now` on, nothing was used: by anybody; by an association and those below it; by a QOS.
  void reset_usage(Time now);
  void reset_usage_of_association(uint32_t association, Time now);
  void reset_usage_of_qos(std::string_view qos, Time now);
  // counted_ledger is the ledger counted anew from all jobs; recount_ledger sets it, after a snapshot was read.
  Ledger counted_ledger() const;
  void recount_ledger();

 private:
  Duration half_life_of_qos(std::string_view qos) const;  // NoDecay: 0
  void settle_line(uint32_t association, Time now);
  void settle_association(uint32_t association, Time now);
  void move_usage(const AccountDirectory* next, std::vector<uint32_t> changed, Time now);
  void settle_qos(std::string_view qos, Time now);
  void settle_holders(const Charge& charge, Time now);
  void settle_everything(Time now);
  void settle_running(Time now);
  void change_directory(std::shared_ptr<const AccountDirectory> next, std::vector<uint32_t> changed, std::set<std::string> qos, Time now);
};

struct Snapshot {
  std::shared_ptr<const Cluster> cluster;
  Time time{};
};

}  // namespace muster
