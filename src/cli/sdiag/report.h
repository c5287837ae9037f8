// The text of sdiag: what the controller counted of its own work, in the layout that exporters read. Pure. sdiag(1).
#pragma once

#include <functional>
#include <string>

#include "model/rpc.h"

namespace muster::cli {

enum class CallOrder : uint8_t { kByCount, kById, kByTotalTime, kByMeanTime };

// `user_name` gives the name of a uid. Cost: linear in the number of message types and users.
std::string statistics_text(const rpc::Statistics& statistics, CallOrder order, const std::function<std::string(Uid)>& user_name);

}  // namespace muster::cli
