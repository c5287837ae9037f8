// What the controller and a node daemon say to each other over their one connection. slurmd dials and registers, and from then on both
// sides send numbered messages within that session: a message of an older session, or one seen before, is dropped, so late and repeated
// messages do no harm. A job's `generation` is its restart count, by which messages about an earlier run of a requeued job are recognised.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/describe.h"
#include "base/equal_fields.h"
#include "model/job.h"
#include "model/node.h"
#include "model/rpc.h"
#include "model/step_bounds.h"
#include "model/step_rpc.h"

namespace muster::node_rpc {

#define MUSTER_FIELDS(...)            \
  template <class S, class V>         \
  static void describe(S& s, V&& v) { \
    __VA_ARGS__                       \
  }

// ---- node to controller
enum class NodeJobState : uint8_t { kRunning, kFinished, kGone };

struct NodeJob {  // what the node knows of one job
  JobId job{};
  uint32_t generation = 0;
  NodeJobState state = NodeJobState::kRunning;
  int32_t exit_status = 0;    // of the batch script, when kFinished or kGone and batch
  bool batch = false;         // the batch script is or was here
  std::vector<StepId> steps;  // running here
  bool operator==(const NodeJob&) const = default;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "state", s.state); v(4, "exit_status", s.exit_status);
                v(5, "batch", s.batch); v(6, "steps", s.steps);)
};

struct ManagedJob {  // a run of a job whose steps are managed here
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation);)
};

struct Register {
  static constexpr uint32_t kNumber = 1;
  std::string node;  // NodeName
  NodeHardware hardware;
  std::vector<NodeJob> jobs;
  uint64_t session = 0;  // chosen by the node, greater than its earlier ones
  std::string address;   // where its steps port listens, when not as configured
  uint16_t port = 0;
  uint64_t config_hash = 0;
  std::vector<ManagedJob> managed;
  std::string extra;  // slurmd --extra; "": none was given
  MUSTER_FIELDS(v(1, "node", s.node); v(2, "hardware", s.hardware); v(3, "jobs", s.jobs); v(4, "session", s.session);
                v(5, "address", s.address); v(6, "port", s.port); v(7, "config_hash", s.config_hash); v(8, "managed", s.managed);
                v(9, "extra", s.extra);)
};

struct BatchStarted {
  static constexpr uint32_t kNumber = 2;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation);)
};

struct BatchFinished {  // the batch script ended; `gone`: so did everything else of the job here
  static constexpr uint32_t kNumber = 3;
  JobId job{};
  uint32_t generation = 0;
  int32_t exit_status = 0;  // wait status
  bool gone = false;
  bool out_of_memory = false;
  StepUsagePtr usage;  // of the script
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "exit_status", s.exit_status); v(4, "gone", s.gone);
                v(5, "out_of_memory", s.out_of_memory); v(6, "usage", s.usage);)
};

struct JobGone {  // nothing of the job is left here, epilog included
  static constexpr uint32_t kNumber = 4;
  JobId job{};
  uint32_t generation = 0;
  std::string epilog_error;  // non-empty: the epilog failed; the node is drained
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "epilog_error", s.epilog_error);)
};

struct LaunchFailed {
  static constexpr uint32_t kNumber = 5;
  JobId job{};
  uint32_t generation = 0;
  bool node_fault = false;  // prolog failed, no space: the node is drained; else the job is at fault
  std::string text;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "node_fault", s.node_fault); v(4, "text", s.text);)
};

struct StepGone {  // this node's part of a step ended
  static constexpr uint32_t kNumber = 6;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  int32_t exit_status = 0;
  bool out_of_memory = false;
  bool ends_step = false;  // --oom-kill-step: on the other nodes, too
  StepUsagePtr usage;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step); v(4, "exit_status", s.exit_status);
                v(5, "out_of_memory", s.out_of_memory); v(6, "ends_step", s.ends_step); v(7, "usage", s.usage);)
};

struct Load {
  static constexpr uint32_t kNumber = 7;
  uint32_t cpu_load = 0;  // hundredths
  uint64_t free_mem_mb = 0;
  MUSTER_FIELDS(v(1, "cpu_load", s.cpu_load); v(2, "free_mem_mb", s.free_mem_mb);)
};

struct JobSettled {  // what SuspendJob asked for is done
  static constexpr uint32_t kNumber = 8;
  JobId job{};
  uint32_t generation = 0;
  bool suspended = false;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "suspended", s.suspended);)
};

struct JobPrepared {  // what PrepareJob asked for is done
  static constexpr uint32_t kNumber = 9;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation);)
};

struct StepEnd {
  StepId step{};
  int32_t exit_status = 0;  // highest wait status
  bool out_of_memory = false;
  Time time{};
  StepUsagePtr usage;        // on the nodes that have told it
  std::vector<NodeId> told;  // those
  bool operator==(const StepEnd& o) const { return equal_fields(*this, o); }
  MUSTER_FIELDS(v(1, "step", s.step); v(2, "exit_status", s.exit_status); v(3, "out_of_memory", s.out_of_memory); v(4, "time", s.time);
                v(5, "usage", s.usage); v(6, "told", s.told);)
};

struct StepNews {            // one of the three
  std::optional<Step> made;  // it runs, or waits for the job's resources
  std::optional<StepEnd> ended;
  std::optional<StepUse> used;  // told after its end
  MUSTER_FIELDS(v(1, "made", s.made); v(2, "ended", s.ended); v(3, "used", s.used);)
};

// The step manager of a job tells what has become of its steps. The news of one run of the job are numbered from 1; slurmctld skips
// those whose numbers it has, so that repeating them does no harm. Answered by StepsTaken.
struct StepsOfJob {
  static constexpr uint32_t kNumber = 10;
  JobId job{};
  uint32_t generation = 0;
  uint64_t first = 0;  // the number of the first of them
  std::vector<StepNews> news;
  bool renew = false;  // the warrant is old: ManageSteps again
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "first", s.first); v(4, "news", s.news); v(5, "renew", s.renew);)
};

// ---- controller to node
struct Registered {
  static constexpr uint32_t kNumber = 20;
  uint64_t session = 0;
  std::vector<JobId> forget;  // finished jobs whose end is durable
  MUSTER_FIELDS(v(1, "session", s.session); v(2, "forget", s.forget);)
};

struct JobOnNode {  // a job as its nodes need to know it
  JobId job{};
  uint32_t generation = 0;
  JobId array_job_id{};
  uint32_t array_task = kNoArrayTask;
  uint32_t array_task_count = 0, array_task_min = 0, array_task_max = 0, array_task_step = 0;
  JobRequestPtr request;
  std::string node_list;                                // compressed
  std::vector<uint32_t> cpus_per_node, tasks_per_node;  // in rank order
  uint32_t node_index = 0;
  NodeShare share;  // this node's part
  std::string partition, cluster;
  uint32_t time_limit_min = kUnlimited32;
  Time started{}, ends{};
  uint32_t num_tasks = 0;
  Sluid sluid{};
  std::string topology_address, topology_pattern;  // of this node in the job's tree of switches
  std::string exclusive, oversubscribe;            // model/sharing_words.h
  std::string restart;                             // restart_text: why the job was last put back into the queue
  std::vector<HetComponent> het;                   // of a heterogeneous job's leader: all components
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "array_job_id", s.array_job_id);
                v(4, "array_task", s.array_task); v(5, "array_task_count", s.array_task_count); v(6, "array_task_min", s.array_task_min);
                v(7, "array_task_max", s.array_task_max); v(8, "array_task_step", s.array_task_step); v(9, "request", s.request);
                v(10, "node_list", s.node_list); v(11, "cpus_per_node", s.cpus_per_node); v(12, "tasks_per_node", s.tasks_per_node);
                v(13, "node_index", s.node_index); v(14, "share", s.share); v(15, "partition", s.partition); v(16, "cluster", s.cluster);
                v(17, "time_limit_min", s.time_limit_min); v(18, "started", s.started); v(19, "ends", s.ends);
                v(20, "num_tasks", s.num_tasks); v(22, "topology_address", s.topology_address);
                v(23, "topology_pattern", s.topology_pattern); v(24, "exclusive", s.exclusive); v(25, "oversubscribe", s.oversubscribe);
                v(26, "sluid", s.sluid); v(36, "restart", s.restart); v(56, "het", s.het);)
};

struct LaunchBatch {
  static constexpr uint32_t kNumber = 21;
  JobOnNode job;
  std::string script, environment;  // contents; "" where a hash stands in their place
  // SHA-256 of a content that is too long to travel with each launch. The node has it from before, or asks for it with
  // rpc::FetchContent.
  std::string script_hash, environment_hash;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "script", s.script); v(3, "environment", s.environment); v(4, "script_hash", s.script_hash);
                v(5, "environment_hash", s.environment_hash);)
};

struct TerminateJob {  // end everything of the job here, run the epilog, say JobGone. Also for unknown jobs.
  static constexpr uint32_t kNumber = 22;
  JobId job{};
  uint32_t generation = 0;
  bool forget = false;                    // its end is durable: drop what is remembered of it
  uint32_t kill_wait_seconds = 30;        // between SIGTERM and SIGKILL; 0 = SIGKILL at once
  JobState state = JobState::kCancelled;  // why: "*** JOB 12 ON n1 CANCELLED AT … DUE TO TIME LIMIT ***"; kPending: requeued
  Time time{};
  std::optional<JobOnNode> about;  // for the epilog of a node that remembers nothing of the job: without counts for each of its nodes
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "forget", s.forget);
                v(4, "kill_wait_seconds", s.kill_wait_seconds); v(5, "state", s.state); v(6, "time", s.time); v(7, "about", s.about);)
};

struct SignalJob {
  static constexpr uint32_t kNumber = 23;
  JobId job{};
  uint32_t generation = 0;
  bool has_step = false;
  StepId step{};
  uint16_t signal = 0;
  bool batch_only = false, full = false;  // scancel --batch, --full
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "has_step", s.has_step); v(4, "step", s.step);
                v(5, "signal", s.signal); v(6, "batch_only", s.batch_only); v(7, "full", s.full);)
};

struct ForgetJobs {  // the ends of these jobs are durable here
  static constexpr uint32_t kNumber = 24;
  std::vector<JobId> jobs;
  MUSTER_FIELDS(v(1, "jobs", s.jobs);)
};

struct Reconfigure {
  static constexpr uint32_t kNumber = 25;
  bool shutdown = false;
  MUSTER_FIELDS(v(1, "shutdown", s.shutdown);)
};

struct SetLogging {  // scontrol setdebug, setdebugflags nodes=: until the configuration is read again
  static constexpr uint32_t kNumber = 26;
  std::string level;               // "" = as it is
  std::vector<std::string> flags;  // "+backfill", "-gres"
  MUSTER_FIELDS(v(1, "level", s.level); v(2, "flags", s.flags);)
};

struct RebootNode {  // run RebootProgram
  static constexpr uint32_t kNumber = 27;
  std::string reason;
  MUSTER_FIELDS(v(1, "reason", s.reason);)
};

struct NotifyJob {  // a line on the standard error of what the job runs here
  static constexpr uint32_t kNumber = 28;
  JobId job{};
  uint32_t generation = 0;
  std::string text;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "text", s.text);)
};

struct SuspendJob {  // stop every process of the job here, or let them go on; repeated until JobSettled
  static constexpr uint32_t kNumber = 29;
  JobId job{};
  uint32_t generation = 0;
  bool suspend = true;
  uint32_t grace_seconds = 0;  // between SIGTSTP and SIGSTOP (PreemptParameters=suspend_grace_time); 0: SIGSTOP at once
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "suspend", s.suspend); v(13, "grace_seconds", s.grace_seconds);)
};

struct PrepareJob {  // run the prolog now, before anything of the job comes; repeated until JobPrepared or LaunchFailed
  static constexpr uint32_t kNumber = 30;
  JobOnNode job;
  MUSTER_FIELDS(v(1, "job", s.job);)
};

struct LimitStep {  // scontrol update step: its own time limit from now on
  static constexpr uint32_t kNumber = 31;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  std::optional<Duration> limit;  // since it started; none: no limit
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step); v(4, "limit", s.limit);)
};

struct ManagedNode {  // a node of a managed job, as step placement sees it
  NodeId id{};
  NodeSpecPtr spec;
  std::shared_ptr<const NodeHardware> hardware;
  std::vector<std::string> features;
  std::string topology_address, topology_pattern;
  MUSTER_FIELDS(v(1, "id", s.id); v(2, "spec", s.spec); v(3, "hardware", s.hardware); v(4, "features", s.features);
                v(5, "topology_address", s.topology_address); v(6, "topology_pattern", s.topology_pattern);)
};

// Makes this node decide about the steps of this run of a job. Sent when the run starts, when it changes, and at each registration.
// What the node already knows of its steps overrides `job.steps`; a node that knows nothing of them begins with those.
struct ManageSteps {
  static constexpr uint32_t kNumber = 32;
  Job job;
  JobRequestPtr request;
  std::vector<ManagedNode> nodes;    // as in job.allocation
  std::vector<TopologyUnit> blocks;  // of the job's nodes, where its topology is one of blocks
  StepBounds bounds;
  bool ports_named = false;  // slurm.conf has MpiParams=ports=
  rpc::Allocated allocated;  // what AttachAllocation is answered with
  rpc::StepWarrant warrant;
  std::string signed_warrant;  // net/credential.h; filled in when it is sent
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "request", s.request); v(3, "nodes", s.nodes); v(4, "blocks", s.blocks);
                v(5, "most_steps", s.bounds.most_steps); v(6, "ports_named", s.ports_named); v(7, "allocated", s.allocated);
                v(8, "warrant", s.warrant); v(9, "signed_warrant", s.signed_warrant); v(10, "most_tasks", s.bounds.most_tasks);)
};

struct StepsTaken {  // of StepsOfJob: news up to this number are durable
  static constexpr uint32_t kNumber = 33;
  JobId job{};
  uint32_t generation = 0;
  uint64_t news = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "news", s.news);)
};

struct PartOfStepEnded {  // another node told slurmctld, which has nothing to decide about the step
  static constexpr uint32_t kNumber = 34;
  rpc::PartEnded part;
  MUSTER_FIELDS(v(1, "part", s.part);)
};

struct StepEndTaken {  // of StepGone: it is durable. Until then the node says it again in each session.
  static constexpr uint32_t kNumber = 36;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation); v(3, "step", s.step);)
};

struct EndManagement {  // that run of the job is over, or another node manages its steps
  static constexpr uint32_t kNumber = 35;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "generation", s.generation);)
};

}  // namespace muster::node_rpc

namespace muster::rpc {

// A node asks for a piece of a job's script or environment that a launch named by its hash. It asks for the next piece only when it has
// the last, so no more than one is on its way to a node.
struct FetchContent {
  JobId job{};
  std::string hash;
  uint64_t offset = 0;
  MUSTER_FIELDS(v(1, "job", s.job); v(2, "hash", s.hash); v(3, "offset", s.offset);)
};
struct ContentPiece {
  uint64_t size = 0;  // of the whole
  std::string bytes;  // from the offset on; "" only at its end
  MUSTER_FIELDS(v(1, "size", s.size); v(2, "bytes", s.bytes);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc

namespace muster {

using NodeReport =
    std::variant<node_rpc::Register, node_rpc::BatchStarted, node_rpc::BatchFinished, node_rpc::JobGone, node_rpc::LaunchFailed,
                 node_rpc::StepGone, node_rpc::Load, node_rpc::JobSettled, node_rpc::JobPrepared, node_rpc::StepsOfJob>;
using NodeOrder = std::variant<node_rpc::Registered, node_rpc::LaunchBatch, node_rpc::TerminateJob, node_rpc::SignalJob,
                               node_rpc::ForgetJobs, node_rpc::Reconfigure, node_rpc::SetLogging, node_rpc::RebootNode, node_rpc::NotifyJob,
                               node_rpc::SuspendJob, node_rpc::PrepareJob, node_rpc::LimitStep, node_rpc::ManageSteps, node_rpc::StepsTaken,
                               node_rpc::PartOfStepEnded, node_rpc::EndManagement, node_rpc::StepEndTaken>;

// The envelope: order within a session.
template <class M>
struct Numbered {
  uint64_t session = 0, sequence = 0;
  M message;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "session", s.session);
    v(2, "sequence", s.sequence);
    v(3, "message", s.message);
  }
};

}  // namespace muster
