// Reader: walks over Protocol Buffers wire format and trusts none of it. It holds the tag of the next field, so that codec.h can hand the
// fields to the members of a struct in one pass.
//
// Errors do not interrupt: fail() notes the first one with the name of the field and ends the walk; error() returns it. Bounds: nesting,
// how often fields may come out of order, and the memory that the elements of lists may take (Allowance): a sender must not be able to
// turn two-byte elements into a hundred bytes each without end. A list reserves its room at once, for as many elements as follow each
// other, so the memory charged is the memory taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace muster {
class Bitmap;
}

namespace muster::wire {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

// Memory for elements: `base`, and `factor` bytes for each byte of the input, but only 4 for each byte after the first `small`, because
// large requests are large by long texts. Requests that people really make stay below a factor of 20 (a list of job ids for scancel);
// rows of a query with few columns and records of our own log reach 60, and those come from our own daemons.
struct Allowance {
  size_t base, factor, small = SIZE_MAX;
  size_t of(size_t input) const { return base + factor * std::min(input, small) + (input > small ? 4 * (input - small) : 0); }
};
inline constexpr Allowance kOfAnyone{size_t{256} << 10, 24, size_t{1} << 20}, kOfOurOwn{size_t{1} << 20, 64};

class Reader {
 public:
  static constexpr int kMaxDepth = 32;
  static constexpr uint32_t kMaxRestarts = 10'000;

  explicit Reader(std::string_view in, Allowance allowance = kOfOurOwn)
      : at_(reinterpret_cast<const uint8_t*>(in.data())), end_(at_ + in.size()), budget_(allowance.of(in.size())) {}

  // The tag of the next field; 0 at the end of the message (or after an error).
  uint32_t number() const { return number_; }
  uint32_t type() const { return type_; }
  const char* field = "";  // of the innermost member being read, for the error

  bool failed() const { return why_ != nullptr; }
  void fail(const char* why);
  Result<> error(std::string_view what) const;

  void next();     // reads the next tag
  void skip();     // skips the value of the current one and reads the next tag
  void restart();  // counts a field out of order

  uint64_t varint() {
    if (at_ < end_ && *at_ < 0x80) return *at_++;
    return long_varint();
  }
  // Values of the current field; they fail() when the wire type is another.
  uint64_t scalar();
  uint64_t fixed64();
  std::string_view bytes();
  void bitmap(Bitmap& out);
  void charge(size_t size) {
    if (size > budget_) return fail("too many elements for the message's size");
    budget_ -= size;
  }

  // How many fields like the current one follow each other here, including it: the number of elements that a list needs room for.
  size_t count_alike() const;
  // The same for packed numbers, between enter() and leave().
  size_t count_varints() const;

  // enter() … anything … leave() walks over a nested message (or packed numbers). enter returns false after an error.
  struct Outer {
    const uint8_t* end;
  };
  bool enter(Outer& outer);
  void leave(const Outer& outer);
  bool at_end() const { return at_ == end_; }

 private:
  uint64_t long_varint();

  const uint8_t *at_, *end_;
  uint32_t number_ = 0, type_ = 0;
  int depth_ = 0;
  uint32_t restarts_ = 0;
  size_t budget_;
  const char* why_ = nullptr;
};

}  // namespace muster::wire
