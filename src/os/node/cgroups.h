// Control groups of jobs, steps and tasks: what they may use, what they used, and the sure way to end them.
//
// Cgroups::open() finds out what this machine has: version 1 (one directory per controller), version 2 (one tree), or nothing that may be
// written (rootless, a container with read-only cgroups). Without cgroups create() gives groups that hold nothing and set nothing; callers
// then track processes by process_tree.h. Whatever a machine lacks is a kUnsupported error on use, never silence: the caller decides
// whether cgroup.conf demanded it. Layout:
//   v1  <mount>/<controller>/<prefix>/job_17/step_0/task_1  (each controller that is there)
//   v2  <mount>/<prefix>/job_17/step_0/task_1               (controllers enabled downwards; tasks in leaves only)
// cgroup.conf(5), cgroup_v2 guide. Cost: creating a group 0.1-0.3 ms per controller, usage() 3 small reads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace muster::os {

enum class CgroupVersion : uint8_t { kNone, kV1, kV2 };

struct CgroupOptions {
  std::string mountpoint = "/sys/fs/cgroup";  // CgroupMountpoint
  std::optional<CgroupVersion> version;       // CgroupPlugin; nullopt = autodetect
  std::string prefix = "slurm";               // v2: "system.slice/slurmstepd.scope"; several slurmd: one each
  bool operator==(const CgroupOptions&) const = default;
};

// The version that is asked for, else the one that is mounted here.
CgroupVersion cgroup_version(const CgroupOptions& options);

struct CgroupSupport {
  CgroupVersion version = CgroupVersion::kNone;
  bool memory = false, cpuset = false, devices = false, freezer = false, cpu_usage = false, pids = false;
  std::string reason;  // why there is none, or what is missing: for the log and scontrol
};

struct MemoryLimits {
  std::optional<uint64_t> hard_bytes;          // ConstrainRAMSpace
  std::optional<uint64_t> soft_bytes;          // reclaimed first above this
  std::optional<uint64_t> ram_and_swap_bytes;  // ConstrainSwapSpace: RAM + swap together
  std::optional<uint32_t> swappiness;          // v1 only
};

// ConstrainDevices: device files that a group may not open. What is not named stays open to it: only devices
// that gres.conf hands out are managed, and a program with one GPU needs /dev/nvidiactl, /dev/nvidia-uvm and
// the like.
struct DeviceRule {
  char type = 'c';  // 'c' or 'b'
  uint32_t major = 0, minor = 0;
  // Of one driver's files all but some may be closed: those some stand first in the list, then the rule for all.
  bool allowed = false, any_minor = false;
  auto operator<=>(const DeviceRule&) const = default;
};
Result<DeviceRule> device_rule(const std::string& path);  // of a device file: "/dev/nvidia0"

struct CgroupUsage {
  Duration user_time{}, system_time{};
  uint64_t memory_bytes = 0;  // with page cache
  uint64_t rss_bytes = 0;     // anonymous memory
  uint64_t peak_bytes = 0;    // highest memory_bytes
  uint64_t swap_bytes = 0;
  uint64_t oom_kills = 0;   // processes the kernel killed for memory in this group and below
  uint64_t limit_hits = 0;  // how often the hard limit was reached; new kernels do not count it on v1
};

class CgroupBackend;

// A group that exists. A handle, not an owner: call remove() when its processes are gone; a handle opened
// again after a restart of the daemon is the same group.
class Cgroup {
 public:
  const std::string& path() const { return path_; }  // below the prefix: "job_17/step_0"
  Result<> add(pid_t pid);
  // For SpawnSpec::cgroup_procs_fds: the child joins before it runs a single instruction of the program.
  Result<std::vector<Fd>> open_procs() const;
  Result<> set_memory(const MemoryLimits& limits);
  Result<> set_cpus(const Bitmap& os_cpus, const Bitmap& numa_nodes = Bitmap());  // no nodes: as the parent
  Result<> deny_devices(const std::vector<DeviceRule>& denied);                   // for good: a second call adds to the first
  Result<> freeze(bool frozen);                                                   // suspend and resume, no process can escape it
  Result<std::vector<pid_t>> pids() const;                                        // here and in groups below, ascending
  Result<CgroupUsage> usage() const;
  Result<> signal_all(int signal);
  // SIGKILL to all, here and below, until none is left; kTimedOut names the survivors. They are signalled at least once: with a timeout of
  // zero it does not wait.
  Result<> kill(Duration timeout);
  // Removes it with the groups below. A group that still has processes, or whose last process is just ending,
  // is tried again until the timeout. Absent is fine.
  Result<> remove(Duration timeout = seconds(1));

 private:
  friend class Cgroups;
  Cgroup(std::shared_ptr<const CgroupBackend> backend, std::string path) : backend_(std::move(backend)), path_(std::move(path)) {}
  std::shared_ptr<const CgroupBackend> backend_;
  std::string path_;
};

// Names of a job's or a step's levels: {"job_17", "step_batch"}.
std::vector<std::string> group_levels(JobId job, std::optional<StepId> step = std::nullopt);

class Cgroups {
 public:
  // Fails only on options that cannot be meant (an unknown mount point that was asked for by version).
  static Result<Cgroups> open(const CgroupOptions& options = {});
  const CgroupSupport& support() const;
  // Names of the levels, outermost first: {"job_17", "step_0", "task_1"}. Levels that exist are used as they are.
  Result<Cgroup> create(const std::vector<std::string>& levels) const;
  // A group that exists already.
  std::optional<Cgroup> find(const std::vector<std::string>& levels) const;
  // The groups directly below `levels`: after a restart, the jobs of the last run.
  std::vector<std::string> list(const std::vector<std::string>& levels = {}) const;

 private:
  explicit Cgroups(std::shared_ptr<const CgroupBackend> backend) : backend_(std::move(backend)) {}
  std::shared_ptr<const CgroupBackend> backend_;
};

}  // namespace muster::os
