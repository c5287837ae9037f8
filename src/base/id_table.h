// IdTable: 32-bit ids that are found by a hash of what they stand for, in one flat array. The owner has the things themselves and says
// which of the ids with a hash is meant. 0 is no id.
//
// Open addressing with linear probing; an erased entry is closed by moving those behind it. Cost: O(1) for hashes that are spread well;
// 8 bytes for each of at most 4/3 as many slots as there were ids at the last growth, doubled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster {

class IdTable {
 public:
  size_t size() const { return used_; }

  void add(uint64_t hash, uint32_t id) {
    MUSTER_CHECK(id != 0);
    if (4 * (used_ + 1) > 3 * slots_.size()) grow();
    put({tag_of(hash), id});
    ++used_;
  }
  // The first id with this hash of which `is_meant(id)` is true, or 0.
  template <class F>
  uint32_t find(uint64_t hash, F&& is_meant) const {
    const uint32_t tag = tag_of(hash);
    if (slots_.empty()) return 0;
    for (size_t i = tag & mask(); slots_[i].id; i = next(i))
      if (slots_[i].tag == tag && is_meant(slots_[i].id)) return slots_[i].id;
    return 0;
  }
  void remove(uint64_t hash, uint32_t id) {
    if (slots_.empty()) return;
    size_t hole = tag_of(hash) & mask();
    for (; slots_[hole].id != id; hole = next(hole))
      if (!slots_[hole].id) return;  // it is not here
    // Whoever stands behind the hole and would be looked for at or before it moves into it.
    for (size_t i = next(hole); slots_[i].id; i = next(i)) {
      const size_t home = slots_[i].tag & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    --used_;
  }

 private:
  struct Slot {
    uint32_t tag = 0, id = 0;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }
  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t i) const { return (i + 1) & mask(); }
  void put(Slot s) {
    size_t i = s.tag & mask();
    while (slots_[i].id) i = next(i);
    slots_[i] = s;
  }
  void grow() {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : 2 * slots_.size()));
    for (const Slot& s : before)
      if (s.id) put(s);
  }

  std::vector<Slot> slots_;  // a power of two of them
  size_t used_ = 0;
};

}  // namespace muster
