// GpuWatch: the process that looks at the use and the power of this node's GPUs (os/node/gpu_sampler.h), while somebody wants to know: it is
// started with the first step that holds a GPU, or for the node's own samples of power, and ended when no step is left. slurm.conf(5)
// AccountingStorageTRES gres/gpuutil, AcctGatherEnergyType=acct_gather_energy/gpu.
//
// One whose samples stop coming is killed, and the next comes later; one that cannot be killed (in the driver) is let be, and there is no
// second beside it. What is wrong is logged once. Nothing waits for it: slurmd and slurmstepd read what is there.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "net/loop.h"
#include "os/fd.h"
#include "os/launch.h"
#include "os/log.h"

namespace muster::slurmd {

class GpuWatch {
 public:
  struct Plan {
    std::string program, library, file;  // slurmd; NVIDIA's, for dlopen; where the samples go
    Duration every{};                    // between two samples
  };
  // `wanted`: whether anybody still wants to know.
  GpuWatch(net::Loop& loop, os::Log& log, Plan plan, std::function<bool()> wanted)
      : loop_(loop), log_(log), plan_(std::move(plan)), wanted_(std::move(wanted)) {}

  void need(Duration every);  // from now on, as long as it is wanted
  // Called for each child that SIGCHLD reports; true: it was ours.
  bool reaped(pid_t pid);

 private:
  void start();
  void check();
  void tell(const std::string& fault);

  net::Loop& loop_;
  os::Log& log_;
  Plan plan_;
  std::function<bool()> wanted_;
  std::unique_ptr<os::Launch> launch_;
  os::Fd end_;     // while it is open, the process goes on
  pid_t pid_ = 0;  // 0: there is none
  Duration last_sample_{}, next_start_{};
  bool killed_ = false;
  std::set<std::string> told_;
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::slurmd
