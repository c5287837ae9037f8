// How a step is started and carried on the nodes: what srun asks slurmd, what slurmd hands to the slurmstepd
// of the step, what the two say to each other afterwards, and the stream between slurmstepd and srun that
// carries output, input, signals and exits. The link between slurmctld and slurmd is node_rpc.h.
//
//   srun → slurmd       requests LaunchStep, SignalStepTasks, RelayLaunch (wire/messages.def, 200 … 209)
//   slurmd → slurmstepd notices StepdLaunch (once, first), StepdSignal, StepdEnd, StepdRelease
//   slurmstepd → slurmd notices StepdReport, on every change and to whoever connects anew
//   slurmstepd → srun   notices IoHello (first; proves the key), IoData, IoTaken, TasksEnded, StepNote,
//   StreamEnd srun → slurmstepd   notices IoData (stdin), IoSignal, IoWindow
//
// Notices carry the number kNumber of their struct as the frame's message. Plain values; no I/O here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "model/rpc.h"

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

namespace muster::rpc {

// What the controller vouches for. It goes through srun to the nodes as the text that net/credential.h makes
// of its bytes.
struct StepCredential {
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  Uid uid{};
  Gid gid{};
  std::string user_name;
  uint32_t num_tasks = 0, cpus_per_task = 0;
  std::vector<StepNode> nodes;  // of the step, in its order
  std::string job_node_list, partition, account, job_name;
  Time expires{};  // a launch after this is refused
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step);
                v(4, "uid", s.uid); v(5, "gid", s.gid); v(6, "user_name", s.user_name);
                v(7, "num_tasks", s.num_tasks); v(8, "cpus_per_task", s.cpus_per_task);
                v(9, "nodes", s.nodes); v(10, "job_node_list", s.job_node_list);
                v(11, "partition", s.partition); v(12, "account", s.account); v(13, "job_name", s.job_name);
                v(14, "expires", s.expires);)
};

// Where slurmstepd finds srun. A path is used when all nodes are on srun's host.
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
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "credential", s.credential); v(3, "request", s.request);
                v(4, "io", s.io); v(5, "srun_host", s.srun_host);)
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
// A user's srun has no cluster key: the slurmd beside it passes a launch on to a node of the configuration.
struct RelayLaunch {
  LaunchStep launch;
  MUSTER_FIELDS(v(1, "launch", s.launch);)
};

}  // namespace muster::rpc

namespace muster::step_rpc {

inline constexpr uint32_t kAllTasks = 0xffffffffu;

// ---- slurmd to slurmstepd
struct TaskLaunch {
  uint32_t rank = 0;
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=value, over the step's
  Bitmap os_cpus;                        // empty: wherever the step may run
  std::string std_in, std_out,
      std_err;  // absolute; "" = the stream to srun. std_err == std_out: one descriptor
  MUSTER_FIELDS(v(1, "rank", s.rank); v(2, "argv", s.argv); v(3, "environment", s.environment);
                v(4, "os_cpus", s.os_cpus); v(5, "std_in", s.std_in); v(6, "std_out", s.std_out);
                v(7, "std_err", s.std_err);)
};

struct StepCgroup {  // absent when no cgroup is to be used
  std::string mountpoint, prefix;
  uint8_t version = 0;    // 0: autodetect
  bool required = false;  // ProctrackType=proctrack/cgroup: without it the launch fails
  uint64_t job_memory_bytes = 0, step_memory_bytes = 0;  // 0: not limited
  uint64_t swap_bytes = 0;                               // beyond memory
  bool limit_swap = false;
  bool limit_cpus = false;
  Bitmap os_cpus, numa_nodes, job_os_cpus;
  bool limit_devices = false;
  std::vector<std::string> devices;  // files that stay open to it
  MUSTER_FIELDS(v(1, "mountpoint", s.mountpoint); v(2, "prefix", s.prefix); v(3, "version", s.version);
                v(4, "required", s.required); v(5, "job_memory_bytes", s.job_memory_bytes);
                v(6, "step_memory_bytes", s.step_memory_bytes); v(7, "swap_bytes", s.swap_bytes);
                v(8, "limit_swap", s.limit_swap); v(9, "limit_cpus", s.limit_cpus);
                v(10, "os_cpus", s.os_cpus); v(11, "numa_nodes", s.numa_nodes);
                v(12, "job_os_cpus", s.job_os_cpus); v(13, "limit_devices", s.limit_devices);
                v(14, "devices", s.devices);)
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
  std::string site_task_prolog, task_prolog, task_epilog, site_task_epilog;
  rpc::StepIo io;  // no host and no path: nobody listens
  uint32_t kill_wait_seconds = 30;
  std::vector<StepCgroup> cgroup;  // none or one
  int32_t oom_score_adj = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step);
                v(4, "node", s.node); v(5, "node_id", s.node_id); v(6, "uid", s.uid); v(7, "gid", s.gid);
                v(8, "groups", s.groups); v(9, "user_name", s.user_name); v(10, "socket_path", s.socket_path);
                v(11, "script", s.script); v(12, "script_path", s.script_path);
                v(13, "environment", s.environment); v(14, "tasks", s.tasks); v(15, "work_dir", s.work_dir);
                v(16, "umask", s.umask); v(17, "limits", s.limits); v(18, "append", s.append);
                v(19, "pty", s.pty); v(20, "pty_rows", s.pty_rows); v(21, "pty_columns", s.pty_columns);
                v(22, "site_task_prolog", s.site_task_prolog); v(23, "task_prolog", s.task_prolog);
                v(24, "task_epilog", s.task_epilog); v(25, "site_task_epilog", s.site_task_epilog);
                v(26, "io", s.io); v(27, "kill_wait_seconds", s.kill_wait_seconds); v(28, "cgroup", s.cgroup);
                v(29, "oom_score_adj", s.oom_score_adj);)
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
struct StepdRelease {  // its end is noted: it may go
  static constexpr uint16_t kNumber = 213;
  MUSTER_FIELDS((void)s; (void)v;)
};

// ---- slurmstepd to slurmd
enum class StepdState : uint8_t { kStarting, kRunning, kEnded, kLaunchFailed };
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
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step);
                v(4, "uid", s.uid); v(5, "state", s.state); v(6, "exit_status", s.exit_status);
                v(7, "out_of_memory", s.out_of_memory); v(8, "node_fault", s.node_fault);
                v(9, "text", s.text); v(10, "pid", s.pid);)
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

// Everything was said. srun closes: with what srun may have sent meanwhile, closing here could lose what is
// on its way.
struct StreamEnd {
  static constexpr uint16_t kNumber = 237;
  MUSTER_FIELDS((void)s; (void)v;)
};

}  // namespace muster::step_rpc

#undef MUSTER_FIELDS
