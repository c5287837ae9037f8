// Events of nodes, partitions and topologies.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/quarantine.h"
#include "model/topology.h"

namespace muster::event {

// ResumeProgram, SuspendProgram, ResumeFailProgram; RebootProgram where the controller runs it.
enum class PowerProgram : uint8_t { kNone, kResume, kSuspend, kResumeFailed, kReboot };

struct NodeDefined {  // new, or its slurm.conf line changed
  static constexpr uint32_t kNumber = 2;
  static constexpr const char* kName = "NodeDefined";
  NodeId node{};
  NodeSpecPtr spec;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "spec", self.spec);
    field(3, "time", self.time);
  }
};

struct NodeRemoved {
  static constexpr uint32_t kNumber = 3;
  static constexpr const char* kName = "NodeRemoved";
  NodeId node{};
  Time time{};  // unset in old logs
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "time", self.time);
  }
};

struct PartitionDefined {  // new or changed, whole
  static constexpr uint32_t kNumber = 4;
  static constexpr const char* kName = "PartitionDefined";
  std::shared_ptr<const Partition> partition;  // by a pointer: an event in a list has the size of the largest kind
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "partition", self.partition);
    field(2, "time", self.time);
  }
};

struct PartitionRemoved {
  static constexpr uint32_t kNumber = 5;
  static constexpr const char* kName = "PartitionRemoved";
  uint32_t index = 0;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "index", self.index);
    field(2, "time", self.time);
  }
};

struct NodeRegistered {
  static constexpr uint32_t kNumber = 6;
  static constexpr const char* kName = "NodeRegistered";
  NodeId node{};
  std::shared_ptr<const NodeHardware> hardware;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "hardware", self.hardware);
    field(3, "time", self.time);
  }
};

struct NodeStateChanged {  // the new values of admin state and flags, with who and why
  static constexpr uint32_t kNumber = 7;
  static constexpr const char* kName = "NodeStateChanged";
  NodeId node{};
  NodeState admin = NodeState::kUnknown;
  uint32_t flags = 0;
  std::string reason;
  Uid by{};
  Time time{};
  Time resume_deadline{};
  Time resume_after{};
  NodeState next_state = NodeState::kUnknown;  // after the reboot: kIdle, kDown, or as it was
  Time reboot_issued{};
  PowerProgram run = PowerProgram::kNone;  // what this change asks of the machine's power
  bool action_drained = false;             // DRAIN is of `reboot ASAP` or `power down asap`
  std::string power_action;                // as Node::power_action
  std::vector<std::string> boot_features;  // as Node::boot_features
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "admin", self.admin);
    field(3, "flags", self.flags);
    field(4, "reason", self.reason);
    field(5, "by", self.by);
    field(6, "time", self.time);
    field(7, "resume_deadline", self.resume_deadline);
    field(8, "resume_after", self.resume_after);
    field(9, "next_state", self.next_state);
    field(10, "reboot_issued", self.reboot_issued);
    field(11, "run", self.run);
    field(12, "action_drained", self.action_drained);
    field(13, "power_action", self.power_action);
    field(14, "boot_features", self.boot_features);
  }
};

struct NodeUpdated {  // scontrol update of what is neither state nor slurm.conf
  static constexpr uint32_t kNumber = 8;
  static constexpr const char* kName = "NodeUpdated";
  NodeId node{};
  uint32_t weight = 1;
  std::vector<std::string> features_active;
  std::string comment;
  Parsed<NodeExtra> extra;
  std::string instance_id, instance_type;
  std::optional<std::string> topology;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node", self.node);
    field(2, "weight", self.weight);
    field(3, "features_active", self.features_active);
    field(4, "comment", self.comment);
    field(5, "extra", self.extra);
    field(6, "instance_id", self.instance_id);
    field(7, "instance_type", self.instance_type);
    field(8, "topology", self.topology);
  }
};

struct NodeQuarantined {  // how the quarantine of a node stands from now on; phase kNone: it is in none, and nothing is remembered
  static constexpr uint32_t kNumber = 529;
  static constexpr const char* kName = "NodeQuarantined";
  Quarantine quarantine;
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "quarantine", self.quarantine);
    field(2, "time", self.time);
  }
};

struct TopologyDefined {  // the site's topologies, whole: slurm.conf and what scontrol changed
  static constexpr uint32_t kNumber = 31;
  static constexpr const char* kName = "TopologyDefined";
  TopologiesPtr topologies;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "topologies", self.topologies);
  }
};

}  // namespace muster::event
