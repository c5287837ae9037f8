// What a program that loads plugins knows, for spank_get_item and spank_getenv. A member that is not set is not known (yet): the plugin is
// told ESPANK_NOT_AVAIL.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::spank {

struct TaskFacts {
  uint32_t local = 0, global = 0;
  pid_t pid = 0;  // 0: has no process
  std::optional<int> exit_status;
};

struct Facts {
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<std::vector<gid_t>> groups;
  std::optional<uint32_t> job, step, num_nodes, node_id, num_tasks, cpus_per_task, restarts, array_job, array_task;
  std::optional<uint16_t> num_cpus;
  std::optional<std::vector<std::string>> argv;  // in a task's own process: what it is going to run; plugins put words before it
  std::optional<std::string> job_cpus, step_cpus;
  std::optional<uint64_t> job_mem_mb, step_mem_mb;
  std::vector<TaskFacts> tasks;  // of this node, by their local number
};

// The environment of the job, in slurmstepd.
class JobEnvironment {
 public:
  virtual ~JobEnvironment() = default;
  virtual const std::vector<std::string>& entries() const = 0;  // NAME=value
  virtual void set(const std::string& entry) = 0;
  virtual void unset(std::string_view name) = 0;
};

// The value of NAME in a list of NAME=value, ended by a zero byte; nullptr without one.
const char* find_variable(const std::vector<std::string>& entries, std::string_view name);

}  // namespace muster::spank
