// Lists of node names: expand, print, compare, and sets of names that keep their order.
// The grammar and its bounds are in host_range.h. Names passed in are plain: no brackets, commas, blanks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hostlist/host_range.h"

namespace muster {

// "n[1-3],gpu7" → n1 n2 n3 gpu7, in written order with duplicates; "" gives no names. Errors: see host_range.h. Cost: O(hosts * name).
Result<std::vector<std::string>> expand_hosts(std::string_view text, size_t limit = kMaxHosts);
// How many names expand_hosts would give. Cost: O(text).
Result<size_t> count_hosts(std::string_view text, size_t limit = kMaxHosts);

// Prints names as `scontrol show hostlist` does: order and duplicates are kept, neighbours that differ only in the number at their end
// share brackets, and consecutive numbers become a range: tux2 tux1 tux2 → tux[2,1-2]. expand_hosts gives the names back.
// Cost: O(total length).
std::string compress_hosts(std::span<const std::string> hosts);
// The same for the names sorted by host_less, as `scontrol show hostlistsorted` prints them. Cost: O(n log n).
std::string compress_hosts_sorted(std::span<const std::string> hosts);

// The order in which people sort names: first the text with the numbers inside it compared as numbers (r2n1 before r10n1), then a name
// without a number at its end before one with, then the number at the end, fewer digits first (n1 n9 n10 n01 sorts as n1 n9 n01 n10). A
// strict total order of distinct names.
bool host_less(std::string_view a, std::string_view b);

// Sets of names. Results are without duplicates, in the order of first appearance (a before b). Cost: O(|a| + |b|).
std::vector<std::string> unique_hosts(std::span<const std::string> hosts);
std::vector<std::string> hosts_union(std::span<const std::string> a, std::span<const std::string> b);
std::vector<std::string> hosts_difference(std::span<const std::string> a, std::span<const std::string> b);
std::vector<std::string> hosts_intersection(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace muster
