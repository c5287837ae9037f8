// A controller core with a small cluster for tests: turns in a line, nodes that answer, a replay of all that was decided. What is heavy to
// compile stands in core_testing.cc, once for all tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "slurmctld/core/core.h"

namespace muster::slurmctld {

Settings settings_of(const std::string& more = "");

class Bench {
 public:
  explicit Bench(const std::string& conf = "", bool nodes_up = true);
  ~Bench();

  // One turn that succeeds; the effects are those of this turn.
  void turn(const std::function<void()>& work);
  // A turn whose append fails.
  void failing_turn(const std::function<void()>& work);
  void wait(Duration d);

  static JobRequest request(const std::function<void(JobRequest&)>& change = {});
  JobId submit(const std::function<void(JobRequest&)>& change = {});
  size_t plan();
  void report(uint32_t node, const NodeReport& r);
  void register_node(uint32_t node, const std::string& boot, std::vector<node_rpc::NodeJob> jobs = {}, uint32_t cpus = 4,
                     uint64_t memory_mb = 4000);
  void started(JobId job);
  void ends(JobId job, int32_t status = 0, bool gone = true);
  void gone(JobId job, uint32_t node);
  uint32_t host(JobId job) const;

  const Job& get(JobId id) const;
  bool exists(JobId id) const;
  JobState state(JobId id) const { return get(id).state; }
  const Node& node(uint32_t i) const;

  void control(rpc::JobAction action, JobId job, const Caller& who = Caller::root());
  void cancel(JobId job, const std::string& tasks = "");
  Result<rpc::Messages> update(JobId job, const std::string& key, const std::string& value);
  void set_node(const std::string& name, const std::string& state);
  template <class T>
  std::vector<T> orders() const {
    std::vector<T> out;
    for (const Effect& e : effects)
      if (auto* o = std::get_if<Order>(&e))
        if (auto* t = std::get_if<T>(&o->order)) out.push_back(*t);
    return out;
  }
  // Expects that a restart would see the same state.
  void expect_replay_equal() const;

  Time now = from_unix(1'700'000'000);
  Settings settings;
  Core core;
  sched::Planner planner;
  Events log, last_events;
  std::vector<Effect> effects;
  std::vector<rpc::PerJobError> control_errors;
};

}  // namespace muster::slurmctld
