// JobNamespaces: what each job has for itself on this node, with NamespaceType=namespace/tmpfs (directories) or namespace/linux (perhaps also
// processes and users). Making one, closing it and removing what users left are done by processes of slurmstepd (slurmstepd/namespace_program.h); here is which job is how far. A namespace outlives
// us: the next slurmd finds it in BasePath. job_container.conf(5), namespace.yaml(5),
// os/job_namespace.h.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/sluid.h"
#include "model/step_run.h"
#include "site/programs.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

class JobNamespaces {
 public:
  // Whose namespace it is, by what %u and %S stand for.
  struct Owner {
    JobId job{};
    uint32_t generation = 0;
    Uid uid{};
    std::string user;
    Sluid sluid{};
  };

  // `program`: slurmstepd. `changed`: a job's namespace is there now, or could not be made, or is gone.
  JobNamespaces(net::Loop& loop, os::Log& log, std::string program, std::function<void(JobId)> changed)
      : log_(log), program_(std::move(program)), changed_(std::move(changed)), programs_(loop, log), sweeps_(loop, log) {}

  // Before anything else, with what is to hold until we end. Errors: this node cannot have namespaces, so it may run no jobs.
  Result<> start(const Setup& setup);
  bool on() const { return settings_.has_value(); }
  bool differs(const Setup& setup) const { return setup.job_namespace != settings_; }
  // Once the steps of an earlier slurmd are known: what is there of other jobs goes. O(jobs).
  void find_again(const std::map<JobId, uint32_t>& living);

  // Whether it is there; false: it is on its way, and `changed` tells. An error is told once.
  Result<bool> ready(const Owner& owner, const std::vector<std::string>& environment);
  // Where it is entered; "": the job has none.
  std::string file_of(JobId job) const;
  std::optional<step_rpc::StepdNamespace> for_step(JobId job, StepId step) const;
  // That run of the job is over. Does nothing for a later one.
  void remove(JobId job, uint32_t generation);
  // Called for each child that SIGCHLD reports; true: it was one of ours.
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status) || sweeps_.reaped(pid, raw_status); }

 private:
  enum class State : uint8_t { kMaking, kReady, kFailed, kClosing };
  struct Job {
    uint32_t generation = 0;
    State state = State::kMaking;
    bool over = false;  // while it is made
    std::string fault;
  };
  Result<site::ProgramCall> call_to_make(const Owner& owner) const;
  std::vector<std::string> bases() const;
  std::vector<os::Fd> daemons_group() const;
  void made(JobId job, const std::string& error);
  void close(JobId job);
  void sweep();

  os::Log& log_;
  std::string program_;
  std::function<void(JobId)> changed_;
  site::Programs programs_, sweeps_;
  std::optional<config::JobNamespace> settings_;
  std::optional<os::CgroupOptions> groups_;
  std::map<JobId, Job> jobs_;
  bool found_ = false;     // find_again() was called; before, a job that lives would look like a new one
  std::set<JobId> early_;  // were asked for before
  bool sweeping_ = false, sweep_again_ = false;
};

}  // namespace muster::slurmd
