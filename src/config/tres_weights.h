// Weights of resources in a bill, "CPU=1.0,Mem=0.25G,GRES/gpu=2": TRESBillingWeights of partitions, TRESWeights of nodes.
// slurm.conf(5). A bill by wrong weights is worse than none, so a list that makes no sense is refused. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::config {

// `tracked` is AccountingStorageTRES. The result is the resources in `text` that are not tracked, so that their weights have no effect.
Result<std::vector<std::string>> check_tres_weights(std::string_view text, const std::vector<std::string>& tracked);

}  // namespace muster::config
