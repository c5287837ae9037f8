// Acceptor: takes connections from a listening socket, many per turn, and pauses when the process is out of descriptors (with a full
// table it would otherwise spin the loop). Internal to net/.
#pragma once

#include <functional>
#include <memory>

#include "net/loop.h"
#include "net/socket.h"

namespace muster::net {

class Acceptor {
 public:
  Acceptor(Loop& loop, UniqueFd fd, std::function<void(UniqueFd)> accepted);

 private:
  void accept_some();

  Loop& loop_;
  UniqueFd fd_;
  std::function<void(UniqueFd)> accepted_;
  std::unique_ptr<Loop::Watch> watch_;
  std::unique_ptr<Loop::Timer> rest_;
};

}  // namespace muster::net
