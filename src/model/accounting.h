// What the accounting database keeps of jobs and steps, and what passes between slurmctld, slurmdbd and sacct. The nouns of
// sacctmgr (accounts, users, associations, QOS, TRES) are in model/accounts.h. sacct(1), slurmdbd(8).
//
// A record is a whole state and not a change: sending it twice, late or after a crash of either side changes nothing. Its key is
// (cluster, job id, submitted, restarts), with the step id for a step: job ids come back after `slurmctld -c`, and each run of a
// requeued job is a record of its own (sacct --duplicates). Of two records with one key, the one of the higher `position` (in the
// controller's event log) stands.
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
#include "model/step_usage.h"
#include "model/tres_amounts.h"

namespace muster {

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

struct JobRecordKey {
  JobId id{};
  Time submitted{};
  uint32_t restarts = 0;
  auto operator<=>(const JobRecordKey&) const = default;
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "submitted", s.submitted); v(3, "restarts", s.restarts);)
};

struct JobRecord {
  JobRecordKey key;
  uint64_t position = 0;
  std::string cluster;  // set by slurmdbd: the cluster whose controller sent it
  JobId array_job_id{};
  uint32_t array_task = kNoArrayTask;
  std::string array_tasks;  // "0-15%4" of a record with pending tasks
  JobState state = JobState::kPending;
  Reason reason = Reason::kNone;
  uint32_t flags = 0;  // JobFlag
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
  MUSTER_FIELDS(v(1, "key", s.key); v(2, "position", s.position); v(3, "cluster", s.cluster); v(4, "array_job_id", s.array_job_id);
                v(5, "array_task", s.array_task); v(6, "array_tasks", s.array_tasks); v(7, "state", s.state); v(8, "reason", s.reason);
                v(9, "flags", s.flags); v(10, "detail", s.detail); v(11, "eligible", s.eligible); v(12, "started", s.started);
                v(13, "ended", s.ended); v(14, "suspended", s.suspended); v(15, "suspended_total", s.suspended_total); v(16, "uid", s.uid);
                v(17, "gid", s.gid); v(18, "user", s.user); v(19, "group", s.group); v(20, "name", s.name); v(21, "partition", s.partition);
                v(22, "account", s.account); v(23, "qos", s.qos); v(24, "wckey", s.wckey); v(25, "reservation", s.reservation);
                v(26, "mcs_label", s.mcs_label); v(27, "container", s.container); v(28, "comment", s.comment);
                v(29, "admin_comment", s.admin_comment); v(30, "system_comment", s.system_comment); v(31, "extra", s.extra);
                v(32, "features", s.features); v(33, "licenses", s.licenses); v(34, "work_dir", s.work_dir);
                v(35, "submit_line", s.submit_line); v(36, "std_in", s.std_in); v(37, "std_out", s.std_out); v(38, "std_err", s.std_err);
                v(39, "priority", s.priority); v(40, "time_limit_min", s.time_limit_min); v(41, "requested_cpus", s.requested_cpus);
                v(42, "requested_nodes", s.requested_nodes); v(43, "tasks", s.tasks); v(44, "requested_mem", s.requested_mem);
                v(45, "nodes", s.nodes); v(46, "cpus", s.cpus); v(47, "node_list", s.node_list); v(48, "failed_node", s.failed_node);
                formerly_text(v, 49, "tres_requested", s.tres_requested); formerly_text(v, 50, "tres_allocated", s.tres_allocated);
                v(51, "gres_allocated", s.gres_allocated); v(52, "exit_status", s.exit_status);
                v(53, "derived_exit_status", s.derived_exit_status); v(54, "cancelled_by", s.cancelled_by);
                v(55, "has_script", s.has_script); v(56, "db_index", s.db_index); v(86, "het", s.het);
                v(90, "tres_requested", s.tres_requested); v(91, "tres_allocated", s.tres_allocated);)
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
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "id", s.id); v(3, "position", s.position); v(4, "name", s.name); v(5, "state", s.state);
                v(6, "started", s.started); v(7, "ended", s.ended); v(8, "nodes", s.nodes); v(9, "tasks", s.tasks); v(10, "cpus", s.cpus);
                v(11, "node_list", s.node_list); formerly_text(v, 12, "tres_allocated", s.tres_allocated);
                v(13, "gres_allocated", s.gres_allocated); v(14, "layout", s.layout); v(15, "cpu_freq", s.cpu_freq);
                v(16, "submit_line", s.submit_line); v(17, "container", s.container); v(18, "work_dir", s.work_dir);
                v(19, "std_in", s.std_in); v(20, "std_out", s.std_out); v(21, "std_err", s.std_err); v(22, "exit_status", s.exit_status);
                v(23, "cancelled_by", s.cancelled_by); v(24, "tres_allocated", s.tres_allocated); v(100, "usage", s.usage);)
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
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "node", s.node); v(3, "position", s.position); v(4, "started", s.started);
                v(5, "ended", s.ended); v(6, "state", s.state); v(7, "flags", s.flags); v(8, "in_use", s.in_use); v(9, "reason", s.reason);
                v(10, "by", s.by); v(11, "tres", s.tres); v(12, "nodes", s.nodes);)
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
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "id", s.id); v(3, "position", s.position); v(4, "name", s.name);
                v(5, "started", s.started); v(6, "ended", s.ended); v(7, "flags", s.flags); v(8, "nodes", s.nodes); v(9, "tres", s.tres);
                v(10, "users", s.users); v(11, "accounts", s.accounts); v(12, "comment", s.comment);)
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
  MUSTER_FIELDS(v(1, "cluster", s.cluster); v(2, "position", s.position); v(3, "jobs", s.jobs); v(4, "steps", s.steps);
                v(5, "events", s.events); v(6, "reservations", s.reservations);)
};
struct RecordsStored {
  uint64_t position = 0;
  MUSTER_FIELDS(v(1, "position", s.position);)
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
  bool duplicates = false;  // each run of a requeued job, else only the last one
  bool steps = true;
  MUSTER_FIELDS(v(1, "jobs", s.jobs); v(2, "users", s.users); v(3, "groups", s.groups); v(4, "clusters", s.clusters);
                v(5, "accounts", s.accounts); v(6, "partitions", s.partitions); v(7, "names", s.names); v(8, "qos", s.qos);
                v(9, "wckeys", s.wckeys); v(10, "reservations", s.reservations); v(11, "nodes", s.nodes); v(12, "reasons", s.reasons);
                v(13, "features", s.features); v(14, "states", s.states); v(15, "state_flags", s.state_flags); v(16, "from", s.from);
                v(17, "until", s.until); v(18, "min_cpus", s.min_cpus); v(19, "max_cpus", s.max_cpus); v(20, "min_nodes", s.min_nodes);
                v(21, "max_nodes", s.max_nodes); v(22, "min_limit_min", s.min_limit_min); v(23, "max_limit_min", s.max_limit_min);
                v(24, "duplicates", s.duplicates); v(25, "steps", s.steps);)
};
// The answer is streamed: parts of JobRecords in the order of cluster, job id (array tasks by their array), run; a job's steps come
// with it.
struct QueryRecords {
  JobRecordFilter filter;
  MUSTER_FIELDS(v(1, "filter", s.filter);)
};
struct JobRecords {
  std::vector<JobRecord> jobs;
  // The steps of those jobs, in order; a part holds jobs of one cluster. If the steps of its last job do not fit, the next part begins
  // with that job's record again and goes on with its steps.
  std::vector<StepRecord> steps;
  MUSTER_FIELDS(v(1, "jobs", s.jobs); v(2, "steps", s.steps);)
};

}  // namespace rpc

#undef MUSTER_FIELDS

}  // namespace muster
