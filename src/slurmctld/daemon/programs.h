// Programs that the controller runs for the site. ResumeProgram, SuspendProgram and MailProg are started and left to
// themselves; their ends are logged when they fail. PrologSlurmctld and EpilogSlurmctld decide what becomes of a job: each is
// run once however often the core says so, and its outcome is told until the core has recorded it. Lives on the I/O thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "config/slurm_conf.h"
#include "net/loop.h"
#include "os/log.h"
#include "site/programs.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class Programs {
 public:
  using Ended = std::function<void(const JobProgramEnd& end)>;
  Programs(net::Loop& loop, os::Log& log, Ended ended);
  void power(const PowerNodes& what, const Cluster& cluster, const config::Config& c);
  void mail(const SendMail& what, const Cluster& cluster, const config::Config& c);
  void job_program(const RunJobProgram& what, const Cluster& cluster, const config::Config& c);
  void abandon(const AbandonProlog& what);
  void recorded(const JobProgramEnd& end);

 private:
  using Key = std::tuple<JobId, uint32_t, bool>;   // job, generation, epilog
  struct JobRun {
    site::Programs::Run run = 0;
    std::optional<std::string> outcome;            // when it is over; "" is success
  };
  void job_program_over(const Key& key, const std::string& error);
  void start(const std::string& program, std::vector<std::string> argv, const std::vector<std::string>& extra_env);
  void reap();
  os::Log& log_;
  Ended ended_;
  site::Programs runner_;
  std::map<Key, JobRun> job_runs_;
  std::unordered_map<int, std::string> running_;
};

}  // namespace muster::slurmctld
