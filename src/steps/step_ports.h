// Ports for steps: srun --resv-ports takes them out of MpiParams=ports=<first>-<last>, the same numbers on every node of the step, until
// the step ends. A job whose first node manages its steps gets a part of that range for itself when it starts. Which ports other programs
// on a node use is not known here. srun(1), slurm.conf(5).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"

namespace muster::steps {

struct StepPorts {
  uint16_t first = 0, last = 0;  // 0: there are none
  bool named = false;            // slurm.conf has MpiParams=ports=
};

// Empty where the step asks for none. Errors: kPortsInvalid when the range (or the configuration) could never serve the step, kPortsBusy
// while other steps on its nodes have too many of the ports. Cost: with --resv-ports all jobs of `cluster` are looked at.
Result<std::vector<uint16_t>> ports_for_step(const Cluster& cluster, const StepPorts& ports, const Job& job, const StepRequest& request,
                                             const std::vector<StepShare>& shares);

// For the steps of a job that its first node is to manage: so many ports in a row that no other job has on any of these nodes, or as many
// as there are, at least one. nullopt: there is none.
std::optional<std::pair<uint16_t, uint16_t>> ports_to_keep(const Cluster& cluster, const StepPorts& ports, const Allocation& allocation);

// "12000-12003,12008"; ascending numbers in, "" for none.
std::string port_ranges(const std::vector<uint16_t>& ports);

}  // namespace muster::steps
