// The order of lines: "P,t,-p" with letters of -o, '+' or '-' before each, and for sinfo "#P" (order of definition). squeue(1) and sinfo(1)
// --sort. Sorting is stable: rows that compare equal keep the order they came in. An unknown letter is reported in Slurm's words and left
// out; the rest counts. Cost: every key is computed once per row; a number takes 8 bytes a row and a repeated text 4; then O(n log n)
// comparisons of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fields/field_table.h"

namespace muster::fields {

template <class View>
struct SortKey {
  const FieldRow<View>* field = nullptr;  // null: by cluster, which all rows share
  bool descending = false;
  bool defined_order = false;  // "#P"
  bool tier = false;           // by PriorityTier of the row's partition: squeue --priority
};

template <class View>
struct ParsedSort {
  std::vector<SortKey<View>> keys;
  std::vector<std::string> messages;  // "Invalid sort specification: x"
};

template <class View>
ParsedSort<View> parse_sort(std::string_view text);

// The keys, with the partition's priority inserted before each key that is a job's priority. squeue(1) --priority.
std::vector<SortKey<JobView>> with_partition_priority(const std::vector<SortKey<JobView>>& keys);

// Sorts rows that it is given one after the other; a row need not live until the order is asked for.
template <class View>
class RowSorter {
 public:
  explicit RowSorter(std::vector<SortKey<View>> keys);
  void add(const View& view);
  // The indices 0 … n-1 of the rows added, in the wanted order.
  std::vector<uint32_t> order() const;

 private:
  // The values of one key for all rows. Texts are numbered as they come and ranked at the end; usually only a few of them differ.
  struct Values {
    std::vector<int64_t> numbers;
    std::vector<uint32_t> texts;
    std::unordered_map<std::string, uint32_t> known;
  };
  std::vector<int64_t> ranks(const SortKey<View>& key, const Values& values) const;

  std::vector<SortKey<View>> keys_;
  std::vector<Values> values_;
  std::string scratch_;
  uint32_t rows_ = 0;
};

// The indices 0 … views.size()-1 in the wanted order.
template <class View>
std::vector<uint32_t> sorted_order(const std::vector<View>& views, const std::vector<SortKey<View>>& keys);

}  // namespace muster::fields
