// What the accounting database keeps of jobs and steps, and what passes between slurmctld, slurmdbd and sacct. The nouns of
// sacctmgr (accounts, users, associations, QOS, TRES) are in model/accounts.h. sacct(1), slurmdbd(8).
//
// A record is a whole state and not a change: sending it twice, late or after a crash of either side changes nothing. Its key is
// (cluster, job id, submitted, restarts), with the step id for a step: job ids come back after `slurmctld -c`, and each run of a
// requeued job is a record of its own (sacct --duplicates). Of two records with one key, the one of the higher `position` (in the
// controller's event log) stands.
//
// A run whose job gave up nodes is several records, one for each part of it, so that each says for how long it had what. A later part is
// submitted, eligible and started when the part before ended, as guide faq says of resized jobs. The ended ones are RESIZING: they were
// RUNNING until then, and the last one says how the job went on. A step belongs to the part in which it began.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/formerly.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/job.h"
#include "model/rpc.h"
#include "model/sharing_words.h"
#include "model/sluid.h"
#include "model/started_by.h"
#include "model/step_usage.h"
#include "model/tres_amounts.h"

namespace muster {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

struct JobRecordKey {
  JobId id{};
  Time submitted{};
  uint32_t restarts = 0;
  auto operator<=>(const JobRecordKey&) const = default;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "submitted", self.submitted); field(3, "restarts", self.restarts);)
};

// A bit of JobRecord::flags beside those of JobFlag: AccountingStoreFlags=no_stdio had the paths left out, so nobody knows whether they were the
// default ones.
inline constexpr uint32_t kRecordWithoutStdio = 1u << 31;

struct JobRecord {
  JobRecordKey key;
  uint64_t position = 0;
  std::string cluster;  // set by slurmdbd: the cluster whose controller sent it
  JobId array_job_id{};
  uint32_t array_task = kNoArrayTask;
  std::string array_tasks;  // "0-15%4" of a record with pending tasks
  JobState state = JobState::kPending;
  Reason reason = Reason::kNone;
  uint32_t flags = 0;  // JobFlag, kStartedBy, kRecordWithoutStdio
  std::string detail;
  Time eligible{}, started{}, ended{}, suspended{};
  Duration suspended_total{};
  Uid uid{};
  Gid gid{};
  std::string user, group;  // names on the controller's host when it was submitted
  std::string name, partition, account, qos, wckey, reservation, mcs_label, container;
  std::string comment, admin_comment, system_comment, extra, features, licenses;
  std::string work_dir, submit_line, std_in, std_out, std_err;  // patterns
  uint32_t priority = 0;
  uint32_t time_limit_min = kUnlimited32;
  uint32_t requested_cpus = 0, requested_nodes = 0, tasks = 0;
  std::string requested_mem;     // as sacct's ReqMem: "4G"
  uint32_t nodes = 0, cpus = 0;  // allocated; 0 before its start
  std::string node_list, failed_node;
  std::string gres_allocated;                        // "gpu:h100:16": of all its nodes
  int32_t exit_status = 0, derived_exit_status = 0;  // wait statuses
  Uid cancelled_by{};                                // of CANCELLED ones
  bool has_script = false;                           // a batch job: its step `batch`
  uint64_t db_index = 0;                             // of the row, set by slurmdbd when it answers; not stored
  HetPart het;
  TresAmounts tres_requested, tres_allocated;
  bool wckey_is_default = false;                 // nobody named a wckey: it is the user's default one
  uint32_t association = 0, reservation_id = 0;  // their numbers; 0: none
  Exclusive exclusive = Exclusive::kDefault;     // what it has for itself, by its partition's rule too
  Shares shares = Shares::kUnknown;              // kUnknown: a record of an earlier release
  Time first_submitted{};                        // of a later part of a run: when the job was submitted; else unset
  // Of a batch job, between slurmctld and slurmdbd alone: the hashes of what model/job_content.h is about. No answer has them.
  std::string script_hash, environment_hash;
  bool resized() const { return !is_finished(state) && ended != kTimeUnset; }  // a part of a run that went on with fewer nodes
  bool over() const { return is_finished(state) || resized(); }                // nothing more becomes of what it records
  Sluid sluid() const { return sluid_of(key.id, key.submitted, key.restarts); }
  // The one that tools showed while the job ran: that of the first part.
  Sluid original_sluid() const { return first_submitted == kTimeUnset ? sluid() : sluid_of(key.id, first_submitted, key.restarts); }
  MUSTER_FIELDS(field(1, "key", self.key); field(2, "position", self.position); field(3, "cluster", self.cluster);
                field(4, "array_job_id", self.array_job_id); field(5, "array_task", self.array_task);
                field(6, "array_tasks", self.array_tasks); field(7, "state", self.state); field(8, "reason", self.reason);
                field(9, "flags", self.flags); field(10, "detail", self.detail); field(11, "eligible", self.eligible);
                field(12, "started", self.started); field(13, "ended", self.ended); field(14, "suspended", self.suspended);
                field(15, "suspended_total", self.suspended_total); field(16, "uid", self.uid); field(17, "gid", self.gid);
                field(18, "user", self.user); field(19, "group", self.group); field(20, "name", self.name);
                field(21, "partition", self.partition); field(22, "account", self.account); field(23, "qos", self.qos);
                field(24, "wckey", self.wckey); field(25, "reservation", self.reservation); field(26, "mcs_label", self.mcs_label);
                field(27, "container", self.container); field(28, "comment", self.comment); field(29, "admin_comment", self.admin_comment);
                field(30, "system_comment", self.system_comment); field(31, "extra", self.extra); field(32, "features", self.features);
                field(33, "licenses", self.licenses); field(34, "work_dir", self.work_dir); field(35, "submit_line", self.submit_line);
                field(36, "std_in", self.std_in); field(37, "std_out", self.std_out); field(38, "std_err", self.std_err);
                field(39, "priority", self.priority); field(40, "time_limit_min", self.time_limit_min);
                field(41, "requested_cpus", self.requested_cpus); field(42, "requested_nodes", self.requested_nodes);
                field(43, "tasks", self.tasks); field(44, "requested_mem", self.requested_mem); field(45, "nodes", self.nodes);
                field(46, "cpus", self.cpus); field(47, "node_list", self.node_list); field(48, "failed_node", self.failed_node);
                formerly_text(field, 49, "tres_requested", self.tres_requested);
                formerly_text(field, 50, "tres_allocated", self.tres_allocated); field(51, "gres_allocated", self.gres_allocated);
                field(52, "exit_status", self.exit_status); field(53, "derived_exit_status", self.derived_exit_status);
                field(54, "cancelled_by", self.cancelled_by); field(55, "has_script", self.has_script);
                field(56, "db_index", self.db_index); field(86, "het", self.het); field(90, "tres_requested", self.tres_requested);
                field(91, "tres_allocated", self.tres_allocated); field(92, "wckey_is_default", self.wckey_is_default);
                field(93, "script_hash", self.script_hash); field(94, "environment_hash", self.environment_hash);
                field(95, "association", self.association); field(96, "reservation_id", self.reservation_id);
                field(97, "exclusive", self.exclusive); field(98, "shares", self.shares);
                field(99, "first_submitted", self.first_submitted);)
};

// A step of a job; batch, extern and interactive are steps too.
struct StepRecord {
  JobRecordKey job;
  StepId id{};
  uint64_t position = 0;
  std::string name;
  JobState state = JobState::kRunning;  // RUNNING, COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY
  Time started{}, ended{};
  uint32_t nodes = 0, tasks = 0, cpus = 0;
  std::string node_list, gres_allocated, layout, cpu_freq, submit_line, container;
  std::string work_dir, std_in, std_out, std_err;
  int32_t exit_status = 0;
  Uid cancelled_by{};
  TresAmounts tres_allocated;
  StepUsagePtr usage;  // of the nodes that have told it; null: none has, or nothing was gathered
  Time suspended{};    // since when it is; unset: it is not
  Duration suspended_total{};
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "id", self.id); field(3, "position", self.position); field(4, "name", self.name);
                field(5, "state", self.state); field(6, "started", self.started); field(7, "ended", self.ended);
                field(8, "nodes", self.nodes); field(9, "tasks", self.tasks); field(10, "cpus", self.cpus);
                field(11, "node_list", self.node_list); formerly_text(field, 12, "tres_allocated", self.tres_allocated);
                field(13, "gres_allocated", self.gres_allocated); field(14, "layout", self.layout); field(15, "cpu_freq", self.cpu_freq);
                field(16, "submit_line", self.submit_line); field(17, "container", self.container); field(18, "work_dir", self.work_dir);
                field(19, "std_in", self.std_in); field(20, "std_out", self.std_out); field(21, "std_err", self.std_err);
                field(22, "exit_status", self.exit_status); field(23, "cancelled_by", self.cancelled_by);
                field(24, "tres_allocated", self.tres_allocated); field(100, "usage", self.usage); field(101, "suspended", self.suspended);
                field(102, "suspended_total", self.suspended_total);)
};

// A time in which a node was not at work as usual: down, drained, draining, failing, powered down or yet to come. Another begins when its
// state or the reason changes. Its key is (cluster, node, started). With `node` "" it is what a cluster was made of; those slurmdbd
// makes itself, as clusters register.
struct EventRecord {
  std::string cluster;  // set by slurmdbd
  std::string node;
  uint64_t position = 0;
  Time started{}, ended{};
  NodeState state = NodeState::kUnknown;
  uint32_t flags = 0;   // NodeFlag: those that say why it is not at work
  bool in_use = false;  // jobs ran on: draining, not drained
  std::string reason;
  Uid by{};  // who set the reason
  TresAmounts tres;
  std::string nodes;  // of a cluster: its nodes
  // Nobody could use it, for that was planned: FUTURE or powered down.
  bool planned() const { return state == NodeState::kFuture || (state != NodeState::kDown && (flags & kNodePoweredDown)); }
  // It was lost: down, or drained with no job left.
  bool down() const { return !planned() && (state == NodeState::kDown || state == NodeState::kError || !in_use); }
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "node", self.node); field(3, "position", self.position);
                field(4, "started", self.started); field(5, "ended", self.ended); field(6, "state", self.state);
                field(7, "flags", self.flags); field(8, "in_use", self.in_use); field(9, "reason", self.reason); field(10, "by", self.by);
                field(11, "tres", self.tres); field(12, "nodes", self.nodes);)
};

// One time of a reservation; each repetition is a record of its own. Its key is (cluster, id, started).
struct ReservationRecord {
  std::string cluster;  // set by slurmdbd
  uint32_t id = 0;
  uint64_t position = 0;
  std::string name;
  Time started{}, ended{};  // as it is planned, until it is deleted
  uint64_t flags = 0;       // ReservationFlag
  std::string nodes;
  TresAmounts tres;
  std::string users, accounts;  // "a,b"; "-a,-b"
  std::string comment;
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "id", self.id); field(3, "position", self.position);
                field(4, "name", self.name); field(5, "started", self.started); field(6, "ended", self.ended);
                field(7, "flags", self.flags); field(8, "nodes", self.nodes); field(9, "tres", self.tres); field(10, "users", self.users);
                field(11, "accounts", self.accounts); field(12, "comment", self.comment);)
};

namespace rpc {

// slurmctld → slurmdbd: everything that changed up to `position`. Answered once it is on disk.
struct StoreRecords {
  std::string cluster;
  uint64_t position = 0;
  std::vector<JobRecord> jobs;
  std::vector<StepRecord> steps;
  std::vector<EventRecord> events;
  std::vector<ReservationRecord> reservations;
  MUSTER_FIELDS(field(1, "cluster", self.cluster); field(2, "position", self.position); field(3, "jobs", self.jobs);
                field(4, "steps", self.steps); field(5, "events", self.events); field(6, "reservations", self.reservations);)
};
struct RecordsStored {
  uint64_t position = 0;
  std::vector<std::string> missing;  // hashes of scripts and environments that these records name and slurmdbd does not have
  MUSTER_FIELDS(field(1, "position", self.position); field(2, "missing", self.missing);)
};

// Which jobs sacct asks for. Empty lists match all. A job matches if it was in one of `states` at some time within [from, until), as
// sacct(1) says; `states` of 0 takes every job that was pending or running in that time. `from` of 0: no lower bound.
struct JobRecordFilter {
  std::vector<JobSelector> jobs;
  std::vector<Uid> users, groups;
  std::vector<std::string> clusters, accounts, partitions, names, qos, wckeys, reservations, nodes, reasons, features;
  uint32_t states = 0;       // JobState bits
  uint32_t state_flags = 0;  // JobFlag bits: REQUEUED, RESIZING …
  Time from{}, until{};
  uint32_t min_cpus = 0, max_cpus = 0, min_nodes = 0, max_nodes = 0, min_limit_min = 0, max_limit_min = 0;  // 0: no bound
  bool duplicates = false;  // each run of a requeued job and each part of a resized one, else only the last one
  bool steps = true;
  uint32_t started_by = 0;      // bits of kStartedBy: by any of them; 0: however it was started, or not at all
  bool start_recorded = false;  // only runs that have started
  bool ineligible = false;      // also those that wait for their begin or are held; else only jobs that were eligible by `until`
  MUSTER_FIELDS(field(1, "jobs", self.jobs); field(2, "users", self.users); field(3, "groups", self.groups);
                field(4, "clusters", self.clusters); field(5, "accounts", self.accounts); field(6, "partitions", self.partitions);
                field(7, "names", self.names); field(8, "qos", self.qos); field(9, "wckeys", self.wckeys);
                field(10, "reservations", self.reservations); field(11, "nodes", self.nodes); field(12, "reasons", self.reasons);
                field(13, "features", self.features); field(14, "states", self.states); field(15, "state_flags", self.state_flags);
                field(16, "from", self.from); field(17, "until", self.until); field(18, "min_cpus", self.min_cpus);
                field(19, "max_cpus", self.max_cpus); field(20, "min_nodes", self.min_nodes); field(21, "max_nodes", self.max_nodes);
                field(22, "min_limit_min", self.min_limit_min); field(23, "max_limit_min", self.max_limit_min);
                field(24, "duplicates", self.duplicates); field(25, "steps", self.steps); field(26, "ineligible", self.ineligible);
                field(27, "started_by", self.started_by); field(28, "start_recorded", self.start_recorded);)
};
// The answer is streamed: parts of JobRecords in the order of cluster, job id (array tasks by their array), run; a job's steps come
// with it.
struct QueryRecords {
  JobRecordFilter filter;
  MUSTER_FIELDS(field(1, "filter", self.filter);)
};
struct JobRecords {
  std::vector<JobRecord> jobs;
  // The steps of those jobs, in order; a part holds jobs of one cluster. If the steps of its last job do not fit, the next part begins
  // with that job's record again and goes on with its steps.
  std::vector<StepRecord> steps;
  MUSTER_FIELDS(field(1, "jobs", self.jobs); field(2, "steps", self.steps);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
