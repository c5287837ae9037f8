// A set of small integers (nodes, cores, devices) as machine words. Operations between bitmaps of different size
// treat the missing tail as zeros. Cost: one word operation per 64 members.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace muster {

class Bitmap {
 public:
  static constexpr size_t npos = static_cast<size_t>(-1);

  Bitmap() = default;
  explicit Bitmap(size_t size, bool value = false) : size_(size), words_((size + 63) / 64, value ? ~0ull : 0) { trim(); }

  size_t size() const { return size_; }
  void resize(size_t size) {
    size_ = size;
    words_.resize((size + 63) / 64);
    trim();
  }
  bool test(size_t i) const { return i < size_ && (words_[i / 64] >> (i % 64) & 1); }
  void set(size_t i) {
    if (i >= size_) resize(i + 1);
    words_[i / 64] |= 1ull << (i % 64);
  }
  void reset(size_t i) {
    if (i < size_) words_[i / 64] &= ~(1ull << (i % 64));
  }
  void assign(size_t i, bool v) { v ? set(i) : reset(i); }
  void set_range(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) set(i);
  }
  void clear() { words_.assign(words_.size(), 0); }

  size_t count() const {
    size_t n = 0;
    for (uint64_t w : words_) n += std::popcount(w);
    return n;
  }
  bool any() const {
    for (uint64_t w : words_)
      if (w) return true;
    return false;
  }
  bool none() const { return !any(); }

  // First member at or after `from`; npos if there is none.
  size_t next(size_t from = 0) const {
    if (from >= size_) return npos;
    size_t w = from / 64;
    uint64_t bits = words_[w] & (~0ull << (from % 64));
    while (!bits) {
      if (++w == words_.size()) return npos;
      bits = words_[w];
    }
    return w * 64 + static_cast<size_t>(std::countr_zero(bits));
  }
  size_t first() const { return next(0); }

  template <class F>
  void for_each(F&& f) const {
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t bits = words_[w]; bits; bits &= bits - 1) f(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }

  Bitmap& operator&=(const Bitmap& o) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] &= w < o.words_.size() ? o.words_[w] : 0;
    return *this;
  }
  Bitmap& operator|=(const Bitmap& o) {
    if (o.size_ > size_) resize(o.size_);
    for (size_t w = 0; w < o.words_.size(); ++w) words_[w] |= o.words_[w];
    return *this;
  }
  Bitmap& operator-=(const Bitmap& o) {
    for (size_t w = 0; w < words_.size() && w < o.words_.size(); ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  friend Bitmap operator&(Bitmap a, const Bitmap& b) { return a &= b; }
  friend Bitmap operator|(Bitmap a, const Bitmap& b) { return a |= b; }
  friend Bitmap operator-(Bitmap a, const Bitmap& b) { return a -= b; }

  bool intersects(const Bitmap& o) const {
    for (size_t w = 0; w < words_.size() && w < o.words_.size(); ++w)
      if (words_[w] & o.words_[w]) return true;
    return false;
  }
  bool contains(const Bitmap& o) const {
    for (size_t w = 0; w < o.words_.size(); ++w)
      if (o.words_[w] & ~(w < words_.size() ? words_[w] : 0)) return false;
    return true;
  }
  size_t count_and(const Bitmap& o) const {
    size_t n = 0;
    for (size_t w = 0; w < words_.size() && w < o.words_.size(); ++w) n += std::popcount(words_[w] & o.words_[w]);
    return n;
  }
  // Equal members; sizes may differ.
  bool operator==(const Bitmap& o) const { return contains(o) && o.contains(*this); }

  // "0-3,7" as Slurm prints index lists; "" when empty. parse accepts the same and fails on anything else.
  std::string to_ranges() const;
  static bool parse_ranges(std::string_view text, Bitmap& out, size_t limit = 1u << 20);

  const std::vector<uint64_t>& words() const { return words_; }
  static Bitmap from_words(size_t size, std::vector<uint64_t> words) {
    Bitmap b;
    b.size_ = size;
    b.words_ = std::move(words);
    b.words_.resize((size + 63) / 64);
    b.trim();
    return b;
  }

 private:
  void trim() {
    if (size_ % 64 && !words_.empty()) words_.back() &= (1ull << (size_ % 64)) - 1;
  }

  size_t size_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace muster
