// World: a cluster that exists in memory only, with a clock that moves when it is told to. The controller's own core decides and the real
// planner plans; nodes simply exist, with the hardware that slurm.conf gives them, and let go of a job as soon as it ends. What a command
// line means is said in session.h, what is printed in print.h.
//
// Errors: those of the controller, as a user would see them. Cost: a plan is a full pass of the scheduler; the rest is O(changes).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "sched/planner.h"
#include "slurmctld/core/core.h"

namespace muster::match {

class World {
 public:
  // Is told of every event once it is true, with the cluster as it then is.
  using Witness = std::function<void(const Event&)>;

  explicit World(std::shared_ptr<const config::LoadedConfig> loaded);
  void set_witness(Witness witness) { witness_ = std::move(witness); }

  const Cluster& cluster() const { return core_.cluster(); }
  const slurmctld::Settings& settings() const { return core_.settings(); }
  Time now() const { return now_; }
  Duration elapsed() const { return now_ - begun_; }

  Result<JobId> submit(const JobRequest& request);
  // Whether the request would start now, behind what is queued and running. If it starts, it runs; otherwise it leaves no trace.
  struct Answer {
    JobId job{};
    std::optional<sched::StartItem> start;
    Verdict verdict;  // without a start
  };
  Result<Answer> allocate(const JobRequest& request);
  // A full pass, carried out.
  sched::Plan plan();
  // The same, but nothing is carried out.
  sched::Plan look();
  // Moves the clock, stopping where a limit strikes or a begin time comes; with `planning`, plans at each stop.
  void advance(Duration span, bool planning);
  // A running job completes, a waiting one is cancelled.
  Result<> end(JobId job);
  Result<> set_node(const std::string& nodes, const std::string& state, const std::string& reason);
  // What scontrol create and delete reservation print, with the nodes of a new one.
  Result<std::string> reserve(const rpc::UpdateReservation& request);
  // scontrol update node: one key.
  Result<> change_nodes(const std::string& nodes, const std::string& key, const std::string& value);

 private:
  void registers(NodeId id);
  void settle();
  Result<> update_nodes(const rpc::UpdateNode& update);
  void release_ended();

  slurmctld::Core core_;
  sched::Planner planner_;
  Time begun_, now_;
  Witness witness_;
};

}  // namespace muster::match
