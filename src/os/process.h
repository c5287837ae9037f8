// Starting processes and ending them: spawn(), waiting, pidfds, and the processes of a step found through /proc (proctrack/linuxproc, for
// where there are no cgroups). What a process may use is in limits.h and node/.
//
// spawn() never forks: the child borrows our memory (CLONE_VM) and makes only system calls
// prepared beforehand, so its cost does not grow with our heap (about 0.2 ms with 2 GiB mapped and touched).
// All threads are safe to call it; the calling thread sleeps until the child has replaced itself or failed,
// and a failure comes back with the step that failed: "chdir /data: No such file or directory".
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace muster::os {

// Who a process or a file operation runs as. Groups are looked up beforehand (users.h): NSS is no place to be between clone and exec.
struct Credentials {
  Uid uid{};
  Gid gid{};
  std::vector<uint32_t> groups;  // supplementary, gid included or not
  bool operator==(const Credentials&) const = default;
};

struct FdMapping {
  int from = -1;  // ours
  int to = -1;    // the child's
};

struct LimitSetting {
  int resource = 0;  // RLIMIT_*
  uint64_t soft = RLIM_INFINITY, hard = RLIM_INFINITY;
};

// Open files of a job's namespaces (job_namespace.h); -1: the job has none of that kind. Entering any needs root.
struct NamespaceFds {
  int mount = -1;
  int pid = -1;
  int user = -1;  // entered last: all else is done with the rights that we have outside
};

class OomShield;

struct SpawnSpec {
  std::string path;                             // program; without '/' it is looked up in the child's PATH
  std::vector<std::string> argv;                // argv[0] included; empty = {path}
  std::optional<std::vector<std::string>> env;  // "NAME=value"; nullopt = ours
  std::string cwd;                              // "" = ours
  std::optional<Credentials> credentials;       // nullopt = ours; not root: must be ourselves
  std::optional<mode_t> umask;
  std::vector<LimitSetting> limits;
  std::vector<FdMapping> fds;          // applied as if at once; 0-2 not named are inherited, others closed
  bool new_session = false;            // setsid
  std::optional<pid_t> process_group;  // setpgid: 0 = its own; not with new_session
  int controlling_tty = -1;            // our descriptor of a pty slave; needs new_session
  std::optional<int> nice;             // absolute priority -20 … 19
  Bitmap cpus;                         // OS CPU numbers; empty = inherited
  std::vector<int> cgroup_procs_fds;   // open cgroup.procs files to join before anything else
  NamespaceFds namespaces;             // `cwd` and `path` are in them
  OomShield* oom_shield = nullptr;     // laid down until the child has left our memory (oom_shield.h); outlives the child's start
  int parent_death_signal = 0;         // sent when the thread that spawned it ends
  std::string pid_variable;            // "NAME": the child's environment gets NAME=<its own pid>
};

// The child's pid. Its signals have default dispositions and an empty mask, whatever ours are.
Result<pid_t> spawn(const SpawnSpec& spec);

struct ExitStatus {
  int code = 0;    // exit code when not signaled
  int signal = 0;  // the signal that ended it, 0 = none
  bool core_dumped = false;
  int raw = 0;  // as wait(2) has it (what sacct shows as code:signal)
  bool ok() const { return raw == 0; }
  static ExitStatus of(int raw);
};
struct Reaped {
  pid_t pid = 0;
  ExitStatus status;
  rusage usage{};
};
// Waits for one child. A timeout gives kTimedOut and leaves the child alone.
Result<Reaped> wait_child(pid_t pid, std::optional<Duration> timeout = std::nullopt);
// Children that have ended, without waiting (adopted orphans too, after become_subreaper()). At most kReapedAtOnce: when that many come
// there may be more, and the caller asks again. Without the bound, processes that fork all the time would keep it here for ever.
// `before` is called with each while /proc still has its figures.
inline constexpr size_t kReapedAtOnce = 256;
std::vector<Reaped> reap_children(const std::function<void(pid_t)>& before = {});

// Runs a program to its end and takes what it prints on stdout and stderr (together). On timeout its process group is killed and the result
// says so. Output beyond max_output is read and dropped. For prologs, mail, health checks.
struct Captured {
  ExitStatus status;
  std::string output;
  std::string errors;  // stderr, of run_captured_apart
  bool truncated = false, timed_out = false;
};
Result<Captured> run_captured(SpawnSpec spec, Duration timeout, size_t max_output = 1 << 20);
// The same with stdout in `output` and stderr in `errors`, at most max_output of each.
Result<Captured> run_captured_apart(SpawnSpec spec, Duration timeout, size_t max_output = 1 << 20);

// A handle on exactly this process: becomes readable when it ends, never hits a later process of the same number.
Result<Fd> open_pidfd(pid_t pid);
Result<> signal_pidfd(int pidfd, int signal);

Result<> become_subreaper();                       // orphans among our descendants become our children
Result<> set_process_name(std::string_view name);  // comm, cut to 15 bytes
std::string process_name();

}  // namespace muster::os
