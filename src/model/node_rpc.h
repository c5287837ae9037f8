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
#include "model/node_energy.h"
#include "model/rpc.h"
#include "model/step_bounds.h"
#include "model/step_rpc.h"

namespace muster::node_rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "state", self.state);
                field(4, "exit_status", self.exit_status); field(5, "batch", self.batch); field(6, "steps", self.steps);)
};

struct ManagedJob {  // a run of a job whose steps are managed here
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation);)
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
  std::string fault;  // why its features are not known: the node is drained; "": nothing is wrong
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "hardware", self.hardware); field(3, "jobs", self.jobs);
                field(4, "session", self.session); field(5, "address", self.address); field(6, "port", self.port);
                field(7, "config_hash", self.config_hash); field(8, "managed", self.managed); field(9, "extra", self.extra);
                field(10, "fault", self.fault);)
};

struct BatchStarted {
  static constexpr uint32_t kNumber = 2;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation);)
};

struct BatchFinished {  // the batch script ended; `gone`: so did everything else of the job here
  static constexpr uint32_t kNumber = 3;
  JobId job{};
  uint32_t generation = 0;
  int32_t exit_status = 0;  // wait status
  bool gone = false;
  bool out_of_memory = false;
  StepUsagePtr usage;  // of the script
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "exit_status", self.exit_status);
                field(4, "gone", self.gone); field(5, "out_of_memory", self.out_of_memory); field(6, "usage", self.usage);)
};

struct JobGone {  // nothing of the job is left here, epilog included
  static constexpr uint32_t kNumber = 4;
  JobId job{};
  uint32_t generation = 0;
  std::string epilog_error;  // non-empty: the epilog failed; the node is drained
  StepUsagePtr external;     // what the external step used here; null: there was none, or nothing was gathered
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "epilog_error", self.epilog_error);
                field(4, "external", self.external);)
};

struct LaunchFailed {
  static constexpr uint32_t kNumber = 5;
  JobId job{};
  uint32_t generation = 0;
  bool node_fault = false;  // prolog failed, no space: the node is drained; else the job is at fault
  std::string text;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "node_fault", self.node_fault);
                field(4, "text", self.text);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step);
                field(4, "exit_status", self.exit_status); field(5, "out_of_memory", self.out_of_memory);
                field(6, "ends_step", self.ends_step); field(7, "usage", self.usage);)
};

struct Load {
  static constexpr uint32_t kNumber = 7;
  uint32_t cpu_load = 0;  // hundredths
  uint64_t free_mem_mb = 0;
  std::optional<NodeEnergy> energy;  // none: it is not sampled, or was not yet
  MUSTER_FIELDS(field(1, "cpu_load", self.cpu_load); field(2, "free_mem_mb", self.free_mem_mb); field(3, "energy", self.energy);)
};

struct JobSettled {  // what SuspendJob asked for is done
  static constexpr uint32_t kNumber = 8;
  JobId job{};
  uint32_t generation = 0;
  bool suspended = false;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "suspended", self.suspended);)
};

struct JobPrepared {  // what PrepareJob asked for is done
  static constexpr uint32_t kNumber = 9;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation);)
};

struct StepEnd {
  StepId step{};
  int32_t exit_status = 0;  // highest wait status
  bool out_of_memory = false;
  Time time{};
  StepUsagePtr usage;        // on the nodes that have told it
  std::vector<NodeId> told;  // those
  bool operator==(const StepEnd& o) const { return equal_fields(*this, o); }
  MUSTER_FIELDS(field(1, "step", self.step); field(2, "exit_status", self.exit_status); field(3, "out_of_memory", self.out_of_memory);
                field(4, "time", self.time); field(5, "usage", self.usage); field(6, "told", self.told);)
};

struct StepNews {            // one of the three
  std::optional<Step> made;  // it runs, or waits for the job's resources
  std::optional<StepEnd> ended;
  std::optional<StepUse> used;  // told after its end
  MUSTER_FIELDS(field(1, "made", self.made); field(2, "ended", self.ended); field(3, "used", self.used);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "first", self.first);
                field(4, "news", self.news); field(5, "renew", self.renew);)
};

struct JobMeasured {  // what MeasureJob asked for
  static constexpr uint32_t kNumber = 11;
  JobId job{};
  uint32_t generation = 0;
  std::optional<Bytes> resident;  // of all that the job runs here, at one moment; none: no use is gathered here
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "resident", self.resident);)
};

struct NodeFault {  // this node's own checks found that it is not fit for jobs: it is drained
  static constexpr uint32_t kNumber = 12;
  std::string text;  // one line
  MUSTER_FIELDS(field(1, "text", self.text);)
};

struct NodeTested {  // what TestNode asked for
  static constexpr uint32_t kNumber = 13;
  Time since{};         // as in the order
  bool tested = false;  // false: this node has nothing to test itself with
  std::string fault;    // "": it passed
  MUSTER_FIELDS(field(1, "since", self.since); field(2, "tested", self.tested); field(3, "fault", self.fault);)
};

// ---- controller to node
struct Registered {
  static constexpr uint32_t kNumber = 20;
  uint64_t session = 0;
  std::vector<JobId> forget;  // finished jobs whose end is durable
  std::string config;         // the version of the files for nodes without slurm.conf (model/config_rpc.h); "": there are none
  MUSTER_FIELDS(field(1, "session", self.session); field(2, "forget", self.forget); field(3, "config", self.config);)
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
  bool contained = false;                          // its external step runs here before anything else of it (PrologFlags=Contain)
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "array_job_id", self.array_job_id);
                field(4, "array_task", self.array_task); field(5, "array_task_count", self.array_task_count);
                field(6, "array_task_min", self.array_task_min); field(7, "array_task_max", self.array_task_max);
                field(8, "array_task_step", self.array_task_step); field(9, "request", self.request);
                field(10, "node_list", self.node_list); field(11, "cpus_per_node", self.cpus_per_node);
                field(12, "tasks_per_node", self.tasks_per_node); field(13, "node_index", self.node_index); field(14, "share", self.share);
                field(15, "partition", self.partition); field(16, "cluster", self.cluster);
                field(17, "time_limit_min", self.time_limit_min); field(18, "started", self.started); field(19, "ends", self.ends);
                field(20, "num_tasks", self.num_tasks); field(22, "topology_address", self.topology_address);
                field(23, "topology_pattern", self.topology_pattern); field(24, "exclusive", self.exclusive);
                field(25, "oversubscribe", self.oversubscribe); field(26, "sluid", self.sluid); field(36, "restart", self.restart);
                field(56, "het", self.het); field(57, "contained", self.contained);)
};

struct LaunchBatch {
  static constexpr uint32_t kNumber = 21;
  JobOnNode job;
  std::string script, environment;  // contents; "" where a hash stands in their place
  // SHA-256 of a content that is too long to travel with each launch. The node has it from before, or asks for it with
  // rpc::FetchContent.
  std::string script_hash, environment_hash;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "script", self.script); field(3, "environment", self.environment);
                field(4, "script_hash", self.script_hash); field(5, "environment_hash", self.environment_hash);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "forget", self.forget);
                field(4, "kill_wait_seconds", self.kill_wait_seconds); field(5, "state", self.state); field(6, "time", self.time);
                field(7, "about", self.about);)
};

struct SignalJob {
  static constexpr uint32_t kNumber = 23;
  JobId job{};
  uint32_t generation = 0;
  bool has_step = false;
  StepId step{};
  uint16_t signal = 0;
  bool batch_only = false, full = false;  // scancel --batch, --full
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "has_step", self.has_step);
                field(4, "step", self.step); field(5, "signal", self.signal); field(6, "batch_only", self.batch_only);
                field(7, "full", self.full);)
};

struct ForgetJobs {  // the ends of these jobs are durable here
  static constexpr uint32_t kNumber = 24;
  std::vector<JobId> jobs;
  MUSTER_FIELDS(field(1, "jobs", self.jobs);)
};

struct Reconfigure {
  static constexpr uint32_t kNumber = 25;
  bool shutdown = false;
  std::string config;  // as in Registered
  MUSTER_FIELDS(field(1, "shutdown", self.shutdown); field(2, "config", self.config);)
};

struct SetLogging {  // scontrol setdebug, setdebugflags nodes=: until the configuration is read again
  static constexpr uint32_t kNumber = 26;
  std::string level;               // "" = as it is
  std::vector<std::string> flags;  // "+backfill", "-gres"
  MUSTER_FIELDS(field(1, "level", self.level); field(2, "flags", self.flags);)
};

struct RebootNode {  // have the features brought, if any, and run RebootProgram, or the PowerAction of that name
  static constexpr uint32_t kNumber = 27;
  std::string reason;
  std::string action;  // "": RebootProgram
  std::vector<std::string> features;
  Time issued{};  // the same in a repeated order, which a node that has begun ignores
  MUSTER_FIELDS(field(1, "reason", self.reason); field(2, "action", self.action); field(3, "features", self.features);
                field(4, "issued", self.issued);)
};

struct PowerDownNode {  // run the PowerAction of that name, which powers this node down
  static constexpr uint32_t kNumber = 39;
  std::string action;
  MUSTER_FIELDS(field(1, "action", self.action);)
};

struct TestNode {  // quarantine: look at this node once, and say what was found; repeated until NodeTested
  static constexpr uint32_t kNumber = 40;
  Time since{};  // of its quarantine
  MUSTER_FIELDS(field(1, "since", self.since);)
};

struct NotifyJob {  // a line on the standard error of what the job runs here
  static constexpr uint32_t kNumber = 28;
  JobId job{};
  uint32_t generation = 0;
  std::string text;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "text", self.text);)
};

struct SuspendJob {  // stop every process of the job here, or let them go on; repeated until JobSettled
  static constexpr uint32_t kNumber = 29;
  JobId job{};
  uint32_t generation = 0;
  bool suspend = true;
  uint32_t grace_seconds = 0;  // between SIGTSTP and SIGSTOP (PreemptParameters=suspend_grace_time); 0: SIGSTOP at once
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "suspend", self.suspend);
                field(13, "grace_seconds", self.grace_seconds);)
};

struct PrepareJob {  // run the prolog now, before anything of the job comes; repeated until JobPrepared or LaunchFailed
  static constexpr uint32_t kNumber = 30;
  JobOnNode job;
  MUSTER_FIELDS(field(1, "job", self.job);)
};

struct LimitStep {  // scontrol update step: its own time limit from now on
  static constexpr uint32_t kNumber = 31;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  std::optional<Duration> limit;  // since it started; none: no limit
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step);
                field(4, "limit", self.limit);)
};

struct MeasureJob {  // --mem-update: say how much memory the job uses here; asked again until JobMeasured
  static constexpr uint32_t kNumber = 37;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation);)
};

struct LimitMemory {  // the job has no more than this here from now on; repeated at each registration
  static constexpr uint32_t kNumber = 38;
  JobId job{};
  uint32_t generation = 0;
  uint64_t mem_mb = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "mem_mb", self.mem_mb);)
};

struct ManagedNode {  // a node of a managed job, as step placement sees it
  NodeId id{};
  NodeSpecPtr spec;
  std::shared_ptr<const NodeHardware> hardware;
  std::vector<std::string> features;
  std::string topology_address, topology_pattern;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "spec", self.spec); field(3, "hardware", self.hardware);
                field(4, "features", self.features); field(5, "topology_address", self.topology_address);
                field(6, "topology_pattern", self.topology_pattern);)
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
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "request", self.request); field(3, "nodes", self.nodes);
                field(4, "blocks", self.blocks); field(5, "most_steps", self.bounds.most_steps); field(6, "ports_named", self.ports_named);
                field(7, "allocated", self.allocated); field(8, "warrant", self.warrant); field(9, "signed_warrant", self.signed_warrant);
                field(10, "most_tasks", self.bounds.most_tasks);)
};

struct StepsTaken {  // of StepsOfJob: news up to this number are durable
  static constexpr uint32_t kNumber = 33;
  JobId job{};
  uint32_t generation = 0;
  uint64_t news = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "news", self.news);)
};

struct PartOfStepEnded {  // another node told slurmctld, which has nothing to decide about the step
  static constexpr uint32_t kNumber = 34;
  rpc::PartEnded part;
  MUSTER_FIELDS(field(1, "part", self.part);)
};

struct StepEndTaken {  // of StepGone: it is durable. Until then the node says it again in each session.
  static constexpr uint32_t kNumber = 36;
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation); field(3, "step", self.step);)
};

struct EndManagement {  // that run of the job is over, or another node manages its steps
  static constexpr uint32_t kNumber = 35;
  JobId job{};
  uint32_t generation = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "generation", self.generation);)
};

}  // namespace muster::node_rpc

namespace muster::rpc {

// A node asks for a piece of a job's script or environment that a launch named by its hash. It asks for the next piece only when it has
// the last, so no more than one is on its way to a node.
struct FetchContent {
  JobId job{};
  std::string hash;
  uint64_t offset = 0;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "hash", self.hash); field(3, "offset", self.offset);)
};
struct ContentPiece {
  uint64_t size = 0;  // of the whole
  std::string bytes;  // from the offset on; "" only at its end
  MUSTER_FIELDS(field(1, "size", self.size); field(2, "bytes", self.bytes);)
};

#undef MUSTER_FIELDS

}  // namespace muster::rpc

namespace muster {

using NodeReport = std::variant<node_rpc::Register, node_rpc::BatchStarted, node_rpc::BatchFinished, node_rpc::JobGone,
                                node_rpc::LaunchFailed, node_rpc::StepGone, node_rpc::Load, node_rpc::JobSettled, node_rpc::JobPrepared,
                                node_rpc::StepsOfJob, node_rpc::JobMeasured, node_rpc::NodeFault, node_rpc::NodeTested>;
using NodeOrder = std::variant<node_rpc::Registered, node_rpc::LaunchBatch, node_rpc::TerminateJob, node_rpc::SignalJob,
                               node_rpc::ForgetJobs, node_rpc::Reconfigure, node_rpc::SetLogging, node_rpc::RebootNode, node_rpc::NotifyJob,
                               node_rpc::SuspendJob, node_rpc::PrepareJob, node_rpc::LimitStep, node_rpc::ManageSteps, node_rpc::StepsTaken,
                               node_rpc::PartOfStepEnded, node_rpc::EndManagement, node_rpc::StepEndTaken, node_rpc::MeasureJob,
                               node_rpc::LimitMemory, node_rpc::PowerDownNode, node_rpc::TestNode>;

// The envelope: order within a session.
template <class M>
struct Numbered {
  uint64_t session = 0, sequence = 0;
  M message;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "session", self.session);
    field(2, "sequence", self.sequence);
    field(3, "message", self.message);
  }
};

}  // namespace muster
