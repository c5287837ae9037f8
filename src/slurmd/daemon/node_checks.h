// NodeChecks: what slurmd does about the health of its node and about its features: HealthCheckProgram (health_check.h) and the programs of
// helpers.conf (feature_helpers.h), run by this daemon and with what it knows.
// Its programs keep no prolog waiting. Lives on the loop's thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "site/programs.h"
#include "slurmd/daemon/controller_link.h"
#include "slurmd/daemon/feature_helpers.h"
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
  void tell(node_rpc::Register& registration) const { helpers_.tell(registration); }
  // Has the features brought, then calls `reboot`, unless they need none: then the node registers as if it had booted.
  void bring(const FeatureList& features, std::function<void()> reboot);
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status); }

 private:
  HealthCheck::Ports ports();
  void register_again() { link_.connection().give_up("its features are others"); }
  const Setup& setup_;
  ControllerLink& link_;
  site::Programs programs_;
  HealthCheck health_;
  FeatureHelpers helpers_;
};

}  // namespace muster::slurmd
