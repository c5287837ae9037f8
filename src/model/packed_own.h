// PackedOwn: the RequestOwn of a job packed into one block no longer than its texts, because most of them are empty and a queue holds
// very many. Copies share the block. Cost: get() walks over the texts before the one asked for; nothing is allocated.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "model/job_request.h"

namespace muster {

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
  uint64_t hash() const;
  bool operator==(const PackedOwn& o) const { return block_ == o.block_ || packed() == o.packed(); }

 private:
  // In front of the fields, which stand in the order of their description. The block counts its holders itself: a queue has two
  // pointers to each, and they are half as long.
  struct Block {
    std::atomic<uint32_t> holders{1};
    uint32_t length = 0;
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
