// Stepd: what it tells of a step's life on the step's standard error (srun --slurmd-debug). Without the option only errors.
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {

void Stepd::tell(Detail detail, const std::string& text) {
  if (launch_->debug_level < static_cast<uint32_t>(detail)) return;
  const char* mark = detail == Detail::kDebug ? "debug:  " : detail == Detail::kDebug2 ? "debug2: " : "";
  note("slurmstepd: " + std::string(mark) + text);
}

void Stepd::tell_of_start() {
  const step_rpc::StepdLaunch& l = *launch_;
  tell(Detail::kVerbose, step_name() + " on " + l.node + " for " + l.user_name + " (uid " + std::to_string(l.uid.value) +
                             "): " + std::to_string(l.tasks.size()) + " task" + (l.tasks.size() == 1 ? "" : "s") + " in " + l.work_dir);
  if (l.cgroup.empty()) {
    tell(Detail::kDebug, "no cgroup: processes are found by descent");
    return;
  }
  const step_rpc::StepCgroup& g = l.cgroup.front();
  tell(Detail::kDebug, "cgroup below " + g.mountpoint + "/" + g.prefix + ", memory " +
                           (g.step_memory_bytes ? std::to_string(g.step_memory_bytes) + " bytes" : "not limited") + ", CPUs " +
                           (g.limit_cpus ? g.os_cpus.to_ranges() : "not limited"));
}

void Stepd::tell_of_task(const Task& task) {
  const step_rpc::TaskLaunch& t = *task.launch;
  std::string name = "task " + std::to_string(t.rank);
  tell(Detail::kInfo, name + " is process " + std::to_string(task.pid));
  tell(Detail::kDebug, name + " may use CPUs " + (t.os_cpus.any() ? t.os_cpus.to_ranges() : "of the step"));
  tell(Detail::kDebug2, name + " runs " + (t.argv.empty() ? "nothing" : t.argv.front()) + " with " +
                            std::to_string(t.argv.empty() ? 0 : t.argv.size() - 1) + " arguments and " +
                            std::to_string(launch_->environment.size() + t.environment.size()) + " variables");
}

void Stepd::tell_of_end(const EndedTask& task) {
  const os::ExitStatus status = os::ExitStatus::of(task.status);
  tell(Detail::kInfo,
       "task " + std::to_string(tasks_[task.task].launch->rank) +
           (status.signal ? " ended by signal " + std::to_string(status.signal) : " ended with exit code " + std::to_string(status.code)));
}

}  // namespace muster::slurmstepd
