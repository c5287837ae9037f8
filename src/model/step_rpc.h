// How a step is started and carried on the nodes: what srun asks slurmd, what slurmd hands to the slurmstepd of the step, what the two
// say to each other afterwards, and the stream between slurmstepd and srun that carries output, input, signals and exits. The link
// between slurmctld and slurmd is in node_rpc.h.
//
//   srun → slurmd       requests LaunchStep, SignalStepTasks, AttachTasks, SendFile, RelayToNode
//                       (model/messages.def, 200 … 220); sstat: QueryStepUse; pam_slurm_adopt: AdoptProcess
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

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
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
  bool by_key_alone = false;               // of somebody with more rights than a user: no host with a mere certificate may bring it
  size_t nodes_end() const { return own_nodes ? size_t{first_node} + own_nodes : nodes.size(); }
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step); field(4, "uid", self.uid);
                field(5, "gid", self.gid); field(6, "user_name", self.user_name); field(7, "num_tasks", self.num_tasks);
                field(8, "cpus_per_task", self.cpus_per_task); field(9, "nodes", self.nodes);
                field(10, "job_node_list", self.job_node_list); field(11, "partition", self.partition); field(12, "account", self.account);
                field(13, "job_name", self.job_name); field(14, "expires", self.expires); field(15, "array_job", self.array_job);
                field(16, "array_task", self.array_task); field(17, "qos", self.qos); field(18, "reservation", self.reservation);
                field(19, "licenses", self.licenses); field(20, "started", self.started); field(21, "ends", self.ends);
                field(22, "purpose", self.purpose); field(23, "resv_ports", self.resv_ports); field(24, "cluster", self.cluster);
                field(25, "exclusive", self.exclusive); field(26, "oversubscribe", self.oversubscribe); field(27, "sluid", self.sluid);
                field(60, "spank_env", self.spank_env); field(61, "job_cpus", self.job_cpus); field(62, "job_mem_mb", self.job_mem_mb);
                field(92, "het_leader", self.het_leader); field(93, "first_node", self.first_node); field(94, "own_nodes", self.own_nodes);
                field(95, "by_key_alone", self.by_key_alone);)
};

// The right of a job's first node to sign credentials, given by slurmctld: for steps of that one run of the job, within what the job
// holds. It goes along with each of them (net/credential.h), and every node checks them against it (steps/warrant.h).
struct StepWarrant {
  StepCredential job;  // the job's part of all of them; `nodes`: all that it holds on each of its nodes
  std::string node;    // NodeName of the manager
  std::string key;     // its public key
  Time expires{};
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "node", self.node); field(3, "key", self.key); field(4, "expires", self.expires);)
};

// Where slurmstepd finds srun. The path is used when all nodes are on srun's host.
struct StepIo {
  std::string host, path, key;
  uint16_t port = 0;
  MUSTER_FIELDS(field(1, "host", self.host); field(2, "path", self.path); field(3, "key", self.key); field(4, "port", self.port);)
};

struct LaunchStep {
  std::string node;  // the NodeName this copy is for
  std::string credential;
  StepRequestPtr request;
  StepIo io;
  std::string srun_host;
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "credential", self.credential); field(3, "request", self.request);
                field(4, "io", self.io); field(5, "srun_host", self.srun_host);)
};
struct StepLaunched {  // slurmstepd has the step; what becomes of its tasks is told on the stream
  int32_t stepd_pid = 0;
  MUSTER_FIELDS(field(1, "stepd_pid", self.stepd_pid);)
};
struct SignalStepTasks {  // to this node's tasks of a step
  JobId job{};
  StepId step{};
  uint16_t signal = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "step", self.step); field(3, "signal", self.signal);)
};
struct AttachTasks {  // sattach: the streams of a running step's tasks on this node, to one more reader
  std::string node;
  std::string credential;
  StepIo io;
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "credential", self.credential); field(3, "io", self.io);)
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
  MUSTER_FIELDS(field(1, "credential", self.credential); field(2, "nodes", self.nodes); field(3, "fanout", self.fanout);
                field(4, "transfer", self.transfer); field(5, "path", self.path); field(6, "as_caller", self.as_caller);
                field(7, "force", self.force); field(8, "make_directory", self.make_directory); field(9, "size", self.size);
                field(10, "offset", self.offset); field(11, "mode", self.mode); field(12, "access_time", self.access_time);
                field(13, "change_time", self.change_time); field(14, "data", self.data); field(15, "lz4", self.lz4);
                field(16, "plain_size", self.plain_size);)
};
struct NodeFault {
  std::string node, text;
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "text", self.text);)
};
struct FileSent {
  std::vector<NodeFault> faults;  // nodes that do not have the block
  MUSTER_FIELDS(field(1, "faults", self.faults);)
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
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "job", self.job); field(3, "generation", self.generation);
                field(4, "step", self.step); field(5, "exit_status", self.exit_status); field(6, "out_of_memory", self.out_of_memory);
                field(7, "ends_step", self.ends_step); field(8, "usage", self.usage);)
};
// sstat: what a running step has used on this node until now.
struct QueryStepUse {
  std::string node;
  std::string credential;
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "credential", self.credential);)
};
struct StepUseNow {
  std::vector<int32_t> pids;
  StepUsagePtr usage;  // memory: at this moment in total, at its peak in what is most; null: nothing is gathered
  MUSTER_FIELDS(field(1, "pids", self.pids); field(2, "usage", self.usage);)
};
// slurmctld → slurmd of a job's step manager: answered when slurmctld has taken all news of the job's steps.
struct TellSteps {
  JobId job{};
  MUSTER_FIELDS(field(1, "job", self.job);)
};
// Asks the local slurmd or sackd to pass a request on to a node, since a user's command has no cluster key. It does so
// if the credential in the request is the caller's. The answer is that node's. (Field 2 was a credential beside the request's own.)
struct RelayToNode {
  std::string node;
  uint16_t message = 0;  // LaunchStep, AttachTasks, QueryStepUse or SendFile
  std::string payload;
  MUSTER_FIELDS(field(1, "node", self.node); field(3, "message", self.message); field(4, "payload", self.payload);)
};

// ---- what scontrol asks the node daemon of its own host
struct QueryLocalSteps {  // listjobs, liststeps, listpids, pidinfo, getent
  JobId job{};            // 0: all
  bool processes = false;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "processes", self.processes);)
};
struct LocalProcess {
  int32_t pid = 0;
  bool task = false;  // else a descendant of a task, which has no task numbers of its own
  uint32_t local = 0, global = 0;
  MUSTER_FIELDS(field(1, "pid", self.pid); field(2, "task", self.task); field(3, "local", self.local); field(4, "global", self.global);)
};
struct LocalStep {
  JobId job{};
  StepId step{};
  Uid uid{};
  std::vector<LocalProcess> processes;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "step", self.step); field(3, "uid", self.uid); field(4, "processes", self.processes);)
};
struct LocalSteps {
  std::vector<LocalStep> steps;
  MUSTER_FIELDS(field(1, "steps", self.steps);)
};
// A program of root on this host asks that its own process, which the socket names, goes into the external step of a job that a user has
// on this node, with what it starts from then on (pam_slurm_adopt).
struct AdoptProcess {
  Uid uid{};
  bool only_one = false;  // not where the user has several jobs here; else the newest is taken
  MUSTER_FIELDS(field(1, "uid", self.uid); field(2, "only_one", self.only_one);)
};
enum class Adoption : uint8_t { kDone, kNoJobs, kSeveralJobs, kFailed };
struct ProcessAdopted {
  Adoption outcome = Adoption::kDone;
  JobId job{};       // whose step has it, or could not have it
  std::string text;  // why not
  MUSTER_FIELDS(field(1, "outcome", self.outcome); field(2, "job", self.job); field(3, "text", self.text);)
};
struct QueryLocalDaemon {  // show slurmd
  MUSTER_FIELDS((void)self; (void)field;)
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
  MUSTER_FIELDS(field(1, "policy", self.policy); field(2, "nodes", self.nodes);)
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
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "argv", self.argv); field(3, "environment", self.environment);
                field(4, "os_cpus", self.os_cpus); field(5, "std_in", self.std_in); field(6, "std_out", self.std_out);
                field(7, "std_err", self.std_err); field(8, "memory", self.memory); field(9, "notes", self.notes);
                field(10, "denied_devices", self.denied_devices);)
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
  uint32_t channel_driver = 0;              // with limit_devices, of IMEX channels: all but its own are closed; 0: there are none
  std::optional<uint32_t> channel;
  MUSTER_FIELDS(field(1, "mountpoint", self.mountpoint); field(2, "prefix", self.prefix); field(3, "version", self.version);
                field(4, "required", self.required); field(5, "job_memory_bytes", self.job_memory_bytes);
                field(6, "step_memory_bytes", self.step_memory_bytes); field(7, "job_swap_bytes", self.job_swap_bytes);
                field(8, "limit_swap", self.limit_swap); field(9, "limit_cpus", self.limit_cpus); field(10, "os_cpus", self.os_cpus);
                field(11, "numa_nodes", self.numa_nodes); field(12, "job_os_cpus", self.job_os_cpus);
                field(13, "limit_devices", self.limit_devices); field(15, "denied_devices", self.denied_devices);
                field(16, "job_soft_bytes", self.job_soft_bytes); field(17, "step_soft_bytes", self.step_soft_bytes);
                field(18, "step_swap_bytes", self.step_swap_bytes); field(19, "swappiness", self.swappiness);
                field(20, "channel_driver", self.channel_driver); field(21, "channel", self.channel);)
};

// The SPANK plugins of a step: what plugstack.conf lists, what the user asked of them, and what spank_get_item answers beyond the
// launch itself.
struct SpankPlugin {
  bool required = false;
  std::string path;  // absolute
  std::vector<std::string> arguments;
  std::string where;  // "/etc/slurm/plugstack.conf:3"
  bool operator==(const SpankPlugin&) const = default;
  MUSTER_FIELDS(field(1, "required", self.required); field(2, "path", self.path); field(3, "arguments", self.arguments);
                field(4, "where", self.where);)
};
struct StepSpank {
  std::vector<SpankPlugin> plugins;
  std::vector<std::string> options;  // plugin/spank/option_text.h
  uint32_t num_nodes = 0, num_tasks = 0, cpus_per_task = 0;
  std::string job_cpus, step_cpus;  // on this node: "0-3"
  uint64_t job_mem_mb = 0, step_mem_mb = 0;
  uint32_t array_job = 0, array_task = kNoArrayTask;
  MUSTER_FIELDS(field(1, "plugins", self.plugins); field(2, "options", self.options); field(3, "num_nodes", self.num_nodes);
                field(4, "num_tasks", self.num_tasks); field(5, "cpus_per_task", self.cpus_per_task); field(6, "job_cpus", self.job_cpus);
                field(7, "step_cpus", self.step_cpus); field(8, "job_mem_mb", self.job_mem_mb); field(9, "step_mem_mb", self.step_mem_mb);
                field(10, "array_job", self.array_job); field(11, "array_task", self.array_task);)
};

// How the use of the step's tasks is gathered (JobAcctGatherType, --acctg-freq).
struct StepGather {
  uint32_t every_seconds = 30;  // 0: only at the end
  bool by_cgroup = false;       // each task has a control group, which is asked; else its processes are
  bool pss = false;             // JobAcctGatherParams: UsePss
  bool no_shared = false;       // NoShared
  bool no_file_cache = false;
  Bytes kill_above{};  // OverMemoryKill: what the tasks may have together; 0: as much as they like
  // What slurmd's look at the GPUs leaves for us (os/node/gpu_samples.h), and which of it counts; "": nobody looks.
  std::string gpu_samples;
  bool gpu_util = false, gpu_memory = false, gpu_energy = false;
  std::string powercap;  // where the kernel counts the energy of processors; "": it is not asked
  MUSTER_FIELDS(field(1, "every_seconds", self.every_seconds); field(2, "by_cgroup", self.by_cgroup); field(3, "pss", self.pss);
                field(4, "no_shared", self.no_shared); field(5, "no_file_cache", self.no_file_cache);
                field(6, "kill_above", self.kill_above); field(7, "gpu_samples", self.gpu_samples); field(8, "gpu_util", self.gpu_util);
                field(9, "gpu_memory", self.gpu_memory); field(10, "gpu_energy", self.gpu_energy); field(11, "powercap", self.powercap);)
};

// The time series that are recorded of a step (--profile), in a file of the user's below `directory`.
struct StepProfile {
  std::string directory;  // ProfileHDF5Dir
  bool task = false;      // at each look of StepGather
  bool energy = false;
  uint32_t energy_seconds = 0;
  uint32_t cpus_per_task = 0;
  MUSTER_FIELDS(field(1, "directory", self.directory); field(2, "task", self.task); field(3, "energy", self.energy);
                field(4, "energy_seconds", self.energy_seconds); field(5, "cpus_per_task", self.cpus_per_task);)
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
  std::optional<StepProfile> profile;      // with `gather`
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step);
                field(4, "node", self.node); field(5, "node_id", self.node_id); field(6, "uid", self.uid); field(7, "gid", self.gid);
                field(8, "groups", self.groups); field(9, "user_name", self.user_name); field(10, "socket_path", self.socket_path);
                field(11, "script", self.script); field(12, "script_path", self.script_path); field(13, "environment", self.environment);
                field(14, "tasks", self.tasks); field(15, "work_dir", self.work_dir); field(16, "umask", self.umask);
                field(17, "limits", self.limits); field(18, "append", self.append); field(19, "pty", self.pty);
                field(20, "pty_rows", self.pty_rows); field(21, "pty_columns", self.pty_columns);
                field(22, "site_task_prolog", self.site_task_prolog); field(23, "task_prolog", self.task_prolog);
                field(24, "task_epilog", self.task_epilog); field(25, "site_task_epilog", self.site_task_epilog); field(26, "io", self.io);
                field(27, "kill_wait_seconds", self.kill_wait_seconds); field(28, "cgroup", self.cgroup);
                field(30, "oom_kill_step", self.oom_kill_step); field(40, "wait_for_children", self.wait_for_children);
                field(41, "time_limit_min", self.time_limit_min); field(42, "warn", self.warn); field(43, "login_shell", self.login_shell);
                field(44, "login_home", self.login_home); field(45, "debug_level", self.debug_level); field(46, "cpu_freq", self.cpu_freq);
                field(47, "unbuffered", self.unbuffered); field(48, "label", self.label); field(49, "num_tasks", self.num_tasks);
                field(50, "nice", self.nice); field(51, "manager", self.manager); field(80, "spank", self.spank);
                field(100, "gather", self.gather); field(101, "profile", self.profile);)
};

struct StepdSignal {
  static constexpr uint16_t kNumber = 211;
  uint16_t signal = 0;
  bool all_processes = false;  // else the tasks themselves
  MUSTER_FIELDS(field(1, "signal", self.signal); field(2, "all_processes", self.all_processes);)
};
struct StepdEnd {  // SIGCONT, SIGTERM; after the wait SIGKILL. A second one may shorten the wait
  static constexpr uint16_t kNumber = 212;
  uint32_t kill_wait_seconds = 30;
  std::string message;  // a line for the step's stderr: "*** JOB 12 ON n1 CANCELLED AT … ***"
  MUSTER_FIELDS(field(1, "kill_wait_seconds", self.kill_wait_seconds); field(2, "message", self.message);)
};
struct StepdNote {  // a line for the step's stderr
  static constexpr uint16_t kNumber = 214;
  std::string text;
  MUSTER_FIELDS(field(1, "text", self.text);)
};
struct StepdRelease {  // the end of the step is noted: slurmstepd may exit
  static constexpr uint16_t kNumber = 213;
  MUSTER_FIELDS((void)self; (void)field;)
};

struct StepdAttach {  // connect there, too
  static constexpr uint16_t kNumber = 215;
  rpc::StepIo io;
  MUSTER_FIELDS(field(1, "io", self.io);)
};

struct StepdLimit {  // its own time limit, since its start; none: no limit
  static constexpr uint16_t kNumber = 216;
  std::optional<Duration> limit;
  MUSTER_FIELDS(field(1, "limit", self.limit);)
};

struct StepdMemory {  // --mem-update: the job has less memory from now on. Limits that are lower already stay.
  static constexpr uint16_t kNumber = 218;
  uint64_t hard_bytes = 0, soft_bytes = 0, swap_bytes = 0;  // of its groups, as in StepCgroup; 0: none
  Bytes kill_above{};                                       // OverMemoryKill; 0: as much as they like
  MUSTER_FIELDS(field(1, "hard_bytes", self.hard_bytes); field(2, "soft_bytes", self.soft_bytes); field(3, "swap_bytes", self.swap_bytes);
                field(4, "kill_above", self.kill_above);)
};

// ---- slurmstepd to slurmd
enum class StepdState : uint8_t { kStarting, kRunning, kEnded, kLaunchFailed };
struct TaskProcess {
  uint32_t rank = 0;
  int32_t pid = 0;
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "pid", self.pid);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step); field(4, "uid", self.uid);
                field(5, "state", self.state); field(6, "exit_status", self.exit_status); field(7, "out_of_memory", self.out_of_memory);
                field(8, "node_fault", self.node_fault); field(9, "text", self.text); field(10, "pid", self.pid);
                field(11, "tasks", self.tasks); field(12, "ends_step", self.ends_step); field(13, "manager", self.manager);
                field(14, "usage", self.usage);)
};

// ---- the stream between slurmstepd and srun
struct IoHello {
  static constexpr uint16_t kNumber = 230;
  std::string key, node;
  std::vector<uint32_t> ranks;
  MUSTER_FIELDS(field(1, "key", self.key); field(2, "node", self.node); field(3, "ranks", self.ranks);)
};
struct IoData {
  static constexpr uint16_t kNumber = 231;
  uint32_t rank = 0;   // of the task; kAllTasks for input to all
  uint8_t stream = 1;  // 0 stdin, 1 stdout, 2 stderr
  bool end = false;
  std::string data;
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "stream", self.stream); field(3, "end", self.end); field(4, "data", self.data);)
};
struct IoTaken {  // so much of the input is in the tasks' pipes: send more
  static constexpr uint16_t kNumber = 232;
  uint64_t bytes = 0;
  MUSTER_FIELDS(field(1, "bytes", self.bytes);)
};
struct TaskEnd {
  uint32_t rank = 0;
  int32_t status = 0;  // wait status
  std::string text;    // it never ran: why
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "status", self.status); field(3, "text", self.text);)
};
struct TasksEnded {
  static constexpr uint16_t kNumber = 233;
  std::vector<TaskEnd> tasks;
  bool out_of_memory = false;
  MUSTER_FIELDS(field(1, "tasks", self.tasks); field(2, "out_of_memory", self.out_of_memory);)
};
struct StepNote {  // a line for srun's stderr
  static constexpr uint16_t kNumber = 234;
  std::string text;
  MUSTER_FIELDS(field(1, "text", self.text);)
};
struct IoSignal {
  static constexpr uint16_t kNumber = 235;
  uint16_t signal = 0;
  bool end = false;  // as StepdEnd: SIGCONT, SIGTERM, later SIGKILL
  uint32_t kill_wait_seconds = 30;
  MUSTER_FIELDS(field(1, "signal", self.signal); field(2, "end", self.end); field(3, "kill_wait_seconds", self.kill_wait_seconds);)
};
struct IoWindow {
  static constexpr uint16_t kNumber = 236;
  uint16_t rows = 0, columns = 0;
  MUSTER_FIELDS(field(1, "rows", self.rows); field(2, "columns", self.columns);)
};

// slurmstepd has said everything, and leaves closing to srun: if srun has sent something meanwhile, a close on this side could lose
// data on its way to srun.
struct StreamEnd {
  static constexpr uint16_t kNumber = 237;
  MUSTER_FIELDS((void)self; (void)field;)
};

}  // namespace muster::step_rpc

#undef MUSTER_FIELDS
