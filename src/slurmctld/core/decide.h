// decide: commands in, events out. There is a decide() for each command of commands.def that changes something: it reads the state (View),
// checks the request and, of the jobs that it means, the caller's right to them, and returns the events that make it true, or the error
// the user sees. Nothing is changed here; apply does that.
// One .cc per subject; the README lists them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/account_directory.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
#include "sched/planner.h"
#include "slurmctld/core/command.h"
#include "slurmctld/core/feasibility.h"
#include "slurmctld/core/indexes.h"
#include "slurmctld/core/rights.h"
#include "slurmctld/core/settings.h"
#include "steps/job_steps.h"

namespace muster::slurmctld {

struct View {
  const Cluster& cluster;
  const Indexes& indexes;
  const Settings& settings;
  FeasibilityCache& feasibility;
  Time now{};
  Caller caller;
  Right of_job = Right::kUnnamed;  // what the command that is decided asks for each job that it means (commands.def)

  Rights rights() const { return {settings, cluster.directory, caller}; }
  bool may(Right right) const { return rights().may(right); }
  bool may(Right right, const Job& job) const { return rights().may(right, job); }
  bool may(const Job& job) const { return may(of_job, job); }
};

using Events = std::vector<Event>;

// A message to a node that is not an obligation: sent once, lost with the connection.
struct Order {
  NodeId node{};
  NodeOrder order;
};

template <class Reply>
struct Decision {
  Events events;
  Reply reply{};
  std::vector<Order> orders;
};
struct ConfigDecision : Decision<rpc::Messages> {
  std::shared_ptr<const config::LoadedConfig> loaded;  // with the change; null: it is for node daemons alone
};

// ---- a decide() for each command that changes something, in the file of its subject
template <class Decided>
struct DecisionTo {
  using Type = Decision<DecidedAnswer<Decided>>;
};
template <>
struct DecisionTo<rpc::UpdateConfig> {
  using Type = ConfigDecision;
};
#define MUSTER_DECIDE_kChange(request) \
  Result<DecisionTo<DecidedAs<rpc::request>>::Type> decide(const View& v, const DecidedAs<rpc::request>& command);
#define MUSTER_DECIDE_kQuery(request)
#define MUSTER_DECIDE_kSession(request)
#define MUSTER_DECIDE_kProcess(request)
#define MUSTER_DECIDE_kDaemon(request)
#define MUSTER_COMMAND(request, first, of_job, kind, handler) MUSTER_DECIDE_##kind(request)
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
#undef MUSTER_DECIDE_kChange
#undef MUSTER_DECIDE_kQuery
#undef MUSTER_DECIDE_kSession
#undef MUSTER_DECIDE_kProcess
#undef MUSTER_DECIDE_kDaemon

// ---- submit.cc
void order_partitions(const Cluster& cluster, std::vector<std::string>& names);
// The same rules for a waiting job that is changed from what it asked for `before`: of what the change concerns. Where several
// partitions are named, those that the job may not enter are left out, and functions in node lists become names.
Result<> check_changed(const View& v, const JobRequest& before, JobRequest& request);

// ---- mcs.cc
// Gives the job the label that it is to have, or says why it may not have the one asked for. The caller's groups are those of
// the job's user.
Result<> complete_mcs_label(const View& v, JobRequest& request);
// mcs/account: the label goes along with an account that was changed.
void follow_account(const View& v, const std::string& account_before, JobRequest& request);

// ---- lifecycle.cc: starts, ends, what nodes report
Result<Events> decide_start(const View& v, const sched::StartItem& item);
Decision<rpc::Empty> decide_report(const View& v, NodeId node, const NodeReport& report);
// The events that end a job (running or pending) with a state, and put it back where it is to be requeued.
struct Ending {
  JobState state = JobState::kCancelled;
  Reason reason = Reason::kNone;
  uint32_t flags = 0;
  int32_t exit_status = 0;
  std::string detail;
  Bitmap gone;  // nodes (by index) where nothing is left already
};
void end_job(const View& v, const Job& job, const Ending& ending, Events& out);
// A job whose nodes were being made ready: begins, where they are.
void settle_start(const View& v, const Job& job, Events& out);
// PrologSlurmctld or EpilogSlurmctld of a job is over; `error` "" is success.
struct JobProgramEnd {
  JobId job{};
  uint32_t generation = 0;
  bool epilog = false;
  std::string error;
};
Events decide_program_ended(const View& v, const JobProgramEnd& end);
// A finished job with nothing left on any node: requeue it if it was to be; called after the last release.
void after_release(const View& v, const Job& job, Events& out);

// ---- resize.cc: a running job gives up nodes, or loses one and goes on
// Which of its nodes (by index) stay; the error says why it cannot shrink so.
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, const NodeNames& list);
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, uint32_t count);
void shrink_job(const View& v, const Job& job, const Bitmap& keep, Events& out);
// --no-kill: whether the job goes on without this node. Those that it loses by `out` are gone already.
bool outlives(const Job& job, NodeId node, const Events& out);
const Allocation& nodes_left(const Job& job, const Events& out);
// `at_once`: the node has nothing of the job any more, or cannot be told to end it.
void lose_node(const View& v, const Job& job, NodeId node, bool at_once, Events& out);

// ---- update_job.cc
node_rpc::LimitStep limit_order(const Job& job, const Step& step, uint32_t limit_min);

// ---- steps.cc
// What a job's steps are decided from. It refers to the view and the job.
steps::JobSteps steps_of(const View& v, const Job& job);
steps::StepPorts step_ports(const View& v, const Job& job);
// The end of a step, and what accounting is to say of it: it ran out of memory or of its own time, or as its exit status says.
event::StepEnded step_ended(const View& v, const Job& job, const Step& step, int32_t exit_status, bool out_of_memory);

// ---- managed_steps.cc: jobs whose first node decides about their steps (docs/adr/0011)
// Whether it is to be so for a job that starts.
bool may_be_managed(const View& v, const Job& job, const Allocation& allocation);
bool is_managed_by(const Job& job, NodeId node);
// What that node is told, but for the signature. nullopt: nothing yet, for its key is not known.
std::optional<node_rpc::ManageSteps> manage_order(const Cluster& cluster, const Settings& settings, const Job& job, Time now);
// What the node says has become of the job's steps: a claim, of which only what the job holds becomes true.
void take_news(const View& v, NodeId node, const node_rpc::StepsOfJob& r, Decision<rpc::Empty>& d);
// So many numbers of steps may have been given without slurmctld knowing; the next manager begins after them.
inline constexpr uint32_t kStepsUntold = 10000;
uint32_t first_step_of_next_manager(const View& v, const Job& job);
// Jobs that a node says it manages and does not: it may forget them.
void end_management(const View& v, NodeId node, const node_rpc::Register& r, std::vector<Order>& out);

// ---- nodes.cc
Decision<rpc::Empty> decide_register(const View& v, NodeId node, const node_rpc::Register& r);
// Jobs on a node that is in touch are ended there in the usual way; with one that is not, what they hold is given up.
void set_node_down(const View& v, const Node& node, const std::string& reason, Events& out);
// A node that did not answer for SlurmdTimeout, a resume that took too long, a planned return.
void node_timer(const View& v, NodeId node, TimerKind kind, Events& out);

// ---- learn.cc
// What differs of what slurmdbd says now from what is known. Cost: O(n log n).
Events decide_learn(const View& v, const rpc::Entities& fetched);

// ---- update_node.cc
// A host list that may name node sets, or ALL. kInvalidNodeName for a name that is no node.
Result<std::vector<const Node*>> select_nodes(const View& v, const std::string& text);
// A node's state as NodeStateChanged carries it, to be altered by the caller.
// When a node that is told now to come up, or to go down, must have done so: the longest ResumeTimeout or SuspendTimeout of
// its partitions that have one, else the cluster's.
Time resume_deadline(const View& v, const Node& n);
Time suspend_deadline(const View& v, const Node& n);
event::NodeStateChanged state_of(const Node& n, Time now);

// ---- node_power.cc: reboot, power up and down
// One node of it; kInvalidNodeState where its state does not allow that.
Result<> control_node(const View& v, const Node& n, const rpc::ControlNodes& c, Events& out, std::vector<Order>& orders);
// A node that nothing runs on any more: the reboot or the power-down that it waited for begins.
void settle_node(const View& v, const Node& n, Events& out, std::vector<Order>& orders);
// It registers while a reboot is due: `e` becomes its state after it, or the order is repeated.
void after_reboot(const Node& n, const NodeHardware& found, event::NodeStateChanged& e, std::vector<Order>& orders);
// ResumeTimeout or SuspendTimeout is over.
void power_deadline(const View& v, const Node& n, Events& out);
// ---- topology.cc
// `ids`: of the configured nodes, in their order.
void configure_topology(const View& v, const std::vector<NodeId>& ids, Events& out);
// Where a node of the job is in the topology of its partition.
TopologyAddress address_of(const Cluster& cluster, const Job& job, size_t index);

// ---- configure.cc
Events decide_configure(const View& v);  // from the state as it is to what Settings say
// The admin state and flags that State= of a NodeName line means for a node not seen before.
event::NodeStateChanged initial_state(const View& v, NodeId id, const NodeSpec& spec);

// ---- update_partition.cc
// ReconfigFlags: what scontrol changed of `known`, made again on what the files say of it now.
void update_again(const View& v, const Partition& known, bool state_only, Partition& p);

// ---- runtime_settings.cc
// ReconfigFlags=KeepPowerSaveSettings of the new files: SuspendExc* as they are.
std::shared_ptr<const config::LoadedConfig> keep_power_settings(const config::LoadedConfig& now,
                                                                std::shared_ptr<const config::LoadedConfig> read);

// ---- timers.cc
void job_timer(const View& v, JobId job, TimerKind kind, Events& out, std::vector<Order>& orders);
// What waits for this job: dependents whose condition is now met or can never be.
void resolve_dependents(const View& v, const Job& ended, Events& out);
// The state of each dependency as the cluster stands; true when something changed.
// A bare id that is an array's means all of its tasks, and is shown so.
void name_whole_arrays(const Cluster& cluster, Dependencies& list);
bool refresh_dependencies(const View& v, const Job& job, Dependencies& list);
// Refuses jobs that were never there; what is forgotten was.
Result<> check_submitted(const Cluster& cluster, const Dependencies& list);
enum class DependencyVerdict : uint8_t { kWait, kMet, kNever };
DependencyVerdict verdict_of(const Dependencies& list);
// Why a job that is not held waits before it can be planned.
Reason waiting_reason(const View& v, const Dependencies* dependencies, Time eligible);
// When an unfulfilled "after:job+minutes" has to be looked at again; unset: nothing to wait for but other jobs' events.
Time recheck_time(const View& v, const Job& job, const Dependencies& list);
// Looks at one waiting job's dependencies: eligible now, never, or one condition fewer.
void settle_dependencies(const View& v, const Job& job, Events& out);
// Whether `job` would wait for itself, by way of others.
bool is_circular(const View& v, const Job& job, const Dependencies& list);
// When a running job's time is up: its end and the OverTimeLimit that applies.
Time limit_time(const View& v, const Job& job);

// ---- job_rules.cc: what several subjects ask about one job
// Why a waiting job waits: the planner's word where that decides (null: it does not), else the job's own.
const Verdict* deciding_verdict(const Cluster& cluster, const Job& job);
Reason reason_shown(const Cluster& cluster, const Job& job);
bool can_be_told(const Node* node);  // to end a job: it is up, or DOWN and connected
// A job that was submitted held was not looked at: nodes that could run it may have been on their way. kRequestedPartConfigUnavailable
// when it is let go and no node could run it in any of its partitions.
Result<> check_ever_runs(const View& v, const JobRequest& request, uint32_t partition);
// The marks of a hold, in `e`: by its user, or by an operator. Who is none leaves an operator's hold as it is.
void mark_held(const View& v, const Job& job, bool as_user, event::JobChanged& e);
bool requeue_allowed(const View& v, const Job& job);  // a batch job with --requeue, or JobRequeue and no --no-requeue
uint32_t basic_priority(JobId id, int32_t nice);      // priority/basic: the earlier job first
// Job::priority of what is neither held nor set by hand: that of priority/basic; otherwise a number that only says "not
// held", for sched/priority.h works the priority out.
uint32_t default_priority(const View& v, JobId id, int32_t nice);
std::string job_name_for_users(const Job& job);  // "123", "123_4", "123_[5-7]"
// The number of this request, with the event that stores it where no job has asked for the same yet.
RequestId store_request(const View& v, JobRequest request, Events& out);
// A job's record as JobChanged carries it, to be altered by the caller.
event::JobChanged changed(const Job& job);

}  // namespace muster::slurmctld
