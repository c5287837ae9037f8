// QueryThread: a thread that does what it is given, one after the other. Daemons build and encode answers there, off the I/O
// thread (answer_streams.h).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster::net {

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

}  // namespace muster::net
