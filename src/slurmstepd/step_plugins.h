// StepPlugins: third-party code in the life of a step, as slurmstepd sees it. `sbin/slurmstepd` is linked statically and has
// none; `libexec/muster/slurmstepd`, which slurmd starts where plugstack.conf lists plugins, has plugins/spank_step.h.
//
// Plugins run in slurmstepd itself: while one is at work, slurmstepd does nothing else. Work that takes long belongs into a task's own
// process (task_init), where Pyxis has it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "os/log_level.h"

namespace muster::slurmstepd {

class StepPlugins {
 public:
  virtual ~StepPlugins() = default;
  // Runs before there are tasks, the last part as the user. Plugins may change the environment of all tasks.
  virtual Result<> begin(std::vector<std::string>& environment) = 0;
  virtual bool blames_job() const = 0;  // after an error of begin: the job is at fault, not the node
  // Run in the task's process, whose `environment` and `argv` these are: first as root, then as the user. False: the task must not run.
  virtual bool task_as_root(size_t task, const std::vector<std::string>& environment) = 0;
  virtual bool task_as_user(size_t task, std::vector<std::string>& environment, std::vector<std::string>& argv) = 0;
  // Runs in slurmstepd, when all tasks have their processes and none its program yet.
  virtual Result<> forked(size_t task, pid_t pid) = 0;
  virtual void task_ended(size_t task, int32_t status) = 0;
  virtual void end() = 0;
};

struct PluginWords {
  std::function<void(os::LogLevel, const std::string&)> log;
  std::function<void(const std::string&)> say;  // to the user as it is
};
// Errors: a required plugin that cannot be loaded.
using MakePlugins = std::function<Result<std::unique_ptr<StepPlugins>>(const step_rpc::StepdLaunch&, PluginWords)>;

}  // namespace muster::slurmstepd
