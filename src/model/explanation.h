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
};
inline constexpr int kNodeCauseCount = 20;
std::string_view node_cause_name(NodeCause c);  // for programs: "cpus_in_use"
std::string_view node_cause_text(NodeCause c);  // for people: "CPUs in use"

struct NodesLeftOut {
  NodeCause cause = NodeCause::kFree;
  uint32_t count = 0;
  std::string nodes;     // host list
  std::string detail;    // reasons of drained and down nodes
  Time first{}, last{};  // when the first and the last of them will serve; unset: not known
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "cause", s.cause);
    v(2, "count", s.count);
    v(3, "nodes", s.nodes);
    v(4, "detail", s.detail);
    v(5, "first", s.first);
    v(6, "last", s.last);
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
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "nodes", s.nodes);
    v(3, "needed", s.needed);
    v(4, "tasks_needed", s.tasks_needed);
    v(5, "tasks_free", s.tasks_free);
    v(6, "barred", s.barred);
    v(7, "never", s.never);
    v(8, "causes", s.causes);
    v(9, "together", s.together);
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
  static void describe(S& s, V&& v) {
    v(1, "id", s.id);
    v(2, "array_job", s.array_job);
    v(3, "array_task", s.array_task);
    v(4, "user", s.user);
    v(5, "name", s.name);
    v(6, "partition", s.partition);
    v(7, "state", s.state);
    v(8, "nodes", s.nodes);
    v(9, "cpus", s.cpus);
    v(10, "mem_mb", s.mem_mb);
    v(11, "gres", s.gres);
    v(12, "start", s.start);
    v(13, "end", s.end);
    v(14, "priority", s.priority);
  }
};

// A limit that holds the job back, and who uses it up.
struct LimitView {
  std::string name;  // "MaxCPUsPerUser of partition debug"
  uint64_t limit = 0, used = 0, wanted = 0;
  std::vector<JobBrief> holders;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "limit", s.limit);
    v(3, "used", s.used);
    v(4, "wanted", s.wanted);
    v(5, "holders", s.holders);
  }
};

// A job that this one waits for by --dependency.
struct DependencyView {
  std::string text;   // "afterok:12"
  std::string state;  // "job 12 is RUNNING", "job 12 failed"
  bool failed = false;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "text", s.text);
    v(2, "state", s.state);
    v(3, "failed", s.failed);
  }
};

// A change that would let the job start sooner.
struct Alternative {
  std::string change;   // "--time=1:00:00 instead of 8:00:00"
  std::string command;  // the scontrol command that does it; "" where there is none
  Time start{};
  bool at_once = false;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "change", s.change);
    v(2, "command", s.command);
    v(3, "start", s.start);
    v(4, "at_once", s.at_once);
  }
};

// A leaf switch, base block, ring or torus, and the nodes of the job that it holds.
struct UnitNodes {
  std::string unit;  // "" of nodes that stand in none
  uint32_t count = 0;
  std::string nodes;  // host list
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "unit", s.unit);
    v(2, "count", s.count);
    v(3, "nodes", s.nodes);
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
  static void describe(S& s, V&& v) {
    v(1, "topology", s.topology);
    v(2, "kind", s.kind);
    v(3, "unit_name", s.unit_name);
    v(4, "units", s.units);
    v(5, "fewest", s.fewest);
    v(6, "within", s.within);
    v(7, "segments", s.segments);
    v(8, "segment_size", s.segment_size);
    v(9, "segments_whole", s.segments_whole);
    v(10, "switches_asked", s.switches_asked);
    v(11, "why", s.why);
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
  static void describe(S& s, V&& v) {
    v(1, "now", s.now);
    v(2, "job", s.job);
    v(3, "flags", s.flags);
    v(4, "asks", s.asks);
    v(5, "submitted", s.submitted);
    v(6, "eligible", s.eligible);
    v(7, "reason", s.reason);
    v(8, "detail", s.detail);
    v(9, "partitions", s.partitions);
    v(10, "ahead_count", s.ahead_count);
    v(11, "ahead", s.ahead);
    v(12, "holder_count", s.holder_count);
    v(13, "holders", s.holders);
    v(14, "limits", s.limits);
    v(15, "dependencies", s.dependencies);
    v(16, "forecast", s.forecast);
    v(17, "expected_start", s.expected_start);
    v(18, "expected_nodes", s.expected_nodes);
    v(19, "alternatives", s.alternatives);
    v(20, "alternatives_tried", s.alternatives_tried);
    v(21, "node_list", s.node_list);
    v(22, "time_limit_min", s.time_limit_min);
    v(23, "exit_status", s.exit_status);
    v(24, "derived_exit_status", s.derived_exit_status);
    v(25, "restarts", s.restarts);
    v(26, "placement", s.placement);
    v(27, "cancelled_by", s.cancelled_by);
    v(37, "claims", s.claims);
    v(38, "victim_count", s.victim_count);
    v(39, "victims", s.victims);
    v(40, "exempt_until", s.exempt_until);
    v(41, "preempted_by", s.preempted_by);
    v(42, "preempt_how", s.preempt_how);
    v(43, "preempted", s.preempted);
    v(44, "restart", s.restart);
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
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "now", s.now);
    v(2, "name", s.name);
    v(3, "state", s.state);
    v(4, "usable", s.usable);
    v(5, "reason", s.reason);
    v(6, "reason_uid", s.reason_uid);
    v(7, "reason_time", s.reason_time);
    v(8, "registered", s.registered);
    v(9, "last_response", s.last_response);
    v(10, "partitions", s.partitions);
    v(11, "cpus", s.cpus);
    v(12, "cpus_free", s.cpus_free);
    v(13, "mem_mb", s.mem_mb);
    v(14, "mem_free_mb", s.mem_free_mb);
    v(15, "gres", s.gres);
    v(16, "gres_free", s.gres_free);
    v(17, "job_count", s.job_count);
    v(18, "jobs", s.jobs);
    v(19, "idle_at", s.idle_at);
  }
};

}  // namespace muster
