// Job and Step: the record of one submission (or of all pending tasks of an array) and of its steps.
//
// What was asked for stands in `request` (shared) and `own` (packed); what the system made of it stands here. A pending array is ONE
// record with `array_tasks`; a task that starts becomes a record of its own, as squeue shows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/apart.h"
#include "base/bitmap.h"
#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/het.h"
#include "model/job_request.h"
#include "model/packed_own.h"
#include "model/preemption.h"
#include "model/resources.h"
#include "model/sluid.h"
#include "model/step_request.h"
#include "model/step_usage.h"

namespace muster {

// The id of an entry in Cluster::requests. Jobs that ask for the same thing share one entry.
using RequestId = StrongId<struct RequestIdTag, uint32_t>;

// The tasks of an array that have not started, and how many may run at once.
struct ArrayTasks {
  Bitmap pending;
  uint32_t max_running = 0;  // %limit; 0 = none
  bool operator==(const ArrayTasks&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "pending", self.pending);
    field(2, "max_running", self.max_running);
  }
};

enum class DependencyType : uint8_t { kAfter, kAfterAny, kAfterOk, kAfterNotOk, kAfterCorr, kAfterBurstBuffer, kSingleton };
enum class DependencyState : uint8_t { kUnfulfilled, kFulfilled, kFailed };

struct Dependency {
  DependencyType type = DependencyType::kAfterAny;
  JobId job{};  // array job id where the whole array is meant
  uint32_t array_task = kNoArrayTask;
  uint32_t delay_min = 0;  // after:job+minutes
  DependencyState state = DependencyState::kUnfulfilled;
  bool operator==(const Dependency&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "type", self.type);
    field(2, "job", self.job);
    field(3, "array_task", self.array_task);
    field(4, "delay_min", self.delay_min);
    field(5, "state", self.state);
  }
};

struct Dependencies {
  std::vector<Dependency> list;
  bool any = false;  // '?' between them: one is enough
  bool operator==(const Dependencies&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "list", self.list);
    field(2, "any", self.any);
  }
};

enum class StepState : uint8_t { kPending, kRunning, kCompleting };

// One node's part of a step. `node_index` counts within the job's allocation.
struct StepShare {
  uint32_t node_index = 0;
  uint32_t first_task = 0;  // used with block layouts; `tasks` holds ranks where they are not consecutive
  uint32_t task_count = 0;
  std::vector<uint32_t> ranks;  // empty: first_task … first_task+task_count-1
  Bitmap cpus;
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  bool done = false;
  bool operator==(const StepShare&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "node_index", self.node_index);
    field(2, "first_task", self.first_task);
    field(3, "task_count", self.task_count);
    field(4, "ranks", self.ranks);
    field(5, "cpus", self.cpus);
    field(6, "mem_mb", self.mem_mb);
    field(7, "gres", self.gres);
    field(8, "done", self.done);
  }
};

struct Step {
  StepId id{};
  StepState state = StepState::kRunning;
  StepRequestPtr request;
  Time start{};
  std::vector<StepShare> shares;
  int32_t exit_status = 0;  // highest wait status so far
  std::string srun_host;    // where the launcher runs
  uint32_t srun_pid = 0;
  uint32_t time_limit_min = kUnlimited32;
  bool overlap = false;
  std::vector<uint16_t> resv_ports;  // of MpiParams=ports=, ascending: its own on all of its nodes
  bool out_of_memory = false;        // on a node where it is over
  // Of a step over components of a heterogeneous job: ranks of tasks in `shares` count from 0, and those that the tasks know from
  // first_rank; so many tasks run in all components. 0: it runs in this job alone.
  uint32_t first_rank = 0, all_tasks = 0;
  StepUsagePtr usage;                    // of the nodes where it is over
  Duration suspended_before{};           // how long its job had been suspended when it began
  bool operator==(const Step& o) const;  // compares what pointers point to
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "state", self.state);
    field(3, "request", self.request);
    field(4, "start", self.start);
    field(5, "shares", self.shares);
    field(6, "exit_status", self.exit_status);
    field(7, "srun_host", self.srun_host);
    field(8, "srun_pid", self.srun_pid);
    field(9, "time_limit_min", self.time_limit_min);
    field(10, "overlap", self.overlap);
    field(11, "resv_ports", self.resv_ports);
    field(12, "out_of_memory", self.out_of_memory);
    field(42, "first_rank", self.first_rank);
    field(43, "all_tasks", self.all_tasks);
    field(100, "usage", self.usage);
    field(101, "suspended_before", self.suspended_before);
  }
};

// What a running job, or its user by mail, has been told about the end of its time. In the event log: append only.
enum JobWarning : uint32_t {
  kWarnedSignal = 1u << 0,  // --signal
  kWarnedHalf = 1u << 1,    // TIME_LIMIT_50
  kWarned80 = 1u << 2,
  kWarned90 = 1u << 3,
};

// A running job gave up nodes: what follows is recorded as another part of its run (model/accounting.h).
struct Resize {
  Time at{};
  Duration suspended_before{};  // how long the run had been suspended by then
  bool operator==(const Resize&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "at", self.at);
    field(2, "suspended_before", self.suspended_before);
  }
};

// What only a job that has started has, apart from the rest: a queue holds very many that have not.
struct JobRun {
  Time suspended{};  // when it was last suspended, or went on
  Duration suspended_total{};
  Bitmap releasing;                // by index in allocation: nodes still to be released (COMPLETING)
  Bitmap settling;                 // by index in allocation: nodes that have not confirmed the last suspend or resume
  Bitmap preparing;                // by index in allocation: nodes whose prolog was asked for and has not ended (PrologFlags)
  std::vector<NodeShare> leaving;  // nodes and resources given up while it runs, which are not yet clean (RESIZING)
  Time resized{};                  // when it last gave up nodes
  std::string batch_host;
  uint32_t batch_index = 0;                // in allocation: the node of the batch script (--batch)
  uint32_t time_warned = 0;                // JobWarning bits: what was said of the limit in this run
  uint16_t first_port = 0, last_port = 0;  // of MpiParams=ports=: kept for the steps of a managed job; 0: none
  uint64_t step_news = 0;                  // how many news of its steps the manager has told (model/node_rpc.h, StepsOfJob)
  // preemption and time slices
  Time preempted{};                                  // when it was chosen to make room
  JobId preempted_by{};                              // for this job; 0: for none
  PreemptHow preempt_how = PreemptHow::kOff;         // what becomes of it
  SuspendCause suspend_cause = SuspendCause::kUser;  // of a suspended job: why
  bool off_cpus = false;                             // suspended, and others may have its CPUs
  Time slice_began{};                                // when it last was resumed by the system; unset: it never was
  NodeId failed_node{};                              // that ended this run, if has_failed_node
  bool has_failed_node = false;
  uint32_t reservation = 0;  // that it runs in, by its number; 0: none. It may be gone meanwhile
  std::string reservation_name;
  StepUsagePtr batch_usage;     // what the batch script has used; null: it has not ended, or nothing was gathered
  bool contained = false;       // each of its nodes has an external step (PrologFlags=Contain); settled when it starts
  StepUsagePtr external_usage;  // what that has used on the nodes that are rid of the job; null: nothing is known yet
  Time memory_due{};            // --mem-update: when its memory use is measured; unset: never, or not again in this run
  std::vector<Resize> resizes;  // each later than the one before, and than the start; no more than it had nodes
  bool operator==(const JobRun&) const = default;
};

struct Job {
  JobId id{};
  RequestId request_id{};
  // What was asked for, in its two parts; resolved from request_id, not in the log record of the job.
  RequestBodyPtr request;
  PackedOwn own;
  JobState state = JobState::kPending;
  Reason reason = Reason::kNone;  // set by events (held, ended …); a pending job's live verdict is in Cluster::moment
  bool launched = false;          // the batch script (or the allocation's prologs) started
  bool prolog_due = false;        // PrologSlurmctld has not ended: the nodes are not its own yet
  bool epilog_due = false;        // EpilogSlurmctld of this run has not ended
  bool cancel_asked = false;      // a user asked for its end; else a rule of the system cancelled it
  bool managed = false;           // its steps are decided about on its first node (ADR 11); settled when it starts
  bool attended = false;          // a command is there for it (salloc, srun): when it is gone, InactiveLimit counts
  uint16_t name_key = 0;          // of own's name, so that a search by name does not have to open that; 0: not known
  uint32_t flags = 0;             // JobFlag
  uint32_t priority = 0;          // 0 = held
  uint32_t time_limit_min = kUnlimited32;
  JobId array_job_id{};  // 0 = not of an array
  uint32_t array_task = kNoArrayTask;
  std::shared_ptr<const ArrayTasks> array_tasks;     // of the record that holds the pending tasks
  std::shared_ptr<const Dependencies> dependencies;  // null: none left
  uint32_t partition = 0;                            // index of the (first) partition; of the chosen one once started
  uint32_t association = 0;                          // whose the job is in that partition (AccountDirectory); 0: none was known
  uint32_t restarts = 0;
  uint32_t next_step = 0;
  // Since when its age counts where limits bound how many jobs grow in priority by waiting, or after it stood still for a while; while it
  // does so: as model/stopped_age.h says. Unset: it counts from `eligible`.
  Time accrues{};
  Time submitted{}, eligible{}, started{}, ends{}, ended{};  // ends: when its limit strikes; ended: terminal
  AllocationPtr allocation;                                  // while it holds nodes, and after its end for show job
  std::vector<Step> steps;                                   // those not finished
  Apart<JobRun> run;
  Apart<JobTurns> turns;
  std::shared_ptr<const std::string> detail;  // second sentence to the reason, a system comment; usually null
  int32_t exit_status = 0;                    // wait status of the batch script or of salloc's command
  int32_t derived_exit_status = 0;            // highest of its steps
  uint64_t record_position = 0;               // in the log: the last event that its accounting record shows; 0: none was asked for
  Uid cancelled_by{};                         // of a cancelled one
  HetPart het;                                // which component of a heterogeneous job it is

  void ask(const JobRequest& whole);  // sets both parts of what was asked for
  void asked_for(RequestBodyPtr body, PackedOwn part);
  JobRequest whole_request() const { return muster::whole_request(*request, own); }
  ShownRequest shown_request() const { return muster::shown_request(*request, own); }
  std::string_view name() const { return own.get(&RequestOwn::name); }
  Sluid sluid() const { return sluid_of(id, submitted, restarts); }  // of this run
  bool pending() const { return state == JobState::kPending; }
  bool finished() const { return is_finished(state); }
  bool is_leaving(NodeId node) const;
  bool is_preempted() const { return run->preempted_by.value != 0; }  // it is to end, to make room
  bool waits_for_turn() const { return state == JobState::kSuspended && run->suspend_cause != SuspendCause::kUser; }
  bool all_released() const { return run->releasing.none() && run->leaving.empty(); }  // of one that is over: no node has anything of it
  bool cleaned_up() const { return all_released() && !epilog_due; }                    // nothing of it is left to do, anywhere
  bool holds_nodes() const { return allocation && (!finished() || run->releasing.any()); }
  const NodeShare& batch_share() const { return allocation->nodes[run->batch_index]; }  // with an allocation only
  bool runs_script_on(NodeId node) const { return request->kind == JobKind::kBatch && batch_share().node == node; }
  bool operator==(const Job& o) const;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    auto run = described_part(field, self.run);
    auto turns = described_part(field, self.turns);
    field(1, "id", self.id);
    field(2, "request_id", self.request_id);
    field(3, "state", self.state);
    field(4, "reason", self.reason);
    field(5, "flags", self.flags);
    field(6, "priority", self.priority);
    field(7, "time_limit_min", self.time_limit_min);
    field(8, "array_job_id", self.array_job_id);
    field(9, "array_task", self.array_task);
    field(10, "array_tasks", self.array_tasks);
    field(11, "dependencies", self.dependencies);
    field(12, "partition", self.partition);
    field(13, "restarts", self.restarts);
    field(14, "next_step", self.next_step);
    field(15, "submitted", self.submitted);
    field(16, "eligible", self.eligible);
    field(17, "started", self.started);
    field(18, "ends", self.ends);
    field(19, "ended", self.ended);
    run(20, "suspended", &JobRun::suspended);
    run(21, "suspended_total", &JobRun::suspended_total);
    field(22, "allocation", self.allocation);
    run(23, "releasing", &JobRun::releasing);
    field(24, "launched", self.launched);
    field(25, "exit_status", self.exit_status);
    field(26, "derived_exit_status", self.derived_exit_status);
    run(27, "time_warned", &JobRun::time_warned);
    field(28, "steps", self.steps);
    field(29, "detail", self.detail);
    run(30, "batch_host", &JobRun::batch_host);
    run(31, "settling", &JobRun::settling);
    run(32, "batch_index", &JobRun::batch_index);
    run(33, "resized", &JobRun::resized);
    run(34, "leaving", &JobRun::leaving);
    field(35, "cancelled_by", self.cancelled_by);
    field(36, "record_position", self.record_position);
    field(37, "prolog_due", self.prolog_due);
    field(38, "epilog_due", self.epilog_due);
    run(39, "preparing", &JobRun::preparing);
    field(100, "managed", self.managed);
    run(101, "first_port", &JobRun::first_port);
    run(102, "last_port", &JobRun::last_port);
    run(103, "step_news", &JobRun::step_news);
    field(104, "association", self.association);
    field(105, "cancel_asked", self.cancel_asked);
    field(106, "accrues", self.accrues);
    turns(115, "claim", &JobTurns::claim);
    turns(116, "restart", &JobTurns::restart);
    run(117, "preempted", &JobRun::preempted);
    run(118, "preempted_by", &JobRun::preempted_by);
    run(119, "preempt_how", &JobRun::preempt_how);
    run(120, "suspend_cause", &JobRun::suspend_cause);
    run(121, "off_cpus", &JobRun::off_cpus);
    run(122, "slice_began", &JobRun::slice_began);
    run(123, "failed_node", &JobRun::failed_node);
    run(124, "has_failed_node", &JobRun::has_failed_node);
    run(125, "reservation", &JobRun::reservation);
    run(126, "reservation_name", &JobRun::reservation_name);
    field(135, "het", self.het);
    field(143, "attended", self.attended);
    describe_use(run);
  }

 private:
  // What this run has used, and what is known of that.
  template <class V>
  static void describe_use(V&& run) {
    run(144, "batch_usage", &JobRun::batch_usage);
    run(145, "memory_due", &JobRun::memory_due);
    run(150, "contained", &JobRun::contained);
    run(151, "external_usage", &JobRun::external_usage);
    run(152, "resizes", &JobRun::resizes);
  }
};

}  // namespace muster
