// The variables of a granted allocation, as salloc's command gets them. salloc(1) OUTPUT ENVIRONMENT VARIABLES. Pure.
#pragma once

#include "cli/common/job_environment.h"
#include "model/rpc.h"

namespace muster::cli {

void add_allocation_variables(const rpc::Allocated& allocated, const ClientConf& conf, VariableList& out);
// Those of each component of a heterogeneous job.
void add_component_variables(const std::vector<rpc::Allocated>& components, VariableList& out);

}  // namespace muster::cli
