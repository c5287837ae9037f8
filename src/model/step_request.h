// StepRequest: what srun asks for inside an allocation: how many tasks run where, with which resources, and how. Manual page: srun(1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "model/job_request.h"

namespace muster {

enum class KillOnBadExit : uint8_t { kDefault, kNo, kYes };

struct StepRequest {
  std::string name;
  uint32_t min_nodes = 0, max_nodes = 0;  // 0: the allocation's
  uint32_t num_tasks = 0;                 // 0: derived
  uint32_t cpus_per_task = 0;
  uint32_t ntasks_per_node = 0, ntasks_per_socket = 0, ntasks_per_core = 0, ntasks_per_gpu = 0;
  uint32_t threads_per_core = 0, cores_per_socket = 0, sockets_per_node = 0;
  std::optional<uint64_t> mem_per_node_mb, mem_per_cpu_mb, mem_per_gpu_mb;
  TresText tres_per_node, tres_per_step, tres_per_socket, tres_per_task;
  uint32_t cpus_per_gpu = 0;
  TresBindText tres_bind;
  TresFrequencyText tres_freq;
  GresFlagsText gres_flags;
  NodeList required_nodes, excluded_nodes;
  int32_t relative = -1;  // --relative; -1: not asked
  FeatureText features;
  DistributionText distribution;  // "block:cyclic", "arbitrary", "plane=2"
  CpuBindText cpu_bind;
  MemBindText mem_bind;
  CpuFrequencyText cpu_freq;
  HintText hint;
  bool overlap = false, exact = false, exclusive = false, overcommit = false, whole = false;
  bool immediate = false;
  uint32_t immediate_seconds = 0;
  std::optional<uint32_t> time_limit_min;
  LicenseText licenses;
  NetworkText network;
  bool interactive = false;  // salloc's use_interactive_step
  bool no_kill = false;
  KillOnBadExit kill_on_bad_exit = KillOnBadExit::kDefault;
  std::optional<uint32_t> wait_seconds;  // --wait after the first task's exit
  uint32_t resv_ports = 0;               // --resv-ports; 0 with resv_ports_set: as many as a node has tasks
  bool resv_ports_set = false;
  // how the tasks run; carried to the nodes as it is
  std::vector<std::string> argv;
  bool multi_prog = false;
  std::string multi_prog_text;  // contents of the configuration file
  std::vector<std::string> environment;
  std::string work_dir;
  std::string std_in, std_out, std_err;  // file patterns; "" = through srun
  OpenMode open_mode = OpenMode::kDefault;
  bool label = false, unbuffered = false, pty = false;
  uint16_t pty_rows = 0, pty_columns = 0;
  std::string mpi;  // "none", "pmix", "pmi2"; "" = MpiDefault
  std::string task_prolog, task_epilog;
  uint32_t umask = 022;
  std::vector<ResourceLimit> limits;
  SampleIntervalsText acctg_freq;
  ProfileText profile;
  std::string comment, container, container_id;
  WarnSignal warn;
  uint32_t debug_level = 0;
  uint32_t slurmd_debug = 0;
  bool send_libs = false;
  std::string bcast;
  bool oom_kill_step_set = false, oom_kill_step = false;
  bool wait_for_children = false;          // a task ends with its last process
  bool preserve_env = false;               // node and task counts reach the tasks as they are in `environment`
  bool spank = false;                      // srun has SPANK plugins: the nodes' may ask about the job
  std::vector<std::string> spank_options;  // of plugins, in the order given: plugin/spank/option_text.h

  bool operator==(const StepRequest&) const = default;

  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "min_nodes", self.min_nodes);
    field(3, "max_nodes", self.max_nodes);
    field(4, "num_tasks", self.num_tasks);
    field(5, "cpus_per_task", self.cpus_per_task);
    field(6, "ntasks_per_node", self.ntasks_per_node);
    field(7, "ntasks_per_socket", self.ntasks_per_socket);
    field(8, "ntasks_per_core", self.ntasks_per_core);
    field(9, "ntasks_per_gpu", self.ntasks_per_gpu);
    field(10, "threads_per_core", self.threads_per_core);
    field(11, "cores_per_socket", self.cores_per_socket);
    field(12, "sockets_per_node", self.sockets_per_node);
    field(13, "mem_per_node_mb", self.mem_per_node_mb);
    field(14, "mem_per_cpu_mb", self.mem_per_cpu_mb);
    field(15, "mem_per_gpu_mb", self.mem_per_gpu_mb);
    field(16, "tres_per_node", self.tres_per_node);
    field(17, "tres_per_step", self.tres_per_step);
    field(18, "tres_per_socket", self.tres_per_socket);
    field(19, "tres_per_task", self.tres_per_task);
    field(20, "cpus_per_gpu", self.cpus_per_gpu);
    field(21, "tres_bind", self.tres_bind);
    field(22, "tres_freq", self.tres_freq);
    field(23, "gres_flags", self.gres_flags);
    field(24, "required_nodes", self.required_nodes);
    field(25, "excluded_nodes", self.excluded_nodes);
    field(26, "relative", self.relative);
    field(27, "features", self.features);
    field(28, "distribution", self.distribution);
    field(29, "cpu_bind", self.cpu_bind);
    field(30, "mem_bind", self.mem_bind);
    field(31, "cpu_freq", self.cpu_freq);
    field(32, "hint", self.hint);
    field(33, "overlap", self.overlap);
    field(34, "exact", self.exact);
    field(35, "exclusive", self.exclusive);
    field(36, "overcommit", self.overcommit);
    field(37, "whole", self.whole);
    field(38, "immediate", self.immediate);
    field(39, "immediate_seconds", self.immediate_seconds);
    field(40, "time_limit_min", self.time_limit_min);
    field(41, "licenses", self.licenses);
    field(42, "network", self.network);
    field(43, "interactive", self.interactive);
    field(44, "no_kill", self.no_kill);
    field(45, "kill_on_bad_exit", self.kill_on_bad_exit);
    field(46, "wait_seconds", self.wait_seconds);
    field(47, "resv_ports", self.resv_ports);
    field(48, "argv", self.argv);
    field(49, "multi_prog", self.multi_prog);
    field(50, "multi_prog_text", self.multi_prog_text);
    field(51, "environment", self.environment);
    field(52, "work_dir", self.work_dir);
    field(53, "std_in", self.std_in);
    field(54, "std_out", self.std_out);
    field(55, "std_err", self.std_err);
    field(56, "open_mode", self.open_mode);
    field(57, "label", self.label);
    field(58, "unbuffered", self.unbuffered);
    field(59, "pty", self.pty);
    field(60, "pty_rows", self.pty_rows);
    field(61, "pty_columns", self.pty_columns);
    field(62, "mpi", self.mpi);
    field(63, "task_prolog", self.task_prolog);
    field(64, "task_epilog", self.task_epilog);
    field(65, "umask", self.umask);
    field(66, "limits", self.limits);
    field(67, "acctg_freq", self.acctg_freq);
    field(68, "profile", self.profile);
    field(69, "comment", self.comment);
    field(70, "container", self.container);
    field(71, "container_id", self.container_id);
    field(72, "warn", self.warn);
    field(73, "debug_level", self.debug_level);
    field(74, "slurmd_debug", self.slurmd_debug);
    field(75, "send_libs", self.send_libs);
    field(76, "bcast", self.bcast);
    field(77, "oom_kill_step_set", self.oom_kill_step_set);
    field(78, "oom_kill_step", self.oom_kill_step);
    field(79, "wait_for_children", self.wait_for_children);
    field(80, "preserve_env", self.preserve_env);
    field(81, "resv_ports_set", self.resv_ports_set);
    field(120, "spank", self.spank);
    field(121, "spank_options", self.spank_options);
  }
};

using StepRequestPtr = std::shared_ptr<const StepRequest>;

}  // namespace muster
