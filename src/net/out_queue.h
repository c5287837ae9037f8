// OutQueue: the bytes a connection still has to write, ready for writev.
//
// Small frames are packed into shared chunks, large payloads are moved in uncopied, so that a turn's frames leave in one system call.
// Costs: amortised O(1) per frame plus one copy of a small payload.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>

#include "net/frame.h"

namespace muster::net {

class OutQueue {
 public:
  bool empty() const { return bytes_ == 0; }
  size_t bytes() const { return bytes_; }

  void push(FrameKind kind, uint64_t id, uint16_t message, std::string payload) {
    std::string& tail = writable_tail();
    append_frame_header(tail, kind, id, message, payload.size());
    bytes_ += kFrameHeader + payload.size();
    if (payload.size() <= kCopyLimit) {
      tail.append(payload);
    } else {
      chunks_.push_back(std::move(payload));
      sealed_ = true;
    }
  }
  void push_raw(std::string_view bytes) {
    writable_tail().append(bytes);
    bytes_ += bytes.size();
  }

  // Fills at most `out.size()` entries; returns how many it filled.
  size_t gather(std::span<iovec> out) const {
    size_t n = 0;
    size_t skip = offset_;
    for (const std::string& c : chunks_) {
      if (n == out.size()) break;
      out[n++] = {const_cast<char*>(c.data()) + skip, c.size() - skip};
      skip = 0;
    }
    return n;
  }
  std::string_view front() const { return chunks_.empty() ? std::string_view() : std::string_view(chunks_.front()).substr(offset_); }
  void consume(size_t bytes) {
    bytes_ -= bytes;
    while (bytes > 0) {
      size_t left = chunks_.front().size() - offset_;
      if (bytes < left) {
        offset_ += bytes;
        return;
      }
      bytes -= left;
      offset_ = 0;
      // The last small chunk is kept: its memory serves the next turn.
      if (chunks_.size() == 1 && !sealed_ && chunks_.front().capacity() <= kKeep) {
        chunks_.front().clear();
        return;
      }
      chunks_.pop_front();
    }
    if (chunks_.empty()) sealed_ = false;
  }

 private:
  static constexpr size_t kCopyLimit = 8u << 10;
  static constexpr size_t kChunk = 64u << 10;
  static constexpr size_t kKeep = 4u << 10;

  std::string& writable_tail() {
    if (chunks_.empty() || sealed_ || chunks_.back().size() >= kChunk) {
      chunks_.emplace_back();
      sealed_ = false;
    }
    return chunks_.back();
  }

  std::list<std::string>
      chunks_;         // no chunk is empty, except a last one that is kept for its memory; a list, since most connections have none
  size_t offset_ = 0;  // how much of the first chunk is written
  size_t bytes_ = 0;
  bool sealed_ = false;  // the last chunk is a moved-in payload
};

}  // namespace muster::net
