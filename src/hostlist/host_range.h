// The grammar of node lists (slurm.conf(5) NodeName, scontrol(1) show hostnames), read but not expanded.
//
//   list   = term { separator term }      separator: commas and blanks; empty terms are skipped
//   term   = text and index sets in any order, as in rack[0-3]n[01-04] or gpu[1-2]-ib
//   index set = "[" item { "," item } "]"     item = digits | digits "-" digits
//
// Digits keep their zeros: the width of a range is that of its first number (08-11 is 08 09 10 11). Order is the written
// order, the last index set running fastest; with three and more sets the first of the others comes next, then the
// Digits keep their zeros: the width of a range is that of its first number (08-11 is 08 09 10 11). Names come in the written order,
// and the last index set runs fastest; with three sets or more, the first set runs next, then the second, as in Slurm. Duplicates stay.
// Not here: printing lists and sets of names (hostlist.h); array task ranges (model); reading files.
// Bounds: `limit` hosts, names of at most 255 bytes, numbers of at most 18 significant digits, no control characters.
// Cost: parse O(text); memory O(text), whatever the number of hosts; a name O(its length + log of the text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

inline constexpr size_t kMaxHosts = 65536;
inline constexpr size_t kMaxHostName = 255;
inline constexpr size_t kMaxHostDigits = 18;

class HostRange {
 public:
  HostRange() = default;
  static Result<HostRange> parse(std::string_view text, size_t limit = kMaxHosts);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // The i-th name; i < size().
  std::string at(size_t index) const;

  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const HostRange* range, size_t i) : range_(range), i_(i) {}
    std::string operator*() const { return range_->at(i_); }
    Iterator& operator++() { return ++i_, *this; }
    Iterator operator++(int) { return {range_, i_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const HostRange* range_ = nullptr;
    size_t i_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

 private:
  friend class HostRangeParser;
  struct Run {  // consecutive numbers
    uint64_t first;
    uint64_t start;  // how many indices of the set lie before
    uint32_t width;
  };
  struct IndexSet {
    std::string before;  // literal text in front of it
    std::vector<Run> runs;
    uint64_t count = 0;
  };
  struct Term {
    std::vector<IndexSet> sets;
    std::string tail;
    size_t start = 0;  // how many hosts of the list lie before
  };
  static void append_index(const IndexSet& set, uint64_t i, std::string& out);

  std::vector<Term> terms_;
  size_t size_ = 0;
};

}  // namespace muster
