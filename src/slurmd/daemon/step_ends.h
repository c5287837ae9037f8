// StepEnds: tells the end of a step's part on this node, where slurmctld does not manage the step, to the slurmd that does (docs/adr/0011),
// on this node or another, until it is written down there. Only then is the step's slurmstepd let go of, so a slurmd that is started anew
// tells the end again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/node_rpc.h"
#include "net/loop.h"
#include "os/log.h"

namespace muster::slurmd {

class StepEnds {
 public:
  using Key = std::pair<JobId, StepId>;
  static constexpr Duration kPause = seconds(5);

  struct Ports {
    // For a manager on this node; `done` is called from the loop, with an error where it could not be written down.
    std::function<void(const rpc::PartEnded&, std::function<void(Result<>)> done)> here;
    // For a manager on another node; `taken` is called when that node has it. False: it cannot be told.
    std::function<bool(const std::string& manager, const rpc::PartEnded&, std::function<void()> taken)> there;
    std::function<void(const node_rpc::StepGone&)> taken;  // from the loop
  };
  StepEnds(net::Loop& loop, os::Log& log, Ports ports, Duration pause = kPause)
      : loop_(loop), log_(log), ports_(std::move(ports)), pause_(pause) {}

  // Says who manages the step; "": slurmctld.
  void managed_by(Key step, const std::string& manager) {
    if (manager.empty()) managers_.erase(step);
    else managers_[step] = manager;
  }
  std::string manager_of(Key step) const {
    const auto at = managers_.find(step);
    return at == managers_.end() ? std::string() : at->second;
  }
  // False: slurmctld has to be told, which passes it on where another manages the step. Telling it twice does no harm.
  bool tell(const std::string& own_node, const node_rpc::StepGone& gone);
  void forget(JobId job);

 private:
  void taken(const node_rpc::StepGone& gone);
  void keep(const std::string& own_node, const node_rpc::StepGone& gone);

  net::Loop& loop_;
  os::Log& log_;
  Ports ports_;
  const Duration pause_;
  std::map<Key, std::string> managers_;
  std::set<Key> on_their_way_;
  std::vector<node_rpc::StepGone> unwritten_;  // here, for the next attempt
  std::unique_ptr<net::Loop::Timer> again_;
};

}  // namespace muster::slurmd
