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
#include "model/gpu_fabric.h"
#include "model/job.h"
#include "model/rows.h"
#include "model/sluid.h"
#include "model/step_request.h"
#include "model/topology.h"

namespace muster::rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

struct Empty {
  MUSTER_FIELDS((void)self; (void)field;)
};

// ---- submission
struct SubmitJob {
  AskedRequest request;
  std::string script;       // the job's own content: kept by the controller, which alone knows under which name
  std::string environment;  // NAME=VALUE\0…
  MUSTER_FIELDS(field(1, "request", self.request); field(2, "script", self.script); field(3, "environment", self.environment);)
};
struct JobSubmitted {
  JobId job{};
  std::string message;  // a warning for the user, usually empty
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "message", self.message);)
};

// sbatch with several components: all are accepted, or none. The script runs in the first. Answered with the leader's id.
struct SubmitHetJob {
  std::vector<AskedRequest> components;
  std::string script, environment;  // as in SubmitJob
  MUSTER_FIELDS(field(1, "components", self.components); field(2, "script", self.script); field(3, "environment", self.environment);)
};

// From salloc, and from srun outside a job. The answer comes when the job's nodes are ready. Before that, `AllocationPending` comes
// when the job has its number, and again when it has nodes that are not ready yet (they boot, or a prolog runs).
struct Allocate {
  AskedRequest request;
  bool attends = false;  // as that of WaitJob, from now on: the command may be killed before it says more
  MUSTER_FIELDS(field(1, "request", self.request); field(2, "attends", self.attends);)
};
struct AllocationPending {
  JobId job{};
  std::string nodes;  // its own from now on; "": it waits for some
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "nodes", self.nodes);)
};
struct NodeAddress {
  std::string name, host;
  uint16_t port = 0;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "host", self.host); field(3, "port", self.port);)
};
struct Allocated {
  JobRow job;
  ShownRequest request;
  std::vector<NodeAddress> addresses;  // in rank order
  std::vector<uint32_t> cpus_per_node;
  std::vector<uint32_t> tasks_per_node;
  std::string exclusive, oversubscribe;  // model/sharing_words.h
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "request", self.request); field(3, "addresses", self.addresses);
                field(4, "cpus_per_node", self.cpus_per_node); field(5, "tasks_per_node", self.tasks_per_node);
                field(6, "exclusive", self.exclusive); field(7, "oversubscribe", self.oversubscribe);)
};
// The same with several components. All are ready when the answer comes.
struct AllocateHetJob {
  std::vector<AskedRequest> components;
  bool attends = false;
  MUSTER_FIELDS(field(1, "components", self.components); field(2, "attends", self.attends);)
};
struct HetAllocated {
  std::vector<Allocated> components;
  MUSTER_FIELDS(field(1, "components", self.components);)
};
struct WillRun {  // --test-only
  AskedRequest request;
  JobKind kind = JobKind::kBatch;  // of sbatch; or of salloc and srun
  MUSTER_FIELDS(field(1, "request", self.request); field(2, "kind", self.kind);)
};
struct WillRunAnswer {
  Time start{};
  uint32_t cpus = 0;
  std::string node_list, partition;
  JobId job{};  // the id it would get if it were submitted now
  MUSTER_FIELDS(field(1, "start", self.start); field(2, "cpus", self.cpus); field(3, "node_list", self.node_list);
                field(4, "partition", self.partition); field(5, "job", self.job);)
};
struct WaitJob {  // sbatch --wait: answered when the job ended (all array tasks)
  JobId job{};
  bool ready = false;    // scontrol wait_job: already when its nodes are ready
  bool attends = false;  // salloc, srun: as long as this waits, somebody is there for the allocation (InactiveLimit)
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "ready", self.ready); field(42, "attends", self.attends);)
};
struct JobResult {
  JobState state = JobState::kPending;
  int32_t exit_status = 0;
  MUSTER_FIELDS(field(1, "state", self.state); field(2, "exit_status", self.exit_status);)
};
struct FinishAllocation {  // salloc's command or srun ended: give the allocation back
  JobId job{};
  int32_t exit_status = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "exit_status", self.exit_status);)
};
struct AttachAllocation {  // srun inside a job, srun --jobid: the allocation as it stands
  JobId job{};
  MUSTER_FIELDS(field(1, "job", self.job);)
};

// ---- steps
struct CreateStep {
  JobId job{};
  StepRequest request;
  std::string srun_host;
  uint32_t srun_pid = 0;
  bool queue = false;                    // --async: where the resources are busy, the step has its number and waits for them
  std::optional<uint32_t> waiting_step;  // this step, which waits already; no new one is made
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "request", self.request); field(3, "srun_host", self.srun_host);
                field(4, "srun_pid", self.srun_pid); field(5, "queue", self.queue); field(6, "waiting_step", self.waiting_step);)
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
  std::optional<uint32_t> channel;  // the job's IMEX channel there (ADR 25)
  MUSTER_FIELDS(field(1, "address", self.address); field(2, "ranks", self.ranks); field(3, "cpu_list", self.cpu_list);
                field(4, "mem_mb", self.mem_mb); field(5, "gres", self.gres); field(6, "node_index", self.node_index);
                field(7, "job_cpus", self.job_cpus); field(8, "topology_address", self.topology_address);
                field(9, "topology_pattern", self.topology_pattern); field(10, "channel", self.channel);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "step", self.step); field(3, "num_tasks", self.num_tasks);
                field(4, "nodes", self.nodes); field(5, "credential", self.credential); field(6, "uid", self.uid);
                field(7, "gid", self.gid); field(8, "job_node_list", self.job_node_list); field(9, "cpus_per_task", self.cpus_per_task);
                field(10, "waiting", self.waiting); field(12, "sluid", self.sluid); field(42, "first_node", self.first_node);
                field(43, "own_nodes", self.own_nodes);)
};
// srun over several components of a heterogeneous job: a step of each, all with one number, or none. Ranks count through.
struct CreateHetStep {
  std::vector<CreateStep> components;  // `job` is the component's id
  MUSTER_FIELDS(field(1, "components", self.components);)
};
struct HetStepCreated {
  std::vector<StepCreated> components;
  MUSTER_FIELDS(field(1, "components", self.components);)
};
struct RunWithoutJob {  // srun --no-allocate: a step on request.required_nodes that belongs to no job. Answered like CreateStep
  StepRequest request;
  MUSTER_FIELDS(field(1, "request", self.request);)
};
struct WaitSteps {  // swait: answered when the job has no step that runs or waits
  JobId job{};
  MUSTER_FIELDS(field(1, "job", self.job);)
};
// sacct: answered when slurmdbd has the records of what happened to these jobs (none: to any), or when it is away and cannot get them.
struct WaitRecords {
  std::vector<JobId> jobs;
  MUSTER_FIELDS(field(1, "jobs", self.jobs);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "has_step", self.has_step); field(3, "step", self.step);
                field(4, "purpose", self.purpose); field(5, "sluid", self.sluid);)
};
struct FinishStep {  // srun: all tasks are accounted for, or the launch failed
  JobId job{};
  StepId step{};
  int32_t exit_status = 0;
  bool out_of_memory = false;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "step", self.step); field(3, "exit_status", self.exit_status);
                field(4, "out_of_memory", self.out_of_memory);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "array_task", self.array_task); field(3, "array_tasks", self.array_tasks);
                field(4, "has_step", self.has_step); field(5, "step", self.step); field(6, "sluid", self.sluid);
                field(36, "het_offset", self.het_offset);)
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
  MUSTER_FIELDS(field(1, "users", self.users); field(2, "names", self.names); field(3, "partitions", self.partitions);
                field(4, "accounts", self.accounts); field(5, "qos", self.qos); field(6, "reservations", self.reservations);
                field(7, "nodes", self.nodes); field(8, "wckeys", self.wckeys); field(9, "licenses", self.licenses);
                field(10, "user_names", self.user_names); field(11, "states", self.states); field(12, "state_flags", self.state_flags);
                field(13, "jobs", self.jobs);)
};
enum class SignalScope : uint8_t { kSteps, kBatch, kFull };  // default; --batch; --full
struct SignalJobs {                                          // scancel; signal 0 = cancel (SIGTERM, then SIGKILL after KillWait)
  JobFilter filter;
  uint16_t signal = 0;
  SignalScope scope = SignalScope::kSteps;
  bool hurry = false;
  std::string admin_comment;
  bool cron = false;  // --cron: jobs of scrontab are meant, too (ScronParameters=explicit_scancel)
  MUSTER_FIELDS(field(1, "filter", self.filter); field(2, "signal", self.signal); field(3, "scope", self.scope);
                field(4, "hurry", self.hurry); field(5, "admin_comment", self.admin_comment); field(45, "cron", self.cron);)
};
struct PerJobError {
  std::string job;  // as the user names it
  int32_t code = 0;
  std::string text;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "code", self.code); field(3, "text", self.text);)
};
struct SignalJobsAnswer {
  uint32_t matched = 0;
  std::vector<PerJobError> errors;
  MUSTER_FIELDS(field(1, "matched", self.matched); field(2, "errors", self.errors);)
};
enum class JobAction : uint8_t { kHold, kUserHold, kRelease, kRequeue, kRequeueHold, kSuspend, kResume, kTop };
struct ControlJobs {
  JobAction action = JobAction::kHold;
  std::vector<JobSelector> jobs;
  std::vector<std::string> names;  // scontrol hold jobname=…
  bool incomplete = false;         // requeue Incomplete: only those that run or are suspended
  bool special_exit = false;       // requeuehold State=SpecialExit
  MUSTER_FIELDS(field(1, "action", self.action); field(2, "jobs", self.jobs); field(3, "names", self.names);
                field(4, "incomplete", self.incomplete); field(5, "special_exit", self.special_exit);)
};
struct KeyValue {
  std::string key, op, value;  // op: "=", "+=", "-="
  MUSTER_FIELDS(field(1, "key", self.key); field(2, "op", self.op); field(3, "value", self.value);)
};
struct UpdateJob {  // scontrol update job: keys of scontrol(1), checked by the controller's updater table
  JobSelector job;
  std::vector<KeyValue> changes;
  std::string name;                // without `job`: every job of this name
  std::optional<uint32_t> owner;   // … that this user owns
  std::optional<uint32_t> as_uid;  // --uid: with the rights of this user; for operators
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "changes", self.changes); field(3, "name", self.name); field(4, "owner", self.owner);
                field(5, "as_uid", self.as_uid);)
};
struct UpdateStep {  // one step, or all of the job
  JobSelector job;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "changes", self.changes);)
};
struct UpdateNode {
  std::string nodes;  // host list or ALL
  std::vector<KeyValue> changes;
  bool create = false, remove = false;
  MUSTER_FIELDS(field(1, "nodes", self.nodes); field(2, "changes", self.changes); field(3, "create", self.create);
                field(4, "remove", self.remove);)
};
enum class NodeAction : uint8_t { kReboot, kCancelReboot, kPowerUp, kPowerDown };
struct ControlNodes {  // scontrol reboot, cancel_reboot, power
  NodeAction action = NodeAction::kReboot;
  std::string nodes;  // host list or ALL
  bool asap = false, force = false;
  std::string next_state;  // reboot: "", RESUME, DOWN
  std::string reason;
  std::string power_action;  // the PowerAction to run; "": the configured program
  MUSTER_FIELDS(field(1, "action", self.action); field(2, "nodes", self.nodes); field(3, "asap", self.asap); field(4, "force", self.force);
                field(5, "next_state", self.next_state); field(6, "reason", self.reason); field(7, "power_action", self.power_action);)
};
struct NotifyJob {  // a line on the job's standard error
  JobId job{};
  std::string text;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "text", self.text);)
};
struct UpdateConfig {  // keys of slurm.conf changed until the files are read again
  std::vector<KeyValue> changes;
  std::string nodes;  // not empty: the log of these node daemons instead
  MUSTER_FIELDS(field(1, "changes", self.changes); field(2, "nodes", self.nodes);)
};
struct UpdatePartition {
  std::string name;
  bool create = false, remove = false;
  std::vector<KeyValue> changes;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "create", self.create); field(3, "remove", self.remove);
                field(4, "changes", self.changes);)
};
struct UpdateReservation {
  std::string name;  // "" for a new one: made up from the first user or account
  bool create = false, remove = false;
  std::vector<KeyValue> changes;
  std::vector<std::string> group_members;  // of the groups that `changes` set: who is in them, as the command's host knows it
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "create", self.create); field(3, "remove", self.remove);
                field(4, "changes", self.changes); field(5, "group_members", self.group_members);)
};
struct Messages {  // warnings or per-item errors of a control command that was carried out
  std::vector<std::string> lines;
  std::vector<PerJobError> errors;
  MUSTER_FIELDS(field(1, "lines", self.lines); field(2, "errors", self.errors);)
};
struct Shutdown {
  bool controller_only = false;
  MUSTER_FIELDS(field(1, "controller_only", self.controller_only);)
};

// ---- queries; answers are streams of rows, the last frame an Empty
enum class RowOrder : uint8_t { kById, kQueue };  // kQueue: partition, state, falling priority (squeue's own order)
struct QueryJobs {
  JobFilter filter;
  uint32_t parts = 0;     // RowPart
  bool show_all = false;  // hidden partitions too
  RowOrder order = RowOrder::kById;
  MUSTER_FIELDS(field(1, "filter", self.filter); field(2, "parts", self.parts); field(3, "show_all", self.show_all);
                field(4, "order", self.order);)
};
struct RequestRow {
  RequestId id{};
  CarriedShown request;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "request", self.request);)
};
struct JobRows {  // one part: requests first seen in it, then rows
  std::vector<RequestRow> requests;
  std::vector<JobRow> jobs;
  std::vector<StepRow> steps;
  bool afresh = false;  // requests of earlier parts are not referred to any more: forget them
  MUSTER_FIELDS(field(1, "requests", self.requests); field(2, "jobs", self.jobs); field(3, "steps", self.steps);
                field(4, "afresh", self.afresh);)
};
// squeue --watch: answered at once; then notices JobChanges come, first with every row, later when rows change.
struct WatchJobs {
  QueryJobs query;
  uint32_t interval_ms = 500;  // the least time between two notices; the controller has a floor
  MUSTER_FIELDS(field(1, "query", self.query); field(2, "interval_ms", self.interval_ms);)
};
struct JobChanges {
  static constexpr uint16_t kNumber = 300;
  std::vector<RequestRow> requests;  // first seen in it
  std::vector<JobRow> jobs;          // match now: new ones and changed ones
  std::vector<JobRow> left;          // matched before and do so no more, as they are now
  std::vector<JobId> gone;           // matched before and are forgotten
  bool more = false;                 // the rest of this look follows at once
  MUSTER_FIELDS(field(1, "requests", self.requests); field(2, "jobs", self.jobs); field(3, "left", self.left); field(4, "gone", self.gone);
                field(5, "more", self.more);)
};
struct QueryNodes {
  NodeList nodes;  // none: all
  std::vector<std::string> partitions;
  bool show_all = false;
  bool known_only = false;  // names of no node are passed over, not an error
  MUSTER_FIELDS(field(1, "nodes", self.nodes); field(2, "partitions", self.partitions); field(3, "show_all", self.show_all);
                field(4, "known_only", self.known_only);)
};
struct NodeRows {
  std::vector<NodeRow> nodes;
  std::vector<PartitionRow> partitions;  // in the first part
  MUSTER_FIELDS(field(1, "nodes", self.nodes); field(2, "partitions", self.partitions);)
};
struct QueryPartitions {
  std::string name;  // "" = all
  bool show_all = false;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "show_all", self.show_all);)
};
struct PartitionRows {
  std::vector<PartitionRow> partitions;
  MUSTER_FIELDS(field(1, "partitions", self.partitions);)
};
struct QueryReservations {
  std::string name;  // "" = all
  MUSTER_FIELDS(field(1, "name", self.name);)
};
struct ReservationRows {
  std::vector<ReservationRow> reservations;
  MUSTER_FIELDS(field(1, "reservations", self.reservations);)
};
struct QueryLicenses {
  std::string name;  // "" = all
  MUSTER_FIELDS(field(1, "name", self.name);)
};
struct LicenseRows {
  std::vector<LicenseRow> licenses;
  MUSTER_FIELDS(field(1, "licenses", self.licenses);)
};
struct QueryShares {  // the fair share of every association, as the caller may see it
  MUSTER_FIELDS((void)self; (void)field;)
};
struct ShareRows {
  bool fair_tree = true;         // else classic
  std::vector<ShareRow> shares;  // in the order of the tree: below each account its users, then its accounts, each by name
  MUSTER_FIELDS(field(1, "fair_tree", self.fair_tree); field(2, "shares", self.shares);)
};
struct QueryPriorities {  // of pending jobs
  MUSTER_FIELDS((void)self; (void)field;)
};
struct PriorityRows {
  PriorityRow weights;  // in the first part: PriorityWeight* as the weighted values, of no job
  std::vector<PriorityRow> jobs;
  MUSTER_FIELDS(field(1, "weights", self.weights); field(2, "jobs", self.jobs);)
};
struct QueryTopology {  // the site's topologies
  MUSTER_FIELDS((void)self; (void)field;)
};
struct TopologyAnswer {
  Topologies topologies;
  std::vector<std::string> nodes;  // name of each node id; "" = there is none
  std::vector<GpuFabric> fabrics;  // of each node id, as the nodes told it
  MUSTER_FIELDS(field(1, "topologies", self.topologies); field(2, "nodes", self.nodes); field(3, "fabrics", self.fabrics);)
};
struct Text {  // show config, sdiag, batch script …
  std::string text;
  MUSTER_FIELDS(field(1, "text", self.text);)
};
struct QueryText {
  std::string subject;  // "config", "slurm.conf", "diag", "script", "environment"
  JobId job{};
  MUSTER_FIELDS(field(1, "subject", self.subject); field(2, "job", self.job);)
};
struct ExplainJob {  // answered with a JobExplanation
  JobSelector job;
  MUSTER_FIELDS(field(1, "job", self.job);)
};
struct ExplainNode {  // answered with a NodeExplanation
  std::string node;
  MUSTER_FIELDS(field(1, "node", self.node);)
};
struct Reconfigure {  // read the configuration files again
  MUSTER_FIELDS((void)self; (void)field;)
};
struct Ping {
  MUSTER_FIELDS((void)self; (void)field;)
};
struct Pong {
  std::string host;
  uint32_t index = 0;  // 0 = primary
  int32_t pid = 0;
  Time started{};
  MUSTER_FIELDS(field(1, "host", self.host); field(2, "index", self.index); field(3, "pid", self.pid); field(4, "started", self.started);)
};

// ---- sdiag(1): the controller's counts of its own work since it started or since a reset. Times in microseconds.
struct CycleCounts {
  uint64_t cycles = 0, last_us = 0, max_us = 0, total_us = 0;
  uint64_t depth_total = 0, last_depth = 0;      // jobs looked at
  uint64_t classes_total = 0, last_classes = 0;  // of them, kinds of request that were tried
  uint64_t queue_length = 0, queue_total = 0;
  uint64_t table_size = 0, table_total = 0;  // points in time that were tested
  Time when{};                               // the last one
  MUSTER_FIELDS(field(1, "cycles", self.cycles); field(2, "last_us", self.last_us); field(3, "max_us", self.max_us);
                field(4, "total_us", self.total_us); field(5, "depth_total", self.depth_total); field(6, "last_depth", self.last_depth);
                field(7, "classes_total", self.classes_total); field(8, "last_classes", self.last_classes);
                field(9, "queue_length", self.queue_length); field(10, "queue_total", self.queue_total);
                field(11, "table_size", self.table_size); field(12, "table_total", self.table_total); field(13, "when", self.when);)
};
struct CallCount {  // of one kind of message, or of one user
  std::string name;
  uint32_t id = 0;
  uint64_t count = 0, total_us = 0;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "id", self.id); field(3, "count", self.count); field(4, "total_us", self.total_us);)
};
struct PendingOrder {  // of one kind, to these nodes
  std::string name;
  std::string nodes;
  MUSTER_FIELDS(field(1, "name", self.name); field(2, "nodes", self.nodes);)
};
struct Statistics {
  Time now{}, since{};
  uint32_t threads = 0, commands_waiting = 0, programs_running = 0, nodes_connected = 0;
  uint64_t submitted = 0, started = 0, completed = 0, canceled = 0, failed = 0, pending = 0, running = 0;
  uint64_t backfilled = 0, backfilled_since = 0;  // jobs that started before one that comes first in the queue: ever, since the reset
  uint64_t backfilled_components = 0;             // of heterogeneous jobs that did, ever
  CycleCounts main_cycles, backfill_cycles;
  uint64_t clock_us = 0;  // 1000 calls to read the clock
  std::vector<CallCount> by_message, by_user;
  uint32_t records_waiting = 0;                     // accounting records that slurmdbd does not have yet
  std::vector<CallCount> orders_waiting;            // to nodes that are slow or away, by kind
  std::vector<PendingOrder> pending_orders;         // the first of them
  std::vector<CallCount> main_ends, backfill_ends;  // why passes ended
  bool passing = false;                             // a full pass is being made
  MUSTER_FIELDS(field(1, "now", self.now); field(2, "since", self.since); field(3, "threads", self.threads);
                field(4, "commands_waiting", self.commands_waiting); field(5, "programs_running", self.programs_running);
                field(6, "nodes_connected", self.nodes_connected); field(7, "submitted", self.submitted); field(8, "started", self.started);
                field(9, "completed", self.completed); field(10, "canceled", self.canceled); field(11, "failed", self.failed);
                field(12, "pending", self.pending); field(13, "running", self.running); field(14, "backfilled", self.backfilled);
                field(15, "backfilled_since", self.backfilled_since); field(16, "main_cycles", self.main_cycles);
                field(17, "backfill_cycles", self.backfill_cycles); field(18, "clock_us", self.clock_us);
                field(19, "by_message", self.by_message); field(20, "by_user", self.by_user);
                field(60, "records_waiting", self.records_waiting); field(61, "orders_waiting", self.orders_waiting);
                field(62, "pending_orders", self.pending_orders); field(63, "main_ends", self.main_ends);
                field(64, "backfill_ends", self.backfill_ends); field(65, "passing", self.passing);
                field(66, "backfilled_components", self.backfilled_components);)
};
struct QueryStatistics {
  bool reset = false;  // instead: set the counters to 0; for operators
  MUSTER_FIELDS(field(1, "reset", self.reset);)
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
  MUSTER_FIELDS(field(1, "uid", self.uid); field(2, "gid", self.gid); field(3, "host", self.host); field(4, "message", self.message);
                field(5, "payload", self.payload); field(6, "session", self.session); field(7, "asker", self.asker);)
};
struct AskerGone {  // a notice of the node daemon: its waiting requests need not be answered any more
  uint64_t asker = 0;
  MUSTER_FIELDS(field(1, "asker", self.asker);)
};

// A question or an edit for slurmdbd, of a user whose host has no slurmdbd and who may not read the cluster key: slurmctld passes it on and
// says who asks. Answered as slurmdbd answers the inner message.
struct AskDatabase {
  uint16_t message = 0;
  std::string payload;
  MUSTER_FIELDS(field(1, "message", self.message); field(2, "payload", self.payload);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc
