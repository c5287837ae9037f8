// Preemption as values: what is done to jobs that have to make room, what a job holds that waits for others to make room, and why a
// job was put back into the queue. slurm.conf(5) PreemptMode, guide preempt. Who preempts whom is decided in sched/preempt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/resources.h"

namespace muster {

// What happens to a job that makes room for another. In the event log: append only.
enum class PreemptHow : uint8_t { kOff, kCancel, kRequeue, kSuspend };
std::string_view preempt_how_name(PreemptHow how);  // "REQUEUE"

// PreemptMode of the cluster, a partition or a QOS.
struct PreemptModes {
  using How = PreemptHow;
  PreemptHow how = PreemptHow::kOff;
  bool gang = false;      // GANG: jobs take turns on CPUs that they share, and suspended ones go on by themselves
  bool priority = false;  // PRIORITY: only for a job whose priority is higher
  bool within = false;    // WITHIN: also for a job of the same QOS
  bool operator==(const PreemptModes&) const = default;
  // Words that are none of these are passed over: whoever takes the text in has looked at it.
  static Result<PreemptModes> parse(std::string_view text);
};

// Why a job is SUSPENDED. kUser: scontrol suspend. It gives its CPUs to others then; the others keep their place on them.
enum class SuspendCause : uint8_t { kUser, kPreempted, kTimeSlice };

// Why a job was put back into the queue. In the event log: append only.
enum class RestartCause : uint8_t { kNone, kUser, kPreempted, kNodeFailed, kExitCode, kLaunchFailed, kPrologFailed };
std::string_view restart_cause_name(RestartCause cause);  // for programs: "node_failed"

struct Restart {
  RestartCause cause = RestartCause::kNone;
  Time time{};
  JobId by{};     // kPreempted: for this job
  Uid user{};     // kUser: who asked for it
  NodeId node{};  // kNodeFailed, kLaunchFailed: this one, if has_node
  bool has_node = false;
  int32_t exit_status = 0;  // kExitCode: as wait() gives it
  uint32_t failures = 0;    // how often it came back because something failed, up to now
  bool operator==(const Restart&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "cause", self.cause);
    field(2, "time", self.time);
    field(3, "by", self.by);
    field(4, "user", self.user);
    field(5, "node", self.node);
    field(6, "has_node", self.has_node);
    field(7, "exit_status", self.exit_status);
    field(8, "failures", self.failures);
  }
};
// "preempted by job 12", "node n3 failed", "requeued by uid 1000"; "" for kNone. `node`: the name of restart.node.
std::string restart_text(const Restart& restart, std::string_view node);

// Of a heterogeneous job: what one component gets.
struct ClaimPart {
  JobId job{};
  uint32_t partition = 0;
  AllocationPtr allocation;
  bool operator==(const ClaimPart& o) const;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "partition", self.partition);
    field(3, "allocation", self.allocation);
  }
};

// What a waiting job holds while jobs end to make room for it. A heterogeneous job has one, at its first component.
struct Claim {
  Time since{};
  uint64_t position = 0;  // in the log: plans made before it do not know of it
  uint32_t partition = 0;
  AllocationPtr allocation;    // where it starts once they have ended
  std::vector<JobId> victims;  // ascending
  // Of a heterogeneous job: all components, in their order. `partition` is the first one's then, and `allocation` what all of them get.
  std::vector<ClaimPart> parts;
  bool operator==(const Claim& o) const;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "since", self.since);
    field(2, "partition", self.partition);
    field(3, "allocation", self.allocation);
    field(4, "victims", self.victims);
    field(5, "position", self.position);
    field(6, "parts", self.parts);
  }
};

// What a job has that preempts others or was put back into the queue, apart from the rest: few jobs have any of it.
struct JobTurns {
  std::shared_ptr<const Claim> claim;  // null: none
  Restart restart;                     // the last time
  bool operator==(const JobTurns& o) const;
};

}  // namespace muster
