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
#include "model/topology.h"

namespace muster::event {

enum class PowerProgram : uint8_t { kNone, kResume, kSuspend, kResumeFailed };  // ResumeProgram, SuspendProgram, ResumeFailProgram

struct NodeDefined {  // new, or its slurm.conf line changed
  static constexpr uint32_t kNumber = 2;
  static constexpr const char* kName = "NodeDefined";
  NodeId node{};
  NodeSpecPtr spec;
  Time time{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "spec", s.spec);
    v(3, "time", s.time);
  }
};

struct NodeRemoved {
  static constexpr uint32_t kNumber = 3;
  static constexpr const char* kName = "NodeRemoved";
  NodeId node{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
  }
};

struct PartitionDefined {  // new or changed, whole
  static constexpr uint32_t kNumber = 4;
  static constexpr const char* kName = "PartitionDefined";
  std::shared_ptr<const Partition> partition;  // by a pointer: an event in a list has the size of the largest kind
  Time time{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "partition", s.partition);
    v(2, "time", s.time);
  }
};

struct PartitionRemoved {
  static constexpr uint32_t kNumber = 5;
  static constexpr const char* kName = "PartitionRemoved";
  uint32_t index = 0;
  Time time{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "index", s.index);
    v(2, "time", s.time);
  }
};

struct NodeRegistered {
  static constexpr uint32_t kNumber = 6;
  static constexpr const char* kName = "NodeRegistered";
  NodeId node{};
  std::shared_ptr<const NodeHardware> hardware;
  Time time{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "hardware", s.hardware);
    v(3, "time", s.time);
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
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "admin", s.admin);
    v(3, "flags", s.flags);
    v(4, "reason", s.reason);
    v(5, "by", s.by);
    v(6, "time", s.time);
    v(7, "resume_deadline", s.resume_deadline);
    v(8, "resume_after", s.resume_after);
    v(9, "next_state", s.next_state);
    v(10, "reboot_issued", s.reboot_issued);
    v(11, "run", s.run);
    v(12, "action_drained", s.action_drained);
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
  static void describe(S& s, V&& v) {
    v(1, "node", s.node);
    v(2, "weight", s.weight);
    v(3, "features_active", s.features_active);
    v(4, "comment", s.comment);
    v(5, "extra", s.extra);
    v(6, "instance_id", s.instance_id);
    v(7, "instance_type", s.instance_type);
    v(8, "topology", s.topology);
  }
};

struct TopologyDefined {  // the site's topologies, whole: slurm.conf and what scontrol changed
  static constexpr uint32_t kNumber = 31;
  static constexpr const char* kName = "TopologyDefined";
  TopologiesPtr topologies;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "topologies", s.topologies);
  }
};

}  // namespace muster::event
