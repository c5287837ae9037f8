// What a job is to be and do, in parts. Each field is declared once, in one part. A part says who may fill its fields, who may see
// them, and how they are kept:
//
//   AskedBody, AskedHidden, AskedOwn   what a user may ask for. AskedRequest, which commands send, is these and nothing else.
//   KnownBody, KnownOwn                what only the controller knows: it finds that out itself, or an operator updates it.
//   ContentHashes                      where the controller keeps the script and the environment. Whoever has a hash has the
//                                      content, so hashes go to the log and to the nodes that run the job, to nobody else.
//
//   ShownRequest   what rows and answers show: asked for and known, without AskedHidden and ContentHashes
//   JobRequest     all of it, as slurmctld stores it. Immutable once accepted
//
// So a user cannot send what only the controller decides, nor read what the controller keeps to itself: the types of those messages
// have no place for it. Field numbers are one series over all parts: a JobRequest in an old log reads as before.
//
// sbatch, srun and salloc fill AskedRequest from the option tables; slurmctld (decide) checks it and fills in defaults. Bounds on every
// text are in model/request_texts.h. The body is shared by all jobs that ask for the same thing, and the part that is a job's own is
// packed, so a pending job costs little more than its record. Memory is in MiB, times are in the units of their types. Texts keep the
// user's spelling where Slurm prints them back (features, gres, dependency). Manual pages: sbatch(1), srun(1), salloc(1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/array_extent.h"
#include "model/cpu_frequency.h"
#include "model/distribution.h"
#include "model/extra_constraint.h"
#include "model/feature_constraint.h"
#include "model/gpu_frequency.h"
#include "model/gres_flags.h"
#include "model/license_needs.h"
#include "model/mem_update.h"
#include "model/network_wish.h"
#include "model/node_names.h"
#include "model/node_sizes.h"
#include "model/profile_types.h"
#include "model/reservation_names.h"
#include "model/sample_intervals.h"
#include "model/task_bind.h"
#include "model/task_hint.h"
#include "model/tres_list.h"

namespace muster {

// Texts with a meaning, parsed once (base/parsed.h).
using NodeList = Parsed<NodeNames>;
using FeatureText = Parsed<FeatureConstraint>;
using ExtraText = Parsed<ExtraConstraint>;
using TresText = Parsed<TresList>;
using LicenseText = Parsed<LicenseNeeds>;
using ReservationText = Parsed<ReservationNames>;
using NodeSizesText = Parsed<NodeSizes>;
using GresFlagsText = Parsed<GresFlags>;
using DistributionText = Parsed<Distribution>;
using HintText = Parsed<TaskHint>;
using CpuBindText = Parsed<CpuBind>;
using MemBindText = Parsed<MemBind>;
using TresBindText = Parsed<TresBinds>;
using CpuFrequencyText = Parsed<CpuFrequencyWish>;
using TresFrequencyText = Parsed<TresFrequency>;

inline constexpr uint32_t kUnlimited32 = 0xffffffffu;  // "no limit" where a limit is a plain number

enum class Exclusive : uint8_t { kDefault, kNode, kUser, kMcs, kTopo, kOversubscribe };
enum class OpenMode : uint8_t { kDefault, kAppend, kTruncate };
enum class JobKind : uint8_t { kBatch, kAllocation };  // kAllocation: salloc, or srun outside a job
enum class TriState : uint8_t { kDefault, kNo, kYes };
enum class EnvExport : uint8_t { kAll, kNone, kNil, kList };

struct WarnSignal {  // --signal=[{R|B}:]sig[@seconds]
  uint8_t signal = 0;
  uint32_t seconds_before_end = 60;
  bool batch_shell_only = false;
  bool reservation = false;
  bool operator==(const WarnSignal&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "signal", self.signal);
    field(2, "seconds_before_end", self.seconds_before_end);
    field(3, "batch_shell_only", self.batch_shell_only);
    field(4, "reservation", self.reservation);
  }
};

struct ResourceLimit {  // a propagated rlimit: name without RLIMIT_, in the order of the table in os/
  std::string name;
  uint64_t soft = 0;
  bool operator==(const ResourceLimit&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "soft", self.soft);
  }
};

// What similar jobs ask for alike: who, where, how much, when.
struct AskedBody {
  // who
  Uid uid{};  // may be another user's only for root and SlurmUser
  Gid gid{};  // one of the user's groups; any other only for root and SlurmUser
  std::string account, qos, wckey;
  ReservationText reservation;
  // where
  std::vector<std::string> partitions;  // as listed by the user; empty: the default partition
  NodeList required_nodes, excluded_nodes;
  FeatureText features, prefer;  // --constraint, --prefer
  std::string cluster_features, clusters;
  // how much
  uint32_t min_nodes = 0, max_nodes = 0;  // 0: not asked
  NodeSizesText node_sizes;               // -N 2,4,8
  uint32_t num_tasks = 0;                 // 0: not asked
  uint32_t cpus_per_task = 0;
  uint32_t ntasks_per_node = 0, ntasks_per_socket = 0, ntasks_per_core = 0, ntasks_per_gpu = 0;
  uint32_t min_cpus_per_node = 0;  // --mincpus
  uint32_t sockets_per_node = 0, cores_per_socket = 0, threads_per_core = 0;
  std::optional<uint64_t> mem_per_node_mb, mem_per_cpu_mb, mem_per_gpu_mb;  // at most one is set; 0 = all of the node
  MemUpdateText mem_update;                                                 // --mem-update
  uint64_t tmp_disk_mb = 0;
  TresText tres_per_node;    // "gres/gpu:a100:8,gres/nic:1"; --gres and --gpus-per-node land here
  TresText tres_per_job;     // --gpus
  TresText tres_per_socket;  // --gpus-per-socket
  TresText tres_per_task;    // --gpus-per-task, --tres-per-task
  uint32_t cpus_per_gpu = 0;
  GresFlagsText gres_flags;
  TresBindText tres_bind;
  TresFrequencyText tres_freq;
  LicenseText licenses;
  NetworkText network;
  Exclusive exclusive = Exclusive::kDefault;
  bool contiguous = false, overcommit = false, spread_job = false, use_min_nodes = false;
  uint32_t switches = 0;
  Duration switches_wait{};
  uint32_t segment = 0;
  bool spread_segments = false, consolidate_segments = false;
  uint32_t core_spec = 0;  // cores, or threads with core_spec_is_threads
  bool core_spec_is_threads = false;
  bool core_spec_given = false;  // --core-spec=0 gives the job the cores that the node keeps for the system
  DistributionText distribution;
  HintText hint;
  CpuBindText cpu_bind;
  MemBindText mem_bind;
  CpuFrequencyText cpu_freq;
  // when
  std::optional<uint32_t> time_limit_min;  // kUnlimited32 = UNLIMITED; unset: the partition's default
  uint32_t time_min_min = 0;
  Time begin{};  // unset: now
  Time deadline{};
  Duration delay_boot{};
  bool delay_boot_set = false;  // else SchedulerParameters=delay_boot holds
  bool kill_on_invalid_dependency = false, kill_on_invalid_dependency_set = false;
  // how it is queued
  bool hold = false;
  std::optional<uint32_t> priority;  // --priority; "TOP" is resolved by the client to kUnlimited32
  int32_t nice = 0;
  TriState requeue = TriState::kDefault;
  bool requeue_expedite = false;  // --requeue=expedite
  bool reboot = false, no_kill = false, no_allocate = false;
  Parsed<ArrayExtent> array;  // "0-15:4%2", "" = not an array
  std::string mcs_label;
  uint32_t immediate_seconds = 0;  // --immediate; 0 = not immediate
  bool test_only = false;
  WarnSignal warn;
  uint16_t mail_type = 0;  // bits in model/mail.h
  std::string mail_user;
  TriState wait_all_nodes = TriState::kDefault;
  std::string power, burst_buffer, container, container_id;
  bool stepmgr = false;
  bool oom_kill_step_set = false, oom_kill_step = false;
  // batch
  EnvExport env_export = EnvExport::kAll;
  std::string get_user_env;  // --get-user-env[=timeout][mode]
  OpenMode open_mode = OpenMode::kDefault;
  uint32_t umask = 022;
  std::vector<ResourceLimit> limits;
  SampleIntervalsText acctg_freq;
  ProfileText profile;
  FeatureText batch_features;  // --batch
  // interactive
  uint32_t x11 = 0;
  uint32_t resv_ports = 0;
  bool resv_ports_set = false;
  bool operator==(const AskedBody&) const = default;
};

struct AskedHidden {
  std::vector<std::string> spank_env;  // of plugins, NAME=value: SPANK_NAME in prologs and epilogs; and their options
  bool operator==(const AskedHidden&) const = default;
};

struct KnownBody {
  std::string user_name;           // of uid
  JobKind kind = JobKind::kBatch;  // by the message that asked
  std::string alloc_node;          // host the command ran on: as the kernel or the node daemon that passed it on say
  int32_t site_factor = 0;         // by an operator's update; part of the priority
  bool qos_granted = false;        // by an operator's update: the QOS need not be one of the association's
  bool wckey_is_default = false;   // nobody named a wckey: it is the user's default one, "" where there is none
  // --extra, where the site made it a constraint when it was given (extra_constraints). Else the text of AskedOwn is a note, and no two
  // jobs are of different kinds because of their notes.
  ExtraText extra_constraint;
  bool operator==(const KnownBody&) const = default;
};

// What differs between jobs in most queues: the job's name, what it runs, its files, and what it depends on.
struct AskedOwn {
  std::string name;
  std::string comment, extra;
  std::string dependency;         // as typed
  std::vector<std::string> argv;  // script name, its arguments
  std::string work_dir;
  std::string std_in, std_out, std_err;  // patterns; "" = the default
  std::string submit_line;
  bool operator==(const AskedOwn&) const = default;
};

struct KnownOwn {
  std::string admin_comment;  // by an operator
  uint32_t alloc_sid = 0;     // the session of the command, where the kernel could be asked; else 0
  bool operator==(const KnownOwn&) const = default;
};

struct ContentHashes {
  std::string script_hash;       // blob
  std::string environment_hash;  // blob: NAME=VALUE\0…
  bool operator==(const ContentHashes&) const = default;
};

// All that the planner needs, shared by jobs that ask for the same.
struct ShownBody : AskedBody, KnownBody {
  bool operator==(const ShownBody&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};
struct RequestBody : ShownBody, AskedHidden {
  bool operator==(const RequestBody&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};

// The part that is a job's own: texts, and one number. slurmctld keeps it packed (model/packed_own.h).
struct ShownOwn : AskedOwn, KnownOwn {
  bool operator==(const ShownOwn&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};
struct RequestOwn : ShownOwn, ContentHashes {
  bool operator==(const RequestOwn&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};

struct AskedRequest : AskedBody, AskedHidden, AskedOwn {
  bool operator==(const AskedRequest&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};
struct ShownRequest : ShownBody, ShownOwn {
  bool operator==(const ShownRequest&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};
struct JobRequest : RequestBody, RequestOwn {
  bool operator==(const JobRequest&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field);
};

using RequestBodyPtr = std::shared_ptr<const RequestBody>;
using JobRequestPtr = std::shared_ptr<const JobRequest>;

// Describes all fields by number, each with the part that declares it. A type S gets the fields of the parts that it has.
template <class S, class V>
void describe_request(S& self, V&& field) {
  constexpr bool kAskedBody = std::is_base_of_v<AskedBody, S>, kAskedHidden = std::is_base_of_v<AskedHidden, S>;
  constexpr bool kAskedOwn = std::is_base_of_v<AskedOwn, S>;
  constexpr bool kKnownBody = std::is_base_of_v<KnownBody, S>, kKnownOwn = std::is_base_of_v<KnownOwn, S>;
  constexpr bool kHashes = std::is_base_of_v<ContentHashes, S>;
  if constexpr (kAskedBody) {
    field(1, "uid", self.uid);
    field(2, "gid", self.gid);
  }
  if constexpr (kKnownBody) {
    field(3, "user_name", self.user_name);
  }
  if constexpr (kAskedBody) {
    field(4, "account", self.account);
    field(5, "qos", self.qos);
    field(6, "wckey", self.wckey);
    field(7, "reservation", self.reservation);
  }
  if constexpr (kAskedOwn) {
    field(8, "name", self.name);
    field(9, "comment", self.comment);
    field(10, "extra", self.extra);
  }
  if constexpr (kKnownOwn) {
    field(11, "admin_comment", self.admin_comment);
  }
  if constexpr (kKnownBody) {
    field(12, "kind", self.kind);
  }
  if constexpr (kAskedBody) {
    field(13, "partitions", self.partitions);
    field(14, "required_nodes", self.required_nodes);
    field(15, "excluded_nodes", self.excluded_nodes);
    field(16, "features", self.features);
    field(17, "prefer", self.prefer);
    field(18, "cluster_features", self.cluster_features);
    field(19, "clusters", self.clusters);
    field(20, "min_nodes", self.min_nodes);
    field(21, "max_nodes", self.max_nodes);
    field(22, "node_sizes", self.node_sizes);
    field(23, "num_tasks", self.num_tasks);
    field(24, "cpus_per_task", self.cpus_per_task);
    field(25, "ntasks_per_node", self.ntasks_per_node);
    field(26, "ntasks_per_socket", self.ntasks_per_socket);
    field(27, "ntasks_per_core", self.ntasks_per_core);
    field(28, "ntasks_per_gpu", self.ntasks_per_gpu);
    field(29, "min_cpus_per_node", self.min_cpus_per_node);
    field(30, "sockets_per_node", self.sockets_per_node);
    field(31, "cores_per_socket", self.cores_per_socket);
    field(32, "threads_per_core", self.threads_per_core);
    field(33, "mem_per_node_mb", self.mem_per_node_mb);
    field(34, "mem_per_cpu_mb", self.mem_per_cpu_mb);
    field(35, "mem_per_gpu_mb", self.mem_per_gpu_mb);
    field(36, "tmp_disk_mb", self.tmp_disk_mb);
    field(37, "tres_per_node", self.tres_per_node);
    field(38, "tres_per_job", self.tres_per_job);
    field(39, "tres_per_socket", self.tres_per_socket);
    field(40, "tres_per_task", self.tres_per_task);
    field(41, "cpus_per_gpu", self.cpus_per_gpu);
    field(42, "gres_flags", self.gres_flags);
    field(43, "tres_bind", self.tres_bind);
    field(44, "tres_freq", self.tres_freq);
    field(45, "licenses", self.licenses);
    field(46, "network", self.network);
    field(47, "exclusive", self.exclusive);
    field(48, "contiguous", self.contiguous);
    field(49, "overcommit", self.overcommit);
    field(50, "spread_job", self.spread_job);
    field(51, "use_min_nodes", self.use_min_nodes);
    field(52, "switches", self.switches);
    field(53, "switches_wait", self.switches_wait);
    field(54, "segment", self.segment);
    field(55, "spread_segments", self.spread_segments);
    field(56, "consolidate_segments", self.consolidate_segments);
    field(57, "core_spec", self.core_spec);
    field(58, "core_spec_is_threads", self.core_spec_is_threads);
    field(59, "distribution", self.distribution);
    field(60, "hint", self.hint);
    field(61, "cpu_bind", self.cpu_bind);
    field(62, "mem_bind", self.mem_bind);
    field(63, "cpu_freq", self.cpu_freq);
    field(64, "time_limit_min", self.time_limit_min);
    field(65, "time_min_min", self.time_min_min);
    field(66, "begin", self.begin);
    field(67, "deadline", self.deadline);
    field(68, "delay_boot", self.delay_boot);
  }
  if constexpr (kAskedOwn) {
    field(69, "dependency", self.dependency);
  }
  if constexpr (kAskedBody) {
    field(70, "kill_on_invalid_dependency", self.kill_on_invalid_dependency);
    field(71, "kill_on_invalid_dependency_set", self.kill_on_invalid_dependency_set);
    field(72, "hold", self.hold);
    field(73, "priority", self.priority);
    field(74, "nice", self.nice);
    field(75, "requeue", self.requeue);
    field(76, "reboot", self.reboot);
    field(77, "no_kill", self.no_kill);
    field(78, "no_allocate", self.no_allocate);
    field(79, "array", self.array);
    field(80, "mcs_label", self.mcs_label);
    field(81, "immediate_seconds", self.immediate_seconds);
    field(82, "test_only", self.test_only);
    field(83, "warn", self.warn);
    field(84, "mail_type", self.mail_type);
    field(85, "mail_user", self.mail_user);
    field(86, "wait_all_nodes", self.wait_all_nodes);
    field(87, "power", self.power);
    field(88, "burst_buffer", self.burst_buffer);
    field(89, "container", self.container);
    field(90, "container_id", self.container_id);
    field(91, "stepmgr", self.stepmgr);
    field(92, "oom_kill_step_set", self.oom_kill_step_set);
    field(93, "oom_kill_step", self.oom_kill_step);
  }
  if constexpr (kHashes) {
    field(94, "script_hash", self.script_hash);
  }
  if constexpr (kAskedOwn) {
    field(95, "argv", self.argv);
  }
  if constexpr (kHashes) {
    field(96, "environment_hash", self.environment_hash);
  }
  if constexpr (kAskedBody) {
    field(97, "env_export", self.env_export);
    field(98, "get_user_env", self.get_user_env);
  }
  if constexpr (kAskedOwn) {
    field(99, "work_dir", self.work_dir);
    field(100, "std_in", self.std_in);
    field(101, "std_out", self.std_out);
    field(102, "std_err", self.std_err);
  }
  if constexpr (kAskedBody) {
    field(103, "open_mode", self.open_mode);
    field(104, "umask", self.umask);
    field(105, "limits", self.limits);
    field(106, "acctg_freq", self.acctg_freq);
    field(107, "profile", self.profile);
    field(108, "batch_features", self.batch_features);
  }
  if constexpr (kAskedHidden) {
    field(109, "spank_env", self.spank_env);
  }
  if constexpr (kAskedOwn) {
    field(110, "submit_line", self.submit_line);
  }
  if constexpr (kKnownBody) field(111, "alloc_node", self.alloc_node);
  if constexpr (kKnownOwn) field(112, "alloc_sid", self.alloc_sid);
  if constexpr (kAskedBody) {
    field(113, "x11", self.x11);
    field(114, "resv_ports", self.resv_ports);
    field(115, "resv_ports_set", self.resv_ports_set);
  }
  if constexpr (kKnownBody) field(116, "site_factor", self.site_factor);
  if constexpr (kAskedBody) field(117, "core_spec_given", self.core_spec_given);
  if constexpr (kKnownBody) field(118, "qos_granted", self.qos_granted);
  if constexpr (kKnownBody) field(119, "extra_constraint", self.extra_constraint);
  if constexpr (kAskedBody) field(129, "requeue_expedite", self.requeue_expedite), field(130, "mem_update", self.mem_update);
  if constexpr (kKnownBody) field(131, "wckey_is_default", self.wckey_is_default);
  if constexpr (kAskedBody) field(132, "delay_boot_set", self.delay_boot_set);
}

template <class S, class V>
void ShownBody::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void RequestBody::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void ShownOwn::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void RequestOwn::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void AskedRequest::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void ShownRequest::describe(S& self, V&& field) {
  describe_request(self, field);
}

template <class S, class V>
void JobRequest::describe(S& self, V&& field) {
  describe_request(self, field);
}

// The JobRequest of a new submission: what was asked for, and nothing known yet.
inline JobRequest job_request(AskedRequest asked) {
  JobRequest r;
  static_cast<AskedBody&>(r) = std::move(static_cast<AskedBody&>(asked));
  static_cast<AskedHidden&>(r) = std::move(static_cast<AskedHidden&>(asked));
  static_cast<AskedOwn&>(r) = std::move(static_cast<AskedOwn&>(asked));
  return r;
}

}  // namespace muster
