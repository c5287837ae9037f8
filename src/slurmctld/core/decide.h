// decide: commands in, events out. There is a decide() for each command of commands.def that changes something. It reads the state (View),
// checks the request and the caller's right to the jobs that it means, and returns the events that make it true, or the error that the user
// sees. Nothing is changed here; apply does that. There is one .cc per subject; the README lists them.
#pragma once

#include <optional>
#include <set>
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
  std::shared_ptr<const config::LoadedConfig> loaded;  // the configuration with the change; null: the change is for node daemons alone
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
// Applies the rules of submission to a waiting job that is changed from what it asked for `before`, as far as the change concerns them.
// Where several partitions are named, those that the job may not enter are left out, and functions in node lists become names.
Result<> check_changed(const View& v, const JobRequest& before, JobRequest& request);

// ---- mcs.cc
// Gives the job the label that it is to have, or says why it may not have the one asked for. The caller's groups are those of
// the job's user.
Result<> complete_mcs_label(const View& v, JobRequest& request);
// Makes --extra a constraint where the site has it so (SchedulerParameters=extra_constraints); the error says what is wrong with the text.
Result<> constrain_by_extra(const View& v, JobRequest& request);
// mcs/account: the label follows the account when that was changed.
void follow_account(const View& v, const std::string& account_before, JobRequest& request);

// ---- lifecycle.cc: starts, ends, what nodes report
Result<Events> decide_start(const View& v, const sched::StartItem& item);
Decision<rpc::Empty> decide_report(const View& v, NodeId node, const NodeReport& report);
// How a job (running or pending) ends. end_job() adds the events that end it and put it back into the queue if it is to be requeued.
struct Ending {
  JobState state = JobState::kCancelled;
  Reason reason = Reason::kNone;
  uint32_t flags = 0;
  int32_t exit_status = 0;
  std::string detail;
  Bitmap gone;                 // nodes (by index) where nothing is left already
  bool asked = false;          // a user asked for it
  std::optional<NodeId> node;  // the node at fault
};
void end_job(const View& v, const Job& job, const Ending& ending, Events& out);
// Begins a job whose nodes were being made ready, if they all are.
void settle_start(const View& v, const Job& job, Events& out);
// PrologSlurmctld or EpilogSlurmctld of a job is over; `error` "" is success.
struct JobProgramEnd {
  JobId job{};
  uint32_t generation = 0;
  bool epilog = false;
  std::string error;
};
Events decide_program_ended(const View& v, const JobProgramEnd& end);

// ---- requeue.cc
// Called when the last node of a finished job is released: requeues the job if that was asked for.
void after_release(const View& v, const Job& job, Events& out);
// Why a job comes back that has ended.
Restart restart_of(const View& v, const Job& job);
bool may_be_expedited(const View& v, const Job& job);  // --requeue=expedite, where the site allows it
bool failed_too_often(const View& v, const Job& job);  // MaxBatchRequeue

// Whether the item may be carried out at all, whatever is free; the job.
Result<const Job*> may_start(const View& v, const sched::StartItem& item);
// The id of the record that a task of an array gets when it leaves the array's; 0 for a job that is none.
JobId task_record(const View& v, const Job& job, uint32_t array_task);

// ---- preempt.cc: jobs that make room for others, or take turns with them
Result<Events> decide_preempt(const View& v, const sched::PreemptItem& item, std::vector<Order>& orders);
// How a job ends that was chosen to make room: it is cancelled, or put back into the queue.
void end_preempted(const View& v, const Job& job, JobId by, PreemptHow how, Events& out);
Result<> fits_over(const View& v, const sched::StartItem& item, const std::vector<JobId>& victims, bool suspended);
// Whether a job may start on CPUs of jobs that are suspended for it.
Result<> may_start_over(const View& v, const sched::StartItem& item);
void suspend_for(const View& v, const std::vector<JobId>& jobs, JobId by, Events& out);
void release_claim(const View& v, JobId id, Events& out);
// PreemptMode=GANG: suspends and resumes jobs that hold the same CPUs. `touched`: nodes where jobs came, went, stopped or went on.
void take_turns(const View& v, const std::set<NodeId>& touched, bool next_slice, Events& out);

// The same for one job, whatever it is a component of.
Result<Events> start_one(const View& v, const sched::StartItem& item);
void end_one(const View& v, const Job& job, const Ending& ending, Events& out);
bool nodes_ready(const View& v, const Job& job);
void settle_one(const View& v, const Job& job, bool others_ready, Events& out);
void requeue_one(const View& v, const Job& job, Events& out);

// ---- together.cc: what becomes of one component of a heterogeneous job, and with it of the others
// The components that are in the table, in their order.
std::vector<const Job*> components_of(const Cluster& cluster, const HetPart& het);
// All of them start, or the error says why not.
Result<Events> start_together(const View& v, const sched::StartItem& item);
// The job ends by the events in `out`, and with it: all, if it waits, is the first component, or the job goes back to the queue.
void end_together(const View& v, const Job& job, const Ending& ending, Events& out);
// All begin when the nodes of all are ready.
void settle_together(const View& v, const Job& job, Events& out);
// All go back to the queue when nothing of any is left on its nodes.
void release_together(const View& v, const Job& job, Events& out);
// The run of the whole is over, and comes back with these flags; or does not, though it was to.
Result<> requeue_ended(const View& v, const Job& job, uint32_t flags, Events& out);
void stay_ended(const View& v, const Job& job, Events& out);
// SchedulerParameters=whole_hetjob: selectors that name a component by its plain id mean the whole job.
std::vector<rpc::JobSelector> whole_where_wanted(const View& v, std::vector<rpc::JobSelector> selectors);
// Whether the selector means this component and not the whole of its job.
bool names_component(const rpc::JobSelector& s, const Job& job);
// Components are forgotten together, once all are old enough.
bool may_be_forgotten(const View& v, const Job& job);

// ---- submit.cc, submit_together.cc
// A request that passed the checks of a submission, with what follows from it.
struct Accepted {
  JobRequest request;
  std::vector<uint32_t> partitions;  // the first one first
  std::shared_ptr<const ArrayTasks> array;
  bool takes_turns = false;  // its age counts only when a limit on those that grow in priority lets it
};
Result<Accepted> accept_request(const View& v, const JobRequest& request);
// Adds the submission of an accepted request as this job.
Result<> submit_as(const View& v, JobId id, const HetPart& het, const Accepted& accepted, Events& out);

// Adds what the job would count for in limits to a cluster in which more submissions are tried.
void count_submitted(Cluster& ahead, JobId id, const Accepted& accepted, Time now);

// ---- license_names.cc
void name_licenses_as_counted(const View& v, JobRequest& request);
// The licence or layer of a hierarchical resource that a reservation means.
Result<std::string> pool_named(const View& view, const std::string& name);

// ---- crontab.cc: jobs that scrontab made
// The entry by which the job comes again when its run is over; null: it does not, or is of no crontab.
const CronJob* recurrence_of(const Cluster& cluster, const Job& job);
// When a job that is let into the queue now may start: of a crontab's job at its next time, else at its --begin.
Time earliest_start(const View& v, const Job& job);
// scontrol requeue of a job that waits for its time: the run that comes next is left out.
void skip_next_run(const View& v, const Job& job, Events& out);
// What is left to do about the crontab when a job of it has ended: an entry whose job does not come again is commented out.
void settle_crontab(const View& v, const Job& job, Events& out);
// scancel without --cron, where the site wants it (explicit_scancel): whether the job is left alone.
bool needs_cron_flag(const View& v, const Job& job, const rpc::SignalJobs& command);

// ---- triggers.cc
// What an event of this turn does to triggers: those that waited for it are pulled, and those on a job that is over go. `before`: the state
// before the turn. may_pull_triggers: whether the kind of event can do any of that.
bool may_pull_triggers(const Event& event);
Events pull_triggers(const View& v, const Cluster& before, const Event& event);
Events pull_triggers(const View& v, TriggerOn on);  // something happened to a daemon
// Pulls those whose time has come: a job's limit is near, nodes have been idle for long enough.
Events pull_timed_triggers(const View& v);
// When pull_timed_triggers() has to be called again, or a pulled one is due. Cost: O(triggers).
Time next_trigger_time(const View& v);
inline constexpr size_t kMostTriggers = 2000;               // of all users
inline constexpr Duration kIdleTriggerCheck = seconds(15);  // how often nodes are looked at for those on idle nodes

// ---- resize.cc: a running job gives up nodes, or loses one and goes on
// What the job is billed for from now on, with this left of what it had; none where it is billed for nothing but its CPUs.
std::optional<uint64_t> billed_anew(const View& v, const Job& job, const Allocation& left);
// Which of the job's nodes (by index) stay; the error says why it cannot shrink to them.
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, const NodeNames& list);
Result<Bitmap> nodes_to_keep(const View& v, const Job& job, uint32_t count);
void shrink_job(const View& v, const Job& job, const Bitmap& keep, Events& out);
// --no-kill: whether the job goes on without this node. Nodes that it loses by the events in `out` count as gone already.
bool outlives(const Job& job, NodeId node, const Events& out);
const Allocation& nodes_left(const Job& job, const Events& out);
// `at_once`: the node has nothing of the job any more, or cannot be told to end it.
void lose_node(const View& v, const Job& job, NodeId node, bool at_once, Events& out);

// ---- mem_update.cc: --mem-update lowers the memory limit of a running job, once
// The error names what is wrong with the value, or with this site for it.
Result<> check_mem_update(const View& v, const JobRequest& request);
bool is_memory_due(const Job& job, Time now);
// `used`: on the node of the job that uses most; none where a node cannot tell, and then the job keeps what it has.
void reduce_memory(const View& v, const Job& job, std::optional<Bytes> used, Events& out);
// Adds the order that tells the node how much of its memory a job has left whose limit was settled so.
void tell_memory(const View& v, const Job& job, NodeId node, std::vector<Order>& out);
// The same of all such jobs on a node that registers: it may have missed it.
void tell_memory_again(const View& v, NodeId node, std::vector<Order>& out);

// ---- update_job.cc
node_rpc::LimitStep limit_order(const Job& job, const Step& step, uint32_t limit_min);

// ---- steps.cc
// What decisions about a job's steps are made from. The result refers to the view and the job.
steps::JobSteps steps_of(const View& v, const Job& job);
StepBounds step_bounds(const Settings& settings);
steps::StepPorts step_ports(const View& v, const Job& job);
// The end of a step, and what accounting is to say of it: it ran out of memory or of its own time, or as its exit status says.
event::StepEnded step_ended(const View& v, const Job& job, const Step& step, int32_t exit_status, bool out_of_memory);
// The nodes of a step, but for those in `told`, which will tell what it used there; none where nothing is gathered.
std::vector<NodeId> nodes_to_tell(const View& v, const Job& job, const Step& step, const std::vector<NodeId>& told = {});
// Whether the step has ended, and that node has yet to tell what it used there.
bool is_untold(const Cluster& cluster, JobId job, StepId step, NodeId node);

// ---- managed_steps.cc: jobs whose first node decides about their steps (docs/adr/0011)
// Whether the first node of a job that starts is to manage its steps.
bool may_be_managed(const View& v, const Job& job, const Allocation& allocation);
bool is_managed_by(const Job& job, NodeId node);
// The order that tells the managing node about the job, without a signature. nullopt: the node cannot be told yet, since its key is not
// known.
std::optional<node_rpc::ManageSteps> manage_order(const Cluster& cluster, const Settings& settings, const Job& job, Time now);
// Takes what the managing node says has become of the job's steps. It is a claim: only what the job holds becomes true.
void take_news(const View& v, NodeId node, const node_rpc::StepsOfJob& report, Decision<rpc::Empty>& out);
// How many step numbers a manager may have given without slurmctld knowing; the next manager begins after them.
inline constexpr uint32_t kStepsUntold = 10000;
uint32_t first_step_of_next_manager(const View& v, const Job& job);
// Tells the node to forget jobs that it says it manages but does not.
void end_management(const View& v, NodeId node, const node_rpc::Register& r, std::vector<Order>& out);

// ---- nodes.cc
Decision<rpc::Empty> decide_register(const View& v, NodeId node, const node_rpc::Register& r);
// Ends the jobs of a node that is given up: in the usual way where it is connected; else what they hold there is given up at once.
void end_jobs_of(const View& v, const Node& node, Events& out);
// Sets a node DOWN. Jobs on a node that is connected are ended there in the usual way; on one that is not, what they hold is given up.
void set_node_down(const View& v, const Node& node, const std::string& reason, Events& out);
// A timer of the node is due: it did not answer for SlurmdTimeout, its resume took too long, or its planned return has come.
void node_timer(const View& v, NodeId node, TimerKind kind, Events& out);

// ---- learn.cc
// The events that turn what is known of accounts and QOS into what slurmdbd says now. Cost: O(n log n).
Events decide_learn(const View& v, const rpc::Entities& fetched);

// ---- update_node.cc
// The nodes that a host list means; it may name node sets, or be ALL. kInvalidNodeName for a name that is no node.
Result<std::vector<const Node*>> select_nodes(const View& v, const std::string& text);
// When a node that is told now to come up, or to go down, must have done so: the longest ResumeTimeout or SuspendTimeout of its partitions
// that have one, else the cluster's.
Time resume_deadline(const View& v, const Node& n);
Time suspend_deadline(const View& v, const Node& n);
// A node's state as NodeStateChanged carries it, to be altered by the caller.
event::NodeStateChanged state_of(const Node& n, Time now);

// ---- node_power.cc: reboot, power up and down
// How many more nodes a command may power up (max_powered_nodes). Counts when that is asked first, O(nodes).
class WakeRoom {
 public:
  explicit WakeRoom(const View& view) : view_(view) {}
  // For a node that is about to be powered up; kInvalidNodeState: no room.
  Result<> take(const Node& node);

 private:
  const View& view_;
  std::optional<uint32_t> left_;
};
// Does to one of the command's nodes what is asked; kInvalidNodeState where the node's state does not allow that.
Result<> control_node(const View& v, const Node& n, const rpc::ControlNodes& c, WakeRoom& room, Events& out, std::vector<Order>& orders);
// Called for a node that nothing runs on any more: begins the reboot or the power-down that waited for that.
void settle_node(const View& v, const Node& n, Events& out, std::vector<Order>& orders);
// The node registers while a reboot is due: `change` becomes its state after the reboot, or the order is repeated.
void after_reboot(const View& v, const Node& n, const NodeHardware& found, event::NodeStateChanged& change, std::vector<Order>& orders);
// The node's ResumeTimeout or SuspendTimeout is over.
void power_deadline(const View& v, const Node& n, Events& out);
// Powers down a node that has no job and that nobody asked for (power_save.h).
void power_down_idle(const View& v, const Node& n, Events& out);

// ---- topology.cc
// `ids`: the NodeIds of the configured nodes, in their order.
void configure_topology(const View& v, const std::vector<NodeId>& ids, Events& out);
// Where a node of the job is in the topology of its partition.
TopologyAddress address_of(const Cluster& cluster, const Job& job, size_t index);

// ---- configure.cc
Events decide_configure(const View& v);  // from the state as it is to what Settings say
// The admin state and flags that State= of a NodeName line means for a node not seen before.
event::NodeStateChanged initial_state(const View& v, NodeId id, const NodeSpec& spec);

// ---- update_partition.cc
// ReconfigFlags: makes the changes that scontrol made to `known` again on `p`, which is what the files say of the partition now.
void update_again(const View& v, const Partition& known, bool state_only, Partition& p);

// ---- runtime_settings.cc
// The newly read files, with SuspendExc* as they are now where the files say ReconfigFlags=KeepPowerSaveSettings.
std::shared_ptr<const config::LoadedConfig> keep_power_settings(const config::LoadedConfig& now,
                                                                std::shared_ptr<const config::LoadedConfig> read);

// ---- timers.cc
void job_timer(const View& v, JobId job, TimerKind kind, Events& out, std::vector<Order>& orders);
// Looks at the jobs that wait for `ended`: their condition may be met now, or can never be.
void resolve_dependents(const View& v, const Job& ended, Events& out);
// A bare id that is an array's means all of its tasks, and is shown so.
void name_whole_arrays(const Cluster& cluster, Dependencies& list);
// Sets the state of each dependency as the cluster stands; true when something changed.
bool refresh_dependencies(const View& v, const Job& job, Dependencies& list);
// Refuses dependencies on jobs that were never submitted, and on how a job ended that has been forgotten since.
Result<> check_submitted(const Cluster& cluster, const Dependencies& list);
enum class DependencyVerdict : uint8_t { kWait, kMet, kNever };
DependencyVerdict verdict_of(const Dependencies& list);
// Why a job that is not held waits before it can be planned.
Reason waiting_reason(const View& v, const Dependencies* dependencies, Time eligible);
// When an unfulfilled "after:job+minutes" has to be looked at again; unset: nothing to wait for but other jobs' events.
Time recheck_time(const View& v, const Job& job, const Dependencies& list);
// Looks at one waiting job's dependencies: it is eligible now, never can be, or has one condition fewer.
void settle_dependencies(const View& v, const Job& job, Events& out);
// Whether `job` would wait for itself, by way of others.
bool is_circular(const View& v, const Job& job, const Dependencies& list);
// When a running job's time is up: at its end and the OverTimeLimit that applies.
Time limit_time(const View& v, const Job& job);

// ---- job_rules.cc: what several subjects ask about one job
std::string why_restarted(const Cluster& cluster, const Job& job);  // "preempted by job 12"; "": it was never put back into the queue
// Why a waiting job waits: the planner's word where that decides (null: it does not), else the job's own.
const Verdict* deciding_verdict(const Cluster& cluster, const Job& job);
Reason reason_shown(const Cluster& cluster, const Job& job);
bool can_be_told(const Node* node);  // to end a job: it is up, or DOWN and connected
// A job that is submitted held is taken although no node could run it: such nodes may be on their way. This asks again when the job is let
// go: kRequestedPartConfigUnavailable if no node could run it in any of its partitions.
Result<> check_ever_runs(const View& v, const JobRequest& request, uint32_t partition);
// Sets the marks of a hold in `e`: one by the job's user, or by an operator. A caller who is no operator leaves an operator's hold as it
// is.
void mark_held(const View& v, const Job& job, bool as_user, event::JobChanged& e);
bool requeue_allowed(const View& v, const Job& job);  // a batch job with --requeue, or JobRequeue and no --no-requeue
uint32_t basic_priority(JobId id, int32_t nice);      // priority/basic: the earlier job first
// Job::priority of a job that is neither held nor has a priority set by hand: that of priority/basic; otherwise a number that only says
// "not held", for sched/priority.h works the priority out.
uint32_t default_priority(const View& v, JobId id, int32_t nice);
std::string job_name_for_users(const Job& job);  // "123", "123_4", "123_[5-7]"
// The number of this request; adds the event that stores it where no job has asked for the same yet.
RequestId store_request(const View& v, JobRequest request, Events& out);
// A job's record as JobChanged carries it, to be altered by the caller.
event::JobChanged changed(const Job& job);

}  // namespace muster::slurmctld
