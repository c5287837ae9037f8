#include "sched/timeline.h"

#include <algorithm>
#include <bit>
#include <map>

namespace muster::sched {
namespace {

bool at_least(const std::vector<uint64_t>& words, size_t width, uint32_t count) {
  uint32_t have = 0;
  for (size_t i = 0; i < width && have < count; ++i)
    if (words[i]) have += static_cast<uint32_t>(std::popcount(words[i]));
  return have >= count;
}

}  // namespace

void NodeLine::begin(Slot slot, const Amounts& free) {
  width_ = free.gres.size();
  rows_.assign(1, {slot, free.units, free.jobs, free.mem_mb});
  gres_ = free.gres;
}

size_t NodeLine::row_at(Slot slot) const {
  if (rows_.size() == 1 || slot < rows_[1].slot) return 0;
  if (slot >= rows_.back().slot) return rows_.size() - 1;
  auto it =
      std::upper_bound(rows_.begin(), rows_.end(), slot, [](Slot s, const Row& r) { return s < r.slot; });
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
  for (size_t i = from; i < to; ++i) {
    Row& r = rows_[i];
    r.units -= std::min(r.units, held.units);
    r.mem_mb -= std::min(r.mem_mb, held.mem_mb);
    r.jobs += held.jobs;
    for (size_t g = 0; g < width_ && g < held.gres.size(); ++g) {
      uint64_t& have = gres_[i * width_ + g];
      have -= std::min(have, held.gres[g]);
    }
  }
}

void NodeLine::give_back(Slot from, const Amounts& held, const Amounts& all) {
  for (size_t i = split(from); i < rows_.size(); ++i) {
    Row& r = rows_[i];
    r.units = std::min(r.units + held.units, all.units);
    r.mem_mb = std::min(r.mem_mb + held.mem_mb, all.mem_mb);
    r.jobs -= std::min(r.jobs, held.jobs);
    for (size_t g = 0; g < width_ && g < held.gres.size(); ++g) {
      uint64_t& have = gres_[i * width_ + g];
      have = std::min(have + held.gres[g], all.gres[g]);
    }
  }
}

Amounts NodeLine::least(Slot first, Slot end) const {
  size_t i = row_at(first);
  Amounts out{rows_[i].units, rows_[i].jobs, rows_[i].mem_mb, {gres(i).begin(), gres(i).end()}};
  for (++i; i < rows_.size() && rows_[i].slot < end; ++i) {
    out.units = std::min(out.units, rows_[i].units);
    out.jobs = std::max(out.jobs, rows_[i].jobs);
    out.mem_mb = std::min(out.mem_mb, rows_[i].mem_mb);
    for (size_t g = 0; g < width_; ++g) out.gres[g] = std::min(out.gres[g], gres(i)[g]);
  }
  return out;
}

Slot NodeLine::next_gain(Slot after) const {
  for (size_t i = row_at(after) + 1; i < rows_.size(); ++i) {
    const Row &was = rows_[i - 1], &is = rows_[i];
    if (is.slot <= after) continue;
    bool more = is.units > was.units || is.mem_mb > was.mem_mb || is.jobs < was.jobs;
    for (size_t g = 0; g < width_ && !more; ++g) more = gres(i)[g] > gres(i - 1)[g];
    if (more) return is.slot;
  }
  return kNever;
}

void IdleLine::build(const std::vector<Slot>& free_from) {
  nodes_ = free_from.size();
  width_ = std::max<size_t>((nodes_ + 63) / 64, 1);
  std::map<Slot, std::vector<uint32_t>> by_slot;
  by_slot[0];
  for (uint32_t i = 0; i < nodes_; ++i)
    if (free_from[i] != kNever) by_slot[free_from[i]].push_back(i);
  slots_.clear();
  counts_.clear();
  at_.clear();
  pool_.assign(by_slot.size() * width_, 0);
  uint32_t count = 0;
  for (const auto& [slot, nodes] : by_slot) {
    const size_t i = slots_.size();
    slots_.push_back(slot);
    at_.push_back(static_cast<uint32_t>(i));
    if (i > 0) std::copy_n(words(i - 1), width_, words(i));
    for (uint32_t n : nodes) words(i)[n / 64] |= 1ull << (n % 64);
    count += static_cast<uint32_t>(nodes.size());
    counts_.push_back(count);
  }
}

size_t IdleLine::split(Slot slot) {
  const size_t i =
      static_cast<size_t>(std::upper_bound(slots_.begin(), slots_.end(), slot) - slots_.begin()) - 1;
  if (slots_[i] == slot) return i;
  const auto fresh = static_cast<uint32_t>(pool_.size() / width_);
  pool_.resize(pool_.size() + width_);
  std::copy_n(words(i), width_, pool_.data() + static_cast<size_t>(fresh) * width_);
  const auto at = static_cast<ptrdiff_t>(i) + 1;
  slots_.insert(slots_.begin() + at, slot);
  counts_.insert(counts_.begin() + at, counts_[i]);
  at_.insert(at_.begin() + at, fresh);
  return i + 1;
}

Slot IdleLine::find(Slot from, Slot length, uint32_t count, const Bitmap& among, const Bitmap& required,
                    Bitmap& out) const {
  const size_t n = slots_.size();
  const std::vector<uint64_t>& mask = among.words();
  const size_t width = std::min(width_, mask.size());
  std::vector<uint64_t> acc(width_, 0);
  size_t k = static_cast<size_t>(std::upper_bound(slots_.begin(), slots_.end(), from) - slots_.begin()) - 1;
  while (k < n) {
    const Slot start = std::max(slots_[k], from);
    const Slot end = start > kNever - length ? kNever : start + length;
    // A breakpoint with too few idle nodes spoils every window it lies in.
    size_t bad = n;
    size_t j = k;
    for (; j < n && slots_[j] < end; ++j)
      if (counts_[j] < count) bad = j;
    if (bad != n) {
      k = bad + 1;
      continue;
    }
    const size_t stop = j;
    bool fits = true;
    std::copy_n(mask.begin(), width, acc.begin());
    for (j = k; j < stop && fits; ++j) {
      const uint64_t* w = words(j);
      for (size_t i = 0; i < width; ++i) acc[i] &= w[i];
      // Counting costs more than the conjunction: not at every breakpoint.
      if ((j - k) % 8 == 0 || j + 1 == stop) fits = at_least(acc, width, count);
    }
    if (fits) {
      out = Bitmap::from_words(nodes_, acc);
      if (out.contains(required)) return start;
    }
    ++k;
  }
  return kNever;
}

void IdleLine::take(Slot first, Slot end, std::span<const uint32_t> nodes) {
  const size_t from = split(first);
  const size_t to = end == kNever ? slots_.size() : split(end);
  for (size_t i = from; i < to; ++i) {
    uint64_t* w = words(i);
    for (uint32_t n : nodes) {
      const uint64_t bit = 1ull << (n % 64);
      counts_[i] -= (w[n / 64] & bit) != 0;
      w[n / 64] &= ~bit;
    }
  }
}

}  // namespace muster::sched
