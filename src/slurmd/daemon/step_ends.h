// StepEnds: to whom the end of a step's part on this node is told, where that is not slurmctld: to the slurmd that manages the steps
// of the job (docs/adr/0011), on this node or another, until it is written down there. Only then is the step's slurmstepd let go of,
// so the end is told again also by a slurmd that is started anew.
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
    // The manager is on this node; `done` from the loop: an error where it could not be written down.
    std::function<void(const rpc::PartEnded&, std::function<void(Result<>)> done)> here;
    // Another node's; `taken` is called when that has it. False: it cannot be told.
    std::function<bool(const std::string& manager, const rpc::PartEnded&, std::function<void()> taken)> there;
    std::function<void(const node_rpc::StepGone&)> taken;  // from the loop
  };
  StepEnds(net::Loop& loop, os::Log& log, Ports ports, Duration pause = kPause)
      : loop_(loop), log_(log), ports_(std::move(ports)), pause_(pause) {}

  // Who manages the step; "": slurmctld.
  void managed_by(Key step, const std::string& manager) {
    if (manager.empty()) managers_.erase(step);
    else managers_[step] = manager;
  }
  // False: slurmctld is to be told, who passes it on where another manages the step. Said once more it does no harm.
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
