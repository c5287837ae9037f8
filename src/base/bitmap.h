// A set of small integers (nodes, cores, devices) as machine words. Operations between bitmaps of different size
// treat the missing tail as zeros. Cost: one word operation per 64 members.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bit_words.h"

namespace muster {

class Bitmap {
 public:
  static constexpr size_t npos = static_cast<size_t>(-1);

  Bitmap() = default;
  explicit Bitmap(size_t size, bool value = false) : words_(size) {
    if (!value) return;
    std::fill_n(words_.data(), words_.size(), ~0ull);
    trim();
  }

  size_t size() const { return words_.bits(); }
  void resize(size_t size) {
    words_.resize(size);
    trim();
  }
  bool test(size_t i) const { return i < size() && (words_.data()[i / 64] >> (i % 64) & 1); }
  void set(size_t i) {
    if (i >= size()) words_.resize(i + 1);
    words_.data()[i / 64] |= 1ull << (i % 64);
  }
  void reset(size_t i) {
    if (i < size()) words_.data()[i / 64] &= ~(1ull << (i % 64));
  }
  void assign(size_t i, bool v) { v ? set(i) : reset(i); }
  void set_range(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) set(i);
  }
  void clear() { std::fill_n(words_.data(), words_.size(), 0); }

  size_t count() const {
    size_t n = 0;
    for (uint64_t w : words()) n += std::popcount(w);
    return n;
  }
  bool any() const {
    for (uint64_t w : words())
      if (w) return true;
    return false;
  }
  bool none() const { return !any(); }

  // First member at or after `from`; npos if there is none.
  size_t next(size_t from = 0) const {
    if (from >= size()) return npos;
    const std::span<const uint64_t> all = words();
    size_t w = from / 64;
    uint64_t bits = all[w] & (~0ull << (from % 64));
    while (!bits) {
      if (++w == all.size()) return npos;
      bits = all[w];
    }
    return w * 64 + static_cast<size_t>(std::countr_zero(bits));
  }
  size_t first() const { return next(0); }

  // f may change other bitmaps, not this one.
  template <class F>
  void for_each(F&& f) const {
    const std::span<const uint64_t> all = words();
    for (size_t w = 0; w < all.size(); ++w)
      for (uint64_t bits = all[w]; bits; bits &= bits - 1) f(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }

  Bitmap& operator&=(const Bitmap& o) {
    const size_t n = words_.size(), both = std::min(n, o.words_.size());
    uint64_t* to = words_.data();
    const uint64_t* from = o.words_.data();
    for (size_t w = 0; w < both; ++w) to[w] &= from[w];
    for (size_t w = both; w < n; ++w) to[w] = 0;
    return *this;
  }
  Bitmap& operator|=(const Bitmap& o) {
    if (o.size() > size()) words_.resize(o.size());
    uint64_t* to = words_.data();
    const uint64_t* from = o.words_.data();
    for (size_t w = 0, n = o.words_.size(); w < n; ++w) to[w] |= from[w];
    return *this;
  }
  Bitmap& operator-=(const Bitmap& o) {
    uint64_t* to = words_.data();
    const uint64_t* from = o.words_.data();
    for (size_t w = 0, n = std::min(words_.size(), o.words_.size()); w < n; ++w) to[w] &= ~from[w];
    return *this;
  }
  friend Bitmap operator&(Bitmap a, const Bitmap& b) {
    a &= b;
    return a;
  }
  friend Bitmap operator|(Bitmap a, const Bitmap& b) {
    a |= b;
    return a;
  }
  friend Bitmap operator-(Bitmap a, const Bitmap& b) {
    a -= b;
    return a;
  }

  bool intersects(const Bitmap& o) const {
    const std::span<const uint64_t> a = words(), b = o.words();
    for (size_t w = 0, n = std::min(a.size(), b.size()); w < n; ++w)
      if (a[w] & b[w]) return true;
    return false;
  }
  bool contains(const Bitmap& o) const {
    const std::span<const uint64_t> a = words(), b = o.words();
    for (size_t w = 0; w < b.size(); ++w)
      if (b[w] & ~(w < a.size() ? a[w] : 0)) return false;
    return true;
  }
  size_t count_and(const Bitmap& o) const {
    const std::span<const uint64_t> a = words(), b = o.words();
    size_t count = 0;
    for (size_t w = 0, n = std::min(a.size(), b.size()); w < n; ++w) count += std::popcount(a[w] & b[w]);
    return count;
  }
  // Equal members; sizes may differ.
  bool operator==(const Bitmap& o) const { return contains(o) && o.contains(*this); }

  // "0-3,7" as Slurm prints index lists; "" when empty. parse accepts the same and fails on anything else.
  std::string to_ranges() const;
  static bool parse_ranges(std::string_view text, Bitmap& out, size_t limit = 1u << 20);

  std::span<const uint64_t> words() const { return {words_.data(), words_.size()}; }
  // What is not there is zero, what is beyond `size` is left out.
  static Bitmap from_words(size_t size, std::span<const uint64_t> words) {
    Bitmap b(size);
    std::copy_n(words.data(), std::min(words.size(), b.words_.size()), b.words_.data());
    b.trim();
    return b;
  }

 private:
  void trim() {
    if (size() % 64) words_.data()[words_.size() - 1] &= (1ull << (size() % 64)) - 1;
  }

  BitWords words_;
};

}  // namespace muster
