// The words of a node's flags as scontrol prints them behind its state and SuspendExcStates names them (node_state.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// The NodeFlag of "MAINTENANCE", "DRAIN" …, in any case; none for a state, or for what is no such word.
std::optional<uint32_t> node_flag(std::string_view word);

}  // namespace muster
