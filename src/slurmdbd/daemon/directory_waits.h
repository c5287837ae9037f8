// DirectoryWaits: controllers that wait for the Directory to differ from the one they know (rpc::AwaitDirectory). Each connection has
// one wait: a second one replaces the first, which gets an error. Whoever changed the Directory can wait in turn until the controllers know
// what he changed, so that a script may use at once what sacctmgr has added. Lives on the I/O thread.
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
  void forget(const void* connection);

  // Runs `done` once each controller that is connected knows the current version, which may be now. True: it is not, and `id`, a number of no
  // other one, stands for it.
  bool hold(uint64_t id, std::function<void()> done);
  // Waits no longer: runs what is held by that number, if it still is. A controller that made somebody wait in vain is not waited for again
  // before it knows some version.
  void give_up(uint64_t id);

 private:
  struct Held {
    uint64_t version = 0;
    std::function<void()> done;
  };
  bool all_know(uint64_t version) const;
  void release();

  uint64_t version_;
  std::map<const void*, Answer> waiting_;
  std::map<const void*, uint64_t> known_;  // by connection
  std::map<uint64_t, Held> held_;
};

}  // namespace muster::slurmdbd
