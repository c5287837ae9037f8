#include "wire/writer.h"

#include <algorithm>
#include <bit>

#include "base/bitmap.h"

namespace muster::wire {
namespace {
constexpr uint32_t tag(uint32_t number, uint32_t type) { return number << 3 | type; }
}  // namespace

// Keeps the bytes written so far. They already lie in the buffer; only the string's size has to be set.
void Writer::commit() {
  out_.resize_and_overwrite(size_, [](char*, size_t n) { return n; });
}

void Writer::grow(size_t n) {
  commit();
  out_.reserve(std::max({size_ + n, 2 * room_, size_t{128}}));
  base_ = out_.data();
  room_ = out_.capacity();
}

void Writer::varint(uint32_t number, uint64_t value) {
  need(15);
  put(tag(number, 0));
  put(value);
}

void Writer::fixed64(uint32_t number, uint64_t bits) {
  static_assert(std::endian::native == std::endian::little);
  need(13);
  put(tag(number, 1));
  std::memcpy(base_ + size_, &bits, 8);
  size_ += 8;
}

void Writer::bytes(uint32_t number, std::string_view value) {
  need(15 + value.size());
  put(tag(number, 2));
  put(value.size());
  std::memcpy(base_ + size_, value.data(), value.size());
  size_ += value.size();
}

void Writer::bitmap(uint32_t number, const Bitmap& value) {
  const size_t body = open(number);
  const auto& words = value.words();
  need(10 + words.size() * 8);
  put(value.size());
  if (!words.empty()) std::memcpy(base_ + size_, words.data(), words.size() * 8);
  size_ += words.size() * 8;
  close(body);
}

size_t Writer::open(uint32_t number) {
  need(6);
  put(tag(number, 2));
  return ++size_;
}

void Writer::close(size_t body) {
  const size_t length = size_ - body;
  if (length < 0x80) {
    base_[body - 1] = static_cast<char>(length);
    return;
  }
  const size_t extra = (static_cast<size_t>(std::bit_width(length)) + 6) / 7 - 1;
  need(extra);
  std::memmove(base_ + body + extra, base_ + body, length);
  size_ = body - 1;
  put(length);
  size_ += length;
}

}  // namespace muster::wire
