// PlannerThread: makes plans over snapshots, away from the core thread. A quick pass follows every change that could let a job
// start; a full pass (a reason and an expected start for every pending job) follows when things have calmed down, and at
// most a tenth of the time is spent on full passes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "os/log.h"
#include "sched/planner.h"
#include "slurmctld/daemon/statistics.h"

namespace muster::slurmctld {

class PlannerThread {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Cluster>()> snapshot;
    std::function<sched::Params()> params;
    std::function<void(sched::Plan)> submit;  // the plan re-enters the core as a command
  };
  PlannerThread(os::Log& logger, Statistics& stats, Ports ports);
  ~PlannerThread();
  void start();
  void stop();
  void state_changed();                                                  // any thread
  void look_again() { again_ = true; }                                   // any thread: the next pass is a full one
  Result<sched::Planner::Forecast> will_run(const JobRequest& request);  // any thread; waits for a running pass

 private:
  void run();
  void pass(sched::Pass kind);
  bool worth_a_pass(const Cluster& cluster) const;
  void count_end(const sched::Plan& plan, const sched::Params& params, sched::Pass kind);

  os::Log& logger_;
  Statistics& stats_;
  Ports ports_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool dirty_ = true, stopping_ = false;
  std::atomic<bool> again_ = false;
  std::mutex planner_mutex_;
  sched::Planner planner_;
  uint64_t seen_nodes_ = ~0ull, seen_use_ = ~0ull, seen_jobs_ = ~0ull;
  bool full_due_ = false;
  Duration last_full_took_{}, last_full_at_{};
  std::thread thread_;
};

}  // namespace muster::slurmctld
