#include "sched/future/timeline.h"

#include <algorithm>

namespace muster::sched {
namespace {

void add(Sharing& to, const Sharing& s) {
  to.sharers += s.sharers;
  to.apart += s.apart;
  to.stacked += s.stacked;
  to.leaning += s.leaning;
  to.largest = std::max(to.largest, s.largest);
}

void most(Sharing& of, const Sharing& s) {
  of.sharers = std::max(of.sharers, s.sharers);
  of.apart = std::max(of.apart, s.apart);
  of.stacked = std::max(of.stacked, s.stacked);
  of.leaning = std::max(of.leaning, s.leaning);
  of.largest = std::max(of.largest, s.largest);
}

}  // namespace

void NodeLine::begin(Slot slot, const Amounts& free) {
  width_ = free.gres.size();
  rows_.assign(1, {slot, free.units, free.open, free.due, free.jobs, free.mem_mb, free.sharing});
  gres_ = free.gres;
}

size_t NodeLine::row_at(Slot slot) const {
  if (rows_.size() == 1 || slot < rows_[1].slot) return 0;
  if (slot >= rows_.back().slot) return rows_.size() - 1;
  auto it = std::upper_bound(rows_.begin(), rows_.end(), slot, [](Slot s, const Row& r) { return s < r.slot; });
  return static_cast<size_t>(it - rows_.begin()) - 1;
}

size_t NodeLine::split(Slot slot) {
  const size_t i = row_at(slot);
  if (rows_[i].slot >= slot) return i;
  Row copy = rows_[i];
  copy.slot = slot;
  rows_.insert(rows_.begin() + static_cast<ptrdiff_t>(i) + 1, copy);
  if (width_) {
    std::vector<uint64_t> g(gres(i).begin(), gres(i).end());
    gres_.insert(gres_.begin() + static_cast<ptrdiff_t>((i + 1) * width_), g.begin(), g.end());
  }
  return i + 1;
}

void NodeLine::take(Slot first, Slot end, const Amounts& held) {
  const size_t from = split(first);
  const size_t to = end == kNever ? rows_.size() : split(end);
  for (size_t index = from; index < to; ++index) {
    Row& r = rows_[index];
    r.units -= std::min(r.units, held.units);
    r.open -= std::min(r.open, held.open);
    r.mem_mb -= std::min(r.mem_mb, held.mem_mb);
    r.due += held.due;
    r.jobs += held.jobs;
    add(r.sharing, held.sharing);
    for (size_t g = 0; g < width_ && g < held.gres.size(); ++g) {
      uint64_t& have = gres_[index * width_ + g];
      have -= std::min(have, held.gres[g]);
    }
  }
}

void NodeLine::take_known(Slot first, Slot end, const Amounts& held, std::span<const uint32_t> alike) {
  Amounts left = held;
  const size_t count = std::min({alike.size(), width_, held.gres.size()});
  for (size_t g = 0; g < count; ++g) left.gres[g] = 0;
  take(first, end, left);
  const size_t from = split(first), to = end == kNever ? rows_.size() : split(end);
  for (size_t index = from; index < to; ++index) {
    uint64_t* have = gres_.data() + index * width_;
    for (size_t g = 0; g < count; ++g) {
      uint64_t missing = held.gres[g] - std::min(held.gres[g], have[g]);
      have[g] -= held.gres[g] - missing;
      for (size_t other = 0; other < count && missing > 0; ++other) {
        if (alike[other] != alike[g]) continue;
        const uint64_t part = std::min(missing, have[other]);
        have[other] -= part;
        missing -= part;
      }
    }
  }
}

void NodeLine::give_back(Slot from, const Amounts& held, const Amounts& all) {
  for (size_t i = split(from); i < rows_.size(); ++i) {
    Row& r = rows_[i];
    r.units = std::min(r.units + held.units, all.units);
    r.open = std::min(r.open + held.open, all.open);
    r.mem_mb = std::min(r.mem_mb + held.mem_mb, all.mem_mb);
    r.jobs -= std::min(r.jobs, held.jobs);
    for (size_t g = 0; g < width_ && g < held.gres.size(); ++g) {
      uint64_t& have = gres_[i * width_ + g];
      have = std::min(have + held.gres[g], all.gres[g]);
    }
  }
}

Amounts NodeLine::least(Slot first, Slot end) const {
  size_t index = row_at(first);
  const Row& now = rows_[index];
  Amounts out{now.units, now.open, now.due, now.jobs, now.mem_mb, {gres(index).begin(), gres(index).end()}, now.sharing};
  for (++index; index < rows_.size() && rows_[index].slot < end; ++index) {
    const Row& r = rows_[index];
    out.units = std::min(out.units, r.units);
    out.open = std::min(out.open, r.open);
    out.due = std::max(out.due, r.due);
    out.jobs = std::max(out.jobs, r.jobs);
    out.mem_mb = std::min(out.mem_mb, r.mem_mb);
    most(out.sharing, r.sharing);
    for (size_t g = 0; g < width_; ++g) out.gres[g] = std::min(out.gres[g], gres(index)[g]);
  }
  return out;
}

bool NodeLine::goes_on(const NodeLine& before, Slot passed) const {
  if (rows_.empty() || before.rows_.empty()) return rows_.empty() == before.rows_.empty();
  if (width_ != before.width_) return false;
  size_t here = 0, there = before.row_at(passed);
  while (rows_[here].same_amounts(before.rows_[there]) && std::ranges::equal(gres(here), before.gres(there))) {
    const Slot next_here = here + 1 < rows() ? rows_[here + 1].slot : kNever;
    const Slot next_there = there + 1 < before.rows() ? before.rows_[there + 1].slot - passed : kNever;
    if (next_here == kNever && next_there == kNever) return true;
    if (next_here <= next_there) ++here;
    if (next_there <= next_here) ++there;
  }
  return false;
}

Slot NodeLine::next_gain(Slot after) const {
  for (size_t i = row_at(after) + 1; i < rows_.size(); ++i) {
    const Row &was = rows_[i - 1], &is = rows_[i];
    if (is.slot <= after) continue;
    bool more = is.units > was.units || is.open > was.open || is.mem_mb > was.mem_mb || is.jobs < was.jobs;
    for (size_t g = 0; g < width_ && !more; ++g) more = gres(i)[g] > gres(i - 1)[g];
    if (more) return is.slot;
  }
  return kNever;
}

Slot first_start(std::span<const Window> windows, Slot from, Slot length) {
  for (const Window& w : windows) {
    const Slot start = std::max(w.from, from);
    if (w.until == kNever || (start < w.until && w.until - start >= length)) return start;
  }
  return kNever;
}

}  // namespace muster::sched
