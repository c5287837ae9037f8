// Timelines of the availability profile, in slots of SchedulerParameters=bf_resolution on an absolute grid. A
// slot is when something may start; slot 0 is now.
//
//   NodeLine   what one node has free from slot to slot
//   IdleLine   which nodes nobody holds at all, as bitmaps, for gangs of whole nodes
//
// Cost: NodeLine O(its rows); IdleLine find O(breakpoints + nodes / 64 per window looked into), take
// O(breakpoints taken).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"

namespace muster::sched {

using Slot = uint32_t;
inline constexpr Slot kNever = 0xffffffffu;

// Amounts of one node. gres: along Kind::gres.
struct Amounts {
  uint32_t units = 0;
  uint32_t jobs = 0;  // held by so many
  uint64_t mem_mb = 0;
  std::vector<uint64_t> gres;
};

class NodeLine {
 public:
  struct Row {
    Slot slot = 0;
    uint32_t units = 0, jobs = 0;
    uint64_t mem_mb = 0;
  };

  void begin(Slot slot, const Amounts& free);
  bool started() const { return !rows_.empty(); }
  size_t rows() const { return rows_.size(); }
  const Row& row(size_t i) const { return rows_[i]; }
  std::span<const uint64_t> gres(size_t i) const { return {gres_.data() + i * width_, width_}; }
  size_t row_at(Slot slot) const;  // the row that holds at the slot

  // From `first` until `end` (kNever: for good) so much is held, or given back (then clamped at `all`).
  void take(Slot first, Slot end, const Amounts& held);
  void give_back(Slot from, const Amounts& held, const Amounts& all);
  // The least of everything within [first, end); jobs: the most.
  Amounts least(Slot first, Slot end) const;

  // The first slot after this one at which there is more of something than just before; kNever: none.
  Slot next_gain(Slot after) const;

  // The first slot >= from at which `fits(row index)` holds for `length` slots on end; in `any` the first for
  // a single one.
  template <class Fits>
  Slot earliest(Slot from, Slot length, Fits&& fits, Slot& any) const {
    size_t i = row_at(from);
    Slot start = from > rows_[i].slot ? from : rows_[i].slot;
    any = kNever;
    while (true) {
      if (!fits(i)) {
        if (++i == rows_.size()) return kNever;
        start = rows_[i].slot;
        continue;
      }
      if (any == kNever) any = start;
      if (i + 1 == rows_.size() || rows_[i + 1].slot - start >= length) return start;
      ++i;
    }
  }

 private:
  size_t split(Slot slot);  // a row begins there; its index
  std::vector<Row> rows_;
  std::vector<uint64_t> gres_;
  size_t width_ = 0;
};

class IdleLine {
 public:
  // `free_from[i]`: the slot from which node i is idle for good; kNever: not at all.
  void build(const std::vector<Slot>& free_from);
  bool built() const { return !slots_.empty(); }
  // The first slot >= from with `count` nodes of `among` (all of `required` with them) idle for `length`
  // slots; those nodes in `out`. `end_of_now`: where a window that begins at slot 0 ends.
  Slot find(Slot from, Slot length, uint32_t count, const Bitmap& among, const Bitmap& required,
            Bitmap& out) const;
  void take(Slot first, Slot end, std::span<const uint32_t> nodes);
  size_t breakpoints() const { return slots_.size(); }

 private:
  size_t split(Slot slot);
  uint64_t* words(size_t i) { return pool_.data() + static_cast<size_t>(at_[i]) * width_; }
  const uint64_t* words(size_t i) const { return pool_.data() + static_cast<size_t>(at_[i]) * width_; }

  size_t width_ = 0, nodes_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> counts_, at_;  // idle nodes; index of the bitmap in the pool
  std::vector<uint64_t> pool_;
};

}  // namespace muster::sched
