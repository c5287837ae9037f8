// Counters that sdiag shows. Written by the threads that do the work, read by queries: relaxed atomics, no lock but for the
// tables per message and per user, which only the I/O thread writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace muster::slurmctld {

struct CycleStats {
  std::atomic<uint64_t> cycles{0}, last_us{0}, max_us{0}, total_us{0}, depth_total{0}, last_depth{0}, queue_length{0};
  void record(Duration took, uint64_t depth, uint64_t queue) {
    auto us = static_cast<uint64_t>(took.count());
    ++cycles;
    last_us = us;
    if (us > max_us) max_us = us;
    total_us += us;
    depth_total += depth;
    last_depth = depth;
    queue_length = queue;
  }
  void reset() { cycles = last_us = max_us = total_us = depth_total = last_depth = 0; }
};

struct CallStats {
  uint64_t count = 0, total_us = 0;
};

class Statistics {
 public:
  std::atomic<uint64_t> submitted{0}, started{0}, completed{0}, canceled{0}, failed{0}, turns{0}, events{0}, last_turn_us{0}, max_turn_us{0};
  std::atomic<uint64_t> pending{0}, running{0};
  CycleStats quick, full;
  Time since{};

  void call(const std::string& name, Uid uid, Duration took) {
    std::lock_guard lock(mutex_);
    for (CallStats* s : {&by_name_[name], &by_user_[uid.value]}) {
      ++s->count;
      s->total_us += static_cast<uint64_t>(took.count());
    }
  }
  void reset(Time now) {
    submitted = started = completed = canceled = failed = turns = events = max_turn_us = 0;
    quick.reset();
    full.reset();
    since = now;
    std::lock_guard lock(mutex_);
    by_name_.clear();
    by_user_.clear();
  }
  // The text of sdiag(1).
  std::string text(Time now, size_t threads) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, CallStats> by_name_;
  std::map<uint32_t, CallStats> by_user_;
};

}  // namespace muster::slurmctld
