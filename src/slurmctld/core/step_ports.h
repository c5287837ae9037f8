// Ports for steps: srun --resv-ports takes them out of MpiParams=ports=<first>-<last>, the same numbers on every node
// of the step, until it ends. Which ports a node's other programs use is not known here. srun(1), slurm.conf(5).
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// Empty where the step asks for none. Errors: kPortsInvalid when the range (or the configuration) could never serve it,
// kPortsBusy while other steps on its nodes have too many of them. Cost: with --resv-ports all jobs are looked at.
Result<std::vector<uint16_t>> ports_for_step(const View& v, const Job& job, const StepRequest& request,
                                             const std::vector<StepShare>& shares);

// "12000-12003,12008"; ascending numbers in, "" for none.
std::string port_ranges(const std::vector<uint16_t>& ports);

}  // namespace muster::slurmctld
