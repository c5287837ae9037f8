// EndWatch: tells when a job is over, whoever ended it, and is there for its allocation meanwhile (slurm.conf(5) InactiveLimit). A thread keeps
// a request open at the controller. A lost connection says nothing about the job: the thread asks again until there is an answer. It ends with
// the process.
#pragma once

#include "cli/common/session.h"

namespace muster::cli {

class EndWatch {
 public:
  EndWatch(const ClientConf& conf, JobId job);
  int fd() const { return pipe_[0]; }  // becomes readable at the end
  bool ended() const;

 private:
  int pipe_[2] = {-1, -1};
};

}  // namespace muster::cli
