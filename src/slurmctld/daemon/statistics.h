// Counters that sdiag shows. They are written by the threads that do the work and read by queries: atomics, without a lock but for the
// tables per message and per user, which only the I/O thread writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "model/rpc.h"

namespace muster::slurmctld {

struct CycleStats {
  std::atomic<uint64_t> cycles{0}, last_us{0}, max_us{0}, total_us{0}, depth_total{0}, last_depth{0}, classes_total{0}, last_classes{0},
      queue_length{0}, queue_total{0}, table_size{0}, table_total{0};
  std::atomic<int64_t> when{0};  // microseconds since 1970
  void record(Time now, Duration took, uint64_t depth, uint64_t classes, uint64_t queue, uint64_t table) {
    auto us = static_cast<uint64_t>(took.count());
    ++cycles;
    last_us = us;
    if (us > max_us) max_us = us;
    total_us += us;
    depth_total += depth;
    last_depth = depth;
    classes_total += classes;
    last_classes = classes;
    queue_total += queue;
    queue_length = queue;
    table_total += table;
    table_size = table;
    when = now.time_since_epoch().count();
  }
  void reset() {
    for (auto* x :
         {&cycles, &last_us, &max_us, &total_us, &depth_total, &last_depth, &classes_total, &last_classes, &queue_total, &table_total})
      *x = 0;
  }
  rpc::CycleCounts counts() const;
};

struct CallStats {
  uint64_t count = 0, total_us = 0;
};

class Statistics {
 public:
  std::atomic<uint64_t> submitted{0}, started{0}, completed{0}, canceled{0}, failed{0}, turns{0}, events{0}, last_turn_us{0},
      max_turn_us{0};
  std::atomic<uint64_t> backfilled{0}, backfilled_since{0}, backfilled_components{0};  // ever, since the reset, ever
  std::atomic<uint32_t> records_waiting{0};                                            // accounting records that slurmdbd does not have
  std::atomic<bool> passing{false};                                                    // a full pass is being made
  // Why passes ended: there was nothing left in the queue, or a bound of SchedulerParameters was reached.
  struct Ends {
    std::atomic<uint64_t> queue{0}, starts{0}, tests{0};
    void reset() { queue = starts = tests = 0; }
  };
  Ends quick_ends, full_ends;
  CycleStats quick, full;
  std::atomic<Time> since{};

  void call(uint16_t message, Uid uid, Duration took) {
    std::lock_guard lock(mutex_);
    for (CallStats* s : {&by_message_[message], &by_user_[uid.value]}) {
      ++s->count;
      s->total_us += static_cast<uint64_t>(took.count());
    }
  }
  // sdiag(1): by itself at midnight UTC, which leaves the calls as they are, or when an operator asks for it.
  void reset(Time now, bool calls = true) {
    submitted = started = completed = canceled = failed = turns = events = max_turn_us = backfilled_since = 0;
    quick.reset();
    full.reset();
    quick_ends.reset();
    full_ends.reset();
    since = now;
    if (!calls) return;
    std::lock_guard lock(mutex_);
    by_message_.clear();
    by_user_.clear();
  }
  // The counters, for sdiag; the caller adds what is no counter (jobs by state, threads, connections).
  rpc::Statistics counts(Time now) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint16_t, CallStats> by_message_;
  std::map<uint32_t, CallStats> by_user_;
};

}  // namespace muster::slurmctld
