// decide: commands in, events out. Each function reads the state (View), checks the caller's rights and the request, and
// returns the events that make it true, or the error the user sees. Nothing is changed here; apply does that.
// One .cc per subject; the README lists them.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/cluster.h"
#include "model/event.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
#include "sched/planner.h"
#include "slurmctld/core/feasibility.h"
#include "slurmctld/core/indexes.h"
#include "slurmctld/core/settings.h"

namespace muster::slurmctld {

// Who asks, as the connection proved it.
struct Caller {
  Uid uid{};
  Gid gid{};
  std::vector<std::string> groups;   // names, the login group first; filled only where the files ask (AllowGroups, mcs/group)
  std::string host;                  // the node the command ran on, where known (AllocNodes)
  std::string name;                  // filled only where labels are user names (mcs/user)
  static Caller root() { return {}; }
};

struct View {
  const Cluster& cluster;
  const Indexes& indexes;
  const Settings& settings;
  FeasibilityCache& feasibility;
  Time now{};
  Caller caller;

  bool is_operator() const;                 // root or SlurmUser
  bool may_manage(const Job& job) const;    // its owner or an operator
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

// ---- submit.cc
Result<Decision<rpc::JobSubmitted>> decide_submit(const View& v, const JobRequest& request);
// The checks of a submission alone: the request completed with what the site fills in, and its partitions.
Result<JobRequest> check_request(const View& v, const JobRequest& request);
Result<> check_batch_features(const JobRequest& request);   // --batch against --constraint

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
  Bitmap gone;                  // nodes (by index) where nothing is left already
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
Result<Decision<rpc::Empty>> decide_finish_allocation(const View& v, const rpc::FinishAllocation& c);

// ---- control.cc
Decision<rpc::SignalJobsAnswer> decide_signal(const View& v, const rpc::SignalJobs& c);
Result<Decision<rpc::Messages>> decide_control(const View& v, const rpc::ControlJobs& c);
Result<Decision<rpc::Empty>> decide_notify(const View& v, const rpc::NotifyJob& c);
std::vector<const Job*> select_jobs(const View& v, const rpc::JobSelector& s);
// The jobs that a selector means, each as a record of its own: pending tasks that it names out of an array are taken out of
// the array's record by events appended to `out`, and stand in `own` as they will be.
struct PickedJobs {
  std::vector<const Job*> jobs;
  std::deque<Job> own;
};
PickedJobs pick_jobs(const View& v, const rpc::JobSelector& s, Events& out);

// ---- resize.cc: a running job gives up nodes
// Which of its nodes (by index) stay; the error says why it cannot shrink so.
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, const std::string& list);
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, uint32_t count);
void shrink_job(const View& v, const Job& job, const Bitmap& keep, Events& out, std::vector<Order>& orders);

// ---- update_job.cc
Result<Decision<rpc::Messages>> decide_update_job(const View& v, const rpc::UpdateJob& c);
Result<Decision<rpc::Messages>> decide_update_step(const View& v, const rpc::UpdateStep& c);
node_rpc::LimitStep limit_order(const Job& job, const Step& step, uint32_t limit_min);

// ---- steps.cc
Result<Decision<rpc::StepCreated>> decide_create_step(const View& v, const rpc::CreateStep& c);
// A running step as sattach needs it, or the nodes of a running job as sbcast does. Changes nothing.
Result<rpc::StepCreated> step_or_nodes(const View& v, const rpc::AskCredential& c);
Result<Decision<rpc::Empty>> decide_finish_step(const View& v, const rpc::FinishStep& c);

// ---- nodes.cc
Decision<rpc::Empty> decide_register(const View& v, NodeId node, const node_rpc::Register& r);
// Jobs on a node that is in touch are ended there in the usual way; with one that is not, what they hold is given up.
void set_node_down(const View& v, const Node& node, const std::string& reason, Events& out);
// A node that did not answer for SlurmdTimeout, a resume that took too long, a planned return.
void node_timer(const View& v, NodeId node, TimerKind kind, Events& out);

// ---- update_node.cc
Result<Decision<rpc::Messages>> decide_update_node(const View& v, const rpc::UpdateNode& c);
// A host list that may name node sets, or ALL. kInvalidNodeName for a name that is no node.
Result<std::vector<const Node*>> select_nodes(const View& v, const std::string& text);
// A node's state as NodeStateChanged carries it, to be altered by the caller.
// When a node that is told now to come up, or to go down, must have done so: the longest ResumeTimeout or SuspendTimeout of
// its partitions that have one, else the cluster's.
Time resume_deadline(const View& v, const Node& n);
Time suspend_deadline(const View& v, const Node& n);
event::NodeStateChanged state_of(const Node& n, Time now);

// ---- node_power.cc: reboot, power up and down
Result<Decision<rpc::Messages>> decide_control_nodes(const View& v, const rpc::ControlNodes& c);
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
Events decide_configure(const View& v);           // from the state as it is to what Settings say
// The admin state and flags that State= of a NodeName line means for a node not seen before.
event::NodeStateChanged initial_state(const View& v, NodeId id, const NodeSpec& spec);

// ---- update_partition.cc
Result<Decision<rpc::Messages>> decide_update_partition(const View& v, const rpc::UpdatePartition& c);

// ReconfigFlags: what scontrol changed of `known`, made again on what the files say of it now.
void update_again(const View& v, const Partition& known, bool state_only, Partition& p);

// ---- runtime_settings.cc
// ReconfigFlags=KeepPowerSaveSettings of the new files: SuspendExc* as they are.
std::shared_ptr<const config::LoadedConfig> keep_power_settings(const config::LoadedConfig& now, std::shared_ptr<const config::LoadedConfig> read);
struct ConfigDecision {
  std::shared_ptr<const config::LoadedConfig> loaded;   // with the change; null: it is for node daemons alone
  std::vector<Order> orders;
  rpc::Messages reply;
};
Result<ConfigDecision> decide_update_config(const View& v, const rpc::UpdateConfig& c);

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
bool can_be_told(const Node* node);   // to end a job: it is up, or DOWN and connected
bool requeue_allowed(const View& v, const Job& job);   // a batch job with --requeue, or JobRequeue and no --no-requeue
uint32_t basic_priority(JobId id, int32_t nice);            // priority/basic: the earlier job first
// Job::priority of what is neither held nor set by hand: that of priority/basic; otherwise a number that only says "not
// held", for sched/priority.h works the priority out.
uint32_t default_priority(const View& v, JobId id, int32_t nice);
std::string job_name_for_users(const Job& job);        // "123", "123_4", "123_[5-7]"
// The number of this request, with the event that stores it where no job has asked for the same yet.
RequestId store_request(const View& v, JobRequest request, Events& out);
// A job's record as JobChanged carries it, to be altered by the caller.
event::JobChanged changed(const Job& job);

}  // namespace muster::slurmctld
