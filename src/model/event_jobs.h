// Events of jobs, from their submission until they are forgotten.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/job.h"

namespace muster::event {

struct RequestStored {  // a JobRequest that the next jobs refer to
  static constexpr uint32_t kNumber = 10;
  static constexpr const char* kName = "RequestStored";
  RequestId id{};
  JobRequestPtr request;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "request", self.request);
  }
};

struct JobSubmitted {
  static constexpr uint32_t kNumber = 11;
  static constexpr const char* kName = "JobSubmitted";
  JobId job{};
  RequestId request{};
  Time time{};
  Time eligible{};
  uint32_t priority = 0;
  uint32_t flags = 0;
  Reason reason = Reason::kNone;
  uint32_t time_limit_min = 0;
  uint32_t partition = 0;
  std::shared_ptr<const ArrayTasks> array_tasks;
  std::shared_ptr<const Dependencies> dependencies;
  uint32_t association = 0;
  Time accrues{};  // as in Job
  HetPart het;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "request", self.request);
    field(3, "time", self.time);
    field(4, "eligible", self.eligible);
    field(5, "priority", self.priority);
    field(6, "flags", self.flags);
    field(7, "reason", self.reason);
    field(8, "time_limit_min", self.time_limit_min);
    field(9, "partition", self.partition);
    field(10, "array_tasks", self.array_tasks);
    field(11, "dependencies", self.dependencies);
    field(12, "association", self.association);
    field(13, "accrues", self.accrues);
    field(42, "het", self.het);
  }
};

// Sets the values that hold, release, update, eligibility … may change. With `array_task`, the pending task first gets a record of its
// own, `task_job`, as a task that starts does.
struct JobChanged {
  static constexpr uint32_t kNumber = 12;
  static constexpr const char* kName = "JobChanged";
  JobId job{};
  RequestId request{};  // may be a new one
  uint32_t priority = 0;
  uint32_t flags = 0;
  Reason reason = Reason::kNone;
  uint32_t time_limit_min = 0;
  uint32_t partition = 0;
  Time eligible{};
  Time ends{};
  std::shared_ptr<const ArrayTasks> array_tasks;
  std::shared_ptr<const Dependencies> dependencies;
  std::shared_ptr<const std::string> detail;
  uint32_t array_task = kNoArrayTask;
  JobId task_job{};
  uint32_t association = 0;
  Time time{};  // where a job that runs may come to be charged to others
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "request", self.request);
    field(3, "priority", self.priority);
    field(4, "flags", self.flags);
    field(5, "reason", self.reason);
    field(6, "time_limit_min", self.time_limit_min);
    field(7, "partition", self.partition);
    field(8, "eligible", self.eligible);
    field(9, "ends", self.ends);
    field(10, "array_tasks", self.array_tasks);
    field(11, "dependencies", self.dependencies);
    field(12, "detail", self.detail);
    field(13, "array_task", self.array_task);
    field(14, "task_job", self.task_job);
    field(15, "association", self.association);
    field(16, "time", self.time);
  }
};

struct JobStarted {  // the gang has its nodes; for a task of an array record, `task_job` is its own record's id
  static constexpr uint32_t kNumber = 13;
  static constexpr const char* kName = "JobStarted";
  JobId job{};
  uint32_t array_task = kNoArrayTask;  // taken out of job's pending tasks
  JobId task_job{};                    // new id, or = job for the last task
  Time time{};
  Time ends{};
  uint32_t partition = 0;
  AllocationPtr allocation;
  uint32_t flags = 0;                      // CONFIGURING, POWER_UP_NODE
  std::optional<uint32_t> time_limit_min;  // a limit lowered within --time-min
  uint32_t priority = 0;                   // at that moment; 0: as it was
  uint32_t batch_index = 0;                // in allocation: where the batch script runs
  bool prolog = false;                     // PrologSlurmctld runs first
  Bitmap preparing;                        // by index in allocation: nodes that run their prolog at once
  bool managed = false;                    // its first node decides about its steps
  uint16_t first_port = 0, last_port = 0;  // of MpiParams=ports=, for these steps
  uint32_t association = 0;                // in the partition that was chosen; 0: as it was
  uint32_t reservation = 0;                // that it runs in; 0: none
  bool contained = false;                  // each of its nodes has an external step
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "array_task", self.array_task);
    field(3, "task_job", self.task_job);
    field(4, "time", self.time);
    field(5, "ends", self.ends);
    field(6, "partition", self.partition);
    field(7, "allocation", self.allocation);
    field(8, "flags", self.flags);
    field(9, "time_limit_min", self.time_limit_min);
    field(10, "priority", self.priority);
    field(11, "batch_index", self.batch_index);
    field(12, "prolog", self.prolog);
    field(13, "preparing", self.preparing);
    field(60, "managed", self.managed);
    field(61, "first_port", self.first_port);
    field(62, "last_port", self.last_port);
    field(63, "association", self.association);
    field(83, "reservation", self.reservation);
    field(84, "contained", self.contained);
  }
};

struct JobLaunched {  // prologs done, the batch script runs; CONFIGURING ends
  static constexpr uint32_t kNumber = 14;
  static constexpr const char* kName = "JobLaunched";
  JobId job{};
  Time time{};
  Time ends{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "time", self.time);
    field(3, "ends", self.ends);
  }
};

struct JobEnding {  // a terminal state is decided; nodes that still hold something follow with JobNodesReleased
  static constexpr uint32_t kNumber = 15;
  static constexpr const char* kName = "JobEnding";
  JobId job{};
  uint32_t array_task = kNoArrayTask;  // a pending task cancelled out of an array record
  JobId task_job{};                    // what becomes its record; 0: it never started and gets none
  JobState state = JobState::kCompleted;
  Reason reason = Reason::kNone;
  uint32_t flags = 0;  // REQUEUED, REQUEUE_HOLD, SPECIAL_EXIT, LAUNCH_FAILED
  int32_t exit_status = 0;
  Time time{};
  Bitmap releasing;  // nodes (by index in the allocation) to wait for
  std::shared_ptr<const std::string> detail;
  Uid by{};             // who cancelled it
  bool epilog = false;  // EpilogSlurmctld is to run
  bool asked = false;   // a user asked for it (scancel): `by` is that user, and not whoever a rule acts as
  NodeId node{};        // the node that was at fault, if has_node
  bool has_node = false;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "array_task", self.array_task);
    field(3, "task_job", self.task_job);
    field(4, "state", self.state);
    field(5, "reason", self.reason);
    field(6, "flags", self.flags);
    field(7, "exit_status", self.exit_status);
    field(8, "time", self.time);
    field(9, "releasing", self.releasing);
    field(10, "detail", self.detail);
    field(11, "by", self.by);
    field(12, "epilog", self.epilog);
    field(13, "asked", self.asked);
    field(23, "node", self.node);
    field(24, "has_node", self.has_node);
  }
};

struct JobNodesReleased {  // nothing of the job is left on these nodes
  static constexpr uint32_t kNumber = 16;
  static constexpr const char* kName = "JobNodesReleased";
  JobId job{};
  Bitmap nodes;  // by index in the allocation
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "nodes", self.nodes);
    field(3, "time", self.time);
  }
};

struct JobShrunk {  // it gave up nodes while it runs; those that still hold something follow with JobNodeLeft
  static constexpr uint32_t kNumber = 370;
  static constexpr const char* kName = "JobShrunk";
  JobId job{};
  AllocationPtr allocation;  // what is left: a part of what it was, in the same order
  Bitmap free_at_once;       // by index in what it was: nodes given up that need not be waited for
  Time time{};
  uint32_t next_step = 0;  // of a managed job whose next node becomes the manager: where its numbers begin; 0: as it was
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "allocation", self.allocation);
    field(3, "free_at_once", self.free_at_once);
    field(4, "time", self.time);
    field(5, "next_step", self.next_step);
  }
};

struct JobNodeLeft {  // nothing of the job is left on a node that it gave up
  static constexpr uint32_t kNumber = 371;
  static constexpr const char* kName = "JobNodeLeft";
  JobId job{};
  NodeId node{};
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "node", self.node);
    field(3, "time", self.time);
  }
};

// --mem-update: what the job uses was measured, once in this run. From now on it has at most this much memory on each of its nodes; where
// it had no more than that, it keeps what it had.
struct JobMemoryReduced {
  static constexpr uint32_t kNumber = 372;
  static constexpr const char* kName = "JobMemoryReduced";
  JobId job{};
  uint64_t mem_mb = 0;
  std::optional<uint64_t> billing;  // of what it has then, as in Allocation
  Time time{};
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "job", s.job);
    v(2, "mem_mb", s.mem_mb);
    v(3, "billing", s.billing);
    v(4, "time", s.time);
  }
};

struct JobRequeued {  // back to PENDING with a clean slate
  static constexpr uint32_t kNumber = 17;
  static constexpr const char* kName = "JobRequeued";
  JobId job{};
  Time time{};
  Time eligible{};
  uint32_t priority = 0;
  uint32_t flags = 0;
  Reason reason = Reason::kNone;
  Restart restart;  // why
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "time", self.time);
    field(3, "eligible", self.eligible);
    field(4, "priority", self.priority);
    field(5, "flags", self.flags);
    field(6, "reason", self.reason);
    field(16, "restart", self.restart);
  }
};

struct JobSuspended {  // or resumed
  static constexpr uint32_t kNumber = 18;
  static constexpr const char* kName = "JobSuspended";
  JobId job{};
  bool resumed = false;
  Time time{};
  SuspendCause cause = SuspendCause::kUser;
  JobId by{};  // kPreempted: for this job
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "resumed", self.resumed);
    field(3, "time", self.time);
    field(13, "cause", self.cause);
    field(14, "by", self.by);
  }
};

struct JobPreempted {  // it was chosen to make room, and ends by `ends` at the latest
  static constexpr uint32_t kNumber = 490;
  static constexpr const char* kName = "JobPreempted";
  JobId job{};
  JobId by{};  // for this job
  PreemptHow how = PreemptHow::kOff;
  Time time{};
  Time ends{};  // unset: as it was
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "by", self.by);
    field(3, "how", self.how);
    field(4, "time", self.time);
    field(5, "ends", self.ends);
  }
};

// A waiting job holds what others give up for it, or (without a claim) holds it no longer. With `array_task`, the pending task first gets
// a record of its own, `task_job`, as a task that starts does.
struct JobClaimed {
  static constexpr uint32_t kNumber = 491;
  static constexpr const char* kName = "JobClaimed";
  JobId job{};
  uint32_t array_task = kNoArrayTask;
  JobId task_job{};
  std::shared_ptr<const Claim> claim;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "array_task", self.array_task);
    field(3, "task_job", self.task_job);
    field(4, "claim", self.claim);
  }
};

struct JobsPurged {  // forgotten MinJobAge after their end, or sooner where room is needed
  static constexpr uint32_t kNumber = 19;
  static constexpr const char* kName = "JobsPurged";
  std::vector<JobId> jobs;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "jobs", self.jobs);
  }
};

struct JobsAccrue {  // from `since` on the age of these jobs counts; kTimeInfinite: it waits for a limit (GrpJobsAccrue …)
  static constexpr uint32_t kNumber = 480;
  static constexpr const char* kName = "JobsAccrue";
  std::vector<JobId> jobs;
  Time since{};
  bool of_each = false;  // since each of them was eligible: they were there before the limit
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "jobs", self.jobs);
    field(2, "since", self.since);
    field(3, "of_each", self.of_each);
  }
};

struct PrioritiesKept {  // INCR_ONLY: the priorities of these jobs have fallen, and stay at what they were until they are above it again
  static constexpr uint32_t kNumber = 528;
  static constexpr const char* kName = "PrioritiesKept";
  std::vector<JobId> jobs;
  std::vector<uint32_t> priorities;  // of each of them
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "jobs", self.jobs);
    field(2, "priorities", self.priorities);
  }
};

struct JobWarned {  // the limit comes near: --signal or a mail was due and sent
  static constexpr uint32_t kNumber = 23;
  static constexpr const char* kName = "JobWarned";
  JobId job{};
  uint32_t what = 0;  // one JobWarning; 0 in old logs: kWarnedSignal
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "what", self.what);
  }
};

struct JobNodesSettled {  // these nodes did what the last suspend or resume asked for
  static constexpr uint32_t kNumber = 24;
  static constexpr const char* kName = "JobNodesSettled";
  JobId job{};
  bool suspended = false;
  Bitmap nodes;  // by index in the allocation
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "suspended", self.suspended);
    field(3, "nodes", self.nodes);
  }
};

struct JobScriptEnded {  // the batch script of a job that was over already: cancelled, out of time
  static constexpr uint32_t kNumber = 25;
  static constexpr const char* kName = "JobScriptEnded";
  JobId job{};
  int32_t exit_status = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "exit_status", self.exit_status);
  }
};

struct JobProgramEnded {  // PrologSlurmctld went well, or EpilogSlurmctld is over
  static constexpr uint32_t kNumber = 380;
  static constexpr const char* kName = "JobProgramEnded";
  JobId job{};
  bool epilog = false;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "epilog", self.epilog);
  }
};

struct JobNodesPrepared {  // the prologs of these nodes went well
  static constexpr uint32_t kNumber = 381;
  static constexpr const char* kName = "JobNodesPrepared";
  JobId job{};
  Bitmap nodes;  // by index in the allocation
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "nodes", self.nodes);
  }
};

}  // namespace muster::event
