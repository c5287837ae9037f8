// What commands ask the controller and get back. Each request struct is either a command that slurmctld/core decides, or a query that
// an I/O thread answers from a Snapshot. messages.def gives each its number on the wire. The caller's identity is not in here: it comes
// from the connection (net::Peer), never from the message. What a user may ask of a job is AskedRequest (model/job_request.h), which
// has no place for what only the controller knows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/carried_request.h"
#include "model/explanation.h"
#include "model/job.h"
#include "model/rows.h"
#include "model/sluid.h"
#include "model/step_request.h"
#include "model/topology.h"

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
  AskedRequest request;
  std::string script;       // the job's own content: kept by the controller, which alone knows under which name
  std::string environment;  // NAME=VALUE\0…
  MUSTER_FIELDS(v(1, "request", s.request); v(2, "script", s.script); v(3, "environment", s.environment);)
};
struct JobSubmitted {
  JobId job{};
  std::string message;  // a warning for the user, usually empty
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "message", s.message);)
};

// sbatch with several components: all are accepted, or none. The script runs in the first. Answered with the leader's id.
struct SubmitHetJob {
  std::vector<AskedRequest> components;
  std::string script, environment;  // as in SubmitJob
  MUSTER_FIELDS(v(1, "components", s.components); v(2, "script", s.script); v(3, "environment", s.environment);)
};

// From salloc, and from srun outside a job. The answer comes when the job's nodes are ready. Before that, `AllocationPending` comes
// when the job has its number, and again when it has nodes that are not ready yet (they boot, or a prolog runs).
struct Allocate {
  AskedRequest request;
  bool attends = false;  // as that of WaitJob, from now on: the command may be killed before it says more
  MUSTER_FIELDS(v(1, "request", s.request); v(2, "attends", s.attends);)
};
struct AllocationPending {
  JobId job{};
  std::string nodes;  // its own from now on; "": it waits for some
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "nodes", s.nodes);)
};
struct NodeAddress {
  std::string name, host;
  uint16_t port = 0;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "host", s.host); v(3, "port", s.port);)
};
struct Allocated {
  JobRow job;
  ShownRequest request;
  std::vector<NodeAddress> addresses;  // in rank order
  std::vector<uint32_t> cpus_per_node;
  std::vector<uint32_t> tasks_per_node;
  std::string exclusive, oversubscribe;  // model/sharing_words.h
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "request", s.request); v(3, "addresses", s.addresses); v(4, "cpus_per_node", s.cpus_per_node);
                v(5, "tasks_per_node", s.tasks_per_node); v(6, "exclusive", s.exclusive); v(7, "oversubscribe", s.oversubscribe);)
};
// The same with several components. All are ready when the answer comes.
struct AllocateHetJob {
  std::vector<AskedRequest> components;
  bool attends = false;
  MUSTER_FIELDS(v(1, "components", s.components); v(2, "attends", s.attends);)
};
struct HetAllocated {
  std::vector<Allocated> components;
  MUSTER_FIELDS(v(1, "components", s.components);)
};
struct WillRun {  // --test-only
  AskedRequest request;
  JobKind kind = JobKind::kBatch;  // of sbatch; or of salloc and srun
  MUSTER_FIELDS(v(1, "request", s.request); v(2, "kind", s.kind);)
};
struct WillRunAnswer {
  Time start{};
  uint32_t cpus = 0;
  std::string node_list, partition;
  JobId job{};  // the id it would get if it were submitted now
  MUSTER_FIELDS(v(1, "start", s.start); v(2, "cpus", s.cpus); v(3, "node_list", s.node_list); v(4, "partition", s.partition);
                v(5, "job", s.job);)
};
struct WaitJob {  // sbatch --wait: answered when the job ended (all array tasks)
  JobId job{};
  bool ready = false;    // scontrol wait_job: already when its nodes are ready
  bool attends = false;  // salloc, srun: as long as this waits, somebody is there for the allocation (InactiveLimit)
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "ready", s.ready); v(42, "attends", s.attends);)
};
struct JobResult {
  JobState state = JobState::kPending;
  int32_t exit_status = 0;
  MUSTER_FIELDS(v(1, "state", s.state); v(2, "exit_status", s.exit_status);)
};
struct FinishAllocation {  // salloc's command or srun ended: give the allocation back
  JobId job{};
  int32_t exit_status = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "exit_status", s.exit_status);)
};
struct AttachAllocation {  // srun inside a job, srun --jobid: the allocation as it stands
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};

// ---- steps
struct CreateStep {
  JobId job{};
  StepRequest request;
  std::string srun_host;
  uint32_t srun_pid = 0;
  bool queue = false;                    // --async: where the resources are busy, the step has its number and waits for them
  std::optional<uint32_t> waiting_step;  // this step, which waits already; no new one is made
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "request", s.request); v(3, "srun_host", s.srun_host); v(4, "srun_pid", s.srun_pid);
                v(5, "queue", s.queue); v(6, "waiting_step", s.waiting_step);)
};
struct StepNode {  // one node of the step, in order
  NodeAddress address;
  std::vector<uint32_t> ranks;
  std::string cpu_list;  // abstract CPU numbers of the step there
  uint64_t mem_mb = 0;
  std::vector<GresShare> gres;
  uint32_t node_index = 0;  // within the job's allocation
  uint32_t job_cpus = 0;
  std::string topology_address, topology_pattern;
  MUSTER_FIELDS(v(1, "address", s.address); v(2, "ranks", s.ranks); v(3, "cpu_list", s.cpu_list); v(4, "mem_mb", s.mem_mb);
                v(5, "gres", s.gres); v(6, "node_index", s.node_index); v(7, "job_cpus", s.job_cpus);
                v(8, "topology_address", s.topology_address); v(9, "topology_pattern", s.topology_pattern);)
};
struct StepCreated {
  JobId job{};
  StepId step{};
  uint32_t num_tasks = 0;
  std::vector<StepNode> nodes;
  std::string credential;  // signed for the nodes; opaque to srun
  Uid uid{};
  Gid gid{};
  std::string job_node_list;
  uint32_t cpus_per_task = 0;
  uint32_t first_node = 0, own_nodes = 0;  // of a step over components: which of `nodes`, those of all, are this component's; 0: all
  bool waiting = false;  // CreateStep::queue: it has no nodes yet; a request with waiting_step gives them once they are free
  Sluid sluid{};
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "num_tasks", s.num_tasks); v(4, "nodes", s.nodes);
                v(5, "credential", s.credential); v(6, "uid", s.uid); v(7, "gid", s.gid); v(8, "job_node_list", s.job_node_list);
                v(9, "cpus_per_task", s.cpus_per_task); v(10, "waiting", s.waiting); v(12, "sluid", s.sluid);
                v(42, "first_node", s.first_node); v(43, "own_nodes", s.own_nodes);)
};
// srun over several components of a heterogeneous job: a step of each, all with one number, or none. Ranks count through.
struct CreateHetStep {
  std::vector<CreateStep> components;  // `job` is the component's id
  MUSTER_FIELDS(v(1, "components", s.components);)
};
struct HetStepCreated {
  std::vector<StepCreated> components;
  MUSTER_FIELDS(v(1, "components", s.components);)
};
struct RunWithoutJob {  // srun --no-allocate: a step on request.required_nodes that belongs to no job. Answered like CreateStep
  StepRequest request;
  MUSTER_FIELDS(v(1, "request", s.request);)
};
struct WaitSteps {  // swait: answered when the job has no step that runs or waits
  JobId job{};
  MUSTER_FIELDS(v(1, "job", s.job);)
};
// sacct -j: answered when slurmdbd has the records of what happened to these jobs, or when slurmdbd is away and cannot get them.
struct WaitRecords {
  std::vector<JobId> jobs;
  MUSTER_FIELDS(v(1, "jobs", s.jobs);)
};
// What a credential allows, so that one that allows less is never accepted for more.
enum class CredentialPurpose : uint8_t { kLaunch, kAttach, kSendFile, kWatch };
// From sattach and sstat: where a running step's tasks are; from sbcast: the nodes of a job or a step. Answered as CreateStep is, with a
// credential for that purpose.
struct AskCredential {
  JobId job{};
  bool has_step = false;
  StepId step{};
  CredentialPurpose purpose = CredentialPurpose::kAttach;
  Sluid sluid{};  // not 0: this run of `job` only
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "has_step", s.has_step); v(3, "step", s.step); v(4, "purpose", s.purpose); v(5, "sluid", s.sluid);)
};
struct FinishStep {  // srun: all tasks are accounted for, or the launch failed
  JobId job{};
  StepId step{};
  int32_t exit_status = 0;
  bool out_of_memory = false;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "step", s.step); v(3, "exit_status", s.exit_status); v(4, "out_of_memory", s.out_of_memory);)
};

// ---- control
struct JobSelector {  // "123", "123_4", "123_[4-7]", "123+1", "123.0", a Sluid in place of the number
  JobId job{};
  uint32_t array_task = kNoArrayTask;
  std::string array_tasks;  // index list of 123_[…]; empty = none
  bool has_step = false;
  StepId step{};
  Sluid sluid{};                       // not 0: this run of `job` only
  std::optional<uint32_t> het_offset;  // this component of `job`; else a leader's id means all of them
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "array_task", s.array_task); v(3, "array_tasks", s.array_tasks); v(4, "has_step", s.has_step);
                v(5, "step", s.step); v(6, "sluid", s.sluid); v(36, "het_offset", s.het_offset);)
  bool means_run(const Sluid& run) const { return !sluid || sluid == run; }
  // Whether the job is the one named, or a component that is.
  bool means_job(JobId id, const HetPart& het) const {
    if (het_offset) return het && het.leader == job && het.offset == *het_offset;
    return id == job || (het && het.leader == job);
  }
};
struct JobFilter {  // empty lists match all
  std::vector<Uid> users;
  std::vector<std::string> names, partitions, accounts, qos, reservations, nodes, wckeys, licenses, user_names;
  uint32_t states = 0, state_flags = 0;  // JobState bits, JobFlag bits; both 0: every state
  std::vector<JobSelector> jobs;
  MUSTER_FIELDS(v(1, "users", s.users); v(2, "names", s.names); v(3, "partitions", s.partitions); v(4, "accounts", s.accounts);
                v(5, "qos", s.qos); v(6, "reservations", s.reservations); v(7, "nodes", s.nodes); v(8, "wckeys", s.wckeys);
                v(9, "licenses", s.licenses); v(10, "user_names", s.user_names); v(11, "states", s.states);
                v(12, "state_flags", s.state_flags); v(13, "jobs", s.jobs);)
};
enum class SignalScope : uint8_t { kSteps, kBatch, kFull };  // default; --batch; --full
struct SignalJobs {                                          // scancel; signal 0 = cancel (SIGTERM, then SIGKILL after KillWait)
  JobFilter filter;
  uint16_t signal = 0;
  SignalScope scope = SignalScope::kSteps;
  bool hurry = false;
  std::string admin_comment;
  bool cron = false;  // --cron: jobs of scrontab are meant, too (ScronParameters=explicit_scancel)
  MUSTER_FIELDS(v(1, "filter", s.filter); v(2, "signal", s.signal); v(3, "scope", s.scope); v(4, "hurry", s.hurry);
                v(5, "admin_comment", s.admin_comment); v(45, "cron", s.cron);)
};
struct PerJobError {
  std::string job;  // as the user names it
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
  std::vector<std::string> names;  // scontrol hold jobname=…
  bool incomplete = false;         // requeue Incomplete: only those that run or are suspended
  bool special_exit = false;       // requeuehold State=SpecialExit
  MUSTER_FIELDS(v(1, "action", s.action); v(2, "jobs", s.jobs); v(3, "names", s.names); v(4, "incomplete", s.incomplete);
                v(5, "special_exit", s.special_exit);)
};
struct KeyValue {
  std::string key, op, value;  // op: "=", "+=", "-="
  MUSTER_FIELDS(v(1, "key", s.key); v(2, "op", s.op); v(3, "value", s.value);)
};
struct UpdateJob {  // scontrol update job: keys of scontrol(1), checked by the controller's updater table
  JobSelector job;
  std::vector<KeyValue> changes;
  std::string name;                // without `job`: every job of this name
  std::optional<uint32_t> owner;   // … that this user owns
  std::optional<uint32_t> as_uid;  // --uid: with the rights of this user; for operators
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "changes", s.changes); v(3, "name", s.name); v(4, "owner", s.owner); v(5, "as_uid", s.as_uid);)
};
struct UpdateStep {  // one step, or all of the job
  JobSelector job;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "changes", s.changes);)
};
struct UpdateNode {
  std::string nodes;  // host list or ALL
  std::vector<KeyValue> changes;
  bool create = false, remove = false;
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "changes", s.changes); v(3, "create", s.create); v(4, "remove", s.remove);)
};
enum class NodeAction : uint8_t { kReboot, kCancelReboot, kPowerUp, kPowerDown };
struct ControlNodes {  // scontrol reboot, cancel_reboot, power
  NodeAction action = NodeAction::kReboot;
  std::string nodes;  // host list or ALL
  bool asap = false, force = false;
  std::string next_state;  // reboot: "", RESUME, DOWN
  std::string reason;
  MUSTER_FIELDS(v(1, "action", s.action); v(2, "nodes", s.nodes); v(3, "asap", s.asap); v(4, "force", s.force);
                v(5, "next_state", s.next_state); v(6, "reason", s.reason);)
};
struct NotifyJob {  // a line on the job's standard error
  JobId job{};
  std::string text;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "text", s.text);)
};
struct UpdateConfig {  // keys of slurm.conf changed until the files are read again
  std::vector<KeyValue> changes;
  std::string nodes;  // not empty: the log of these node daemons instead
  MUSTER_FIELDS(v(1, "changes", s.changes); v(2, "nodes", s.nodes);)
};
struct UpdatePartition {
  std::string name;
  bool create = false, remove = false;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "create", s.create); v(3, "remove", s.remove); v(4, "changes", s.changes);)
};
struct UpdateReservation {
  std::string name;  // "" for a new one: made up from the first user or account
  bool create = false, remove = false;
  std::vector<KeyValue> changes;
  std::vector<std::string> group_members;  // of the groups that `changes` set: who is in them, as the command's host knows it
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "create", s.create); v(3, "remove", s.remove); v(4, "changes", s.changes);
                v(5, "group_members", s.group_members);)
};
struct Messages {  // warnings or per-item errors of a control command that was carried out
  std::vector<std::string> lines;
  std::vector<PerJobError> errors;
  MUSTER_FIELDS(v(1, "lines", s.lines); v(2, "errors", s.errors);)
};
struct Shutdown {
  bool controller_only = false;
  MUSTER_FIELDS(v(1, "controller_only", s.controller_only);)
};

// ---- queries; answers are streams of rows, the last frame an Empty
enum class RowOrder : uint8_t { kById, kQueue };  // kQueue: partition, state, falling priority (squeue's own order)
struct QueryJobs {
  JobFilter filter;
  uint32_t parts = 0;     // RowPart
  bool show_all = false;  // hidden partitions too
  RowOrder order = RowOrder::kById;
  MUSTER_FIELDS(v(1, "filter", s.filter); v(2, "parts", s.parts); v(3, "show_all", s.show_all); v(4, "order", s.order);)
};
struct RequestRow {
  RequestId id{};
  CarriedShown request;
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "request", s.request);)
};
struct JobRows {  // one part: requests first seen in it, then rows
  std::vector<RequestRow> requests;
  std::vector<JobRow> jobs;
  std::vector<StepRow> steps;
  bool afresh = false;  // requests of earlier parts are not referred to any more: forget them
  MUSTER_FIELDS(v(1, "requests", s.requests); v(2, "jobs", s.jobs); v(3, "steps", s.steps); v(4, "afresh", s.afresh);)
};
// squeue --watch: answered at once; then notices JobChanges come, first with every row, later when rows change.
struct WatchJobs {
  QueryJobs query;
  uint32_t interval_ms = 500;  // the least time between two notices; the controller has a floor
  MUSTER_FIELDS(v(1, "query", s.query); v(2, "interval_ms", s.interval_ms);)
};
struct JobChanges {
  static constexpr uint16_t kNumber = 300;
  std::vector<RequestRow> requests;  // first seen in it
  std::vector<JobRow> jobs;          // match now: new ones and changed ones
  std::vector<JobRow> left;          // matched before and do so no more, as they are now
  std::vector<JobId> gone;           // matched before and are forgotten
  bool more = false;                 // the rest of this look follows at once
  MUSTER_FIELDS(v(1, "requests", s.requests); v(2, "jobs", s.jobs); v(3, "left", s.left); v(4, "gone", s.gone); v(5, "more", s.more);)
};
struct QueryNodes {
  NodeList nodes;  // none: all
  std::vector<std::string> partitions;
  bool show_all = false;
  bool known_only = false;  // names of no node are passed over, not an error
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "partitions", s.partitions); v(3, "show_all", s.show_all); v(4, "known_only", s.known_only);)
};
struct NodeRows {
  std::vector<NodeRow> nodes;
  std::vector<PartitionRow> partitions;  // in the first part
  MUSTER_FIELDS(v(1, "nodes", s.nodes); v(2, "partitions", s.partitions);)
};
struct QueryPartitions {
  std::string name;  // "" = all
  bool show_all = false;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "show_all", s.show_all);)
};
struct PartitionRows {
  std::vector<PartitionRow> partitions;
  MUSTER_FIELDS(v(1, "partitions", s.partitions);)
};
struct QueryReservations {
  std::string name;  // "" = all
  MUSTER_FIELDS(v(1, "name", s.name);)
};
struct ReservationRows {
  std::vector<ReservationRow> reservations;
  MUSTER_FIELDS(v(1, "reservations", s.reservations);)
};
struct QueryLicenses {
  std::string name;  // "" = all
  MUSTER_FIELDS(v(1, "name", s.name);)
};
struct LicenseRows {
  std::vector<LicenseRow> licenses;
  MUSTER_FIELDS(v(1, "licenses", s.licenses);)
};
struct QueryShares {  // the fair share of every association, as the caller may see it
  MUSTER_FIELDS((void)s; (void)v;)
};
struct ShareRows {
  bool fair_tree = true;         // else classic
  std::vector<ShareRow> shares;  // in the order of the tree: below each account its users, then its accounts, each by name
  MUSTER_FIELDS(v(1, "fair_tree", s.fair_tree); v(2, "shares", s.shares);)
};
struct QueryPriorities {  // of pending jobs
  MUSTER_FIELDS((void)s; (void)v;)
};
struct PriorityRows {
  PriorityRow weights;  // in the first part: PriorityWeight* as the weighted values, of no job
  std::vector<PriorityRow> jobs;
  MUSTER_FIELDS(v(1, "weights", s.weights); v(2, "jobs", s.jobs);)
};
struct QueryTopology {  // the site's topologies
  MUSTER_FIELDS((void)s; (void)v;)
};
struct TopologyAnswer {
  Topologies topologies;
  std::vector<std::string> nodes;  // name of each node id; "" = there is none
  MUSTER_FIELDS(v(1, "topologies", s.topologies); v(2, "nodes", s.nodes);)
};
struct Text {  // show config, sdiag, batch script …
  std::string text;
  MUSTER_FIELDS(v(1, "text", s.text);)
};
struct QueryText {
  std::string subject;  // "config", "slurm.conf", "diag", "script", "environment"
  JobId job{};
  MUSTER_FIELDS(v(1, "subject", s.subject); v(2, "job", s.job);)
};
struct ExplainJob {  // answered with a JobExplanation
  JobSelector job;
  MUSTER_FIELDS(v(1, "job", s.job);)
};
struct ExplainNode {  // answered with a NodeExplanation
  std::string node;
  MUSTER_FIELDS(v(1, "node", s.node);)
};
struct Reconfigure {  // read the configuration files again
  MUSTER_FIELDS((void)s; (void)v;)
};
struct Ping {
  MUSTER_FIELDS((void)s; (void)v;)
};
struct Pong {
  std::string host;
  uint32_t index = 0;  // 0 = primary
  int32_t pid = 0;
  Time started{};
  MUSTER_FIELDS(v(1, "host", s.host); v(2, "index", s.index); v(3, "pid", s.pid); v(4, "started", s.started);)
};

// ---- sdiag(1): the controller's counts of its own work since it started or since a reset. Times in microseconds.
struct CycleCounts {
  uint64_t cycles = 0, last_us = 0, max_us = 0, total_us = 0;
  uint64_t depth_total = 0, last_depth = 0;      // jobs looked at
  uint64_t classes_total = 0, last_classes = 0;  // of them, kinds of request that were tried
  uint64_t queue_length = 0, queue_total = 0;
  uint64_t table_size = 0, table_total = 0;  // points in time that were tested
  Time when{};                               // the last one
  MUSTER_FIELDS(v(1, "cycles", s.cycles); v(2, "last_us", s.last_us); v(3, "max_us", s.max_us); v(4, "total_us", s.total_us);
                v(5, "depth_total", s.depth_total); v(6, "last_depth", s.last_depth); v(7, "classes_total", s.classes_total);
                v(8, "last_classes", s.last_classes); v(9, "queue_length", s.queue_length); v(10, "queue_total", s.queue_total);
                v(11, "table_size", s.table_size); v(12, "table_total", s.table_total); v(13, "when", s.when);)
};
struct CallCount {  // of one kind of message, or of one user
  std::string name;
  uint32_t id = 0;
  uint64_t count = 0, total_us = 0;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "id", s.id); v(3, "count", s.count); v(4, "total_us", s.total_us);)
};
struct PendingOrder {  // of one kind, to these nodes
  std::string name;
  std::string nodes;
  MUSTER_FIELDS(v(1, "name", s.name); v(2, "nodes", s.nodes);)
};
struct Statistics {
  Time now{}, since{};
  uint32_t threads = 0, commands_waiting = 0, programs_running = 0, nodes_connected = 0;
  uint64_t submitted = 0, started = 0, completed = 0, canceled = 0, failed = 0, pending = 0, running = 0;
  uint64_t backfilled = 0, backfilled_since = 0;  // jobs that started before one of higher priority: ever, since the reset
  CycleCounts main_cycles, backfill_cycles;
  uint64_t clock_us = 0;  // 1000 calls to read the clock
  std::vector<CallCount> by_message, by_user;
  uint32_t records_waiting = 0;                     // accounting records that slurmdbd does not have yet
  std::vector<CallCount> orders_waiting;            // to nodes that are slow or away, by kind
  std::vector<PendingOrder> pending_orders;         // the first of them
  std::vector<CallCount> main_ends, backfill_ends;  // why passes ended
  bool passing = false;                             // a full pass is being made
  MUSTER_FIELDS(v(1, "now", s.now); v(2, "since", s.since); v(3, "threads", s.threads); v(4, "commands_waiting", s.commands_waiting);
                v(5, "programs_running", s.programs_running); v(6, "nodes_connected", s.nodes_connected); v(7, "submitted", s.submitted);
                v(8, "started", s.started); v(9, "completed", s.completed); v(10, "canceled", s.canceled); v(11, "failed", s.failed);
                v(12, "pending", s.pending); v(13, "running", s.running); v(14, "backfilled", s.backfilled);
                v(15, "backfilled_since", s.backfilled_since); v(16, "main_cycles", s.main_cycles);
                v(17, "backfill_cycles", s.backfill_cycles); v(18, "clock_us", s.clock_us); v(19, "by_message", s.by_message);
                v(20, "by_user", s.by_user); v(60, "records_waiting", s.records_waiting); v(61, "orders_waiting", s.orders_waiting);
                v(62, "pending_orders", s.pending_orders); v(63, "main_ends", s.main_ends); v(64, "backfill_ends", s.backfill_ends);
                v(65, "passing", s.passing);)
};
struct QueryStatistics {
  bool reset = false;  // instead: set the counters to 0; for operators
  MUSTER_FIELDS(v(1, "reset", s.reset);)
};

// A request that a user's command sent to a node daemon's agent socket; the daemon saw who the user is and passes it on. Answered as
// the inner message would be.
struct Relay {
  Uid uid{};
  Gid gid{};
  std::string host;  // the node it was asked on
  uint16_t message = 0;
  std::string payload;
  uint32_t session = 0;  // of the asking process there; 0: not known
  uint64_t asker = 0;    // the asking connection there, by a number that the node daemon chose
  MUSTER_FIELDS(v(1, "uid", s.uid); v(2, "gid", s.gid); v(3, "host", s.host); v(4, "message", s.message); v(5, "payload", s.payload);
                v(6, "session", s.session); v(7, "asker", s.asker);)
};
struct AskerGone {  // a notice of the node daemon: its waiting requests need not be answered any more
  uint64_t asker = 0;
  MUSTER_FIELDS(v(1, "asker", s.asker);)
};

// A question or an edit for slurmdbd, of a user whose host has no slurmdbd and who may not read the cluster key: slurmctld passes it on and
// says who asks. Answered as slurmdbd answers the inner message.
struct AskDatabase {
  uint16_t message = 0;
  std::string payload;
  MUSTER_FIELDS(v(1, "message", s.message); v(2, "payload", s.payload);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc
