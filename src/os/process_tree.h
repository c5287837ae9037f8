// Finding and ending the processes of a step where there is no cgroup to ask (proctrack/linuxproc, rootless mode).
//
// A process belongs to a step when it descends from the step's root (which must be a subreaper, so that
// orphans stay below it), is in its session, or carries the step's marker in its environment (found even
// after a double fork to init). What escapes all three can only be held by a cgroup (node/cgroups.h). Cost:
// one readdir of /proc and one read per process; about 15 µs a process, 40 µs with environments.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace muster::os {

struct ProcessInfo {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  char state = '?';          // R S D Z T …
  uint64_t start_ticks = 0;  // since boot: pid and this name a process for good
  Duration user_time{}, system_time{};
  uint64_t virtual_bytes = 0, rss_bytes = 0;
  uint64_t major_faults = 0;
  bool kernel_thread = false;
  int last_cpu = 0;
  std::string name;  // comm
};

Result<ProcessInfo> read_process(pid_t pid);
// All processes, by pid. A process that forks and ends while we look could hide its child; /proc is then read again (at most eight times),
// so that of a living family some member is always seen.
std::vector<ProcessInfo> list_processes();
// Bytes read from and written to storage (/proc/PID/io); needs to be root or the owner.
struct ProcessIo {
  uint64_t read_bytes = 0,
           written_bytes = 0;  // rchar/wchar: what the program asked for, as Slurm's accounting has it
};
Result<ProcessIo> read_process_io(pid_t pid);
// True when the process was started with exactly this "NAME=value" in its environment. A process in the middle
// of an execve, which shows no environment, is waited for (at most 10 ms).
bool process_has_env(pid_t pid, std::string_view entry);

// Which processes are meant. Members are combined with "or"; an empty one matches nothing.
struct ProcessSet {
  pid_t root = 0;  // this and all below it
  bool include_root = true;
  pid_t session = 0;
  pid_t group = 0;
  std::string env_marker;             // "SLURM_JOB_ID=17"
  std::vector<std::string> env_also;  // entries that a process with the marker must have as well
  // Exceptions, which win over all of the above. No member is:
  std::vector<pid_t> except;         // such a process,
  std::vector<pid_t> except_groups;  // one of such a process group,
  std::vector<pid_t> except_trees;   // one that is or descends from such a process,
  uint64_t not_before = 0;           // one that began earlier (start_ticks),
  std::optional<Uid> only_of;        // one of another user (its real one)
};
// Members in ascending pid order, zombies excluded; the caller itself is never one.
std::vector<ProcessInfo> find_processes(const ProcessSet& set);

// Sends `signal` to every member, each through a pidfd checked against its start time, so that a recycled pid
// is never hit. Returns how many were reached.
size_t signal_processes(const ProcessSet& set, int signal);
// Signals the process if it still is the one that was listed.
bool signal_process(const ProcessInfo& process, int signal);
// Members of a process group that descend from `root`. The group's number is not enough: once its leader has been reaped, it may be
// another's.
std::vector<ProcessInfo> processes_below(pid_t root, pid_t group);
size_t signal_group_below(pid_t root, pid_t group, int signal);
// SIGKILL until none is left (a tree that forks while it is being killed is caught by the next round).
// kTimedOut with the survivors' pids and states in the text: "process 812 (D, nfs-cat) cannot be killed".
Result<> kill_processes(const ProcessSet& set, Duration timeout);

}  // namespace muster::os
