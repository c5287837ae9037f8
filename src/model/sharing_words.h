// How a job shares its nodes, as its environment (SLURM_JOB_EXCLUSIVE, SLURM_JOB_OVERSUBSCRIBE), squeue and scontrol say it. Where a
// partition is given, its rule overrides what the job asked for. Pure.
#pragma once

#include <string_view>

#include "model/job_request.h"
#include "model/partition.h"

namespace muster {

std::string_view exclusive_word(Exclusive asked, const Partition* partition);      // NO, NODE, USER, MCS, TOPO
std::string_view oversubscribe_word(Exclusive asked, const Partition* partition);  // NO, YES, OK

}  // namespace muster
