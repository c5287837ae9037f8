// Rows: the answers to queries, one described struct per kind of thing, in the terms that fields/ prints. A row is made from a Snapshot
// on an I/O thread (slurmctld/daemon), filtered there, and streamed. Each distinct request is sent once and referred to by number, so
// 100,000 jobs of one script cost 100,000 small rows and one request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/apart.h"
#include "base/describe.h"
#include "model/job.h"
#include "model/node.h"
#include "model/node_energy.h"
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
  std::optional<uint32_t> channel;  // of SwitchType=switch/nvidia_imex
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "cpu_ids", self.cpu_ids);
    field(3, "mem_mb", self.mem_mb);
    field(4, "gres", self.gres);
    field(5, "cpus", self.cpus);
    field(6, "channel", self.channel);
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
  std::string reservation;             // that it runs or ran in; "": as the request says
  std::vector<LicenseShare> licenses;  // that it was given
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "request", self.request);
    field(3, "state", self.state);
    field(4, "flags", self.flags);
    field(5, "reason", self.reason);
    field(6, "reason_detail", self.reason_detail);
    field(7, "priority", self.priority);
    field(8, "time_limit_min", self.time_limit_min);
    field(9, "array_job_id", self.array_job_id);
    field(10, "array_task", self.array_task);
    field(11, "array_tasks", self.array_tasks);
    field(12, "array_max_running", self.array_max_running);
    field(13, "partition", self.partition);
    field(14, "restarts", self.restarts);
    field(15, "submitted", self.submitted);
    field(16, "eligible", self.eligible);
    field(17, "started", self.started);
    field(18, "ends", self.ends);
    field(19, "ended", self.ended);
    field(20, "suspended", self.suspended);
    field(21, "suspended_total", self.suspended_total);
    field(22, "nodes", self.nodes);
    field(23, "cpus", self.cpus);
    field(24, "tasks", self.tasks);
    field(25, "max_nodes", self.max_nodes);
    field(26, "max_cpus", self.max_cpus);
    field(27, "node_list", self.node_list);
    field(28, "batch_host", self.batch_host);
    field(29, "expected_nodes", self.expected_nodes);
    // 30 and 31 were the amounts of TRES as texts.
    field(32, "dependency", self.dependency);
    field(33, "exit_status", self.exit_status);
    field(34, "derived_exit_status", self.derived_exit_status);
    field(35, "expected", self.expected);
    field(36, "switches", self.switches);
    field(37, "shares", self.shares);
    field(38, "mem_mb_per_node", self.mem_mb_per_node);
    field(39, "gres_allocated", self.gres_allocated);
    field(40, "tiers", self.tiers);
    field(41, "placement", self.placement);
    field(42, "last_sched_eval", self.last_sched_eval);
    field(43, "resized", self.resized);
    field(44, "exclusive", self.exclusive);
    field(45, "oversubscribe", self.oversubscribe);
    auto tres = described_part(field, self.tres);
    tres(46, "tres_requested", &JobRowTres::requested);
    tres(47, "tres_allocated", &JobRowTres::allocated);
    field(57, "preempted", self.preempted);
    field(58, "preempt_eligible", self.preempt_eligible);
    field(59, "restart", self.restart);
    field(77, "het", self.het);
    field(87, "cron", self.cron);
    field(93, "reservation", self.reservation);
    field(94, "licenses", self.licenses);
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
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "array_job_id", self.array_job_id);
    field(3, "array_task", self.array_task);
    field(4, "id", self.id);
    field(5, "state", self.state);
    field(6, "name", self.name);
    field(7, "partition", self.partition);
    field(8, "user_name", self.user_name);
    field(9, "uid", self.uid);
    field(10, "start", self.start);
    field(11, "time_limit_min", self.time_limit_min);
    field(12, "nodes", self.nodes);
    field(13, "tasks", self.tasks);
    field(14, "cpus", self.cpus);
    field(15, "node_list", self.node_list);
    // 16 was `tres` as a text.
    field(17, "gres", self.gres);
    field(18, "srun_host", self.srun_host);
    field(19, "distribution", self.distribution);
    field(20, "submit_line", self.submit_line);
    field(21, "srun_pid", self.srun_pid);
    field(22, "network", self.network);
    field(23, "cpu_freq", self.cpu_freq);
    field(24, "cpus_per_tres", self.cpus_per_tres);
    field(25, "mem_per_tres", self.mem_per_tres);
    field(26, "tres_bind", self.tres_bind);
    field(27, "tres_freq", self.tres_freq);
    field(28, "tres_per_step", self.tres_per_step);
    field(29, "tres_per_socket", self.tres_per_socket);
    field(30, "tres_per_task", self.tres_per_task);
    field(31, "std_in", self.std_in);
    field(32, "std_out", self.std_out);
    field(33, "std_err", self.std_err);
    field(34, "resv_ports", self.resv_ports);
    field(35, "tres", self.tres);
    field(65, "het", self.het);
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
  std::optional<NodeEnergy> energy;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "address", self.address);
    field(3, "hostname", self.hostname);
    field(4, "comment", self.comment);
    field(5, "extra", self.extra);
    field(6, "reason", self.reason);
    field(7, "arch", self.arch);
    field(8, "os", self.os);
    field(9, "version", self.version);
    field(10, "port", self.port);
    field(11, "state", self.state);
    field(12, "flags", self.flags);
    field(13, "has_jobs", self.has_jobs);
    field(14, "cpus", self.cpus);
    field(15, "boards", self.boards);
    field(16, "sockets", self.sockets);
    field(17, "cores_per_socket", self.cores_per_socket);
    field(18, "threads_per_core", self.threads_per_core);
    field(19, "cpus_effective", self.cpus_effective);
    field(20, "cpus_allocated", self.cpus_allocated);
    field(21, "cpu_load", self.cpu_load);
    field(22, "real_memory_mb", self.real_memory_mb);
    field(23, "mem_allocated_mb", self.mem_allocated_mb);
    field(24, "free_mem_mb", self.free_mem_mb);
    field(25, "tmp_disk_mb", self.tmp_disk_mb);
    field(26, "mem_spec_mb", self.mem_spec_mb);
    field(27, "weight", self.weight);
    field(28, "core_spec_count", self.core_spec_count);
    field(29, "cpu_spec_list", self.cpu_spec_list);
    field(30, "features", self.features);
    field(31, "features_active", self.features_active);
    field(32, "gres", self.gres);
    field(33, "gres_used", self.gres_used);
    // 34 and 35 were the amounts of TRES as texts.
    field(36, "partitions", self.partitions);
    field(37, "reason_uid", self.reason_uid);
    field(38, "reason_time", self.reason_time);
    field(39, "boot_time", self.boot_time);
    field(40, "slurmd_start", self.slurmd_start);
    field(41, "last_busy", self.last_busy);
    field(42, "resume_after", self.resume_after);
    field(43, "jobs_running", self.jobs_running);
    field(44, "instance_id", self.instance_id);
    field(45, "instance_type", self.instance_type);
    field(46, "next_state", self.next_state);
    field(47, "mcs_label", self.mcs_label);
    field(48, "owned", self.owned);
    field(49, "owner", self.owner);
    field(50, "restricted_cores", self.restricted_cores);
    field(51, "tres_configured", self.tres_configured);
    field(52, "tres_allocated", self.tres_allocated);
    field(72, "reservation", self.reservation);
    field(73, "energy", self.energy);
  }
};

struct ReservedCoresRow {
  std::string node, cores;  // "0-3"
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "cores", self.cores);
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
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "start", self.start);
    field(3, "end", self.end);
    field(4, "flags", self.flags);
    field(5, "active", self.active);
    field(6, "node_list", self.node_list);
    field(7, "node_count", self.node_count);
    field(8, "core_count", self.core_count);
    field(9, "cores", self.cores);
    field(10, "features", self.features);
    field(11, "partition", self.partition);
    field(12, "comment", self.comment);
    field(13, "licenses", self.licenses);
    field(14, "tres", self.tres);
    field(15, "users", self.users);
    field(16, "groups", self.groups);
    field(17, "accounts", self.accounts);
    field(18, "qos", self.qos);
    field(19, "partitions", self.partitions);
    field(20, "max_start_delay", self.max_start_delay);
    field(21, "purge_after", self.purge_after);
  }
};

struct LicenseRow {
  std::string name;
  uint32_t total = 0, used = 0, reserved = 0;
  bool remote = false;
  uint32_t last_consumed = 0, last_deficit = 0;  // of a remote one
  Time last_update{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "total", self.total);
    field(3, "used", self.used);
    field(4, "reserved", self.reserved);
    field(5, "remote", self.remote);
    field(45, "last_consumed", self.last_consumed);
    field(46, "last_deficit", self.last_deficit);
    field(47, "last_update", self.last_update);
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
  static void describe(S& self, V&& field) {
    field(1, "association", self.association);
    field(2, "parent", self.parent);
    field(3, "account", self.account);
    field(4, "user", self.user);
    field(5, "partition", self.partition);
    field(6, "depth", self.depth);
    field(7, "shares", self.shares);
    field(8, "norm_shares", self.norm_shares);
    field(9, "raw_usage", self.raw_usage);
    field(10, "norm_usage", self.norm_usage);
    field(11, "effective_usage", self.effective_usage);
    field(12, "level_fs", self.level_fs);
    field(13, "factor", self.factor);
    field(14, "limit_minutes", self.limit_minutes);
    field(15, "used_minutes", self.used_minutes);
    field(16, "run_minutes", self.run_minutes);
  }
};

// A factor of a priority: from 0 to 1 (more with PriorityFlags=NO_NORMAL_*), and times its weight.
struct FactorRow {
  std::string name;  // of TRES
  double normal = 0, weighted = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "normal", self.normal);
    field(3, "weighted", self.weighted);
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
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "sluid", self.sluid);
    field(3, "user", self.user);
    field(4, "account", self.account);
    field(5, "partition", self.partition);
    field(6, "qos", self.qos);
    field(7, "priority", self.priority);
    field(8, "age", self.age);
    field(9, "association", self.association);
    field(10, "fair_share", self.fair_share);
    field(11, "job_size", self.job_size);
    field(12, "partition_factor", self.partition_factor);
    field(13, "qos_factor", self.qos_factor);
    field(14, "tres", self.tres);
    field(15, "site", self.site);
    field(16, "nice", self.nice);
  }
};

struct PartitionRow {
  Partition partition;    // its `nodes` bitmap left out; the text is in node_list
  std::string node_list;  // compressed
  uint32_t total_nodes = 0, total_cpus = 0;
  TresAmounts tres;  // what its nodes have
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "partition", self.partition);
    field(2, "node_list", self.node_list);
    field(3, "total_nodes", self.total_nodes);
    field(4, "total_cpus", self.total_cpus);
    // 5 was `tres` as a text.
    field(6, "tres", self.tres);
  }
};

}  // namespace muster
