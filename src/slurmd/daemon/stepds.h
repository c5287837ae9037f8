// Stepds: the slurmstepd processes of this node. Starts one per step, finds those of an earlier slurmd again by their sockets in the spool
// directory, passes orders on, and tells what they report. A slurmstepd that dies without a result counts as killed, and what it left
// running is killed too, even when it died while no slurmd ran: adopt() is not done before that is over, so no job comes to a node where
// its last run may be alive. The processes left are known by their session, by descent, and by the job and node in their environment (and
// by a control group: leftovers.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "model/step_run.h"
#include "net/channel.h"
#include "os/fd.h"
#include "os/fork_server.h"
#include "os/log.h"
#include "os/process_tree.h"
#include "slurmd/daemon/insist.h"
#include "slurmd/daemon/sweeper.h"

namespace muster::slurmd {

inline bool is_over(const step_rpc::StepdReport& r) {
  return r.state == step_rpc::StepdState::kEnded || r.state == step_rpc::StepdState::kLaunchFailed;
}

class Stepds {
 public:
  using Key = std::pair<JobId, StepId>;
  struct Ports {
    std::function<void(const step_rpc::StepdReport&)> report;
    std::function<void(JobId, StepId)> died;                     // slurmstepd died without a result: what is left of the step must end
    std::function<void(const step_rpc::StepdReport&)> survives;  // then, if what it left cannot be killed; before the report of its end
  };
  // `program` makes copies of itself (os/fork_server.h); `with_plugins` is the program for launches that have plugins, started for each.
  Stepds(net::Loop& loop, os::Log& log, Sweeper& sweeper, std::string node, std::string program, std::string with_plugins,
         std::string spool, Ports ports)
      : loop_(loop),
        log_(log),
        sweeper_(sweeper),
        node_(std::move(node)),
        program_(std::move(program)),
        with_plugins_(std::move(with_plugins)),
        spool_(std::move(spool)),
        ports_(std::move(ports)),
        copies_(spec_of(program_, {"slurmstepd", "serve"})) {}

  // What each slurmstepd is told from now on.
  void score(std::optional<step_rpc::StepdOomScore> scores) { oom_scores_ = scores; }
  // Looks for sockets and connects; `done` when each has reported or proved to be dead.
  void adopt(std::function<void()> done);
  // After adopt(): the steps whose slurmstepd died while there was no slurmd.
  const std::set<Key>& abandoned() const { return abandoned_; }
  // Fills in socket_path, and the directory of `mpi`. `io_by_root`: root named the address of its streams; else its user did. Returns the
  // pid of slurmstepd.
  Result<pid_t> start(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi = std::nullopt, bool io_by_root = false,
                      const std::optional<step_rpc::StepdNamespace>& name_space = std::nullopt);

  void signal(JobId job, StepId step, const step_rpc::StepdSignal& m);
  void end(JobId job, StepId step, const step_rpc::StepdEnd& how);
  void attach(JobId job, StepId step, const step_rpc::StepdAttach& m, bool io_by_root);
  void limit(JobId job, StepId step, const step_rpc::StepdLimit& m);
  void limit_memory(JobId job, const step_rpc::StepdMemory& m);  // of all its steps that run
  // What the step has used until now; kInvalidJobId where it does not run here.
  void ask_use(JobId job, StepId step, std::function<void(Result<rpc::StepUseNow>)> answered);
  // Of all its steps but the external one, which goes last.
  void end_all(JobId job, const std::function<step_rpc::StepdEnd(StepId)>& how);
  void note(JobId job, StepId step, const std::string& text);  // a line on its standard error
  void for_each_step(const std::function<void(const step_rpc::StepdReport&)>& f) const;
  void for_each(JobId job, const std::function<void(StepId)>& f) const;
  // Calls `f` when slurmstepd has read nearly all that was sent to it. If that cannot happen any more, `f` is destroyed uncalled.
  void when_taken(JobId job, StepId step, std::function<void()> f);
  void release(JobId job, StepId step);
  const step_rpc::StepdReport* find(JobId job, StepId step) const;
  size_t count() const { return steps_.size(); }

 private:
  struct Entry {
    net::ChannelPtr channel;
    step_rpc::StepdReport last;
    std::string socket;
    bool reported = false, released = false;
    os::Fd process;            // slurmstepd, if we started it
    uint64_t start_ticks = 0;  // of slurmstepd, from its run file
    bool plugins = false;      // plugins may keep slurmstepd from listening until it has reported
  };
  void connect_to(const std::string& path, std::shared_ptr<std::function<void()>> done);
  void listen_to(net::ChannelPtr channel, Key key);
  void on_report(const step_rpc::StepdReport& r);
  void lost(Key key);
  void found_dead(const std::string& socket, std::shared_ptr<std::function<void()>> done);
  void end_what_is_left(Key key, Entry entry, std::shared_ptr<std::function<void()>> done);
  static void read_run_file(Entry& entry);
  static void end_daemon(const Entry& entry);
  os::ProcessSet left_by(Key key, const Entry& entry) const;
  void told_dead(Key key, Entry entry);
  void sweep(const std::string& socket, Key key);
  Result<> make_room(const step_rpc::StepdLaunch& launch);
  // A slurmstepd that has been told nothing yet, and our end of the socket to it.
  struct Begun {
    pid_t pid = 0;
    os::Fd process, ours;
  };
  Result<Begun> begin(const std::string& title, bool plugins);
  Result<Begun> begin_as_copy(const std::string& title);
  Result<Begun> begin_by_itself(const std::string& title, bool plugins);
  static os::SpawnSpec spec_of(const std::string& program, std::vector<std::string> argv);
  void let_go(net::ChannelPtr channel);
  void end(const Entry& entry, const step_rpc::StepdEnd& how);
  std::string socket_of(Key key, uint32_t generation) const;
  static std::optional<Key> key_of(const std::string& socket);
  void sweep_directories();
  std::string script_directory(JobId job) const { return spool_ + "/job" + std::to_string(job.value); }

  net::Loop& loop_;
  os::Log& log_;
  Sweeper& sweeper_;
  std::string node_, program_, with_plugins_, spool_;
  std::optional<step_rpc::StepdOomScore> oom_scores_;
  Ports ports_;
  os::ForkServer copies_;
  Time no_copies_until_{};  // after a failure
  std::map<Key, Entry> steps_;
  std::set<Key> abandoned_;
  std::map<Key, Insist> dying_;           // lost, and their processes not gone yet
  std::vector<net::ChannelPtr> leaving_;  // released, not gone yet
};

std::string step_name(JobId job, StepId step);                      // "12.batch", "12.0"
std::string run_name(JobId job, StepId step, uint32_t generation);  // "12.0.1"

}  // namespace muster::slurmd
