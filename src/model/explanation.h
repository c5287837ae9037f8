// Explanation: why a job waits, ended or runs where it does, and what is wrong with a node, as values. sched/explain.h makes them from
// a snapshot; muster explain prints them. Lists are bounded; the counts beside them are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/quarantine.h"
#include "model/resources.h"

namespace muster {

// Why a node of the partition does not serve the job now. A node has one cause: the first that applies, in this order.
// Numbers travel: append only.
enum class NodeCause : uint8_t {
  kFree,        // it could start there now
  kFeatures,    // --constraint
  kListed,      // --exclude, or not in --nodelist
  kMake,        // sockets, cores, threads or disk do not fit even when the node is idle
  kTooFewCpus,  // too few CPUs even when the node is idle
  kTooLittleMemory,
  kTooFewDevices,
  kDown,
  kDrained,
  kUnavailable,  // powering down, rebooting, in maintenance, reserved
  kOtherUser,    // held by another user's --exclusive=user job
  kNotIdle,      // whole nodes are asked for, and something runs there
  kCpusInUse,
  kMemoryInUse,
  kDevicesInUse,
  kLayoutInUse,  // enough is free in sum, but not where it has to be (sockets, device affinity)
  kPromised,     // free, and promised to jobs ahead
  kOtherLabel,   // kept for jobs with another MCS label; asked before kNotIdle
  kExtra,        // --extra as a constraint; asked behind kFeatures
  kReserved,     // in a reservation that the job is not in, or outside of its own
  kNotWoken,     // powered down, and as many nodes are powered up as may be (max_powered_nodes)
};
inline constexpr int kNodeCauseCount = 21;
std::string_view node_cause_name(NodeCause c);  // for programs: "cpus_in_use"
std::string_view node_cause_text(NodeCause c);  // for people: "CPUs in use"

struct NodesLeftOut {
  NodeCause cause = NodeCause::kFree;
  uint32_t count = 0;
  std::string nodes;     // host list
  std::string detail;    // reasons of drained and down nodes
  Time first{}, last{};  // when the first and the last of them will serve; unset: not known
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "cause", self.cause);
    field(2, "count", self.count);
    field(3, "nodes", self.nodes);
    field(4, "detail", self.detail);
    field(5, "first", self.first);
    field(6, "last", self.last);
  }
};

// A partition that the job may run in.
struct PartitionView {
  std::string name;
  uint32_t nodes = 0;             // of the partition
  uint32_t needed = 0;            // at least
  uint32_t tasks_needed = 0;      // 0: not said
  uint32_t tasks_free = 0;        // room on the nodes that are free for it
  Reason barred = Reason::kNone;  // whatever is free: PartitionDown, PartitionTimeLimit …
  std::string never;              // the rule by which it could not run there if all were idle
  std::vector<NodesLeftOut> causes;
  std::string together;  // why enough free nodes do not make a gang: --switches, --contiguous, tasks; "" where that is not the cause
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "nodes", self.nodes);
    field(3, "needed", self.needed);
    field(4, "tasks_needed", self.tasks_needed);
    field(5, "tasks_free", self.tasks_free);
    field(6, "barred", self.barred);
    field(7, "never", self.never);
    field(8, "causes", self.causes);
    field(9, "together", self.together);
  }
};

struct JobBrief {
  JobId id{};
  JobId array_job{};
  uint32_t array_task = kNoArrayTask;
  std::string user, name, partition;
  JobState state = JobState::kPending;
  uint32_t nodes = 0, cpus = 0;
  uint64_t mem_mb = 0;
  std::string gres;     // "gpu:h100:2" in sum
  Time start{}, end{};  // of a running job; expected start of a waiting one
  uint32_t priority = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "array_job", self.array_job);
    field(3, "array_task", self.array_task);
    field(4, "user", self.user);
    field(5, "name", self.name);
    field(6, "partition", self.partition);
    field(7, "state", self.state);
    field(8, "nodes", self.nodes);
    field(9, "cpus", self.cpus);
    field(10, "mem_mb", self.mem_mb);
    field(11, "gres", self.gres);
    field(12, "start", self.start);
    field(13, "end", self.end);
    field(14, "priority", self.priority);
  }
};

// A limit that holds the job back, and who uses it up.
struct LimitView {
  std::string name;  // "MaxCPUsPerUser of partition debug"
  uint64_t limit = 0, used = 0, wanted = 0;
  std::vector<JobBrief> holders;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "limit", self.limit);
    field(3, "used", self.used);
    field(4, "wanted", self.wanted);
    field(5, "holders", self.holders);
  }
};

// A job that this one waits for by --dependency.
struct DependencyView {
  std::string text;   // "afterok:12"
  std::string state;  // "job 12 is RUNNING", "job 12 failed"
  bool failed = false;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "text", self.text);
    field(2, "state", self.state);
    field(3, "failed", self.failed);
  }
};

// A change that would let the job start sooner.
struct Alternative {
  std::string change;   // "--time=1:00:00 instead of 8:00:00"
  std::string command;  // the scontrol command that does it; "" where there is none
  Time start{};
  bool at_once = false;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "change", self.change);
    field(2, "command", self.command);
    field(3, "start", self.start);
    field(4, "at_once", self.at_once);
  }
};

// A leaf switch, base block, ring or torus, and the nodes of the job that it holds.
struct UnitNodes {
  std::string unit;  // "" of nodes that stand in none
  uint32_t count = 0;
  std::string nodes;  // host list
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "unit", self.unit);
    field(2, "count", self.count);
    field(3, "nodes", self.nodes);
  }
};

// Where a running job stands in its partition's topology.
struct PlacementView {
  std::string topology, kind;  // "default", "tree"; both "" where it is flat
  std::string unit_name;       // "leaf switch", "block"
  std::vector<UnitNodes> units;
  uint32_t fewest = 0;  // units that would do for so many nodes if all were free
  std::string within;   // the lowest switch or aggregated block around all of them; "" one unit, or none
  uint32_t segments = 0, segment_size = 0;
  bool segments_whole = false;   // each inside one block of the smallest size that holds it
  uint32_t switches_asked = 0;   // --switches
  std::vector<std::string> why;  // what led to these nodes
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "topology", self.topology);
    field(2, "kind", self.kind);
    field(3, "unit_name", self.unit_name);
    field(4, "units", self.units);
    field(5, "fewest", self.fewest);
    field(6, "within", self.within);
    field(7, "segments", self.segments);
    field(8, "segment_size", self.segment_size);
    field(9, "segments_whole", self.segments_whole);
    field(10, "switches_asked", self.switches_asked);
    field(11, "why", self.why);
  }
};

struct JobExplanation {
  Time now{};
  JobBrief job;
  uint32_t flags = 0;  // JobFlag
  std::string asks;    // "4 nodes, 32 CPUs, gres/gpu:8 per node, 8:00:00"
  Time submitted{}, eligible{};
  Reason reason = Reason::kNone;
  std::string detail;                    // the verdict's own words
  std::optional<uint32_t> cancelled_by;  // the user who asked for its end
  // waiting
  std::vector<PartitionView> partitions;
  uint32_t ahead_count = 0;
  std::vector<JobBrief> ahead;  // the next to start first
  uint32_t holder_count = 0;
  std::vector<JobBrief> holders;  // of what it needs; the first to end first
  // preemption: jobs that make room for a waiting one, or would if it were planned now; from when on those may that could and may not yet
  bool claims = false;  // they were chosen and are ending
  uint32_t victim_count = 0;
  std::vector<JobBrief> victims;
  Time exempt_until{};  // unset: nobody is exempt for now
  // of one that was chosen to make room itself, or was put back into the queue
  uint32_t preempted_by = 0;  // a job
  std::string preempt_how;    // "REQUEUE"
  Time preempted{};
  std::string restart;  // restart_text
  std::vector<LimitView> limits;
  std::vector<DependencyView> dependencies;
  bool forecast = false;  // expected_start was worked out; unset then: not within sight
  Time expected_start{};
  std::string expected_nodes;
  std::vector<Alternative> alternatives;
  uint32_t alternatives_tried = 0;
  // running or ended
  std::string node_list;
  uint32_t time_limit_min = 0;
  int32_t exit_status = 0, derived_exit_status = 0;  // wait status
  uint32_t restarts = 0;
  PlacementView placement;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "now", self.now);
    field(2, "job", self.job);
    field(3, "flags", self.flags);
    field(4, "asks", self.asks);
    field(5, "submitted", self.submitted);
    field(6, "eligible", self.eligible);
    field(7, "reason", self.reason);
    field(8, "detail", self.detail);
    field(9, "partitions", self.partitions);
    field(10, "ahead_count", self.ahead_count);
    field(11, "ahead", self.ahead);
    field(12, "holder_count", self.holder_count);
    field(13, "holders", self.holders);
    field(14, "limits", self.limits);
    field(15, "dependencies", self.dependencies);
    field(16, "forecast", self.forecast);
    field(17, "expected_start", self.expected_start);
    field(18, "expected_nodes", self.expected_nodes);
    field(19, "alternatives", self.alternatives);
    field(20, "alternatives_tried", self.alternatives_tried);
    field(21, "node_list", self.node_list);
    field(22, "time_limit_min", self.time_limit_min);
    field(23, "exit_status", self.exit_status);
    field(24, "derived_exit_status", self.derived_exit_status);
    field(25, "restarts", self.restarts);
    field(26, "placement", self.placement);
    field(27, "cancelled_by", self.cancelled_by);
    field(37, "claims", self.claims);
    field(38, "victim_count", self.victim_count);
    field(39, "victims", self.victims);
    field(40, "exempt_until", self.exempt_until);
    field(41, "preempted_by", self.preempted_by);
    field(42, "preempt_how", self.preempt_how);
    field(43, "preempted", self.preempted);
    field(44, "restart", self.restart);
  }
};

struct NodeExplanation {
  Time now{};
  std::string name, state;  // "IDLE+DRAIN"
  bool usable = false;      // a job may start there
  std::string reason;
  Uid reason_uid{};
  Time reason_time{};
  bool registered = false;
  Time last_response{};  // unset: not since the controller's start
  std::string partitions;
  uint32_t cpus = 0, cpus_free = 0;
  uint64_t mem_mb = 0, mem_free_mb = 0;
  std::string gres, gres_free;
  uint32_t job_count = 0;
  std::vector<JobBrief> jobs;  // the first to end first
  Time idle_at{};              // when the last of them ends; unset: idle now; infinite: no limit
  std::string maintenance;     // that it is part of one, and what comes next; "" it is not
  QuarantinePhase quarantine = QuarantinePhase::kNone;
  Time quarantine_since{}, quarantine_returned{};  // of Quarantine
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "now", self.now);
    field(2, "name", self.name);
    field(3, "state", self.state);
    field(4, "usable", self.usable);
    field(5, "reason", self.reason);
    field(6, "reason_uid", self.reason_uid);
    field(7, "reason_time", self.reason_time);
    field(8, "registered", self.registered);
    field(9, "last_response", self.last_response);
    field(10, "partitions", self.partitions);
    field(11, "cpus", self.cpus);
    field(12, "cpus_free", self.cpus_free);
    field(13, "mem_mb", self.mem_mb);
    field(14, "mem_free_mb", self.mem_free_mb);
    field(15, "gres", self.gres);
    field(16, "gres_free", self.gres_free);
    field(17, "job_count", self.job_count);
    field(18, "jobs", self.jobs);
    field(19, "idle_at", self.idle_at);
    field(20, "quarantine", self.quarantine);
    field(21, "quarantine_since", self.quarantine_since);
    field(22, "quarantine_returned", self.quarantine_returned);
    field(28, "maintenance", self.maintenance);
  }
};

}  // namespace muster
