// HealthCheck: runs HealthCheckProgram at the start, before the node registers, and then every HealthCheckInterval, as slurm.conf(5) has it
// under HealthCheckProgram, -Interval, -NodeState and -Timeout. What follows from a sick node is the program's own business (scontrol update
// nodename=… state=drain …); a failure of the program itself is told in the log, once until it is another.
//
// All nodes run it at the same moments, the multiples of the interval since 1970, so that a parallel job is disturbed once and not by each
// node in turn; with CYCLE each node has a moment of its own within the interval. Where HealthCheckNodeState names states of use, slurmctld
// is asked for the node's before each run, since only it knows of DRAIN. A node without a controller runs nothing: it is NOT_RESPONDING.
//
// Lives on the loop's thread. Cost: a timer; a question of one row where states are named.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/rows.h"
#include "net/loop.h"
#include "os/log.h"

namespace muster::config {
struct Config;
}

namespace muster::slurmd {

struct HealthRules {
  std::string program;  // "": there is no check
  Duration interval{};  // 0: only at the start
  Duration timeout{};
  bool cycle = false, start_only = false, reboot_only = false;
  // States of use. None of them: any state.
  bool idle = false, idle_and_not_drained = false, mixed = false, allocated = false;

  static HealthRules of(const config::Config& config);
  bool names_states() const { return idle || idle_and_not_drained || mixed || allocated; }
  bool wants(const NodeRow& node) const;  // whether a node in that state is looked at
  // The next moment after `now` at which the node of that name is to run it; kTimeInfinite: there is none.
  Time next(Time now, const std::string& node) const;
};

class HealthCheck {
 public:
  struct Ports {
    std::function<void(const HealthRules&, std::function<void(std::string error)> done)> run;
    std::function<bool()> connected;
    std::function<void(std::function<void(Result<NodeRow>)>)> ask_for_node;  // this node, as slurmctld has it
  };
  HealthCheck(net::Loop& loop, os::Log& log, std::string node, Ports ports)
      : loop_(loop), log_(log), node_(std::move(node)), ports_(std::move(ports)) {}

  // Runs the program and then `then`, which lets the node register. rebooted: the machine has booted since slurmd ran here last.
  void start(HealthRules rules, bool rebooted, std::function<void()> then);
  void configure(HealthRules rules);  // after a reconfigure

 private:
  void schedule();
  void due();
  void run(std::function<void()> then);

  net::Loop& loop_;
  os::Log& log_;
  const std::string node_;
  Ports ports_;
  HealthRules rules_;
  bool running_ = false;
  std::string told_;  // the failure that the log has
  std::unique_ptr<net::Loop::Timer> timer_;
};

}  // namespace muster::slurmd
