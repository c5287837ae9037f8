// What a step's MPI module is started with, from srun --mpi, MpiDefault and mpi.conf(5).
#pragma once

#include <optional>

#include "model/mpi_rpc.h"
#include "model/step_rpc.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

// nullopt: no module. Its directory is chosen by the code that starts slurmstepd. Errors (kInvalidMpiPlugin): a module that is not on this
// node; several nodes and no srun between them (--async).
Result<std::optional<mpi_rpc::StepMpi>> step_mpi(const Setup& setup, const rpc::StepCredential& credential, const rpc::LaunchStep& launch);

// Puts the keys of mpi.conf that have an effect into `mpi`; `step` names the step and the node in the names of files.
void apply_mpi_conf(const config::SimpleConf& conf, const std::string& step, mpi_rpc::StepMpi& mpi);

}  // namespace muster::slurmd
