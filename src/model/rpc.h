// What commands ask the controller and get back. Each request struct is the command that slurmctld/core decides, or the
// query that an I/O thread answers from a Snapshot. wire/messages.def gives each its number on the wire.
// The caller's identity is not in here: it comes from the connection (net::Peer), never from the message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/job.h"
#include "model/rows.h"
#include "model/step_request.h"

namespace muster::rpc {

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

struct Empty {
  MUSTER_FIELDS((void)s; (void)v;)
};

// ---- submission
struct SubmitJob {
  JobRequest request;           // script_hash and environment_hash are set by the controller from the two below
  std::string script;
  std::string environment;      // NAME=VALUE\0…
  MUSTER_FIELDS(v(1, "request", s.request); v(2, "script", s.script); v(3, "environment", s.environment);)
};
struct JobSubmitted {
  JobId job{};
  std::string message;          // a warning for the user, usually empty
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "message", s.message);)
};

// salloc, srun outside a job: the answer comes when the job has its nodes (a notice `AllocationPending` before that).
struct Allocate {
  JobRequest request;
  MUSTER_FIELDS(v(1, "request", s.request);)
};
struct AllocationPending {
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};
struct NodeAddress {
  std::string name, host;
  uint16_t port = 0;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "host", s.host); v(3, "port", s.port);)
};
struct Allocated {
  JobRow job;
  JobRequest request;
  std::vector<NodeAddress> addresses;       // in rank order
  std::vector<uint32_t> cpus_per_node;
  std::vector<uint32_t> tasks_per_node;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "request", s.request); v(3, "addresses", s.addresses);
                v(4, "cpus_per_node", s.cpus_per_node); v(5, "tasks_per_node", s.tasks_per_node);)
};
struct WillRun {                // --test-only
  JobRequest request;
  MUSTER_FIELDS(v(1, "request", s.request);)
};
struct WillRunAnswer {
  Time start{};
  uint32_t cpus = 0;
  std::string node_list, partition;
  JobId job{};                  // the id it would get if it were submitted now
  MUSTER_FIELDS(v(1, "start", s.start); v(2, "cpus", s.cpus); v(3, "node_list", s.node_list); v(4, "partition", s.partition);
                v(5, "job", s.job);)
};
struct WaitJob {                // sbatch --wait, scontrol wait_job: answered when the job ended (all array tasks)
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};
struct JobResult {
  JobState state = JobState::kPending;
  int32_t exit_status = 0;
  MUSTER_FIELDS(v(1, "state", s.state); v(2, "exit_status", s.exit_status);)
};
struct FinishAllocation {       // salloc's command or srun ended: give the allocation back
  JobId job{};
  int32_t exit_status = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "exit_status", s.exit_status);)
};
struct AttachAllocation {       // srun inside a job, srun --jobid: the allocation as it stands
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};

// ---- steps
struct CreateStep {
  JobId job{};
  StepRequest request;
  std::string srun_host;
  uint32_t srun_pid = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "request", s.request); v(3, "srun_host", s.srun_host); v(4, "srun_pid", s.srun_pid);)
};
struct StepNode {               // one node of the step, in order
  NodeAddress address;
  std::vector<uint32_t> ranks;
  std::string cpu_list;         // abstract CPU numbers of the step there
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  uint32_t node_index = 0;      // within the job's allocation
  uint32_t job_cpus = 0;
  MUSTER_FIELDS(v(1, "address", s.address); v(2, "ranks", s.ranks); v(3, "cpu_list", s.cpu_list); v(4, "mem_mb", s.mem_mb);
                v(5, "gres", s.gres); v(6, "node_index", s.node_index); v(7, "job_cpus", s.job_cpus);)
};
struct StepCreated {
  JobId job{};
  StepId step{};
  uint32_t num_tasks = 0;
  std::vector<StepNode> nodes;
  std::string credential;       // signed for the nodes; opaque to srun
  Uid uid{};
  Gid gid{};
  std::string job_node_list;
  uint32_t cpus_per_task = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "num_tasks", s.num_tasks); v(4, "nodes", s.nodes);
                v(5, "credential", s.credential); v(6, "uid", s.uid); v(7, "gid", s.gid);
                v(8, "job_node_list", s.job_node_list); v(9, "cpus_per_task", s.cpus_per_task);)
};
struct FinishStep {             // srun: all tasks are accounted for, or the launch failed
  JobId job{};
  StepId step{};
  int32_t exit_status = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "exit_status", s.exit_status);)
};

// ---- control
struct JobSelector {            // "123", "123_4", "123_[4-7]", "123.0"
  JobId job{};
  uint32_t array_task = kNoArrayTask;
  std::string array_tasks;      // index list of 123_[…]; empty = none
  bool has_step = false;
  StepId step{};
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "array_task", s.array_task); v(3, "array_tasks", s.array_tasks);
                v(4, "has_step", s.has_step); v(5, "step", s.step);)
};
struct JobFilter {              // empty lists match all
  std::vector<Uid> users;
  std::vector<std::string> names, partitions, accounts, qos, reservations, nodes, wckeys, licenses, user_names;
  uint32_t states = 0, state_flags = 0;       // JobState bits, JobFlag bits; both 0: every state
  std::vector<JobSelector> jobs;
  MUSTER_FIELDS(v(1, "users", s.users); v(2, "names", s.names); v(3, "partitions", s.partitions);
                v(4, "accounts", s.accounts); v(5, "qos", s.qos); v(6, "reservations", s.reservations);
                v(7, "nodes", s.nodes); v(8, "wckeys", s.wckeys); v(9, "licenses", s.licenses);
                v(10, "user_names", s.user_names); v(11, "states", s.states); v(12, "state_flags", s.state_flags);
                v(13, "jobs", s.jobs);)
};
enum class SignalScope : uint8_t { kSteps, kBatch, kFull };   // default; --batch; --full
struct SignalJobs {             // scancel; signal 0 = cancel (SIGTERM, then SIGKILL after KillWait)
  JobFilter filter;
  uint16_t signal = 0;
  SignalScope scope = SignalScope::kSteps;
  bool hurry = false;
  std::string admin_comment;
  MUSTER_FIELDS(v(1, "filter", s.filter); v(2, "signal", s.signal); v(3, "scope", s.scope); v(4, "hurry", s.hurry);
                v(5, "admin_comment", s.admin_comment);)
};
struct PerJobError {
  std::string job;              // as the user names it
  int32_t code = 0;
  std::string text;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "code", s.code); v(3, "text", s.text);)
};
struct SignalJobsAnswer {
  uint32_t matched = 0;
  std::vector<PerJobError> errors;
  MUSTER_FIELDS(v(1, "matched", s.matched); v(2, "errors", s.errors);)
};
enum class JobAction : uint8_t { kHold, kUserHold, kRelease, kRequeue, kRequeueHold, kSuspend, kResume, kTop };
struct ControlJobs {
  JobAction action = JobAction::kHold;
  std::vector<JobSelector> jobs;
  std::vector<std::string> names;       // scontrol hold jobname=…
  bool incomplete = false;              // requeue Incomplete
  MUSTER_FIELDS(v(1, "action", s.action); v(2, "jobs", s.jobs); v(3, "names", s.names); v(4, "incomplete", s.incomplete);)
};
struct KeyValue {
  std::string key, op, value;           // op: "=", "+=", "-="
  MUSTER_FIELDS(v(1, "key", s.key); v(2, "op", s.op); v(3, "value", s.value);)
};
struct UpdateJob {                      // scontrol update job: keys of scontrol(1), checked by the controller's updater table
  JobSelector job;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "changes", s.changes);)
};
struct UpdateNode {
  std::string nodes;                    // host list
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "changes", s.changes);)
};
struct UpdatePartition {
  std::string name;
  bool create = false, remove = false;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "create", s.create); v(3, "remove", s.remove); v(4, "changes", s.changes);)
};
struct Messages {                       // warnings or per-item errors of a control command that was carried out
  std::vector<std::string> lines;
  std::vector<PerJobError> errors;
  MUSTER_FIELDS(v(1, "lines", s.lines); v(2, "errors", s.errors);)
};
struct Shutdown {
  bool controller_only = false;
  MUSTER_FIELDS(v(1, "controller_only", s.controller_only);)
};

// ---- queries; answers are streams of rows, the last frame an Empty
struct QueryJobs {
  JobFilter filter;
  uint32_t parts = 0;                   // RowPart
  bool show_all = false;                // hidden partitions too
  MUSTER_FIELDS(v(1, "filter", s.filter); v(2, "parts", s.parts); v(3, "show_all", s.show_all);)
};
struct RequestRow {
  RequestId id{};
  JobRequest request;
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "request", s.request);)
};
struct JobRows {                        // one part: requests first seen in it, then rows
  std::vector<RequestRow> requests;
  std::vector<JobRow> jobs;
  std::vector<StepRow> steps;
  MUSTER_FIELDS(v(1, "requests", s.requests); v(2, "jobs", s.jobs); v(3, "steps", s.steps);)
};
struct QueryNodes {
  std::string nodes;                    // host list; "" = all
  std::vector<std::string> partitions;
  bool show_all = false;
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "partitions", s.partitions); v(3, "show_all", s.show_all);)
};
struct NodeRows {
  std::vector<NodeRow> nodes;
  std::vector<PartitionRow> partitions;   // in the first part
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "partitions", s.partitions);)
};
struct QueryPartitions {
  std::string name;                     // "" = all
  bool show_all = false;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "show_all", s.show_all);)
};
struct PartitionRows {
  std::vector<PartitionRow> partitions;
  MUSTER_FIELDS(v(1, "partitions", s.partitions);)
};
struct Text {                           // show config, sdiag, batch script …
  std::string text;
  MUSTER_FIELDS(v(1, "text", s.text);)
};
struct QueryText {
  std::string subject;                  // "config", "diag", "script", "environment"
  JobId job{};
  MUSTER_FIELDS(v(1, "subject", s.subject); v(2, "job", s.job);)
};
struct Reconfigure {            // read the configuration files again
  MUSTER_FIELDS((void)s; (void)v;)
};
struct Ping {
  MUSTER_FIELDS((void)s; (void)v;)
};
struct Pong {
  std::string host;
  uint32_t index = 0;                   // 0 = primary
  int32_t pid = 0;
  Time started{};
  MUSTER_FIELDS(v(1, "host", s.host); v(2, "index", s.index); v(3, "pid", s.pid); v(4, "started", s.started);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc
