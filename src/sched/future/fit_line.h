// FitLine: for one need, which nodes have room for it, from slot to slot, as bitmaps. Backfill asks it when so many nodes have room for so
// long.
//
// Amounts only shrink while a pass runs, so bits are only ever cleared. A start can succeed where it failed one row earlier only if some
// node has come free there, so only such rows are tried. Up to kRows rows lie together in a tile, word by word (64 nodes in kRows moments
// are neighbours in memory), with their conjunction. Clearing a job's hours on a node, or looking through a window, then takes about as
// many steps as those hours or that window have tiles.
//
// Cost: build O(windows + rows · nodes / 64); lose O(tiles that change + kRows); find, for each start tried, O(rows of the window + nodes /
// 64 · its tiles). Memory: nodes / 8 bytes per row, up to twice that where tiles are half full.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bitmap.h"
#include "sched/future/timeline.h"

namespace muster::sched {

struct NodeWindow {
  uint32_t node = 0;
  Window when;
};

class FitLine {
 public:
  // Windows of one node do not touch each other.
  void build(size_t nodes, std::span<const NodeWindow> windows);
  bool built() const { return !tiles_.empty(); }

  // A node that no longer has room within [first, end).
  struct Loss {
    Slot first = 0, end = 0;
    uint32_t node = 0;
    auto operator<=>(const Loss&) const = default;
  };
  void lose(std::vector<Loss> losses);
  // Appends to `out` the parts of [first, end) that lie outside the windows.
  static void losses_outside(uint32_t node, Slot first, Slot end, std::span<const Window> windows, std::vector<Loss>& out);

  struct Question {
    Slot from = 0, length = 1;
    uint32_t count = 1;
    const Bitmap& among;
    const Bitmap& required;   // all of these must be among the nodes
    bool first_only = false;  // the first `count` nodes will do
  };
  // The first slot >= from at which so many nodes have room for `length` slots on end; puts those nodes in `out`. kNever: there is none.
  Slot find(const Question& q, Bitmap& out) const;

  // The first slot after this one at which some node may have room that had none just before; kNever: there is none.
  Slot next_arrival(Slot after) const;

  size_t bytes() const { return tiles_.size() * width_ * (kRows + 2) * sizeof(uint64_t); }

 private:
  static constexpr size_t kRows = 64;
  static constexpr uint32_t kUnknown = 0xffffffffu;
  struct Tile {
    size_t rows = 0;
    std::array<Slot, kRows> slot{};
    uint64_t arrivals = 0;              // by row: some node may have room there that has none in the row before
    std::vector<uint64_t> bits;         // [word][row]
    std::vector<uint64_t> gone;         // [word]: nodes without room in any row, whatever their bits say
    std::vector<uint64_t> all;          // [word]: of all rows in conjunction
    mutable uint32_t count = kUnknown;  // of nodes in `all`
    uint64_t* word(size_t w) { return bits.data() + w * kRows; }
    const uint64_t* word(size_t w) const { return bits.data() + w * kRows; }
    uint64_t at(size_t w, size_t row) const { return word(w)[row] & ~gone[w]; }
  };
  struct Place {
    size_t tile = 0, row = 0;
  };
  struct Mask {
    uint32_t word = 0;
    uint64_t bits = 0;
  };
  Tile& append(Slot slot, const Tile* before);
  Place place_of(Slot slot) const;
  Place split(Slot slot);
  Place past_end() const { return {tiles_.size(), 0}; }
  void divide(size_t tile);
  void conjoin(Tile& tile) const;
  void clear(std::span<const Mask> masks, Slot first, Slot end);
  bool any(uint32_t node, Slot first, Slot end) const;
  Place stop_of(Place start, Slot end, uint32_t count, Place& bad) const;
  uint32_t count_of(const Tile& tile) const;
  uint64_t in_all(size_t word, uint64_t among, Place start, Place stop) const;
  bool window_fits(const Question& q, Place start, Place stop, std::vector<uint64_t>& nodes) const;
  void step(Place& p) const {
    if (++p.row == tiles_[p.tile]->rows) ++p.tile, p.row = 0;
  }

  size_t width_ = 0, nodes_ = 0;
  std::vector<std::unique_ptr<Tile>> tiles_;
};

// The same for a need that is asked about too rarely for a line of its own. Cost: O(windows · log).
Slot find_once(size_t nodes, std::span<const NodeWindow> windows, const FitLine::Question& q, Bitmap& out);

}  // namespace muster::sched
