// Events: what happened, past tense, as the log keeps it. apply() records them and decides nothing. Append-only: a new
// kind takes the next number, a new field the next number in its event; neither is ever used for something else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "model/event_jobs.h"
#include "model/event_maintenance.h"
#include "model/event_nodes.h"
#include "model/event_reservations.h"
#include "model/event_steps.h"
#include "model/event_tools.h"

namespace muster {
struct AccountChanges;
}

namespace muster::event {

struct ClusterNamed {
  static constexpr uint32_t kNumber = 1;
  static constexpr const char* kName = "ClusterNamed";
  std::string name;
  JobId first_job_id{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "first_job_id", self.first_job_id);
  }
};

struct AccountingSet {  // from now on records of jobs are kept for slurmdbd, or are not
  static constexpr uint32_t kNumber = 360;
  static constexpr const char* kName = "AccountingSet";
  bool on = false;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "on", self.on);
    field(2, "time", self.time);
  }
};

struct RecordsStored {  // slurmdbd has every record up to this position of the log
  static constexpr uint32_t kNumber = 361;
  static constexpr const char* kName = "RecordsStored";
  uint64_t position = 0;
  std::vector<uint32_t> dropped;  // numbers of kept records that were given up: there were more than MaxDBDMsgs
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "position", self.position);
    field(2, "dropped", self.dropped);
  }
};

struct DirectoryLearned {  // what slurmdbd says of accounts, users, associations and QOS: what differs from what was known
  static constexpr uint32_t kNumber = 362;
  static constexpr const char* kName = "DirectoryLearned";
  std::shared_ptr<const AccountChanges> changes;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "changes", self.changes);
    field(2, "time", self.time);
  }
};

struct HalfLifeSet {  // from now on usage decays at this pace; 0: not at all
  static constexpr uint32_t kNumber = 363;
  static constexpr const char* kName = "HalfLifeSet";
  Duration half_life{};
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "half_life", self.half_life);
    field(2, "time", self.time);
  }
};

struct UsageReset {  // from now on nothing was used: by an association and those below it, by a QOS, or by anybody where neither is named
  static constexpr uint32_t kNumber = 364;
  static constexpr const char* kName = "UsageReset";
  uint32_t association = 0;
  std::string qos;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "association", self.association);
    field(2, "qos", self.qos);
    field(3, "time", self.time);
  }
};

}  // namespace muster::event

namespace muster {

using Event =
    std::variant<event::ClusterNamed, event::NodeDefined, event::NodeRemoved, event::PartitionDefined, event::PartitionRemoved,
                 event::NodeRegistered, event::NodeStateChanged, event::NodeUpdated, event::RequestStored, event::JobSubmitted,
                 event::JobChanged, event::JobStarted, event::JobLaunched, event::JobEnding, event::JobNodesReleased, event::JobRequeued,
                 event::JobSuspended, event::JobsPurged, event::StepCreated, event::StepNodesDone, event::StepEnded, event::JobWarned,
                 event::StepUpdated, event::JobNodesSettled, event::JobScriptEnded, event::TopologyDefined, event::AccountingSet,
                 event::RecordsStored, event::JobShrunk, event::JobNodeLeft, event::JobMemoryReduced, event::JobProgramEnded,
                 event::JobNodesPrepared, event::StepsTold, event::DirectoryLearned, event::HalfLifeSet, event::UsageReset,
                 event::JobsAccrue, event::JobPreempted, event::JobClaimed, event::ReservationSet, event::ReservationRemoved,
                 event::CrontabInstalled, event::CronJobMade, event::CronJobOver, event::TriggerSet, event::TriggersCleared,
                 event::TriggerPulled, event::TriggerStarted, event::AllocationAttended, event::StepUsed, event::PrioritiesKept,
                 event::MaintenanceBegun, event::MaintenanceStateSet, event::MaintenanceNodeMoved, event::NodeQuarantined>;

}  // namespace muster
