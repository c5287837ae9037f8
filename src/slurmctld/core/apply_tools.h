// Part of apply (apply.h): the events of crontabs, triggers and allocations with a command. Recording, without a decision; whatever an event names that is not there is
// passed over.
#pragma once

#include "model/cluster.h"
#include "model/event.h"

namespace muster::slurmctld {

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

 private:
  Cluster& cluster_;
};

}  // namespace muster::slurmctld
