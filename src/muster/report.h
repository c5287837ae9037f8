// `muster report`: what the accounting database says, ready to bill and to look at.
#pragma once

#include <span>
#include <string>

namespace muster::front {

int report_verb(std::span<const std::string> arguments);

}  // namespace muster::front
