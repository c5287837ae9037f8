// NodeChecks: what slurmd does about the health of its node: HealthCheckProgram (health_check.h), run by this daemon and with what it knows.
// Its programs keep no prolog waiting. Lives on the loop's thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "site/programs.h"
#include "slurmd/daemon/controller_link.h"
#include "slurmd/daemon/health_check.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// Of programs that are about the node and not about a job.
std::vector<std::string> node_environment(const Setup& setup);

class NodeChecks {
 public:
  NodeChecks(net::Loop& loop, os::Log& log, const Setup& setup, ControllerLink& link);
  void start(std::function<void()> then);  // `then`: the node may register
  void configure();                        // the configuration was read again
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status); }

 private:
  HealthCheck::Ports ports();
  const Setup& setup_;
  ControllerLink& link_;
  site::Programs programs_;
  HealthCheck health_;
};

}  // namespace muster::slurmd
