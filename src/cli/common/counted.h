// Numbers of nodes in rank order, in the form that environment variables have: {4,4,2} → "4(x2),2". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::cli {

std::string counted(const std::vector<uint32_t>& numbers);

}  // namespace muster::cli
