// Stepds: the slurmstepd processes of this node. Starts one per step, finds those of an earlier slurmd again
// by their sockets in the spool directory, passes orders on, and tells what they report. One that dies
// without a result counts as killed, and what it left running is killed too.
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
#include "net/channel.h"
#include "os/log.h"
#include "slurmd/daemon/insist.h"

namespace muster::slurmd {

class Stepds {
 public:
  using Key = std::pair<JobId, StepId>;
  struct Ports {
    std::function<void(const step_rpc::StepdReport&)> report;
    std::function<void(JobId, StepId)> died;  // its slurmstepd, without a result: what is left of the step must end
  };
  // `with_plugins`: the slurmstepd of launches that have some.
  Stepds(net::Loop& loop, os::Log& log, std::string program, std::string with_plugins, std::string spool, Ports ports)
      : loop_(loop),
        log_(log),
        program_(std::move(program)),
        with_plugins_(std::move(with_plugins)),
        spool_(std::move(spool)),
        ports_(std::move(ports)) {}

  // Looks for sockets and connects; `done` when each has reported or proved to be dead.
  void adopt(std::function<void()> done);
  // Then: the steps whose slurmstepd died while there was no slurmd.
  const std::set<Key>& abandoned() const { return abandoned_; }
  // Fills in socket_path, and the directory of `mpi`. The pid of slurmstepd.
  Result<pid_t> start(step_rpc::StepdLaunch launch, std::optional<mpi_rpc::StepMpi> mpi = std::nullopt);

  void signal(JobId job, StepId step, const step_rpc::StepdSignal& m);
  void end(JobId job, StepId step, const step_rpc::StepdEnd& how);
  void attach(JobId job, StepId step, const step_rpc::StepdAttach& m);
  void limit(JobId job, StepId step, const step_rpc::StepdLimit& m);
  void end_all(JobId job, const std::function<step_rpc::StepdEnd(StepId)>& how);
  void note(JobId job, StepId step, const std::string& text);  // a line on its standard error
  void for_each_step(const std::function<void(const step_rpc::StepdReport&)>& f) const;
  void for_each(JobId job, const std::function<void(StepId)>& f) const;
  void release(JobId job, StepId step);
  const step_rpc::StepdReport* find(JobId job, StepId step) const;
  size_t count() const { return steps_.size(); }

 private:
  struct Entry {
    net::ChannelPtr channel;
    step_rpc::StepdReport last;
    std::string socket;
    bool reported = false, released = false;
    bool plugins = false;  // may keep slurmstepd from listening until it has reported
  };
  void connect_to(const std::string& path, std::shared_ptr<std::function<void()>> done);
  void listen_to(net::ChannelPtr channel, Key key);
  void on_report(const step_rpc::StepdReport& r);
  void lost(Key key);
  void told_dead(Key key, Entry entry);
  void let_go(net::ChannelPtr channel);
  void end(const Entry& entry, const step_rpc::StepdEnd& how);
  std::string socket_of(Key key, uint32_t generation) const;
  static std::optional<Key> key_of(const std::string& socket);
  void sweep_directories();

  net::Loop& loop_;
  os::Log& log_;
  std::string program_, with_plugins_, spool_;
  Ports ports_;
  std::map<Key, Entry> steps_;
  std::set<Key> abandoned_;
  std::map<Key, Insist> dying_;           // lost, and their processes not gone yet
  std::vector<net::ChannelPtr> leaving_;  // released, not gone yet
};

std::string step_name(JobId job, StepId step);  // "12.batch", "12.0"

}  // namespace muster::slurmd
