// How a step is started and carried on the nodes: what srun asks slurmd, what slurmd hands to the slurmstepd of the step, what the two
// say to each other afterwards, and the stream between slurmstepd and srun that carries output, input, signals and exits. The link
// between slurmctld and slurmd is in node_rpc.h.
//
//   srun → slurmd       requests LaunchStep, SignalStepTasks, AttachTasks, SendFile, RelayToNode
//                       (model/messages.def, 200 … 209); sstat: QueryStepUse
//   slurmd → slurmstepd notices StepdLaunch (once, first), StepdSignal, StepdEnd, StepdRelease, StepdAttach;
//                       request rpc::QueryStepUse, without its fields
//   slurmstepd → slurmd notices StepdReport, on every change and to each new connection
//   slurmstepd → srun   notices IoHello (first; proves the key), IoData, IoTaken, TasksEnded, StepNote, StreamEnd
//   srun → slurmstepd   notices IoData (stdin), IoSignal, IoWindow
//
// Notices carry the number kNumber of their struct as the frame's message. Plain values; no I/O here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "model/rpc.h"
#include "model/step_usage.h"

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

namespace muster::rpc {

// What the controller vouches for. It travels through srun to the nodes, as the text that net/credential.h makes of its bytes.
struct StepCredential {
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  Uid uid{};
  Gid gid{};
  std::string user_name;
  uint32_t num_tasks = 0, cpus_per_task = 0;
  std::vector<StepNode> nodes;  // of the step, in its order
  NodeList job_node_list;
  std::string partition, account, job_name;
  JobId array_job{};  // 0: not of an array
  uint32_t array_task = kNoArrayTask;
  std::string qos, reservation, licenses;
  Time started{}, ends{};
  Time expires{};  // used after this, it is refused
  Sluid sluid{};
  CredentialPurpose purpose = CredentialPurpose::kLaunch;
  std::string resv_ports;                  // "12000-12003": the step's own ports on its nodes
  std::vector<std::string> spank_env;      // of the job
  std::vector<std::string> job_cpus;       // of the job on each of `nodes`, with StepRequest::spank
  std::vector<uint64_t> job_mem_mb;        // likewise
  std::string cluster;                     // ClusterName: with munge, several clusters may share one key
  std::string exclusive, oversubscribe;    // of the job: model/sharing_words.h
  JobId het_leader{};                      // of a heterogeneous job: the id that its tasks know; 0: it is none
  uint32_t first_node = 0, own_nodes = 0;  // of a step over components: which of `nodes` are this component's; 0: all
  size_t nodes_end() const { return own_nodes ? size_t{first_node} + own_nodes : nodes.size(); }
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step); v(4, "uid", s.uid); v(5, "gid", s.gid);
                v(6, "user_name", s.user_name); v(7, "num_tasks", s.num_tasks); v(8, "cpus_per_task", s.cpus_per_task);
                v(9, "nodes", s.nodes); v(10, "job_node_list", s.job_node_list); v(11, "partition", s.partition);
                v(12, "account", s.account); v(13, "job_name", s.job_name); v(14, "expires", s.expires); v(15, "array_job", s.array_job);
                v(16, "array_task", s.array_task); v(17, "qos", s.qos); v(18, "reservation", s.reservation); v(19, "licenses", s.licenses);
                v(20, "started", s.started); v(21, "ends", s.ends); v(22, "purpose", s.purpose); v(23, "resv_ports", s.resv_ports);
                v(24, "cluster", s.cluster); v(25, "exclusive", s.exclusive); v(26, "oversubscribe", s.oversubscribe);
                v(27, "sluid", s.sluid); v(60, "spank_env", s.spank_env); v(61, "job_cpus", s.job_cpus); v(62, "job_mem_mb", s.job_mem_mb);
                v(92, "het_leader", s.het_leader); v(93, "first_node", s.first_node); v(94, "own_nodes", s.own_nodes);)
};

// The right of a job's first node to sign credentials, given by slurmctld: for steps of that one run of the job, within what the job
// holds. It goes along with each of them (net/credential.h), and every node checks them against it (steps/warrant.h).
struct StepWarrant {
  StepCredential job;  // the job's part of all of them; `nodes`: all that it holds on each of its nodes
  std::string node;    // NodeName of the manager
  std::string key;     // its public key
  Time expires{};
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "node", s.node); v(3, "key", s.key); v(4, "expires", s.expires);)
};

// Where slurmstepd finds srun. The path is used when all nodes are on srun's host.
struct StepIo {
  std::string host, path, key;
  uint16_t port = 0;
  MUSTER_FIELDS(v(1, "host", s.host); v(2, "path", s.path); v(3, "key", s.key); v(4, "port", s.port);)
};

struct LaunchStep {
  std::string node;  // the NodeName this copy is for
  std::string credential;
  StepRequestPtr request;
  StepIo io;
  std::string srun_host;
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "credential", s.credential); v(3, "request", s.request); v(4, "io", s.io);
                v(5, "srun_host", s.srun_host);)
};
struct StepLaunched {  // slurmstepd has the step; what becomes of its tasks is told on the stream
  int32_t stepd_pid = 0;
  MUSTER_FIELDS(v(1, "stepd_pid", s.stepd_pid);)
};
struct SignalStepTasks {  // to this node's tasks of a step
  JobId job{};
  StepId step{};
  uint16_t signal = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "signal", s.signal);)
};
struct AttachTasks {  // sattach: the streams of a running step's tasks on this node, to one more reader
  std::string node;
  std::string credential;
  StepIo io;
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "credential", s.credential); v(3, "io", s.io);)
};
// sbcast: one block of a file, for all `nodes`. A node that gets it writes it if it is one of them, and passes it on to the others in a
// tree. The answer comes when all have it; for the last block, when the file is in its place.
struct SendFile {
  std::string credential;
  std::vector<std::string> nodes;
  uint32_t fanout = 0;     // branches of the tree
  std::string transfer;    // of the sender's choice, unpredictable: the same for all blocks
  std::string path;        // absolute
  bool as_caller = false;  // sbcast --no-allocation: root's request, written as root
  bool force = false;      // replace what is there
  bool make_directory = false;
  uint64_t size = 0, offset = 0;
  uint32_t mode = 0600;
  int64_t access_time = -1, change_time = -1;  // Unix seconds; -1: now
  std::string data;
  bool lz4 = false;         // `data` is one LZ4 block ...
  uint32_t plain_size = 0;  // ... of so many bytes
  MUSTER_FIELDS(v(1, "credential", s.credential); v(2, "nodes", s.nodes); v(3, "fanout", s.fanout); v(4, "transfer", s.transfer);
                v(5, "path", s.path); v(6, "as_caller", s.as_caller); v(7, "force", s.force); v(8, "make_directory", s.make_directory);
                v(9, "size", s.size); v(10, "offset", s.offset); v(11, "mode", s.mode); v(12, "access_time", s.access_time);
                v(13, "change_time", s.change_time); v(14, "data", s.data); v(15, "lz4", s.lz4); v(16, "plain_size", s.plain_size);)
};
struct NodeFault {
  std::string node, text;
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "text", s.text);)
};
struct FileSent {
  std::vector<NodeFault> faults;  // nodes that do not have the block
  MUSTER_FIELDS(v(1, "faults", s.faults);)
};
// slurmd → slurmd of a job's step manager: the sender's part of a step is over.
struct PartEnded {
  std::string node;  // the sender's
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  int32_t exit_status = 0;
  bool out_of_memory = false;
  bool ends_step = false;  // on its other nodes, too
  StepUsagePtr usage;
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "job", s.job); v(3, "generation", s.generation); v(4, "step", s.step);
                v(5, "exit_status", s.exit_status); v(6, "out_of_memory", s.out_of_memory); v(7, "ends_step", s.ends_step);
                v(8, "usage", s.usage);)
};
// sstat: what a running step has used on this node until now.
struct QueryStepUse {
  std::string node;
  std::string credential;
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "credential", s.credential);)
};
struct StepUseNow {
  std::vector<int32_t> pids;
  StepUsagePtr usage;  // memory: at this moment in total, at its peak in what is most; null: nothing is gathered
  MUSTER_FIELDS(v(1, "pids", s.pids); v(2, "usage", s.usage);)
};
// slurmctld → slurmd of a job's step manager: answered when slurmctld has taken all news of the job's steps.
struct TellSteps {
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};
// Asks the local slurmd to pass a request on to a node of the configuration, since a user's command has no cluster key. slurmd does so
// if the credential in the request is the caller's. The answer is that node's. (Field 2 was a credential beside the request's own.)
struct RelayToNode {
  std::string node;
  uint16_t message = 0;  // LaunchStep, AttachTasks or QueryStepUse
  std::string payload;
  MUSTER_FIELDS(v(1, "node", s.node); v(3, "message", s.message); v(4, "payload", s.payload);)
};

// ---- what scontrol asks the node daemon of its own host
struct QueryLocalSteps {  // listjobs, liststeps, listpids, pidinfo, getent
  JobId job{};            // 0: all
  bool processes = false;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "processes", s.processes);)
};
struct LocalProcess {
  int32_t pid = 0;
  bool task = false;  // else a descendant of a task, which has no task numbers of its own
  uint32_t local = 0, global = 0;
  MUSTER_FIELDS(v(1, "pid", s.pid); v(2, "task", s.task); v(3, "local", s.local); v(4, "global", s.global);)
};
struct LocalStep {
  JobId job{};
  StepId step{};
  Uid uid{};
  std::vector<LocalProcess> processes;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "uid", s.uid); v(4, "processes", s.processes);)
};
struct LocalSteps {
  std::vector<LocalStep> steps;
  MUSTER_FIELDS(v(1, "steps", s.steps);)
};
struct QueryLocalDaemon {  // show slurmd
  MUSTER_FIELDS((void)s; (void)v;)
};

}  // namespace muster::rpc

namespace muster::step_rpc {

inline constexpr uint32_t kAllTasks = 0xffffffffu;

// ---- slurmd to slurmstepd
// Where a task's memory comes from: set_mempolicy(2) by slurmstepd just before the start.
enum class MemoryPolicy : uint8_t { kDefault, kBind, kPrefer, kLocal };
struct TaskMemory {
  MemoryPolicy policy = MemoryPolicy::kDefault;
  Bitmap nodes;  // NUMA nodes; for kBind and kPrefer
  bool operator==(const TaskMemory&) const = default;
  MUSTER_FIELDS(v(1, "policy", s.policy); v(2, "nodes", s.nodes);)
};
struct TaskLaunch {
  uint32_t rank = 0;
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value, over the step's
  Bitmap os_cpus;                        // empty: wherever the step may run
  std::string std_in, std_out,
      std_err;  // absolute; "" = the stream to srun. std_err == std_out: one descriptor
  TaskMemory memory;
  std::vector<std::string> notes;           // lines for the step's stderr once it runs; %p is its process id
  std::vector<std::string> denied_devices;  // files that are closed to it, beside those closed to the step
  MUSTER_FIELDS(v(1, "rank", s.rank); v(2, "argv", s.argv); v(3, "environment", s.environment); v(4, "os_cpus", s.os_cpus);
                v(5, "std_in", s.std_in); v(6, "std_out", s.std_out); v(7, "std_err", s.std_err); v(8, "memory", s.memory);
                v(9, "notes", s.notes); v(10, "denied_devices", s.denied_devices);)
};

struct StepCgroup {  // absent when no cgroup is to be used
  std::string mountpoint, prefix;
  uint8_t version = 0;                                   // 0: autodetect
  bool required = false;                                 // cgroup.conf confines jobs: without a cgroup the launch fails
  uint64_t job_memory_bytes = 0, step_memory_bytes = 0;  // hard; 0: not limited
  uint64_t job_soft_bytes = 0, step_soft_bytes = 0;      // 0: none
  uint64_t job_swap_bytes = 0, step_swap_bytes = 0;      // beyond hard, with limit_swap
  bool limit_swap = false;
  int32_t swappiness = -1;  // -1: as it is
  bool limit_cpus = false;
  Bitmap os_cpus, numa_nodes, job_os_cpus;
  bool limit_devices = false;
  std::vector<std::string> denied_devices;  // files that are closed to it
  MUSTER_FIELDS(v(1, "mountpoint", s.mountpoint); v(2, "prefix", s.prefix); v(3, "version", s.version); v(4, "required", s.required);
                v(5, "job_memory_bytes", s.job_memory_bytes); v(6, "step_memory_bytes", s.step_memory_bytes);
                v(7, "job_swap_bytes", s.job_swap_bytes); v(8, "limit_swap", s.limit_swap); v(9, "limit_cpus", s.limit_cpus);
                v(10, "os_cpus", s.os_cpus); v(11, "numa_nodes", s.numa_nodes); v(12, "job_os_cpus", s.job_os_cpus);
                v(13, "limit_devices", s.limit_devices); v(15, "denied_devices", s.denied_devices);
                v(16, "job_soft_bytes", s.job_soft_bytes); v(17, "step_soft_bytes", s.step_soft_bytes);
                v(18, "step_swap_bytes", s.step_swap_bytes); v(19, "swappiness", s.swappiness);)
};

// The SPANK plugins of a step: what plugstack.conf lists, what the user asked of them, and what spank_get_item answers beyond the
// launch itself.
struct SpankPlugin {
  bool required = false;
  std::string path;  // absolute
  std::vector<std::string> arguments;
  std::string where;  // "/etc/slurm/plugstack.conf:3"
  bool operator==(const SpankPlugin&) const = default;
  MUSTER_FIELDS(v(1, "required", s.required); v(2, "path", s.path); v(3, "arguments", s.arguments); v(4, "where", s.where);)
};
struct StepSpank {
  std::vector<SpankPlugin> plugins;
  std::vector<std::string> options;  // plugin/spank/option_text.h
  uint32_t num_nodes = 0, num_tasks = 0, cpus_per_task = 0;
  std::string job_cpus, step_cpus;  // on this node: "0-3"
  uint64_t job_mem_mb = 0, step_mem_mb = 0;
  uint32_t array_job = 0, array_task = kNoArrayTask;
  MUSTER_FIELDS(v(1, "plugins", s.plugins); v(2, "options", s.options); v(3, "num_nodes", s.num_nodes); v(4, "num_tasks", s.num_tasks);
                v(5, "cpus_per_task", s.cpus_per_task); v(6, "job_cpus", s.job_cpus); v(7, "step_cpus", s.step_cpus);
                v(8, "job_mem_mb", s.job_mem_mb); v(9, "step_mem_mb", s.step_mem_mb); v(10, "array_job", s.array_job);
                v(11, "array_task", s.array_task);)
};

// How the use of the step's tasks is gathered (JobAcctGatherType, --acctg-freq).
struct StepGather {
  uint32_t every_seconds = 30;  // 0: only at the end
  bool by_cgroup = false;       // each task has a control group, which is asked; else its processes are
  bool pss = false;             // JobAcctGatherParams: UsePss
  bool no_shared = false;       // NoShared
  bool no_file_cache = false;
  Bytes kill_above{};  // OverMemoryKill: what the tasks may have together; 0: as much as they like
  MUSTER_FIELDS(v(1, "every_seconds", s.every_seconds); v(2, "by_cgroup", s.by_cgroup); v(3, "pss", s.pss); v(4, "no_shared", s.no_shared);
                v(5, "no_file_cache", s.no_file_cache); v(6, "kill_above", s.kill_above);)
};

struct StepdLaunch {
  static constexpr uint16_t kNumber = 210;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  std::string node;
  uint32_t node_id = 0;  // within the step (or the job, for batch)
  Uid uid{};
  Gid gid{};
  std::vector<uint32_t> groups;
  std::string user_name;
  std::string socket_path;               // where it listens
  std::string script, script_path;       // batch
  std::vector<std::string> environment;  // of all tasks
  std::vector<TaskLaunch> tasks;
  std::string work_dir;
  uint32_t umask = 022;
  std::vector<ResourceLimit> limits;
  bool append = false;
  bool pty = false;
  uint16_t pty_rows = 0, pty_columns = 0;
  bool unbuffered = false, label = false;  // srun -u, -l; srun itself labels what flows through it
  uint32_t num_tasks = 0;                  // of the step on all nodes: how wide a label is
  std::string site_task_prolog, task_prolog, task_epilog, site_task_epilog;
  rpc::StepIo io;  // no host and no path: nobody listens
  uint32_t kill_wait_seconds = 30;
  std::vector<StepCgroup> cgroup;  // none or one
  bool wait_for_children = false;
  uint32_t time_limit_min = kUnlimited32;  // of the step itself
  WarnSignal warn;                         // before that limit
  std::string login_shell, login_home;     // --get-user-env: what the job brings overrides the login's variables; "": not asked
  bool oom_kill_step = false;              // an out-of-memory kill ends the whole step
  CpuFrequencyText cpu_freq;               // srun --cpu-freq: for the step's CPUs while it runs; "": as they are
  uint32_t debug_level = 2;                // srun --slurmd-debug: 2 errors only … 6 debug2, on the step's stderr
  std::vector<StepSpank> spank;            // none or one
  std::optional<int32_t> nice;             // of the tasks; not set: ours
  std::string manager;                     // NodeName of the job's step manager; "": slurmctld
  std::optional<StepGather> gather;        // none: nothing is gathered
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step); v(4, "node", s.node);
                v(5, "node_id", s.node_id); v(6, "uid", s.uid); v(7, "gid", s.gid); v(8, "groups", s.groups);
                v(9, "user_name", s.user_name); v(10, "socket_path", s.socket_path); v(11, "script", s.script);
                v(12, "script_path", s.script_path); v(13, "environment", s.environment); v(14, "tasks", s.tasks);
                v(15, "work_dir", s.work_dir); v(16, "umask", s.umask); v(17, "limits", s.limits); v(18, "append", s.append);
                v(19, "pty", s.pty); v(20, "pty_rows", s.pty_rows); v(21, "pty_columns", s.pty_columns);
                v(22, "site_task_prolog", s.site_task_prolog); v(23, "task_prolog", s.task_prolog); v(24, "task_epilog", s.task_epilog);
                v(25, "site_task_epilog", s.site_task_epilog); v(26, "io", s.io); v(27, "kill_wait_seconds", s.kill_wait_seconds);
                v(28, "cgroup", s.cgroup); v(30, "oom_kill_step", s.oom_kill_step); v(40, "wait_for_children", s.wait_for_children);
                v(41, "time_limit_min", s.time_limit_min); v(42, "warn", s.warn); v(43, "login_shell", s.login_shell);
                v(44, "login_home", s.login_home); v(45, "debug_level", s.debug_level); v(46, "cpu_freq", s.cpu_freq);
                v(47, "unbuffered", s.unbuffered); v(48, "label", s.label); v(49, "num_tasks", s.num_tasks); v(50, "nice", s.nice);
                v(51, "manager", s.manager); v(80, "spank", s.spank); v(100, "gather", s.gather);)
};

struct StepdSignal {
  static constexpr uint16_t kNumber = 211;
  uint16_t signal = 0;
  bool all_processes = false;  // else the tasks themselves
  MUSTER_FIELDS(v(1, "signal", s.signal); v(2, "all_processes", s.all_processes);)
};
struct StepdEnd {  // SIGCONT, SIGTERM; after the wait SIGKILL. A second one may shorten the wait
  static constexpr uint16_t kNumber = 212;
  uint32_t kill_wait_seconds = 30;
  std::string message;  // a line for the step's stderr: "*** JOB 12 ON n1 CANCELLED AT … ***"
  MUSTER_FIELDS(v(1, "kill_wait_seconds", s.kill_wait_seconds); v(2, "message", s.message);)
};
struct StepdNote {  // a line for the step's stderr
  static constexpr uint16_t kNumber = 214;
  std::string text;
  MUSTER_FIELDS(v(1, "text", s.text);)
};
struct StepdRelease {  // the end of the step is noted: slurmstepd may exit
  static constexpr uint16_t kNumber = 213;
  MUSTER_FIELDS((void)s; (void)v;)
};

struct StepdAttach {  // connect there, too
  static constexpr uint16_t kNumber = 215;
  rpc::StepIo io;
  MUSTER_FIELDS(v(1, "io", s.io);)
};

struct StepdLimit {  // its own time limit, since its start; none: no limit
  static constexpr uint16_t kNumber = 216;
  std::optional<Duration> limit;
  MUSTER_FIELDS(v(1, "limit", s.limit);)
};

// ---- slurmstepd to slurmd
enum class StepdState : uint8_t { kStarting, kRunning, kEnded, kLaunchFailed };
struct TaskProcess {
  uint32_t rank = 0;
  int32_t pid = 0;
  MUSTER_FIELDS(v(1, "rank", s.rank); v(2, "pid", s.pid);)
};
struct StepdReport {
  static constexpr uint16_t kNumber = 220;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  Uid uid{};
  StepdState state = StepdState::kStarting;
  int32_t exit_status = 0;  // highest wait status, when ended
  bool out_of_memory = false;
  bool node_fault = false;  // kLaunchFailed: not the user's doing
  std::string text;         // kLaunchFailed: why
  int32_t pid = 0;
  std::vector<TaskProcess> tasks;  // since kRunning
  bool ends_step = false;          // it ran out of memory, and that ends the step on all of its nodes
  std::string manager;             // as of its launch
  StepUsagePtr usage;              // since kEnded; null: nothing was gathered
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step); v(4, "uid", s.uid); v(5, "state", s.state);
                v(6, "exit_status", s.exit_status); v(7, "out_of_memory", s.out_of_memory); v(8, "node_fault", s.node_fault);
                v(9, "text", s.text); v(10, "pid", s.pid); v(11, "tasks", s.tasks); v(12, "ends_step", s.ends_step);
                v(13, "manager", s.manager); v(14, "usage", s.usage);)
};

// ---- the stream between slurmstepd and srun
struct IoHello {
  static constexpr uint16_t kNumber = 230;
  std::string key, node;
  std::vector<uint32_t> ranks;
  MUSTER_FIELDS(v(1, "key", s.key); v(2, "node", s.node); v(3, "ranks", s.ranks);)
};
struct IoData {
  static constexpr uint16_t kNumber = 231;
  uint32_t rank = 0;   // of the task; kAllTasks for input to all
  uint8_t stream = 1;  // 0 stdin, 1 stdout, 2 stderr
  bool end = false;
  std::string data;
  MUSTER_FIELDS(v(1, "rank", s.rank); v(2, "stream", s.stream); v(3, "end", s.end); v(4, "data", s.data);)
};
struct IoTaken {  // so much of the input is in the tasks' pipes: send more
  static constexpr uint16_t kNumber = 232;
  uint64_t bytes = 0;
  MUSTER_FIELDS(v(1, "bytes", s.bytes);)
};
struct TaskEnd {
  uint32_t rank = 0;
  int32_t status = 0;  // wait status
  std::string text;    // it never ran: why
  MUSTER_FIELDS(v(1, "rank", s.rank); v(2, "status", s.status); v(3, "text", s.text);)
};
struct TasksEnded {
  static constexpr uint16_t kNumber = 233;
  std::vector<TaskEnd> tasks;
  bool out_of_memory = false;
  MUSTER_FIELDS(v(1, "tasks", s.tasks); v(2, "out_of_memory", s.out_of_memory);)
};
struct StepNote {  // a line for srun's stderr
  static constexpr uint16_t kNumber = 234;
  std::string text;
  MUSTER_FIELDS(v(1, "text", s.text);)
};
struct IoSignal {
  static constexpr uint16_t kNumber = 235;
  uint16_t signal = 0;
  bool end = false;  // as StepdEnd: SIGCONT, SIGTERM, later SIGKILL
  uint32_t kill_wait_seconds = 30;
  MUSTER_FIELDS(v(1, "signal", s.signal); v(2, "end", s.end); v(3, "kill_wait_seconds", s.kill_wait_seconds);)
};
struct IoWindow {
  static constexpr uint16_t kNumber = 236;
  uint16_t rows = 0, columns = 0;
  MUSTER_FIELDS(v(1, "rows", s.rows); v(2, "columns", s.columns);)
};

// slurmstepd has said everything, and leaves closing to srun: if srun has sent something meanwhile, a close on this side could lose
// data on its way to srun.
struct StreamEnd {
  static constexpr uint16_t kNumber = 237;
  MUSTER_FIELDS((void)s; (void)v;)
};

}  // namespace muster::step_rpc

#undef MUSTER_FIELDS
