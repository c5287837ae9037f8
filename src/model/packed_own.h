// PackedOwn: the RequestOwn of a job packed into one block no longer than its texts, because most of them are empty and a queue holds
// very many. Copies share the block. Cost: get() walks over the texts before the one asked for; nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/job_request.h"

namespace muster {

class PackedOwn {
 public:
  PackedOwn() = default;  // stands for a RequestOwn in which nothing is set
  explicit PackedOwn(const RequestOwn& own);

  RequestOwn unpack() const;
  std::string_view get(std::string RequestOwn::*text) const;  // valid as long as a copy exists
  uint64_t hash() const;
  bool operator==(const PackedOwn& o) const { return block_ == o.block_ || packed() == o.packed(); }

 private:
  std::string_view packed() const;

  std::shared_ptr<const char[]> block_;  // its length, then the fields in the order of their description
};

// Puts the two parts of a request together again.
JobRequest whole_request(const RequestBody& body, const PackedOwn& own);
// The part of the request that others may see.
ShownRequest shown_request(const RequestBody& body, const PackedOwn& own);

}  // namespace muster
