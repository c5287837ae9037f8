// Host list expressions of configuration files. Lists of one line belong together: the n-th NodeAddr is that of the n-th NodeName. Names
// keep the order of the text. Bounded by `limit`; cost O(names).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::config {

inline constexpr size_t kMaxNodes = 1u << 20;

// hostlist/ with the limit of a configuration; the error's text says which rule was broken.
Result<std::vector<std::string>> expand_hosts(std::string_view text, size_t limit = kMaxNodes);
// Port numbers, as in "[6821-6824]", "6821-6824" or "6821,6830".
Result<std::vector<uint16_t>> expand_ports(std::string_view text, size_t limit = kMaxNodes);
// Replaces %n by the node's name and %h by its short host name; other % sequences stay. Used for slurmd's paths.
std::string substitute_node(std::string_view pattern, std::string_view node_name, std::string_view host_name);

}  // namespace muster::config
