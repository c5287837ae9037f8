// UseWatch: looks at the processes of the step's tasks now and then, and keeps what they have used (core/use_book.h). slurm.conf(5)
// JobAcctGatherType, JobAcctGatherParams, JobAcctGatherFrequency.
//
// A task's processes are those that descend from it, and those that slurmstepd has adopted of them. With jobacct_gather/cgroup its control
// group says what CPU time and memory it has, and its processes the rest. Cost of a look: about 20 µs a process; one look sees at most
// kMostProcesses of them, so that a step that starts processes without end does not keep slurmstepd from its orders.
//
// Use of GPUs is what slurmd's GpuWatch has seen of these processes, energy what the node has taken meanwhile: RAPL's counters are read here,
// those of GPUs come with the former.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "net/loop.h"
#include "os/node/cgroups.h"
#include "os/node/energy_meter.h"
#include "os/node/gpu_samples.h"
#include "os/process.h"
#include "os/process_use.h"
#include "slurmstepd/core/use_book.h"
#include "slurmstepd/step_profiler.h"

namespace muster::slurmstepd {

class UseWatch {
 public:
  static constexpr size_t kMostProcesses = 4096;
  struct Ports {
    std::function<const os::Cgroup*(size_t task)> group;  // of a task that has one of its own
    std::function<std::vector<pid_t>()> helpers;          // children of slurmstepd that are of no task
    std::function<void(Bytes has)> too_much;              // together the tasks have more than StepGather::kill_above
    StepProfiler* profiler = nullptr;                     // hears of each look; null: no time series are recorded
  };
  // Null where nothing is to be gathered.
  static std::unique_ptr<UseWatch> make(net::Loop& loop, const step_rpc::StepdLaunch& launch, Ports ports);
  UseWatch(net::Loop& loop, const step_rpc::StepGather& how, std::string node, std::vector<uint32_t> ranks, Ports ports);

  void begins(size_t task, pid_t pid);  // it runs its program
  void begin_looking();                 // all run
  // Of any child of slurmstepd, before it is waited for and after.
  void about_to_end(pid_t pid);
  void has_ended(const os::Reaped& child);

  // From now on more than this is too much, unless less was; 0: no limit comes of it.
  void lower_limit(Bytes kill_above);
  Bytes kill_above() const { return how_.kill_above; }

  rpc::StepUseNow told_now();   // by a look at this moment; processes with the tasks' own first
  StepUsage last_word() const;  // of tasks that have ended

 private:
  using Seen = std::map<pid_t, size_t>;  // a process, and the task that it is of
  // A process of a task, the one that has used the most CPU time, and the core that it ran on.
  struct Busiest {
    Duration time{-1};
    uint32_t core = 0;
  };
  void look();
  void look_at_power();
  void look_later(Duration delay);
  void add_family(pid_t pid, size_t task, std::vector<UseLook>& looks, Seen& seen);
  void add_adopted(std::vector<UseLook>& looks, Seen& seen);
  void look_at_node();
  void add_gpus(const std::vector<os::GpuSamples::Process>& processes);
  StepUsage usage(UseBook::Memory memory) const;
  bool ask_group(size_t task, UseLook& sum) const;
  bool any_runs() const;
  std::vector<int32_t> all_pids() const;

  net::Loop& loop_;
  step_rpc::StepGather how_;
  const std::string node_;
  const std::vector<uint32_t> ranks_;
  const Ports ports_;
  const os::ResidentKind kind_;
  std::vector<pid_t> pids_;  // of tasks; 0: it does not run yet, or no more
  UseBook book_;
  Seen seen_;                     // at the last look
  std::vector<Busiest> busiest_;  // of each task, at the last look
  UseLook at_end_;                // of the child that is about to be waited for
  bool told_ = false;             // that it is too much
  std::optional<os::Rapl> rapl_;
  os::CounterSum gpu_energy_;       // millijoules
  std::optional<uint64_t> joules_;  // that the node has taken since the step began here
  Duration node_seen_{};            // when the node was looked at last
  std::unique_ptr<net::Loop::Timer> timer_, power_timer_;
};

}  // namespace muster::slurmstepd
