// The variables of a granted allocation, as salloc's command gets them. salloc(1) OUTPUT ENVIRONMENT
// VARIABLES. Pure.
#pragma once

#include "cli/common/job_environment.h"
#include "model/rpc.h"

namespace muster::cli {

void add_allocation_variables(const rpc::Allocated& a, const ClientConf& conf, VariableList& out);

// {4,4,2} → "4(x2),2".
std::string counted(const std::vector<uint32_t>& numbers);

}  // namespace muster::cli
