// Keeps a second writer out of a state directory: flock on `muster.lock`, which names the holder.
// Internal to store/. The kernel drops the lock when the holder dies, however it dies.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::store {

// Creates missing directories (0700) and makes their names durable.
Result<> make_directories(const std::string& directory);
// Makes new names in `directory` durable.
Result<> sync_directory(const std::string& directory);

class DirectoryLock {
 public:
  DirectoryLock() = default;
  DirectoryLock(DirectoryLock&& o) noexcept;
  DirectoryLock& operator=(DirectoryLock&& o) noexcept;
  ~DirectoryLock();

  // Errors: kStateNotSaved, naming pid and host of the holder, when another process has the lock.
  static Result<DirectoryLock> take(const std::string& directory);

 private:
  int fd_ = -1;
};

}  // namespace muster::store
