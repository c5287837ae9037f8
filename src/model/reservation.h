// Reservation: nodes, cores, devices and licences that are kept for some jobs for a time. What it is, which flags it has and when it comes
// again is here; who may use it is sched/reserve/access.h, which nodes a new one gets sched/reserve/choose.h, how it is made and changed
// slurmctld/core. Times are absolute; a floating one (TIME_FLOAT) has its start a fixed span after now. scontrol(1) RESERVATIONS, guide
// reservations.
//
// Cost: O(1), repeats O(log) of the time that has passed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/feature_constraint.h"
#include "model/resources.h"

namespace muster {

enum ReservationFlag : uint64_t {
  kResvMaint = 1ull << 0,
  kResvFlex = 1ull << 1,
  kResvOverlap = 1ull << 2,
  kResvIgnoreJobs = 1ull << 3,
  kResvHourly = 1ull << 4,
  kResvDaily = 1ull << 5,
  kResvWeekly = 1ull << 6,
  kResvWeekday = 1ull << 7,
  kResvWeekend = 1ull << 8,
  kResvSpecNodes = 1ull << 9,
  kResvAllNodes = 1ull << 10,
  kResvAnyNodes = 1ull << 11,  // also written LICENSE_ONLY
  kResvStatic = 1ull << 12,    // STATIC_ALLOC
  kResvPartNodes = 1ull << 13,
  kResvFirstCores = 1ull << 14,
  kResvTimeFloat = 1ull << 15,
  kResvReplace = 1ull << 16,
  kResvReplaceDown = 1ull << 17,
  kResvPurgeComp = 1ull << 18,
  kResvNoHold = 1ull << 19,  // NO_HOLD_JOBS_AFTER
  kResvMagnetic = 1ull << 20,
  kResvUserDelete = 1ull << 21,
  kResvForceStart = 1ull << 22,
};
inline constexpr uint64_t kResvRepeats = kResvHourly | kResvDaily | kResvWeekly | kResvWeekday | kResvWeekend;

// What scontrol prints: "MAINT,SPEC_NODES,PURGE_COMP=00:05:00"; and for --json the names alone.
std::string reservation_flags_text(uint64_t flags, Duration purge_after);
std::vector<std::string_view> reservation_flag_names(uint64_t flags);
// The flag with this name in any case, as users write it; STATIC_ALLOC, STATIC and LICENSE_ONLY are other names. nullopt: there is none.
std::optional<uint64_t> reservation_flag(std::string_view name);

// Whom a reservation is for: those named or, with `denied`, all but those. Empty: it asks nothing of that kind.
struct AccessNames {
  std::vector<std::string> names;
  bool denied = false;
  bool empty() const { return names.empty(); }
  bool lists(std::string_view name) const;  // in any case
  bool admits(std::string_view name) const { return empty() || lists(name) != denied; }
  std::string text() const;  // "a,b"; "-a,-b"
  bool operator==(const AccessNames&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "names", self.names);
    field(2, "denied", self.denied);
  }
};

struct Reservation {
  uint32_t id = 0;  // key in Cluster::reservations
  std::string name;
  uint64_t flags = 0;
  Time start{}, end{};             // of this repetition; of a floating one: as it was made
  Duration floats_by{};            // TIME_FLOAT: how far ahead of now it starts
  bool end_floats = false;         // TIME_FLOAT with a duration instead of an end
  bool begun = false;              // the begin of this repetition has been told (nodes are shown as reserved, ResvProlog ran)
  Bitmap nodes;                    // by NodeId
  std::vector<NodeShare> partial;  // of cores and devices: which, node by node; empty: whole nodes
  std::string partition;           // whose nodes it may have; "" = nodes of any
  Parsed<FeatureConstraint> features;
  std::vector<LicenseShare> licenses;
  uint32_t nodes_wanted = 0;  // a count that is kept up when nodes are replaced
  AccessNames users, accounts, groups, qos, partitions;
  std::vector<std::string> group_members;  // names of users; those of `groups` when they were set
  Duration max_start_delay{};              // 0: none
  Duration purge_after{};                  // PURGE_COMP
  Time last_used{};                        // when its last job went; of one that had none its begin
  std::string comment;

  bool has(uint64_t flag) const { return (flags & flag) != 0; }
  bool repeats() const { return has(kResvRepeats); }
  bool floats() const { return has(kResvTimeFloat); }
  bool by_cores() const { return !partial.empty(); }
  Time starts(Time now) const { return floats() ? now + floats_by : start; }
  Time ends(Time now) const { return end_floats ? now + floats_by + (end - start) : end; }
  // Jobs may run in it.
  bool active(Time now) const { return !floats() && start <= now && now < end; }
  // It may share resources with others: overlap goes for MAINT, too.
  bool overlaps() const { return has(kResvOverlap | kResvMaint); }
  // Its jobs have to stay within its nodes and its time.
  bool confines() const { return !has(kResvFlex); }
  bool confines_nodes() const { return !has(kResvFlex | kResvAnyNodes); }
  // Nodes that go down are replaced by others.
  bool replaces() const;
  bool replaces_used() const { return has(kResvReplace) && replaces(); }
  const NodeShare* share_of(NodeId node) const;  // null: the whole node, or none of it
  // Whether its jobs give way to those of `other` where both have a node at the same time.
  bool yields_to(const Reservation& other) const;

  bool operator==(const Reservation&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "name", self.name);
    field(3, "flags", self.flags);
    field(4, "start", self.start);
    field(5, "end", self.end);
    field(6, "floats_by", self.floats_by);
    field(7, "end_floats", self.end_floats);
    field(8, "begun", self.begun);
    field(9, "nodes", self.nodes);
    field(10, "partial", self.partial);
    field(11, "partition", self.partition);
    field(12, "features", self.features);
    field(13, "licenses", self.licenses);
    field(14, "nodes_wanted", self.nodes_wanted);
    field(15, "users", self.users);
    field(16, "accounts", self.accounts);
    field(17, "groups", self.groups);
    field(18, "qos", self.qos);
    field(19, "partitions", self.partitions);
    field(20, "group_members", self.group_members);
    field(21, "max_start_delay", self.max_start_delay);
    field(22, "purge_after", self.purge_after);
    field(23, "last_used", self.last_used);
    field(24, "comment", self.comment);
  }
};
using ReservationPtr = std::shared_ptr<const Reservation>;

// The start of the first repetition after this one whose end lies after `now`; local time of day stays, also over a change to summer time.
Time next_repetition(const Reservation& r, Time now);

}  // namespace muster
