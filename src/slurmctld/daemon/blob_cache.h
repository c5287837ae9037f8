// BlobCache: scripts and environments that nodes are asking for, so that a thousand nodes which want the same one read it once. Bounded by
// bytes. For use by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"

namespace muster::slurmctld {

class BlobCache {
 public:
  using Read = std::function<Result<std::string>(const std::string& hash)>;
  explicit BlobCache(size_t most_bytes = size_t{64} << 20) : most_(most_bytes) {}

  Result<std::shared_ptr<const std::string>> get(const std::string& hash, const Read& read) {
    if (auto at = by_hash_.find(hash); at != by_hash_.end()) {
      order_.splice(order_.begin(), order_, at->second);
      return order_.front().second;
    }
    MUSTER_TRY(bytes, read(hash));
    auto blob = std::make_shared<const std::string>(std::move(bytes));
    bytes_ += blob->size();
    order_.emplace_front(hash, blob);
    by_hash_[hash] = order_.begin();
    while (bytes_ > most_ && order_.size() > 1) {
      bytes_ -= order_.back().second->size();
      by_hash_.erase(order_.back().first);
      order_.pop_back();
    }
    return blob;
  }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const std::string>>;
  size_t most_, bytes_ = 0;
  std::list<Entry> order_;  // the last used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_hash_;
};

}  // namespace muster::slurmctld
