#include "wire/reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/bitmap.h"

namespace muster::wire {

void Reader::fail(const char* why) {
  if (!why_) why_ = why;
  number_ = 0;
  at_ = end_;
}

Result<> Reader::error(std::string_view what) const {
  if (!why_) return {};
  std::string text(errc_text(Errc::kFrameMalformed));
  text += ": ";
  text += what;
  if (*field) {
    text += ", field ";
    text += field;
  }
  text += ": ";
  text += why_;
  return muster::fail(Errc::kFrameMalformed, std::move(text));
}

uint64_t Reader::long_varint() {
  uint64_t v = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) return fail("ends within a number"), 0;
    const uint8_t byte = *at_++;
    if (shift == 63 && byte > 1) break;
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  return fail("a number of more than 64 bits"), 0;
}

void Reader::next() {
  if (at_ == end_ || why_) {
    number_ = 0;
    return;
  }
  const uint64_t tag = varint();
  if (why_) return;
  if (tag >> 32 || tag >> 3 == 0) return fail("an impossible field number");
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = tag & 7;
}

void Reader::skip() {
  switch (type_) {
    case kVarint: varint(); break;
    case kFixed64: fixed64(); break;
    case kLength: bytes(); break;
    case kFixed32:
      if (end_ - at_ < 4) return fail("ends within a fixed number");
      at_ += 4;
      break;
    default: return fail("an unknown wire type");
  }
  next();
}

void Reader::restart() {
  if (++restarts_ > kMaxRestarts) fail("too many fields out of order");
}

uint64_t Reader::scalar() {
  if (type_ != kVarint) return fail("a number is expected"), 0;
  return varint();
}

uint64_t Reader::fixed64() {
  if (type_ != kFixed64) return fail("a fixed 64-bit value is expected"), 0;
  if (end_ - at_ < 8) return fail("ends within a fixed number"), 0;
  uint64_t v;
  std::memcpy(&v, at_, 8);
  at_ += 8;
  return v;
}

std::string_view Reader::bytes() {
  if (type_ != kLength) return fail("a length and bytes are expected"), std::string_view();
  const uint64_t length = varint();
  if (length > static_cast<uint64_t>(end_ - at_)) return fail("a length beyond the end"), std::string_view();
  std::string_view out(reinterpret_cast<const char*>(at_), length);
  at_ += length;
  return out;
}

// Reads a varint size, then ceil(size/64) words of 8 bytes, little-endian.
void Reader::bitmap(Bitmap& out) {
  Outer outer;
  if (!enter(outer)) return;
  const uint64_t size = varint();
  const uint64_t left = static_cast<uint64_t>(end_ - at_);
  if (why_ || left % 8 || size > left * 8 || (size + 63) / 64 != left / 8) {
    fail("a bitmap whose words do not match its size");
  } else {
    std::vector<uint64_t> words(left / 8);
    if (left) std::memcpy(words.data(), at_, left);
    out = Bitmap::from_words(size, words);
    at_ = end_;
  }
  leave(outer);
}

size_t Reader::count_alike() const {
  Reader ahead = *this;
  size_t n = 0;
  do {
    ++n;
    ahead.skip();
  } while (ahead.number_ == number_ && ahead.type_ == type_);
  return n;
}

size_t Reader::count_varints() const {
  return static_cast<size_t>(std::count_if(at_, end_, [](uint8_t byte) { return byte < 0x80; }));
}

bool Reader::enter(Outer& outer) {
  std::string_view body = bytes();
  if (why_) return false;
  if (depth_ == kMaxDepth) return fail("nested too deeply"), false;
  ++depth_;
  outer.end = end_;
  end_ = reinterpret_cast<const uint8_t*>(body.data()) + body.size();
  at_ = end_ - body.size();
  return true;
}

void Reader::leave(const Outer& outer) {
  --depth_;
  at_ = why_ ? outer.end : end_;
  end_ = outer.end;
}

}  // namespace muster::wire
