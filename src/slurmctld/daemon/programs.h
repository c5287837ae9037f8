// Programs that the controller runs for the site: ResumeProgram, SuspendProgram, MailProg. Started and left to themselves;
// their ends are logged when they fail. Lives on the I/O thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "config/slurm_conf.h"
#include "net/loop.h"
#include "os/log.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class Programs {
 public:
  Programs(net::Loop& loop, os::Log& log);
  void power(const PowerNodes& what, const Cluster& cluster, const config::Config& c);
  void mail(const SendMail& what, const Cluster& cluster, const config::Config& c);

 private:
  void start(const std::string& program, std::vector<std::string> argv, const std::vector<std::string>& extra_env);
  void reap();
  os::Log& log_;
  std::unordered_map<int, std::string> running_;
};

}  // namespace muster::slurmctld
