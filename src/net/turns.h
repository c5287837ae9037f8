// Turns: at most so many pieces of work at a time; the others wait, and those who wait get one in turn each. For what a daemon does on
// behalf of users outside itself (connections to other nodes). Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "net/loop.h"

namespace muster::net {

class Turns {
 public:
  Turns(Loop& loop, size_t most) : loop_(loop), most_(most) {}
  ~Turns() { *alive_ = false; }

  // `work` is over when the last copy of the `place` it gets is gone. begin() may call it at once.
  using Work = std::function<void(std::shared_ptr<void> place)>;
  void begin(uint64_t whom, Work work) {
    auto& line = waiting_[whom];
    if (line.empty()) turns_.push_back(whom);
    line.push_back(std::move(work));
    go_on();
  }
  size_t running() const { return running_; }
  size_t waiting() const {
    size_t n = 0;
    for (const auto& [whom, line] : waiting_) n += line.size();
    return n;
  }

 private:
  void go_on() {
    while (running_ < most_ && !turns_.empty()) {
      const uint64_t whom = turns_.front();
      turns_.pop_front();
      auto at = waiting_.find(whom);
      Work work = std::move(at->second.front());
      at->second.pop_front();
      if (at->second.empty()) waiting_.erase(at);
      else turns_.push_back(whom);
      ++running_;
      work(std::shared_ptr<void>(nullptr, [this, alive = alive_](void*) {
        if (!*alive) return;
        --running_;
        loop_.defer([this, alive] {
          if (*alive) go_on();
        });
      }));
    }
  }

  Loop& loop_;
  size_t most_, running_ = 0;
  std::unordered_map<uint64_t, std::deque<Work>> waiting_;  // no line in it is empty
  std::deque<uint64_t> turns_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster::net
