// The order of lines: "P,t,-p" with letters of -o, '+' or '-' before each, and for sinfo "#P" (order of
// definition). squeue(1) and sinfo(1) --sort. Sorting is stable: what compares equal keeps the order it came
// in. A letter nobody knows is a message in Slurm's words and is left out, the rest counts. Cost: every key
// is computed once per row, then O(n log n) comparisons of numbers or short texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fields/field_table.h"

namespace muster::fields {

template <class View>
struct SortKey {
  const FieldRow<View>* field = nullptr;  // null: by cluster, which all rows share
  bool descending = false;
  bool defined_order = false;  // "#P"
};

template <class View>
struct ParsedSort {
  std::vector<SortKey<View>> keys;
  std::vector<std::string> messages;  // "Invalid sort specification: x"
};

template <class View>
ParsedSort<View> parse_sort(std::string_view text);

// Indices 0 … views.size()-1 in the wanted order.
template <class View>
std::vector<uint32_t> sorted_order(const std::vector<View>& views, const std::vector<SortKey<View>>& keys);

}  // namespace muster::fields
