// QueryThread: builds and encodes the answers of queries, off the core and off the I/O thread, from a snapshot. A long
// answer is produced in parts and pauses while the client does not read, so its memory stays bounded.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster::slurmctld {

class QueryThread {
 public:
  QueryThread();
  ~QueryThread();
  void post(std::function<void()> work);   // runs in order on the query thread

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::slurmctld
