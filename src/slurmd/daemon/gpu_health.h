// GpuHealth: has the drivers asked how this node's GPUs are, at the start, every HealthCheckInterval (5 minutes where that is 0) and
// when somebody asks, and says what is wrong. SlurmdParameters=gpu_checks, Muster's own; the rules are those of slurmd/core/gpu_checks.h.
//
// Another process asks (`slurmd gpu-health`, os/node/gpu_health.h). One that has not answered within HealthCheckTimeout is killed, which is a
// finding; while it cannot be killed (in the driver) there is no second beside it. Each finding is logged when it appears. Lives on the loop's
// thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "net/loop.h"
#include "os/log.h"
#include "site/programs.h"
#include "slurmd/core/gpu_checks.h"

namespace muster::slurmd {

class GpuHealth {
 public:
  struct Plan {
    std::string program, library;  // slurmd; NVIDIA's, for dlopen, where one of the cards is of them
    std::string root;              // before /dev, /proc and /sys; "" but in tests
    std::vector<GpuId> cards;      // that the node has registered; none: nothing is asked
    Duration interval{}, timeout{};
    bool on() const { return !cards.empty(); }
  };
  // `tell`: a reason to drain this node.
  GpuHealth(net::Loop& loop, os::Log& log, std::function<void(const std::string& reason)> tell)
      : loop_(loop), log_(log), tell_(std::move(tell)), programs_(loop, log) {}

  void start(Plan plan, std::function<void()> then);  // `then`: after a first look
  void configure(Plan plan);
  bool on() const { return plan_.on(); }
  // `done` gets the reason to drain the node, "" where there is none. Never called before this returns.
  void check(std::function<void(const std::string& reason)> done);
  const std::string& reason() const { return reason_; }  // by the last look
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status); }

 private:
  void schedule();
  void ask();
  void give_up();
  void answered(const std::string& error, const std::string& output);
  void judge(const GpuReadings& readings);
  void finish();

  net::Loop& loop_;
  os::Log& log_;
  std::function<void(const std::string&)> tell_;
  Plan plan_;
  site::Programs programs_;
  std::vector<std::function<void(const std::string&)>> waiting_;
  std::optional<site::Programs::Run> run_;  // under way
  std::optional<GpuReadings> known_;
  std::set<std::string> told_;  // that the log has
  std::string reason_;
  std::unique_ptr<net::Loop::Timer> deadline_, next_;
};

}  // namespace muster::slurmd
