// muster token: makes tokens by which hosts join, lists them, revokes them and the certificates got with them (docs/adr/0019). For root and
// SlurmUser. The token is printed on standard output alone, so that TOKEN=$(muster token create …) has it; the rest goes to standard error.
#pragma once

#include <span>
#include <string>

namespace muster::front {

int token_verb(std::span<const std::string> arguments);

}  // namespace muster::front
