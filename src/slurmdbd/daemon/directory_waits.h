// DirectoryWaits: controllers that wait for the Directory to differ from the one they know (rpc::AwaitDirectory). Each connection has
// one wait: a second one replaces the first, which gets an error. Lives on the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/result.h"

namespace muster::slurmdbd {

class DirectoryWaits {
 public:
  using Answer = std::function<void(Result<uint64_t> version)>;
  // Versions count up from `first`, a number that no other start of the daemon uses.
  explicit DirectoryWaits(uint64_t first) : version_(first ? first : 1) {}

  uint64_t version() const { return version_; }
  size_t size() const { return waiting_.size(); }
  // Answers at once when `known` is not the current version.
  void add(const void* connection, uint64_t known, Answer answer);
  void changed();
  void forget(const void* connection) { waiting_.erase(connection); }

 private:
  uint64_t version_;
  std::map<const void*, Answer> waiting_;
};

}  // namespace muster::slurmdbd
