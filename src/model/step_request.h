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
  std::string network;
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
  std::string profile, comment, container, container_id;
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
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "min_nodes", s.min_nodes);
    v(3, "max_nodes", s.max_nodes);
    v(4, "num_tasks", s.num_tasks);
    v(5, "cpus_per_task", s.cpus_per_task);
    v(6, "ntasks_per_node", s.ntasks_per_node);
    v(7, "ntasks_per_socket", s.ntasks_per_socket);
    v(8, "ntasks_per_core", s.ntasks_per_core);
    v(9, "ntasks_per_gpu", s.ntasks_per_gpu);
    v(10, "threads_per_core", s.threads_per_core);
    v(11, "cores_per_socket", s.cores_per_socket);
    v(12, "sockets_per_node", s.sockets_per_node);
    v(13, "mem_per_node_mb", s.mem_per_node_mb);
    v(14, "mem_per_cpu_mb", s.mem_per_cpu_mb);
    v(15, "mem_per_gpu_mb", s.mem_per_gpu_mb);
    v(16, "tres_per_node", s.tres_per_node);
    v(17, "tres_per_step", s.tres_per_step);
    v(18, "tres_per_socket", s.tres_per_socket);
    v(19, "tres_per_task", s.tres_per_task);
    v(20, "cpus_per_gpu", s.cpus_per_gpu);
    v(21, "tres_bind", s.tres_bind);
    v(22, "tres_freq", s.tres_freq);
    v(23, "gres_flags", s.gres_flags);
    v(24, "required_nodes", s.required_nodes);
    v(25, "excluded_nodes", s.excluded_nodes);
    v(26, "relative", s.relative);
    v(27, "features", s.features);
    v(28, "distribution", s.distribution);
    v(29, "cpu_bind", s.cpu_bind);
    v(30, "mem_bind", s.mem_bind);
    v(31, "cpu_freq", s.cpu_freq);
    v(32, "hint", s.hint);
    v(33, "overlap", s.overlap);
    v(34, "exact", s.exact);
    v(35, "exclusive", s.exclusive);
    v(36, "overcommit", s.overcommit);
    v(37, "whole", s.whole);
    v(38, "immediate", s.immediate);
    v(39, "immediate_seconds", s.immediate_seconds);
    v(40, "time_limit_min", s.time_limit_min);
    v(41, "licenses", s.licenses);
    v(42, "network", s.network);
    v(43, "interactive", s.interactive);
    v(44, "no_kill", s.no_kill);
    v(45, "kill_on_bad_exit", s.kill_on_bad_exit);
    v(46, "wait_seconds", s.wait_seconds);
    v(47, "resv_ports", s.resv_ports);
    v(48, "argv", s.argv);
    v(49, "multi_prog", s.multi_prog);
    v(50, "multi_prog_text", s.multi_prog_text);
    v(51, "environment", s.environment);
    v(52, "work_dir", s.work_dir);
    v(53, "std_in", s.std_in);
    v(54, "std_out", s.std_out);
    v(55, "std_err", s.std_err);
    v(56, "open_mode", s.open_mode);
    v(57, "label", s.label);
    v(58, "unbuffered", s.unbuffered);
    v(59, "pty", s.pty);
    v(60, "pty_rows", s.pty_rows);
    v(61, "pty_columns", s.pty_columns);
    v(62, "mpi", s.mpi);
    v(63, "task_prolog", s.task_prolog);
    v(64, "task_epilog", s.task_epilog);
    v(65, "umask", s.umask);
    v(66, "limits", s.limits);
    v(67, "acctg_freq", s.acctg_freq);
    v(68, "profile", s.profile);
    v(69, "comment", s.comment);
    v(70, "container", s.container);
    v(71, "container_id", s.container_id);
    v(72, "warn", s.warn);
    v(73, "debug_level", s.debug_level);
    v(74, "slurmd_debug", s.slurmd_debug);
    v(75, "send_libs", s.send_libs);
    v(76, "bcast", s.bcast);
    v(77, "oom_kill_step_set", s.oom_kill_step_set);
    v(78, "oom_kill_step", s.oom_kill_step);
    v(79, "wait_for_children", s.wait_for_children);
    v(80, "preserve_env", s.preserve_env);
    v(81, "resv_ports_set", s.resv_ports_set);
    v(120, "spank", s.spank);
    v(121, "spank_options", s.spank_options);
  }
};

using StepRequestPtr = std::shared_ptr<const StepRequest>;

}  // namespace muster
