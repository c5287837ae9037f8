// PackedOwn: the RequestOwn of a job packed into one block no longer than its texts, because most of them are empty and a queue holds
// very many. Copies share the block. Cost: get() walks over the texts before the one asked for; nothing is allocated.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "model/job_request.h"

namespace muster {

// A job's name in few bits, never 0: names with different keys differ, those with the same may. From its length and its last eight bytes, where
// the names of a user's many jobs differ. O(1).
inline uint16_t key_of_name(std::string_view name) {
  uint64_t end = 0;
  const size_t count = std::min(name.size(), sizeof end);
  if (count) std::memcpy(&end, name.data() + (name.size() - count), count);
  const uint64_t mixed = (end ^ name.size() * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
  return static_cast<uint16_t>(mixed >> 48 | 1);
}

class PackedOwn {
 public:
  PackedOwn() = default;  // stands for a RequestOwn in which nothing is set
  explicit PackedOwn(const RequestOwn& own);
  PackedOwn(const PackedOwn& o) : block_(o.block_) { retain(); }
  PackedOwn(PackedOwn&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  PackedOwn& operator=(PackedOwn o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~PackedOwn() { release(); }

  RequestOwn unpack() const;
  // Valid as long as a copy exists. Not for the two hashes, which are packed as bytes.
  std::string_view get(std::string RequestOwn::*text) const;
  ContentHashes content_hashes() const;
  uint16_t name_key() const { return block_ ? block_->name_key : key_of_name({}); }
  uint64_t hash() const;
  bool operator==(const PackedOwn& o) const { return block_ == o.block_ || packed() == o.packed(); }

 private:
  // In front of the fields, which stand in the order of their description. The block counts its holders itself: a queue has two
  // pointers to each, and they are half as long.
  struct Block {
    std::atomic<uint32_t> holders{1};
    uint32_t length = 0;
    uint16_t name_key = 0;
  };
  std::string_view packed() const;
  void retain() const;
  void release() const;

  Block* block_ = nullptr;
};

// Puts the two parts of a request together again.
JobRequest whole_request(const RequestBody& body, const PackedOwn& own);
// The part of the request that others may see.
ShownRequest shown_request(const RequestBody& body, const PackedOwn& own);

}  // namespace muster
