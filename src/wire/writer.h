// Writer: appends Protocol Buffers wire format to a string. Which fields a struct has is known to codec.h. A nested message is written
// in place behind one byte for its length, and moved when the length needs more bytes: no second buffer, no pass for sizes. Numbers are
// field numbers, 1 … 2^29-1. Cost: a few ns a field; strings are copied once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace muster {
class Bitmap;
}

namespace muster::wire {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out), base_(out.data()), size_(out.size()), room_(out.capacity()) {}
  ~Writer() { commit(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  size_t size() const { return size_; }
  void truncate(size_t size) { size_ = size; }

  void varint(uint32_t number, uint64_t value);
  void fixed64(uint32_t number, uint64_t bits);
  void bytes(uint32_t number, std::string_view value);
  void bitmap(uint32_t number, const Bitmap& value);

  // open() … anything … close() writes a length-delimited field. open returns the value that close wants.
  size_t open(uint32_t number);
  void close(size_t body);

  void raw_varint(uint64_t value) {
    need(10);
    put(value);
  }

 private:
  void need(size_t n) {
    if (room_ - size_ < n) grow(n);
  }
  void put(uint64_t v) {
    char* p = base_ + size_;
    while (v >= 0x80) {
      *p++ = static_cast<char>(v | 0x80);
      v >>= 7;
    }
    *p++ = static_cast<char>(v);
    size_ = static_cast<size_t>(p - base_);
  }
  void grow(size_t n);
  void commit();

  std::string& out_;
  char* base_;  // out_'s buffer, used up to its capacity; out_'s own size follows in commit()
  size_t size_, room_;
};

}  // namespace muster::wire
