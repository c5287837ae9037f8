// Rows: the answers to queries, one described struct per kind of thing, in the terms that fields/ prints. A row is made from a Snapshot
// on an I/O thread (slurmctld/daemon), filtered there, and streamed. Each distinct request is sent once and referred to by number, so
// 100,000 jobs of one script cost 100,000 small rows and one request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/apart.h"
#include "base/describe.h"
#include "model/job.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/reservation.h"
#include "model/tres_amounts.h"

namespace muster {

// The costly parts of a row that the client will print. The rest of the row is always there.
enum RowPart : uint32_t {
  kRowNodes = 1u << 0,    // node list texts
  kRowDetail = 1u << 1,   // per-node CPUs and GRES indexes (show -d)
  kRowTres = 1u << 2,     // amounts of TRES
  kRowVerdict = 1u << 3,  // expected start, expected nodes, detail
  kRowRequest = 1u << 4,  // the full JobRequest; without it only the name, user and partition texts in the row
  kRowSteps = 1u << 5,
  kRowStateOnly = 1u << 6,  // id, array, state and flags, and nothing else; no request
  kRowTiers = 1u << 7,      // PriorityTier of each partition it may run in
  kRowPlacement = 1u << 8,  // where it stands in the topology
};

// One node's share of a job for `scontrol show job -d`: Nodes=n[1-2] CPU_IDs=0-3 Mem=1000 GRES=gpu:h100:2(IDX:0-1)
struct NodeShareRow {
  std::string node;
  std::string cpu_ids;
  uint64_t mem_mb = 0;
  std::string gres;
  uint32_t cpus = 0;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "cpu_ids", s.cpu_ids);
    v(3, "mem_mb", s.mem_mb);
    v(4, "gres", s.gres);
    v(5, "cpus", s.cpus);
  }
};

// With kRowTres: what a job asks for and what it holds. Most queries do not ask for it, so a row without it pays for one pointer.
struct JobRowTres {
  TresAmounts requested, allocated;
};

struct JobRow {
  JobId id{};
  RequestId request{};
  JobState state = JobState::kPending;
  uint32_t flags = 0;
  Reason reason = Reason::kNone;  // live: the verdict's for a pending job
  std::string reason_detail;      // e.g. "ReqNodeNotAvail, UnavailableNodes:n1"
  uint32_t priority = 0;
  uint32_t time_limit_min = kUnlimited32;
  JobId array_job_id{};
  uint32_t array_task = kNoArrayTask;
  std::string array_tasks;  // "0-15%4" of a record with pending tasks (uncompressed ranges)
  uint32_t array_max_running = 0;
  std::string partition;  // list while pending, the chosen one when started
  uint32_t restarts = 0;
  Time submitted{}, eligible{}, started{}, ends{}, ended{}, suspended{};
  Duration suspended_total{};
  uint32_t nodes = 0, cpus = 0, tasks = 0;  // allocated, or asked for while pending
  uint32_t max_nodes = 0, max_cpus = 0;     // asked for; 0 = no maximum
  std::string node_list, batch_host, expected_nodes;
  std::string dependency;  // unfulfilled ones, "afterok:12(unfulfilled)"
  int32_t exit_status = 0, derived_exit_status = 0;
  bool expected = false;  // `started` is an expectation
  uint32_t switches = 0;
  std::vector<NodeShareRow> shares;
  uint64_t mem_mb_per_node = 0;          // allocated on its first node
  std::string gres_allocated;            // "gpu:h100:16": of all its nodes
  std::vector<uint32_t> tiers;           // of the partitions in `partition`, in that order
  std::string placement;                 // sched::placement_word
  Time last_sched_eval{};                // when the scheduler looked at it last
  Time resized{};                        // when it last gave up nodes
  std::string exclusive, oversubscribe;  // model/sharing_words.h, where the partition has a say; "" = as the request says
  std::string cron;                      // the times of a job that scrontab made; "" of others
  Apart<JobRowTres> tres;
  Time preempted{}, preempt_eligible{};  // when it was chosen to make room; from when on it may be. Unset: not at all
  std::string restart;                   // restart_text: why it was last put back into the queue
  HetPart het;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "id", s.id);
    v(2, "request", s.request);
    v(3, "state", s.state);
    v(4, "flags", s.flags);
    v(5, "reason", s.reason);
    v(6, "reason_detail", s.reason_detail);
    v(7, "priority", s.priority);
    v(8, "time_limit_min", s.time_limit_min);
    v(9, "array_job_id", s.array_job_id);
    v(10, "array_task", s.array_task);
    v(11, "array_tasks", s.array_tasks);
    v(12, "array_max_running", s.array_max_running);
    v(13, "partition", s.partition);
    v(14, "restarts", s.restarts);
    v(15, "submitted", s.submitted);
    v(16, "eligible", s.eligible);
    v(17, "started", s.started);
    v(18, "ends", s.ends);
    v(19, "ended", s.ended);
    v(20, "suspended", s.suspended);
    v(21, "suspended_total", s.suspended_total);
    v(22, "nodes", s.nodes);
    v(23, "cpus", s.cpus);
    v(24, "tasks", s.tasks);
    v(25, "max_nodes", s.max_nodes);
    v(26, "max_cpus", s.max_cpus);
    v(27, "node_list", s.node_list);
    v(28, "batch_host", s.batch_host);
    v(29, "expected_nodes", s.expected_nodes);
    // 30 and 31 were the amounts of TRES as texts.
    v(32, "dependency", s.dependency);
    v(33, "exit_status", s.exit_status);
    v(34, "derived_exit_status", s.derived_exit_status);
    v(35, "expected", s.expected);
    v(36, "switches", s.switches);
    v(37, "shares", s.shares);
    v(38, "mem_mb_per_node", s.mem_mb_per_node);
    v(39, "gres_allocated", s.gres_allocated);
    v(40, "tiers", s.tiers);
    v(41, "placement", s.placement);
    v(42, "last_sched_eval", s.last_sched_eval);
    v(43, "resized", s.resized);
    v(44, "exclusive", s.exclusive);
    v(45, "oversubscribe", s.oversubscribe);
    auto tres = described_part(v, s.tres);
    tres(46, "tres_requested", &JobRowTres::requested);
    tres(47, "tres_allocated", &JobRowTres::allocated);
    v(57, "preempted", s.preempted);
    v(58, "preempt_eligible", s.preempt_eligible);
    v(59, "restart", s.restart);
    v(77, "het", s.het);
    v(87, "cron", s.cron);
  }
};

struct StepRow {
  JobId job{};
  JobId array_job_id{};
  uint32_t array_task = kNoArrayTask;
  StepId id{};
  StepState state = StepState::kRunning;
  std::string name, partition, user_name;
  Uid uid{};
  Time start{};
  uint32_t time_limit_min = kUnlimited32;
  uint32_t nodes = 0, tasks = 0, cpus = 0;
  std::string node_list, gres, srun_host, distribution, submit_line;
  uint32_t srun_pid = 0;
  // as srun asked
  std::string network, cpu_freq, cpus_per_tres, mem_per_tres, tres_bind, tres_freq;
  std::string tres_per_step, tres_per_socket, tres_per_task;
  std::string std_in, std_out, std_err;  // patterns; "" = through srun
  std::string resv_ports;                // "12000-12003"
  TresAmounts tres;                      // what it holds
  HetPart het;                           // of its job
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "array_job_id", s.array_job_id);
    v(3, "array_task", s.array_task);
    v(4, "id", s.id);
    v(5, "state", s.state);
    v(6, "name", s.name);
    v(7, "partition", s.partition);
    v(8, "user_name", s.user_name);
    v(9, "uid", s.uid);
    v(10, "start", s.start);
    v(11, "time_limit_min", s.time_limit_min);
    v(12, "nodes", s.nodes);
    v(13, "tasks", s.tasks);
    v(14, "cpus", s.cpus);
    v(15, "node_list", s.node_list);
    // 16 was `tres` as a text.
    v(17, "gres", s.gres);
    v(18, "srun_host", s.srun_host);
    v(19, "distribution", s.distribution);
    v(20, "submit_line", s.submit_line);
    v(21, "srun_pid", s.srun_pid);
    v(22, "network", s.network);
    v(23, "cpu_freq", s.cpu_freq);
    v(24, "cpus_per_tres", s.cpus_per_tres);
    v(25, "mem_per_tres", s.mem_per_tres);
    v(26, "tres_bind", s.tres_bind);
    v(27, "tres_freq", s.tres_freq);
    v(28, "tres_per_step", s.tres_per_step);
    v(29, "tres_per_socket", s.tres_per_socket);
    v(30, "tres_per_task", s.tres_per_task);
    v(31, "std_in", s.std_in);
    v(32, "std_out", s.std_out);
    v(33, "std_err", s.std_err);
    v(34, "resv_ports", s.resv_ports);
    v(35, "tres", s.tres);
    v(65, "het", s.het);
  }
};

struct NodeRow {
  std::string name, address, hostname, comment, extra, reason, arch, os, version;
  uint16_t port = 0;
  NodeState state = NodeState::kUnknown;  // derived: idle, mixed, allocated …
  uint32_t flags = 0;
  bool has_jobs = false;
  uint32_t cpus = 0, boards = 1, sockets = 0, cores_per_socket = 0, threads_per_core = 0, cpus_effective = 0;
  uint32_t cpus_allocated = 0, cpu_load = 0xfffffffeu;
  uint64_t real_memory_mb = 0, mem_allocated_mb = 0, free_mem_mb = 0xfffffffffffffffeull, tmp_disk_mb = 0, mem_spec_mb = 0;
  uint32_t weight = 1, core_spec_count = 0;
  std::string cpu_spec_list;
  std::vector<std::string> features, features_active;
  std::string gres, gres_used;  // "gpu:h100:8(S:0-1)", "gpu:h100:2(IDX:0-1)"
  std::vector<std::string> partitions;
  Uid reason_uid{};
  Time reason_time{}, boot_time{}, slurmd_start{}, last_busy{}, resume_after{};
  uint32_t jobs_running = 0;
  std::string instance_id, instance_type, next_state;
  std::string mcs_label;  // kept for jobs with this label
  bool owned = false;     // kept for jobs of `owner`
  Uid owner{};
  std::string restricted_cores;  // RestrictedCoresPerGPU and the cores: "1(0,4)"; "" = none
  TresAmounts tres_configured, tres_allocated;
  std::string reservation;  // that has the node now; the first by number
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "address", s.address);
    v(3, "hostname", s.hostname);
    v(4, "comment", s.comment);
    v(5, "extra", s.extra);
    v(6, "reason", s.reason);
    v(7, "arch", s.arch);
    v(8, "os", s.os);
    v(9, "version", s.version);
    v(10, "port", s.port);
    v(11, "state", s.state);
    v(12, "flags", s.flags);
    v(13, "has_jobs", s.has_jobs);
    v(14, "cpus", s.cpus);
    v(15, "boards", s.boards);
    v(16, "sockets", s.sockets);
    v(17, "cores_per_socket", s.cores_per_socket);
    v(18, "threads_per_core", s.threads_per_core);
    v(19, "cpus_effective", s.cpus_effective);
    v(20, "cpus_allocated", s.cpus_allocated);
    v(21, "cpu_load", s.cpu_load);
    v(22, "real_memory_mb", s.real_memory_mb);
    v(23, "mem_allocated_mb", s.mem_allocated_mb);
    v(24, "free_mem_mb", s.free_mem_mb);
    v(25, "tmp_disk_mb", s.tmp_disk_mb);
    v(26, "mem_spec_mb", s.mem_spec_mb);
    v(27, "weight", s.weight);
    v(28, "core_spec_count", s.core_spec_count);
    v(29, "cpu_spec_list", s.cpu_spec_list);
    v(30, "features", s.features);
    v(31, "features_active", s.features_active);
    v(32, "gres", s.gres);
    v(33, "gres_used", s.gres_used);
    // 34 and 35 were the amounts of TRES as texts.
    v(36, "partitions", s.partitions);
    v(37, "reason_uid", s.reason_uid);
    v(38, "reason_time", s.reason_time);
    v(39, "boot_time", s.boot_time);
    v(40, "slurmd_start", s.slurmd_start);
    v(41, "last_busy", s.last_busy);
    v(42, "resume_after", s.resume_after);
    v(43, "jobs_running", s.jobs_running);
    v(44, "instance_id", s.instance_id);
    v(45, "instance_type", s.instance_type);
    v(46, "next_state", s.next_state);
    v(47, "mcs_label", s.mcs_label);
    v(48, "owned", s.owned);
    v(49, "owner", s.owner);
    v(50, "restricted_cores", s.restricted_cores);
    v(51, "tres_configured", s.tres_configured);
    v(52, "tres_allocated", s.tres_allocated);
    v(72, "reservation", s.reservation);
  }
};

struct ReservedCoresRow {
  std::string node, cores;  // "0-3"
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "cores", s.cores);
  }
};

struct ReservationRow {
  std::string name;
  Time start{}, end{};
  uint64_t flags = 0;
  bool active = false;
  std::string node_list;
  uint32_t node_count = 0, core_count = 0;
  std::vector<ReservedCoresRow> cores;  // of one by cores
  std::string features, partition, comment;
  std::vector<LicenseShare> licenses;
  TresAmounts tres;
  AccessNames users, groups, accounts, qos, partitions;
  Duration max_start_delay{}, purge_after{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "start", s.start);
    v(3, "end", s.end);
    v(4, "flags", s.flags);
    v(5, "active", s.active);
    v(6, "node_list", s.node_list);
    v(7, "node_count", s.node_count);
    v(8, "core_count", s.core_count);
    v(9, "cores", s.cores);
    v(10, "features", s.features);
    v(11, "partition", s.partition);
    v(12, "comment", s.comment);
    v(13, "licenses", s.licenses);
    v(14, "tres", s.tres);
    v(15, "users", s.users);
    v(16, "groups", s.groups);
    v(17, "accounts", s.accounts);
    v(18, "qos", s.qos);
    v(19, "partitions", s.partitions);
    v(20, "max_start_delay", s.max_start_delay);
    v(21, "purge_after", s.purge_after);
  }
};

struct LicenseRow {
  std::string name;
  uint32_t total = 0, used = 0, reserved = 0;
  bool remote = false;
  uint32_t last_consumed = 0, last_deficit = 0;  // of a remote one
  Time last_update{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "total", s.total);
    v(3, "used", s.used);
    v(4, "reserved", s.reserved);
    v(5, "remote", s.remote);
    v(45, "last_consumed", s.last_consumed);
    v(46, "last_deficit", s.last_deficit);
    v(47, "last_update", s.last_update);
  }
};

// The fair share of an association, as sshare(1) shows it; what the numbers mean is in acct/fair_share.h.
struct ShareRow {
  uint32_t association = 0, parent = 0;
  std::string account, user, partition;  // user empty: the account's own; partition empty: all
  uint32_t depth = 0;                    // 0: root
  uint64_t shares = 1;                   // kSharesOfParent: "parent"
  double norm_shares = 0, raw_usage = 0, norm_usage = 0, effective_usage = 0, level_fs = 0, factor = 0;
  TresAmounts limit_minutes;  // GrpTRESMins
  TresAmounts used_minutes;   // GrpTRESRaw: decayed, whole minutes
  TresAmounts run_minutes;    // TRESRunMins: what running jobs may still use
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "association", s.association);
    v(2, "parent", s.parent);
    v(3, "account", s.account);
    v(4, "user", s.user);
    v(5, "partition", s.partition);
    v(6, "depth", s.depth);
    v(7, "shares", s.shares);
    v(8, "norm_shares", s.norm_shares);
    v(9, "raw_usage", s.raw_usage);
    v(10, "norm_usage", s.norm_usage);
    v(11, "effective_usage", s.effective_usage);
    v(12, "level_fs", s.level_fs);
    v(13, "factor", s.factor);
    v(14, "limit_minutes", s.limit_minutes);
    v(15, "used_minutes", s.used_minutes);
    v(16, "run_minutes", s.run_minutes);
  }
};

// A factor of a priority: from 0 to 1 (more with PriorityFlags=NO_NORMAL_*), and times its weight.
struct FactorRow {
  std::string name;  // of TRES
  double normal = 0, weighted = 0;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "normal", s.normal);
    v(3, "weighted", s.weighted);
  }
};

// What the priority of a pending job is made of in one of its partitions, as sprio(1) shows it.
struct PriorityRow {
  JobId job{};
  Sluid sluid{};
  Uid user{};
  std::string account, partition, qos;
  uint32_t priority = 0;
  FactorRow age, association, fair_share, job_size, partition_factor, qos_factor;
  std::vector<FactorRow> tres;
  int64_t site = 0, nice = 0;  // nice as it was asked for: it is taken away
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "sluid", s.sluid);
    v(3, "user", s.user);
    v(4, "account", s.account);
    v(5, "partition", s.partition);
    v(6, "qos", s.qos);
    v(7, "priority", s.priority);
    v(8, "age", s.age);
    v(9, "association", s.association);
    v(10, "fair_share", s.fair_share);
    v(11, "job_size", s.job_size);
    v(12, "partition_factor", s.partition_factor);
    v(13, "qos_factor", s.qos_factor);
    v(14, "tres", s.tres);
    v(15, "site", s.site);
    v(16, "nice", s.nice);
  }
};

struct PartitionRow {
  Partition partition;    // its `nodes` bitmap left out; the text is in node_list
  std::string node_list;  // compressed
  uint32_t total_nodes = 0, total_cpus = 0;
  TresAmounts tres;  // what its nodes have
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "partition", s.partition);
    v(2, "node_list", s.node_list);
    v(3, "total_nodes", s.total_nodes);
    v(4, "total_cpus", s.total_cpus);
    // 5 was `tres` as a text.
    v(6, "tres", s.tres);
  }
};

}  // namespace muster
