// FitLine: for one need, which nodes have room for it, from slot to slot, as bitmaps. Backfill asks it when so many nodes have room for so
// long.
//
// Amounts only shrink while a pass runs, so bits are only ever cleared. A start can succeed where it failed one row earlier only if some
// node has come free there, so only such rows are tried. Up to kRows rows lie together in a tile, word by word (64 nodes in kRows moments
// are neighbours in memory), with their conjunction. Clearing a job's hours on a node, or looking through a window, then takes about as
// many steps as those hours or that window have tiles. A search for one node goes by words: for each 64 nodes it keeps the slot before which
// none of them can start, so that each start is tried about once however often it is asked.
//
// Cost: build O(windows + rows · nodes / 64); lose O(tiles that change + kRows); find, for each start tried, O(rows of the window + nodes /
// 64 · its tiles). Memory: nodes / 8 bytes per row, up to twice that where tiles are half full.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <utility>
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
  // Whether the node has room at any moment of [first, end).
  bool any(uint32_t node, Slot first, Slot end) const;
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
  Slot find(const Question& question, Bitmap& out) const;

  // What is known of the searches for one node with the same `length` and `among`, each `from` no sooner than that before it: by 64 nodes the
  // slot before which none of them can start. So each start is tried about once.
  struct Search {
    using NotBefore = std::pair<Slot, uint32_t>;  // slot, word
    bool begun = false;
    std::priority_queue<NotBefore, std::vector<NotBefore>, std::greater<>> not_before;  // words with such a slot
  };
  // The first slot >= from at which some node has room for `length` slots on end; `node`: the first of them.
  Slot find_one(Search& search, Slot from, Slot length, const Bitmap& among, uint32_t& node) const;

  // The first slot after this one at which some node may have room that had none just before; kNever: there is none.
  Slot next_arrival(Slot after) const;

  size_t bytes() const { return (tiles_.size() * kRows + 2 * room_) * width_ * sizeof(uint64_t); }

 private:
  static constexpr size_t kRows = 64;
  static constexpr uint32_t kUnknown = 0xffffffffu;
  struct Tile {
    explicit Tile(size_t width) : bits(std::make_unique_for_overwrite<uint64_t[]>(width * kRows)) {}
    size_t rows = 0;
    std::array<Slot, kRows> slot{};
    uint64_t arrivals = 0;              // by row: some node may have room there that has none in the row before
    std::unique_ptr<uint64_t[]> bits;   // [word][row]; unset from `rows` on
    mutable uint32_t count = kUnknown;  // of nodes in all rows
    uint64_t* word(size_t w) { return bits.get() + w * kRows; }
    const uint64_t* word(size_t w) const { return bits.get() + w * kRows; }
  };
  struct Place {
    size_t tile = 0, row = 0;
  };
  struct Mask {
    uint32_t word = 0;
    uint64_t bits = 0;
  };
  // Which of a word's nodes have room in all rows of a tile, and exactly those that have none in any, whatever the rows' bits say. The tiles
  // of one word are neighbours in memory: a search for 64 nodes runs along them.
  uint64_t& all(size_t tile, size_t w) { return all_[w * room_ + tile]; }
  uint64_t all(size_t tile, size_t w) const { return all_[w * room_ + tile]; }
  uint64_t& gone(size_t tile, size_t w) { return gone_[w * room_ + tile]; }
  uint64_t gone(size_t tile, size_t w) const { return gone_[w * room_ + tile]; }
  uint64_t at(size_t tile, size_t w, size_t row) const { return tiles_[tile]->word(w)[row] & ~gone(tile, w); }
  size_t insert_tile(size_t at, std::unique_ptr<Tile> tile);
  size_t row_append(Slot slot, size_t before);
  Place place_of(Slot slot) const;
  Place split(Slot slot);
  Place past_end() const { return {tiles_.size(), 0}; }
  void divide(size_t tile);
  void conjoin(size_t tile);
  void clear(std::span<const Mask> masks, Slot first, Slot end);
  static size_t row_not_before(const Tile& tile, size_t from, Slot end);
  void lose_rows(size_t tile, const Mask& mask, size_t first, size_t end);
  Slot first_of_word(size_t word, uint64_t& nodes, Slot from, Slot length) const;
  Place stop_of(Place start, Slot end, uint32_t count, Place& bad) const;
  uint32_t count_of(size_t tile) const;
  uint64_t in_rows(size_t tile, size_t word, uint64_t among, size_t from, size_t to) const;
  uint64_t in_all(size_t word, uint64_t among, Place start, Place stop) const;
  uint64_t in_all_before(size_t word, uint64_t among, Place start, Slot end) const;
  bool window_fits(const Question& q, Place start, Place stop, std::vector<uint64_t>& nodes) const;
  void step(Place& p) const {
    if (++p.row == tiles_[p.tile]->rows) ++p.tile, p.row = 0;
  }

  size_t width_ = 0, nodes_ = 0;
  std::vector<std::unique_ptr<Tile>> tiles_;
  std::vector<Slot> first_;  // by tile: its first row
  size_t room_ = 0;          // tiles that all_ and gone_ have room for
  std::vector<uint64_t> all_, gone_;
};

// The same for a need that is asked about too rarely for a line of its own. Cost: O(windows · log).
Slot find_once(size_t nodes, std::span<const NodeWindow> windows, const FitLine::Question& question, Bitmap& out);

}  // namespace muster::sched
