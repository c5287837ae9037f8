// QueryThread: a thread that runs work one piece after the other, by turns of the users it is done for: one who asks much waits longer,
// and the others do not. Daemons build and encode answers there, off the I/O thread (answer_streams.h).
//
// With TimeShares, a user who asks without end does not take a processor from the rest of the daemon either: after a burst the user gets
// a part of the thread's time, whether anybody else asks or not. Root and kOurs are not counted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/time.h"

namespace muster::net {

struct TimeShares {
  Duration burst = seconds(1);
  int64_t part = 4;  // after the burst, one part in this many of the thread's time
};

class QueryThread {
 public:
  explicit QueryThread(std::optional<TimeShares> shares = {});
  ~QueryThread();
  static constexpr uint64_t kOurs = UINT64_MAX;
  // Runs `work` on the query thread; pieces with the same `whom` (a uid) run in their order.
  void post(std::function<void()> work, uint64_t whom = kOurs);

 private:
  // The thread's time that a user has used, less what has been given back since, as of `at`.
  struct Spent {
    Duration time{}, at{};
  };
  void run();
  std::optional<uint64_t> next(Duration now, Duration& again);
  void charge(uint64_t whom, Duration began, Duration now);
  Duration left_of(const Spent& s, Duration now) const;

  const std::optional<TimeShares> shares_;
  std::unordered_map<uint64_t, Spent> spent_;  // touched by the thread alone
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unordered_map<uint64_t, std::deque<std::function<void()>>> work_;  // no line in it is empty
  std::deque<uint64_t> turns_;                                            // the users with work in their turns, the next first
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::net
