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
#include "model/node_names.h"
#include "model/node_sizes.h"
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
  static void describe(S& s, V&& v) {
    v(1, "signal", s.signal);
    v(2, "seconds_before_end", s.seconds_before_end);
    v(3, "batch_shell_only", s.batch_shell_only);
    v(4, "reservation", s.reservation);
  }
};

struct ResourceLimit {  // a propagated rlimit: name without RLIMIT_, in the order of the table in os/
  std::string name;
  uint64_t soft = 0;
  bool operator==(const ResourceLimit&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "soft", s.soft);
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
  std::string network;
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
  std::string profile;
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
  static void describe(S& s, V&& v);
};
struct RequestBody : ShownBody, AskedHidden {
  bool operator==(const RequestBody&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};

// The part that is a job's own: texts, and one number. slurmctld keeps it packed (model/packed_own.h).
struct ShownOwn : AskedOwn, KnownOwn {
  bool operator==(const ShownOwn&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};
struct RequestOwn : ShownOwn, ContentHashes {
  bool operator==(const RequestOwn&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};

struct AskedRequest : AskedBody, AskedHidden, AskedOwn {
  bool operator==(const AskedRequest&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};
struct ShownRequest : ShownBody, ShownOwn {
  bool operator==(const ShownRequest&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};
struct JobRequest : RequestBody, RequestOwn {
  bool operator==(const JobRequest&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v);
};

using RequestBodyPtr = std::shared_ptr<const RequestBody>;
using JobRequestPtr = std::shared_ptr<const JobRequest>;

// Describes all fields by number, each with the part that declares it. A type S gets the fields of the parts that it has.
template <class S, class V>
void describe_request(S& s, V&& v) {
  constexpr bool kAskedBody = std::is_base_of_v<AskedBody, S>, kAskedHidden = std::is_base_of_v<AskedHidden, S>;
  constexpr bool kAskedOwn = std::is_base_of_v<AskedOwn, S>;
  constexpr bool kKnownBody = std::is_base_of_v<KnownBody, S>, kKnownOwn = std::is_base_of_v<KnownOwn, S>;
  constexpr bool kHashes = std::is_base_of_v<ContentHashes, S>;
  if constexpr (kAskedBody) {
    v(1, "uid", s.uid);
    v(2, "gid", s.gid);
  }
  if constexpr (kKnownBody) {
    v(3, "user_name", s.user_name);
  }
  if constexpr (kAskedBody) {
    v(4, "account", s.account);
    v(5, "qos", s.qos);
    v(6, "wckey", s.wckey);
    v(7, "reservation", s.reservation);
  }
  if constexpr (kAskedOwn) {
    v(8, "name", s.name);
    v(9, "comment", s.comment);
    v(10, "extra", s.extra);
  }
  if constexpr (kKnownOwn) {
    v(11, "admin_comment", s.admin_comment);
  }
  if constexpr (kKnownBody) {
    v(12, "kind", s.kind);
  }
  if constexpr (kAskedBody) {
    v(13, "partitions", s.partitions);
    v(14, "required_nodes", s.required_nodes);
    v(15, "excluded_nodes", s.excluded_nodes);
    v(16, "features", s.features);
    v(17, "prefer", s.prefer);
    v(18, "cluster_features", s.cluster_features);
    v(19, "clusters", s.clusters);
    v(20, "min_nodes", s.min_nodes);
    v(21, "max_nodes", s.max_nodes);
    v(22, "node_sizes", s.node_sizes);
    v(23, "num_tasks", s.num_tasks);
    v(24, "cpus_per_task", s.cpus_per_task);
    v(25, "ntasks_per_node", s.ntasks_per_node);
    v(26, "ntasks_per_socket", s.ntasks_per_socket);
    v(27, "ntasks_per_core", s.ntasks_per_core);
    v(28, "ntasks_per_gpu", s.ntasks_per_gpu);
    v(29, "min_cpus_per_node", s.min_cpus_per_node);
    v(30, "sockets_per_node", s.sockets_per_node);
    v(31, "cores_per_socket", s.cores_per_socket);
    v(32, "threads_per_core", s.threads_per_core);
    v(33, "mem_per_node_mb", s.mem_per_node_mb);
    v(34, "mem_per_cpu_mb", s.mem_per_cpu_mb);
    v(35, "mem_per_gpu_mb", s.mem_per_gpu_mb);
    v(36, "tmp_disk_mb", s.tmp_disk_mb);
    v(37, "tres_per_node", s.tres_per_node);
    v(38, "tres_per_job", s.tres_per_job);
    v(39, "tres_per_socket", s.tres_per_socket);
    v(40, "tres_per_task", s.tres_per_task);
    v(41, "cpus_per_gpu", s.cpus_per_gpu);
    v(42, "gres_flags", s.gres_flags);
    v(43, "tres_bind", s.tres_bind);
    v(44, "tres_freq", s.tres_freq);
    v(45, "licenses", s.licenses);
    v(46, "network", s.network);
    v(47, "exclusive", s.exclusive);
    v(48, "contiguous", s.contiguous);
    v(49, "overcommit", s.overcommit);
    v(50, "spread_job", s.spread_job);
    v(51, "use_min_nodes", s.use_min_nodes);
    v(52, "switches", s.switches);
    v(53, "switches_wait", s.switches_wait);
    v(54, "segment", s.segment);
    v(55, "spread_segments", s.spread_segments);
    v(56, "consolidate_segments", s.consolidate_segments);
    v(57, "core_spec", s.core_spec);
    v(58, "core_spec_is_threads", s.core_spec_is_threads);
    v(59, "distribution", s.distribution);
    v(60, "hint", s.hint);
    v(61, "cpu_bind", s.cpu_bind);
    v(62, "mem_bind", s.mem_bind);
    v(63, "cpu_freq", s.cpu_freq);
    v(64, "time_limit_min", s.time_limit_min);
    v(65, "time_min_min", s.time_min_min);
    v(66, "begin", s.begin);
    v(67, "deadline", s.deadline);
    v(68, "delay_boot", s.delay_boot);
  }
  if constexpr (kAskedOwn) {
    v(69, "dependency", s.dependency);
  }
  if constexpr (kAskedBody) {
    v(70, "kill_on_invalid_dependency", s.kill_on_invalid_dependency);
    v(71, "kill_on_invalid_dependency_set", s.kill_on_invalid_dependency_set);
    v(72, "hold", s.hold);
    v(73, "priority", s.priority);
    v(74, "nice", s.nice);
    v(75, "requeue", s.requeue);
    v(76, "reboot", s.reboot);
    v(77, "no_kill", s.no_kill);
    v(78, "no_allocate", s.no_allocate);
    v(79, "array", s.array);
    v(80, "mcs_label", s.mcs_label);
    v(81, "immediate_seconds", s.immediate_seconds);
    v(82, "test_only", s.test_only);
    v(83, "warn", s.warn);
    v(84, "mail_type", s.mail_type);
    v(85, "mail_user", s.mail_user);
    v(86, "wait_all_nodes", s.wait_all_nodes);
    v(87, "power", s.power);
    v(88, "burst_buffer", s.burst_buffer);
    v(89, "container", s.container);
    v(90, "container_id", s.container_id);
    v(91, "stepmgr", s.stepmgr);
    v(92, "oom_kill_step_set", s.oom_kill_step_set);
    v(93, "oom_kill_step", s.oom_kill_step);
  }
  if constexpr (kHashes) {
    v(94, "script_hash", s.script_hash);
  }
  if constexpr (kAskedOwn) {
    v(95, "argv", s.argv);
  }
  if constexpr (kHashes) {
    v(96, "environment_hash", s.environment_hash);
  }
  if constexpr (kAskedBody) {
    v(97, "env_export", s.env_export);
    v(98, "get_user_env", s.get_user_env);
  }
  if constexpr (kAskedOwn) {
    v(99, "work_dir", s.work_dir);
    v(100, "std_in", s.std_in);
    v(101, "std_out", s.std_out);
    v(102, "std_err", s.std_err);
  }
  if constexpr (kAskedBody) {
    v(103, "open_mode", s.open_mode);
    v(104, "umask", s.umask);
    v(105, "limits", s.limits);
    v(106, "acctg_freq", s.acctg_freq);
    v(107, "profile", s.profile);
    v(108, "batch_features", s.batch_features);
  }
  if constexpr (kAskedHidden) {
    v(109, "spank_env", s.spank_env);
  }
  if constexpr (kAskedOwn) {
    v(110, "submit_line", s.submit_line);
  }
  if constexpr (kKnownBody) v(111, "alloc_node", s.alloc_node);
  if constexpr (kKnownOwn) v(112, "alloc_sid", s.alloc_sid);
  if constexpr (kAskedBody) {
    v(113, "x11", s.x11);
    v(114, "resv_ports", s.resv_ports);
    v(115, "resv_ports_set", s.resv_ports_set);
  }
  if constexpr (kKnownBody) v(116, "site_factor", s.site_factor);
  if constexpr (kAskedBody) v(117, "core_spec_given", s.core_spec_given);
  if constexpr (kKnownBody) v(118, "qos_granted", s.qos_granted);
  if constexpr (kKnownBody) v(119, "extra_constraint", s.extra_constraint);
  if constexpr (kAskedBody) v(129, "requeue_expedite", s.requeue_expedite);
}

template <class S, class V>
void ShownBody::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void RequestBody::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void ShownOwn::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void RequestOwn::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void AskedRequest::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void ShownRequest::describe(S& s, V&& v) {
  describe_request(s, v);
}

template <class S, class V>
void JobRequest::describe(S& s, V&& v) {
  describe_request(s, v);
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
