#include "sched/future/fit_line.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>

namespace muster::sched {
namespace {

Slot end_of(Slot start, Slot length) { return start > kNever - length ? kNever : start + length; }

// The index of the last of these ascending slots that is not after this one; the first is not. Without branches, since nothing foretells them.
size_t last_not_after(const Slot* slots, size_t count, Slot slot) {
  const Slot* at = slots;
  while (count > 1) {
    const size_t half = count / 2;
    at += at[half] <= slot ? half : 0;
    count -= half;
  }
  return static_cast<size_t>(at - slots);
}

}  // namespace

size_t FitLine::insert_tile(size_t at, std::unique_ptr<Tile> tile) {
  const size_t had = tiles_.size();
  if (had == room_) {
    const size_t room = std::max<size_t>(2 * room_, 16);
    std::vector<uint64_t> all(width_ * room), gone(width_ * room);
    for (size_t w = 0; w < width_; ++w) {
      std::copy_n(all_.data() + w * room_, had, all.data() + w * room);
      std::copy_n(gone_.data() + w * room_, had, gone.data() + w * room);
    }
    all_ = std::move(all), gone_ = std::move(gone), room_ = room;
  }
  for (size_t w = 0; w < width_; ++w)
    for (uint64_t* of : {&this->all(0, w), &this->gone(0, w)}) {
      std::copy_backward(of + at, of + had, of + had + 1);
      of[at] = 0;
    }
  first_.insert(first_.begin() + static_cast<ptrdiff_t>(at), tile->slot[0]);
  tiles_.insert(tiles_.begin() + static_cast<ptrdiff_t>(at), std::move(tile));
  return at;
}

// Appends a row after all others, either without bits or, unless it is the first, with the bits of the last row of tile `before`. Returns its
// tile.
size_t FitLine::row_append(Slot slot, size_t before) {
  if (tiles_.empty() || tiles_.back()->rows == kRows / 2) {  // room is left for rows between them
    auto tile = std::make_unique<Tile>(width_);
    tile->slot[0] = slot;
    insert_tile(tiles_.size(), std::move(tile));
  }
  Tile& t = *tiles_.back();
  t.slot[t.rows] = slot;
  const bool is_first = tiles_.size() == 1 && t.rows == 0;
  for (size_t w = 0; w < width_; ++w) t.word(w)[t.rows] = is_first ? 0 : tiles_[before]->word(w)[tiles_[before]->rows - 1];
  ++t.rows;
  return tiles_.size() - 1;
}

void FitLine::conjoin(size_t tile) {
  Tile& t = *tiles_[tile];
  for (size_t w = 0; w < width_; ++w) {
    uint64_t every = ~0ull, some = 0;
    for (size_t r = 0; r < t.rows; ++r) every &= t.word(w)[r], some |= t.word(w)[r];
    all(tile, w) = every & ~gone(tile, w);
    gone(tile, w) |= ~some;
  }
  t.count = kUnknown;
}

uint32_t FitLine::count_of(size_t tile) const {
  const Tile& t = *tiles_[tile];
  if (t.count == kUnknown) {
    t.count = 0;
    for (size_t w = 0; w < width_; ++w)
      if (const uint64_t nodes = all(tile, w)) t.count += static_cast<uint32_t>(std::popcount(nodes));
  }
  return t.count;
}

void FitLine::build(size_t nodes, std::span<const NodeWindow> windows) {
  *this = FitLine();
  nodes_ = nodes;
  width_ = std::max<size_t>((nodes_ + 63) / 64, 1);
  std::vector<std::pair<Slot, uint32_t>> edges;  // where the node's bit turns
  for (const NodeWindow& w : windows) {
    edges.push_back({w.when.from, w.node});
    if (w.when.until != kNever) edges.push_back({w.when.until, w.node});
  }
  std::sort(edges.begin(), edges.end());
  size_t tile = row_append(0, 0);
  for (const auto& [slot, node] : edges) {
    if (tiles_[tile]->slot[tiles_[tile]->rows - 1] != slot) tile = row_append(slot, tile);
    Tile& t = *tiles_[tile];
    const size_t row = t.rows - 1;
    uint64_t& word = t.word(node / 64)[row];
    word ^= 1ull << (node % 64);
    const bool has = word >> (node % 64) & 1;
    if (has) t.arrivals |= 1ull << row;
  }
  for (size_t i = 0; i < tiles_.size(); ++i) conjoin(i);
}

FitLine::Place FitLine::place_of(Slot slot) const {
  const size_t tile = last_not_after(first_.data(), first_.size(), slot);
  const Tile& t = *tiles_[tile];
  return {tile, last_not_after(t.slot.data(), t.rows, slot)};
}

// Splits a full tile into two.
void FitLine::divide(size_t tile) {
  constexpr size_t kHalf = kRows / 2;
  Tile& t = *tiles_[tile];
  auto back = std::make_unique<Tile>(width_);
  std::copy(t.slot.begin() + kHalf, t.slot.end(), back->slot.begin());
  back->arrivals = t.arrivals >> kHalf;
  t.arrivals &= (1ull << kHalf) - 1;
  for (size_t w = 0; w < width_; ++w) std::copy_n(t.word(w) + kHalf, kHalf, back->word(w));
  t.rows = back->rows = kHalf;
  insert_tile(tile + 1, std::move(back));
  for (size_t w = 0; w < width_; ++w) gone(tile + 1, w) = gone(tile, w);
  conjoin(tile);
  conjoin(tile + 1);
}

// The row that begins at the slot; splits a row to make it if need be.
FitLine::Place FitLine::split(Slot slot) {
  Place place = place_of(slot);
  if (tiles_[place.tile]->slot[place.row] == slot) return place;
  if (tiles_[place.tile]->rows == kRows) {
    divide(place.tile);
    place = place_of(slot);
  }
  Tile& tile = *tiles_[place.tile];
  const size_t at = place.row + 1;
  const auto insert = [&](auto* from, auto value) {
    std::copy_backward(from + at, from + tile.rows, from + tile.rows + 1);
    from[at] = value;
  };
  insert(tile.slot.data(), slot);
  for (size_t w = 0; w < width_; ++w) insert(tile.word(w), tile.word(w)[place.row]);
  const uint64_t below = (1ull << at) - 1;
  tile.arrivals = (tile.arrivals & below) | (tile.arrivals & ~below) << 1;
  ++tile.rows;
  return {place.tile, at};
}

bool FitLine::any(uint32_t node, Slot first, Slot end) const {
  const uint64_t bit = 1ull << (node % 64);
  const size_t word = node / 64;
  for (Place p = place_of(first); p.tile < tiles_.size() && first_[p.tile] < end; p = {p.tile + 1, 0}) {
    if (gone(p.tile, word) & bit) continue;
    const Tile& t = *tiles_[p.tile];
    if (p.row == 0 && t.slot[t.rows - 1] < end) return true;
    const uint64_t* rows = t.word(word);
    for (size_t r = p.row; r < t.rows && t.slot[r] < end; ++r)
      if (rows[r] & bit) return true;
  }
  return false;
}

// The first of the tile's rows from `from` on that begins at `end` or later; past the last: there is none.
size_t FitLine::row_not_before(const Tile& t, size_t from, Slot end) {
  if (t.slot[t.rows - 1] < end) return t.rows;
  if (t.slot[from] >= end) return from;
  return last_not_after(t.slot.data() + from, t.rows - from, end - 1) + from + 1;
}

void FitLine::lose_rows(size_t tile, const Mask& m, size_t first, size_t end) {
  Tile& t = *tiles_[tile];
  uint64_t* rows = t.word(m.word);
  for (size_t r = first; r < end; ++r) rows[r] &= ~m.bits;
  uint64_t some = 0;
  for (size_t r = 0; r < t.rows; ++r) some |= rows[r];
  gone(tile, m.word) |= ~some;
}

void FitLine::clear(std::span<const Mask> masks, Slot first, Slot end) {
  if (end != kNever) split(end);
  Place place = split(first);
  while (place.tile < tiles_.size()) {
    Tile& t = *tiles_[place.tile];
    const size_t stop = row_not_before(t, place.row, end);
    for (const Mask& m : masks) {
      if (place.row == 0 && stop == t.rows) gone(place.tile, m.word) |= m.bits;
      else lose_rows(place.tile, m, place.row, stop);
      uint64_t& every = all(place.tile, m.word);
      if (every & m.bits) t.count = kUnknown;
      every &= ~m.bits;
    }
    place = stop < t.rows ? Place{place.tile, stop} : Place{place.tile + 1, 0};
    if (stop < t.rows || (place.tile < tiles_.size() && first_[place.tile] >= end)) break;
  }
  if (end == kNever) return;
  for (const Mask& m : masks)
    if (at(place.tile, m.word, place.row) & m.bits) tiles_[place.tile]->arrivals |= 1ull << place.row;
}

void FitLine::lose(std::vector<Loss> losses) {
  std::erase_if(losses, [&](const Loss& l) { return !any(l.node, l.first, l.end); });
  std::sort(losses.begin(), losses.end());
  std::vector<Mask> masks;
  for (size_t i = 0; i < losses.size();) {
    const Loss& one = losses[i];
    masks.clear();
    for (; i < losses.size() && losses[i].first == one.first && losses[i].end == one.end; ++i) {
      const uint32_t node = losses[i].node;
      if (masks.empty() || masks.back().word != node / 64) masks.push_back({node / 64, 0});
      masks.back().bits |= 1ull << (node % 64);
    }
    clear(masks, one.first, one.end);
  }
}

void FitLine::losses_outside(uint32_t node, Slot first, Slot end, std::span<const Window> windows, std::vector<Loss>& out) {
  Slot at = first;
  for (const Window& w : windows) {
    if (w.until <= at) continue;
    if (w.from >= end) break;
    if (w.from > at) out.push_back({at, w.from, node});
    at = w.until;
    if (at >= end) return;
  }
  if (at < end) out.push_back({at, end, node});
}

// Returns the first row at or after `end`. Sets `bad` to the first row of the last tile that lies wholly in the window and has too few
// nodes.
FitLine::Place FitLine::stop_of(Place start, Slot end, uint32_t count, Place& bad) const {
  for (size_t tile = start.tile; tile < tiles_.size(); ++tile) {
    const Tile& t = *tiles_[tile];
    const size_t from = tile == start.tile ? start.row : 0;
    const size_t row = row_not_before(t, from, end);
    if (row < t.rows) return {tile, row};
    if (from == 0 && count_of(tile) < count) bad = {tile, 0};
  }
  return past_end();
}

uint64_t FitLine::in_rows(size_t tile, size_t word, uint64_t nodes, size_t from, size_t to) const {
  nodes &= ~gone(tile, word);
  const uint64_t* bits = tiles_[tile]->word(word);
  size_t r = from;
  for (; nodes && r + 4 <= to; r += 4) nodes &= (bits[r] & bits[r + 1]) & (bits[r + 2] & bits[r + 3]);
  for (; nodes && r < to; ++r) nodes &= bits[r];
  return nodes;
}

// Which of these 64 nodes have room in all rows from `start` to before `stop`.
uint64_t FitLine::in_all(size_t word, uint64_t nodes, Place start, Place stop) const {
  size_t tile = start.tile;
  if (tile == stop.tile) return in_rows(tile, word, nodes, start.row, stop.row);
  if (start.row > 0) nodes = in_rows(tile, word, nodes, start.row, tiles_[tile]->rows), ++tile;
  for (; nodes && tile < stop.tile; ++tile) nodes &= all(tile, word);
  return nodes && stop.row > 0 ? in_rows(stop.tile, word, nodes, 0, stop.row) : nodes;
}

// … in all rows from `start` on that begin before `end`. Most tries fail long before that, so the end is only looked for where they do not.
uint64_t FitLine::in_all_before(size_t word, uint64_t nodes, Place start, Slot end) const {
  for (auto [tile, row] = start; nodes; ++tile, row = 0) {
    const bool ends_here = tile + 1 == tiles_.size() || first_[tile + 1] >= end;
    if (row == 0 && !ends_here) {
      nodes &= all(tile, word);
      continue;
    }
    const Tile& t = *tiles_[tile];
    nodes = in_rows(tile, word, nodes, row, ends_here ? row_not_before(t, row, end) : t.rows);
    if (ends_here) break;
  }
  return nodes;
}

bool FitLine::window_fits(const Question& q, Place start, Place stop, std::vector<uint64_t>& nodes) const {
  nodes.assign(width_, 0);
  const std::span<const uint64_t> among = q.among.words();
  uint32_t have = 0;
  for (size_t w = 0; w < std::min(width_, among.size()); ++w) {
    if (!among[w]) continue;
    nodes[w] = in_all(w, among[w], start, stop);
    if (nodes[w]) have += static_cast<uint32_t>(std::popcount(nodes[w]));
    if (q.first_only && have >= q.count) break;
  }
  return have >= q.count;
}

Slot FitLine::find(const Question& question, Bitmap& out) const {
  std::vector<uint64_t> nodes;
  const Place first = place_of(question.from);
  for (Place place = first; place.tile < tiles_.size(); step(place)) {
    const Tile& tile = *tiles_[place.tile];
    const bool is_first = place.tile == first.tile && place.row == first.row;
    if (!is_first && !(tile.arrivals >> place.row & 1)) continue;
    const Slot start = std::max(tile.slot[place.row], question.from);
    Place bad = past_end();
    const Place stop = stop_of(place, end_of(start, question.length), question.count, bad);
    if (bad.tile != tiles_.size()) {  // no window with all of it will do
      place = bad;
      continue;
    }
    if (!window_fits(question, place, stop, nodes)) continue;
    out = Bitmap::from_words(nodes_, nodes);
    if (out.contains(question.required)) return start;
  }
  return kNever;
}

// The first start of one of these 64 nodes at `from` or later; `nodes` become those that have it.
Slot FitLine::first_of_word(size_t word, uint64_t& nodes, Slot from, Slot length) const {
  Place place = place_of(from);
  uint64_t before = 0;  // of the row before
  for (Slot start = from;; start = tiles_[place.tile]->slot[place.row]) {
    const uint64_t here = at(place.tile, word, place.row) & nodes;
    if (here & ~before) {
      if (const uint64_t found = in_all_before(word, here, place, end_of(start, length))) {
        nodes = found;
        return start;
      }
    }
    before = here;
    if (++place.row < tiles_[place.tile]->rows) continue;
    place.row = 0;
    while (++place.tile < tiles_.size() && !(nodes & ~gone(place.tile, word))) before = 0;
    if (place.tile == tiles_.size()) return kNever;
  }
}

Slot FitLine::find_one(Search& search, Slot from, Slot length, const Bitmap& among, uint32_t& node) const {
  const std::span<const uint64_t> words = among.words();
  auto& heap = search.not_before;
  if (!search.begun)
    for (uint32_t w = 0; w < std::min(width_, words.size()); ++w)
      if (words[w]) heap.push({from, w});
  search.begun = true;
  while (!heap.empty()) {
    const auto [least, w] = heap.top();
    uint64_t nodes = words[w];
    const Slot start = first_of_word(w, nodes, std::max(least, from), length);
    if (start != least) {
      heap.pop();
      if (start == kNever) continue;
      heap.push({start, w});
      if (heap.top() < Search::NotBefore{start, w}) continue;
    }
    node = w * 64 + static_cast<uint32_t>(std::countr_zero(nodes));
    return start;
  }
  return kNever;
}

Slot FitLine::next_arrival(Slot after) const {
  Place p = place_of(after);
  for (step(p); p.tile < tiles_.size(); step(p))
    if (tiles_[p.tile]->arrivals >> p.row & 1) return tiles_[p.tile]->slot[p.row];
  return kNever;
}

Slot find_once(size_t nodes, std::span<const NodeWindow> windows, const FitLine::Question& question, Bitmap& out) {
  struct Stretch {
    Slot start, last;  // the job may start from here to there
    uint32_t node;
  };
  std::vector<Stretch> stretches;
  for (const NodeWindow& w : windows) {
    const Slot start = first_start({&w.when, 1}, question.from, question.length);
    if (start != kNever) stretches.push_back({start, w.when.until == kNever ? kNever : w.when.until - question.length, w.node});
  }
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return std::tie(a.start, a.node) < std::tie(b.start, b.node); });
  const auto later = [](const Stretch& a, const Stretch& b) { return a.last > b.last; };
  std::priority_queue<Stretch, std::vector<Stretch>, decltype(later)> open(later);
  out = Bitmap(nodes);
  for (size_t i = 0; i < stretches.size();) {
    const Slot at = stretches[i].start;
    for (; !open.empty() && open.top().last < at; open.pop()) out.reset(open.top().node);
    for (; i < stretches.size() && stretches[i].start == at; ++i) {
      open.push(stretches[i]);
      out.set(stretches[i].node);
    }
    if (open.size() >= question.count && out.contains(question.required)) return at;
  }
  return kNever;
}

}  // namespace muster::sched
