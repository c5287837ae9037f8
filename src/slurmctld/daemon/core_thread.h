// CoreThread: the thread of the controller's turns (turn/turn_driver.h). Other threads post tasks; when a turn is durable, replies, orders
// and the new snapshot leave. Replies and refusals run on the I/O thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "net/backoff.h"
#include "net/pace.h"
#include "os/log.h"
#include "slurmctld/daemon/record_waits.h"
#include "slurmctld/daemon/statistics.h"
#include "slurmctld/daemon/waiters.h"
#include "slurmctld/turn/turn_driver.h"

namespace muster::slurmctld {

class CoreThread {
 public:
  struct Ports {
    std::function<void(std::vector<Reply>)> to_io;       // runs the replies on the I/O thread
    std::function<void(std::vector<Effect>)> carry_out;  // from the core thread; hands effects to the I/O thread
    std::function<void()> state_changed;                 // a snapshot that planning should look at
    std::function<void()> published;                     // a snapshot that differs from the one before, also in verdicts
    // The events of a turn that is durable, with the snapshots before and after it; may be empty. From the core thread: it returns at once.
    std::function<void(std::shared_ptr<const Snapshot>, std::shared_ptr<const Snapshot>, const Events&)> turned;
  };
  // `clock` is the driver's, too; both outlive the thread.
  CoreThread(TurnDriver driver, const Clock& clock, os::Log& logger, Statistics& stats, Ports ports);
  ~CoreThread();

  void start();
  void stop();                                           // ends after the running turn; saves a snapshot
  void post(Task task);                                  // from any thread
  Waiters& waiters() { return waiters_; }                // core thread only (from inside a task)
  RecordWaits& record_waits() { return record_waits_; }  // core thread only
  std::shared_ptr<const Snapshot> snapshot() const;      // newest committed, any thread
  size_t queue_length() const;

 private:
  void run();
  void turn(std::vector<Task> batch);
  void refuse(TurnDriver::Turn turn);
  // What leaves after a turn was kept.
  void let_out(TurnDriver::Turn turn, bool asked);
  void measure(Duration began, size_t changes);
  void wake_waiters(std::vector<Reply>& replies, const Events& events);
  void fill_orders(std::vector<Effect>& effects);
  void count(const Events& events);
  void publish();
  void save_snapshot();
  void drop_unused_blobs();
  const std::string* short_blob(const std::string& hash);

  Core& core() { return driver_.core(); }

  TurnDriver driver_;
  const Clock& clock_;
  os::Log& logger_;
  Statistics& stats_;
  Ports ports_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Task> inbox_;
  bool stopping_ = false;
  std::shared_ptr<const Snapshot> snapshot_;  // guarded by mutex_

  Waiters waiters_;
  RecordWaits record_waits_;
  std::unordered_map<std::string, std::string> blobs_;  // recently used short contents
  std::unordered_set<std::string> long_blobs_;          // recently used, and longer
  uint64_t refused_turns_ = 0;                          // since the log was written last
  net::Backoff failures_{milliseconds(10), seconds(1), net::Backoff::random_seed()};
  net::Pace told_{minutes(1)};
  std::thread thread_;
};

}  // namespace muster::slurmctld
