// Part of apply (apply.h): the events of crontabs, triggers, maintenances, quarantines and allocations with a command, and the names of nodes and partitions.
// Recording, without a decision; whatever an event names that is not there is passed over.
#pragma once

#include <memory>
#include <string>

#include "model/cluster.h"
#include "model/event.h"

namespace muster::slurmctld {

// When the event was; unset for those of old logs that do not say.
Time time_of(const Event& event);

class ToolApplier {
 public:
  explicit ToolApplier(Cluster& cluster) : cluster_(cluster) {}
  void operator()(const event::CrontabInstalled& e);
  void operator()(const event::CronJobMade& e);
  void operator()(const event::CronJobOver& e);
  void operator()(const event::TriggerSet& e);
  void operator()(const event::TriggersCleared& e);
  void operator()(const event::TriggerPulled& e);
  void operator()(const event::TriggerStarted& e);
  void operator()(const event::AllocationAttended& e);
  void operator()(const event::MaintenanceBegun& e);
  void operator()(const event::MaintenanceStateSet& e);
  void operator()(const event::MaintenanceNodeMoved& e);
  void operator()(const event::NodeQuarantined& e);

 protected:
  template <class M>
  static std::shared_ptr<M> copy_of(const std::shared_ptr<const M>& m) {
    return m ? std::make_shared<M>(*m) : std::make_shared<M>();
  }
  void rename(uint32_t node, const std::string& name);  // the node has this name now
  void forget(const Node& node);                        // it is gone, with its name and its quarantine
  void relist_partitions();

 private:
  Cluster& cluster_;
};

}  // namespace muster::slurmctld
