// Host list expressions as configuration files use them, in step with one another: the n-th NodeAddr belongs
// to the n-th NodeName. Order is that of the text. Bounded by `limit`; cost O(names).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::config {

inline constexpr size_t kMaxNodes = 1u << 20;

// hostlist/ with the limit of a configuration, and the broken rule in the text of the error.
Result<std::vector<std::string>> expand_hosts(std::string_view text, size_t limit = kMaxNodes);
// "[6821-6824]", "6821-6824", "6821,6830": numbers of ports.
Result<std::vector<uint16_t>> expand_ports(std::string_view text, size_t limit = kMaxNodes);
// %n is the node's name, %h its host name (short); other % sequences stay. Used for slurmd's paths.
std::string substitute_node(std::string_view pattern, std::string_view node_name, std::string_view host_name);

}  // namespace muster::config
