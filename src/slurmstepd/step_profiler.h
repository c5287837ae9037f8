// StepProfiler: the time series of a step (--profile) on their way into a file of the user's on a file system that nodes share. sbatch(1)
// --profile, acct_gather.conf(5) ProfileHDF5Dir; sh5util(1) makes HDF5 of such files.
//
// ProfileHDF5Dir/USER/JOB_STEP_NODE.samples. The user's folder is made by an Errand with our own rights, which goes on only in a folder that
// nobody else could have prepared (os/errand.h, make_user_folder); the file is opened and written by Errands of the user. So root writes
// nothing where a user may have planted a link, the user's quota holds, and a file server that is away delays the end of a step by seconds. A file takes
// kMostProfileBytes and no more.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/step_rpc.h"
#include "os/fd.h"
#include "slurmstepd/core/profile_book.h"
#include "slurmstepd/errands.h"
#include "slurmstepd/task_files.h"

namespace muster::slurmstepd {

class StepProfiler {
 public:
  struct Ports {
    Errands& openings;
    TaskFiles& files;
    std::function<void(const std::string&)> note;
  };
  // Null where nothing is to be recorded.
  static std::unique_ptr<StepProfiler> make(const step_rpc::StepdLaunch& launch, Ports ports);
  StepProfiler(const step_rpc::StepdLaunch& launch, std::vector<uint32_t> ranks, Ports ports);

  void open();  // before tasks start; what is recorded meanwhile waits
  // Calls `f` when the file is open or will not be; at once where that is known. Opening has a few seconds.
  void when_open(std::function<void()> f);
  void begin();  // all tasks run: time counts from here
  void look(const UseBook& book, const std::vector<pid_t>& pids);
  void ended(const UseBook& book, size_t task);
  Duration energy_interval() const { return how_.energy ? seconds(how_.energy_seconds) : Duration{}; }
  void energy(uint64_t joules);  // that the node has taken

 private:
  LookTime now() const;
  void open_file();
  void record(const ProfileChunk& chunk);
  void give_up(const std::string& why);
  void opened();

  const step_rpc::StepProfile how_;
  const Uid uid_;
  const Gid gid_;
  const std::string folder_;  // the user's, below ProfileHDF5Dir
  const std::string file_;
  const Ports ports_;
  ProfileHeader header_;
  ProfileBook book_;
  Duration began_{};
  os::Fd fd_;
  std::string waiting_;  // until the file is open
  size_t bytes_ = 0;     // recorded so far
  bool opening_ = false;
  std::vector<std::function<void()>> waiters_;
  bool over_ = false;   // nothing is recorded any more
  std::string untold_;  // why not, until the step has a standard error
};

}  // namespace muster::slurmstepd
