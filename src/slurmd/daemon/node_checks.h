// NodeChecks: what slurmd does about the health of its node and about its features: HealthCheckProgram (health_check.h), its own look at GPUs
// (gpu_health.h), the test of a node in quarantine, which is both of these once, and the programs of helpers.conf (feature_helpers.h), run by
// this daemon and with what it knows.
// Its programs keep no prolog waiting. Lives on the loop's thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "site/programs.h"
#include "slurmd/daemon/controller_link.h"
#include "slurmd/daemon/feature_helpers.h"
#include "slurmd/daemon/gpu_health.h"
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
  void registered();      // slurmctld has the node in a new session
  void test(Time since);  // answered with NodeTested. One at a time; asked again while it goes on, it answers the last that asked
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status) || gpus_.reaped(pid, raw_status); }

 private:
  HealthCheck::Ports ports();
  GpuHealth::Plan gpu_plan() const;
  void test_by_program();
  void end_test(const std::string& fault);
  void register_again() { link_.connection().give_up("its features are others"); }
  const Setup& setup_;
  ControllerLink& link_;
  site::Programs programs_;
  HealthCheck health_;
  FeatureHelpers helpers_;
  GpuHealth gpus_;
  std::optional<Time> test_;  // the one under way
};

}  // namespace muster::slurmd
