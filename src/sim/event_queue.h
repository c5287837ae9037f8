// EventQueue: what is going to happen, ordered by (time, order of scheduling). The run's only notion of time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster::sim {

class EventQueue {
 public:
  explicit EventQueue(Time begin) : now_(begin) {}
  Time now() const { return now_; }
  void after(Duration delay, std::function<void()> what) { queue_.push({now_ + delay, ++sequence_, std::move(what)}); }
  // Runs the next happening; false when nothing is left.
  bool run_next() {
    if (queue_.empty()) return false;
    Entry next = std::move(const_cast<Entry&>(queue_.top()));
    queue_.pop();
    now_ = next.at;
    next.what();
    return true;
  }

 private:
  struct Entry {
    Time at{};
    uint64_t sequence = 0;
    std::function<void()> what;
    bool operator<(const Entry& o) const { return std::pair(o.at, o.sequence) < std::pair(at, sequence); }
  };
  Time now_;
  uint64_t sequence_ = 0;
  std::priority_queue<Entry> queue_;
};

}  // namespace muster::sim
