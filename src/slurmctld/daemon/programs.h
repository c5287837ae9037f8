// Programs: those that the controller runs for the site. ResumeProgram and SuspendProgram are started and left to themselves; their ends
// are logged when they fail. MailProg has kMailTime to end, and kMailsAtOnce of it run at once; no more than kMailsKept mails run or wait,
// since users decide how many mails there are. PrologSlurmctld and EpilogSlurmctld decide what becomes of a job: each is run once however
// often the core says so, and its outcome is told until the core has recorded it. Lives on the I/O thread.
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
#include "net/pace.h"
#include "os/log.h"
#include "site/programs.h"
#include "slurmctld/core/core.h"

namespace muster::slurmctld {

class Programs {
 public:
  static constexpr Duration kMailTime = minutes(2);
  static constexpr size_t kMailsAtOnce = 16, kMailsKept = 1000;
  using Ended = std::function<void(const JobProgramEnd& end)>;
  // `also`: whether a process that has ended is somebody else's.
  Programs(net::Loop& loop, os::Log& log, Ended ended, std::function<bool(pid_t, int raw_status)> also = {});
  void power(const PowerNodes& what, const Cluster& cluster, const config::Config& c);
  void reservation(const RunReservationProgram& what, const config::Config& c);
  void mail(const SendMail& what, const Cluster& cluster, const config::Config& c);
  void job_program(const RunJobProgram& what, const Cluster& cluster, const config::Config& c);
  void abandon(const AbandonProlog& what);
  void recorded(const JobProgramEnd& end);

 private:
  using Key = std::tuple<JobId, uint32_t, bool>;  // job, generation, epilog
  struct JobRun {
    site::Programs::Run run = 0;
    std::optional<std::string> outcome;  // when it is over; "" is success
  };
  void job_program_over(const Key& key, const std::string& error);
  struct Running {
    std::string program;
    std::string file;  // that goes when it has ended; "": none
  };
  void start(Running run, std::vector<std::string> argv, const std::vector<std::string>& extra_env);
  void reap();
  net::Loop& loop_;
  os::Log& log_;
  Ended ended_;
  std::function<bool(pid_t, int raw_status)> also_;
  site::Programs runner_, mailer_;
  size_t mails_ = 0;                // that run or wait
  std::map<Uid, size_t> mails_of_;  // the same by user
  net::Pace told_{minutes(1)};
  std::map<Key, JobRun> job_runs_;
  std::unordered_map<int, Running> running_;
  uint64_t resumed_ = 0;
};

}  // namespace muster::slurmctld
