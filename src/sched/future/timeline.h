// Timelines of the availability profile, in slots of SchedulerParameters=bf_resolution on an absolute grid. A slot is a moment at which
// something may start; slot 0 is now.
//
//  NodeLine   what one node has free from slot to slot; all nodes for one need: fit_line.h
//
// Cost: O(its rows).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bitmap.h"

namespace muster::sched {

using Slot = uint32_t;
inline constexpr Slot kNever = 0xffffffffu;

// How the jobs of a node hold its units (OverSubscribe).
struct Sharing {
  uint32_t sharers = 0;  // jobs that share theirs with others
  uint32_t apart = 0;    // jobs that do not
  uint64_t stacked = 0;  // units of the sharers; what two of them hold counts twice
  // of sharers with a promise only
  uint32_t largest = 0;  // the most units that one of them wants
  uint32_t leaning = 0;  // those that need units of others: with somebody there who shares nothing they could not start
  auto operator<=>(const Sharing&) const = default;
};

// Amounts of one node. gres: along Kind::gres.
struct Amounts {
  uint32_t units = 0;
  uint32_t open = 0;  // of the units those that no GPU keeps for its jobs (RestrictedCoresPerGPU)
  uint32_t due = 0;   // of the open units so many are promised to jobs that may have no others
  uint32_t jobs = 0;  // held by so many
  uint64_t mem_mb = 0;
  std::vector<uint64_t> gres;
  Sharing sharing;
};

class NodeLine {
 public:
  struct Row {
    Slot slot = 0;
    uint32_t units = 0, open = 0, due = 0, jobs = 0;
    uint64_t mem_mb = 0;
    Sharing sharing;
    bool same_amounts(const Row& o) const {
      return units == o.units && open == o.open && due == o.due && jobs == o.jobs && mem_mb == o.mem_mb && sharing == o.sharing;
    }
  };

  void begin(Slot slot, const Amounts& free);
  bool started() const { return !rows_.empty(); }
  size_t rows() const { return rows_.size(); }
  const Row& row(size_t i) const { return rows_[i]; }
  std::span<const uint64_t> gres(size_t i) const { return {gres_.data() + i * width_, width_}; }
  size_t row_at(Slot slot) const;  // the row that holds at the slot

  // From `first` until `end` (kNever: for good) so much is held; give_back: so much is free again, clamped at `all`. How CPUs are shared is
  // only ever taken, never given back.
  void take(Slot first, Slot end, const Amounts& held);
  // The same for devices that are known, among promises that only count them. What a promise can then no longer have of an entry, it takes
  // from other entries with the same number in `alike`. Entries beyond the end of `alike` stand for themselves.
  void take_known(Slot first, Slot end, const Amounts& held, std::span<const uint32_t> alike);
  void give_back(Slot from, const Amounts& held, const Amounts& all);
  // The least of everything within [first, end); for jobs and sharing the most.
  Amounts least(Slot first, Slot end) const;

  // Whether this line says the same as `before` did, of which so many slots have passed.
  bool goes_on(const NodeLine& before, Slot passed) const;

  // The first slot after this one at which there is more of something than just before; kNever: there is none.
  Slot next_gain(Slot after) const;

 private:
  size_t split(Slot slot);  // a row begins there; its index
  std::vector<Row> rows_;
  std::vector<uint64_t> gres_;
  size_t width_ = 0;
};

// A stretch of time in which there is room for something.
struct Window {
  Slot from = 0, until = kNever;  // kNever: for good
};

// `fits(row index)`: whether there is room while that row of the line holds. Only rows that `within` touches are asked about.
template <class Fits>
void find_windows(const NodeLine& line, Fits&& fits, std::vector<Window>& out, Window within = {}) {
  out.clear();
  for (size_t i = line.row_at(within.from); i < line.rows() && line.row(i).slot < within.until; ++i) {
    if (!fits(i)) continue;
    const Slot from = line.row(i).slot, until = i + 1 < line.rows() ? line.row(i + 1).slot : kNever;
    if (!out.empty() && out.back().until == from) out.back().until = until;
    else out.push_back({from, until});
  }
}

// The first start, at `from` or later, in one of the windows (which are in order) with `length` slots before the window's end.
Slot first_start(std::span<const Window> windows, Slot from, Slot length);

}  // namespace muster::sched
