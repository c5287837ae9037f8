// DirectoryWaits: controllers that wait for the Directory to be another than the one they know (rpc::AwaitDirectory). One wait for each
// connection: a second one takes the place of the first, which is told so. Lives on the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/result.h"

namespace muster::slurmdbd {

class DirectoryWaits {
 public:
  using Answer = std::function<void(Result<uint64_t> version)>;
  // Versions are counted on from a number that no other start of the daemon has.
  explicit DirectoryWaits(uint64_t first) : version_(first ? first : 1) {}

  uint64_t version() const { return version_; }
  size_t size() const { return waiting_.size(); }
  // Answers at once when `known` is not the version of now.
  void add(const void* connection, uint64_t known, Answer answer);
  void changed();
  void forget(const void* connection) { waiting_.erase(connection); }

 private:
  uint64_t version_;
  std::map<const void*, Answer> waiting_;
};

}  // namespace muster::slurmdbd
