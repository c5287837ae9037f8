// CoreThread: owns Core and EventLog and runs their turns. Other threads post commands; what a turn decided becomes durable with
// one append, and only then do replies, orders and the new snapshot leave.
//
// A Command runs on the core thread and returns its reply: what to do on the I/O thread after the sync. If the append fails,
// `refused` is run there instead, with the reason.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "os/log.h"
#include "slurmctld/core/core.h"
#include "slurmctld/daemon/statistics.h"
#include "store/event_log.h"

namespace muster::slurmctld {

using Reply = std::function<void()>;

struct Command {
  std::function<Reply(Core&, store::EventLog&)> run;
  std::function<void(const Error&)> refused;
};

// Looks at a job after each turn that touched it; true = it is satisfied and forgotten. `job` is null once purged. Runs on the
// core thread; what it wants to send it appends to `replies`.
using Waiter = std::function<bool(const Cluster&, const Job* job, std::vector<Reply>& replies)>;

class CoreThread {
 public:
  struct Ports {
    std::function<void(std::vector<Reply>)> to_io;            // runs the replies on the I/O thread
    std::function<void(std::vector<Effect>)> carry_out;       // from the core thread; hands effects to the I/O thread
    std::function<void()> state_changed;                      // a snapshot that planning should look at
    std::function<void()> published;                          // a snapshot that differs from the one before, also in verdicts
  };
  CoreThread(Core core, std::unique_ptr<store::EventLog> log, store::Term term, os::Log& logger, Statistics& stats, Ports ports);
  ~CoreThread();

  void start();
  void stop();                                                // ends after the running turn; saves a snapshot
  void post(Command command);                                 // from any thread
  void wait_for(JobId job, Waiter waiter);                    // core thread only (from inside a Command)
  std::shared_ptr<const Snapshot> snapshot() const;           // newest committed, any thread
  size_t queue_length() const;

 private:
  void run();
  bool turn(std::vector<Command> batch);
  void wake_waiters(std::vector<Reply>& replies, const Events& events);
  void fill_orders(std::vector<Effect>& effects);
  void count(const Events& events);
  void publish();
  void save_snapshot();
  void drop_unused_blobs();
  std::string blob(const std::string& hash);

  Core core_;
  std::unique_ptr<store::EventLog> log_;
  store::Term term_;
  os::Log& logger_;
  Statistics& stats_;
  Ports ports_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Command> inbox_;
  bool stopping_ = false;
  std::shared_ptr<const Snapshot> snapshot_;   // guarded by mutex_

  std::multimap<JobId, Waiter> waiters_;
  std::unordered_map<std::string, std::string> blobs_;   // recently used contents
  uint64_t events_since_snapshot_ = 0;
  std::thread thread_;
};

}  // namespace muster::slurmctld
