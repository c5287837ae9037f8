// BitWords: the machine words behind a Bitmap. Up to 64 bits stand in the object itself, more on the heap: most sets (the CPUs of a
// node, the nodes of a job) are small, and very many of them are kept.
//
// Bits are counted, not words: size() words hold them. New words are zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.h"

namespace muster {

class BitWords {
 public:
  BitWords() = default;
  explicit BitWords(size_t bits) { resize(bits); }
  BitWords(const BitWords& o) { *this = o; }
  BitWords(BitWords&& o) noexcept { *this = std::move(o); }
  BitWords& operator=(const BitWords& o) {
    if (this == &o) return *this;
    bits_ = 0;
    resize(o.bits_);
    std::copy_n(o.data(), o.size(), data());
    return *this;
  }
  // Leaves `o` empty.
  BitWords& operator=(BitWords&& o) noexcept {
    bits_ = std::exchange(o.bits_, 0);
    room_ = std::exchange(o.room_, 1);
    one_ = o.one_;
    many_ = std::move(o.many_);
    return *this;
  }
  ~BitWords() = default;

  size_t bits() const { return bits_; }
  size_t size() const { return (size_t{bits_} + 63) / 64; }
  const uint64_t* data() const { return many_ ? many_.get() : &one_; }
  uint64_t* data() { return many_ ? many_.get() : &one_; }

  void resize(size_t bits) {
    MUSTER_CHECK(bits <= UINT32_MAX);
    const size_t before = size(), after = (bits + 63) / 64;
    if (after > room_) grow(before, std::max<size_t>(after, 2 * size_t{room_}));
    bits_ = static_cast<uint32_t>(bits);
    if (after > before) std::fill(data() + before, data() + after, 0);
  }

 private:
  void grow(size_t used, size_t room) {
    auto more = std::make_unique<uint64_t[]>(room);
    std::copy_n(data(), used, more.get());
    many_ = std::move(more);
    room_ = static_cast<uint32_t>(room);
  }

  uint32_t bits_ = 0;
  uint32_t room_ = 1;  // words that there is room for
  uint64_t one_ = 0;
  std::unique_ptr<uint64_t[]> many_;  // null: the one in place
};

}  // namespace muster
