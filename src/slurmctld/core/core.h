// Core: the controller without a world: no clock, socket, file or thread. One owner (the core thread or the simulator) drives it in turns:
//
//   core.begin(now)
//   reply = core.run(…), core.report(…), …        decided and applied one after the other, so each sees what the last one did
//   core.housekeep()                              due timers, dependents, requeues
//   log.append(encode(core.events()))             ONE sync for the whole turn
//   core.commit()      then answer the clients and carry out take_effects()
//   core.rollback()    instead, when the append failed: the state is what it was at begin()
//
// Nothing decided in a turn may leave (no answer, no effect, no snapshot) before commit(): it is durable before it is visible. After a
// restart: restore(snapshot), replay(events …), then take_effects() says what the world still has to do. There is no other recovery code.
//
// Cost: begin and commit O(1) (persistent tables); a submission of a known request about 2 µs; see the bench.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "slurmctld/core/apply.h"
#include "slurmctld/core/attendance.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/memory_answers.h"
#include "slurmctld/core/minute_watch.h"
#include "slurmctld/core/power_save.h"
#include "slurmctld/core/quarantine.h"
#include "slurmctld/core/records.h"
#include "slurmctld/core/resume_queue.h"

namespace muster::slurmctld {

struct GroupMembers;  // reservations.h

struct PowerNodes {  // run a program about the power of nodes
  event::PowerProgram program = event::PowerProgram::kResume;
  std::vector<NodeId> nodes;
  std::vector<JobId> jobs;            // that these nodes come up for, each once
  std::string action;                 // the PowerAction that was asked for; "": the configured program
  std::vector<std::string> features;  // that a reboot is to bring
};
struct SendMail {
  Job job;             // as it was then
  uint16_t what = 0;   // one bit of model/mail.h
  bool array = false;  // about the array as a whole
  ArrayGroup group;
};
struct RunJobProgram {  // PrologSlurmctld or EpilogSlurmctld; said again until program_ended() tells how it went
  Job job;
  bool epilog = false;
};
struct RunReservationProgram {  // ResvProlog or ResvEpilog, once
  std::string reservation;
  bool epilog = false;
};
struct RunTrigger {  // start a trigger's program; said once, and again after a restart until trigger_started() is called
  Trigger trigger;
};
struct AbandonProlog {  // end the PrologSlurmctld of a job that ended meanwhile
  JobId job{};
  uint32_t generation = 0;
};
struct LogLine {  // said in slurmctld's log
  std::string text;
};
struct DropNode {  // end the connection of a node that is no node any more, or another machine's: its number may be given again
  NodeId node{};
};
using Effect = std::variant<Order, PowerNodes, SendMail, UploadRecords, RunJobProgram, AbandonProlog, RunReservationProgram, RunTrigger,
                            LogLine, DropNode>;

// What prologs and epilogs are told of a job. It is made once for consecutive nodes of the same job, and does not outlive a turn.
class DescribedJob {
 public:
  const node_rpc::JobOnNode& of(const Cluster& cluster, const Job& job);

 private:
  node_rpc::JobOnNode job_;
};

class Core {
 public:
  explicit Core(Settings settings);

  // ---- start
  void restore(Cluster cluster);
  void replay(const Event& event);
  const Settings& settings() const { return settings_; }
  // The new settings take effect in the running turn: events bring nodes and partitions to what they say.
  void configure(Settings settings);

  // ---- a turn
  void begin(Time now);
  // Decides a command and applies what was decided, once the caller has the right that its row in commands.def names first.
  template <class Decided>
  requires(!std::is_same_v<Decided, Command>) Result<DecidedAnswer<Decided>> run(const Caller& who, const Decided& command);
  Result<CommandAnswer> run(const Caller& who, const Command& command);
  void report(NodeId node, const NodeReport& report);
  void program_ended(const JobProgramEnd& end);
  // The trigger's program runs, or cannot.
  void trigger_started(uint32_t trigger);
  // The controller has just started on a state that another one left; slurmdbd can be reached, or no more.
  void controller_operates();
  void slurmdbd_reached(bool now);
  // The command that asked for an allocation is there for it, or is there no more.
  void attend(JobId job);
  void leave(JobId job) { attendance_.left(job, now_); }
  // Returns how many starts were still valid.
  size_t carry_out(const sched::Plan& plan);
  void node_connected(NodeId node);
  void node_disconnected(NodeId node);
  // Orders of the node's obligations were left out because it did not keep up; now it does again.
  void node_caught_up(NodeId node);
  // slurmdbd can be reached and has all records up to `position`, so the next ones may leave. 0: it has only just connected.
  void records_stored(uint64_t position);
  void records_link_lost();
  // Takes in all that slurmdbd says of accounts, users, associations and QOS of this cluster.
  void learn_directory(const rpc::Entities& fetched);
  // Takes in who is in the groups of a reservation, as the user database has it now.
  void learn_members(GroupMembers found);
  void housekeep();

  const Events& events() const { return events_; }  // of this turn, in order
  void commit();
  void rollback();

  // ---- after commit
  std::vector<Effect> take_effects(Time now);
  std::shared_ptr<const Snapshot> snapshot() const;  // as of the last commit
  Time next_timer() const {
    return indexes_.has_due()
               ? now_
               : std::min({indexes_.next_timer(), triggers_at_, inactive_at_, power_at_, resume_at_, maintenance_at_, quarantine_at_});
  }
  const Cluster& cluster() const { return cluster_; }
  const Indexes& indexes() const { return indexes_; }
  std::vector<std::string> take_unused_blobs() { return indexes_.take_unused_blobs(); }
  // The orders that an obligation stands for; nullopt when its job is gone.
  std::optional<NodeOrder> order_for(const Obligation& obligation, DescribedJob& described) const;

 private:
  View own() { return {cluster_, indexes_, settings_, feasibility_, now_, Caller{settings_.slurm_user, {}, {}, {}}}; }
  void take(Events events);
  void take(std::vector<Order> orders);
  // What a command brings about beyond its events and orders, once those are taken. `first`: the index in events_ of the decision's first
  // event.
  template <class Decided, class Made>
  void finish(const Decided&, Made&, size_t) {}
  void finish(const rpc::ControlJobs& c, Decision<rpc::Messages>& decision, size_t first);
  void finish(const rpc::RunWithoutJob& c, Decision<rpc::StepCreated>& decision, size_t first);
  void finish(const rpc::UpdateConfig& c, ConfigDecision& d, size_t first);
  void finish(const CrontabChange& change, Decision<CrontabOutcome>& decision, size_t first);
  void change_settings(Settings settings);
  void follow_up(const Event& event);
  void fire_timers();
  void drop_excess_records();
  void note_managed(const Event& event);
  void note_managed(JobId id);
  void note_managed_by(NodeId node);
  std::vector<Effect> orders_to_managers(Time now);
  void settle(NodeId id);
  template <class F>
  void for_each_job(const std::vector<JobId>& ids, F decide);
  void note_idle_nodes(JobId id);
  void note_idle_node(NodeId id);
  void note_reservations(const Event& event);
  void settle_reservations();
  void rebuild();
  void follow_settings();
  void watch_silence(const Node& node);
  void watch_usage_reset();
  void watch_accrual();
  void watch_minutes();
  void note_minutes(const Event& event);
  void end_those_out_of_minutes();
  void watch_slices();
  void note_turns(const Event& event);
  void note_turns(JobId job);
  void take_turns(bool next_slice);
  void make_room(const sched::Plan& plan);
  void pull_and_watch_triggers();
  void end_inactive();
  void save_power();
  void resume_nodes();
  void ask_for_memory(JobId job);
  void memory_measured(NodeId node, const node_rpc::JobMeasured& report);
  void settle_memory(const Job& job);
  void run_triggers(Time now, std::vector<Effect>& out);

  Settings settings_;
  Cluster cluster_;
  Indexes indexes_;
  FeasibilityCache feasibility_;
  Time now_{};
  // the running turn
  Cluster before_;
  Events events_;
  std::vector<Order> orders_;
  std::vector<SendMail> mails_;
  std::vector<AbandonProlog> abandoned_;
  std::vector<JobId> ended_, released_, readied_, unsettled_;  // to be followed up in housekeep
  std::vector<NodeId> idled_;
  std::set<uint32_t> unsettled_reservations_;
  Time reservations_settled_{};          // volatile: when all of them were last looked at
  std::set<JobId> managed_;              // jobs whose managers are to be told how the job stands
  uint64_t last_without_job_ = 0;        // volatile: the last number that RunWithoutJob was given
  std::set<NodeId> turned_;              // where jobs that share CPUs may have to stop or go on
  Time slice_ends_ = kTimeInfinite;      // GANG: when those who wait for their turn get it
  Time usage_reset_at_ = kTimeInfinite;  // PriorityUsageResetPeriod: a timer for another moment is an older setting's
  Time accrual_at_ = kTimeInfinite;      // the same of the look at jobs that wait for a limit on those that grow in priority
  MinuteWatch minutes_;                  // follows from the state
  Time minutes_at_ = kTimeInfinite;      // for which a timer was set last
  bool minutes_stale_ = true;            // to be made anew
  bool turns_stale_ = true;              // jobs may wait for a limit that is no longer there
  bool ages_stop_ = false;               // a job was, or is, beyond the limits of its partition
  std::set<JobId> moved_;                // jobs of this turn that the watch has to look at
  bool configured_ = false;              // at least once; what comes then is a new reading of the files
  Events happened_;                      // of this turn, that triggers may wait for
  Attendance attendance_;                // volatile
  MemoryAnswers memory_;                 // volatile
  Time inactive_at_ = kTimeInfinite;     // when an allocation will have been left for InactiveLimit
  PowerSave power_save_;                 // volatile
  // volatile: of the last full pass; never null
  sched::PlannedNodesPtr planned_ = std::make_shared<const sched::PlannedNodes>();
  Time power_at_ = kTimeInfinite;               // when it looks for nodes to power down next
  ResumeQueue resume_queue_;                    // volatile
  Time resume_at_{};                            // when it looks whose turn it is next: at first, then when there is room
  QuarantineWatch quarantine_;                  // volatile
  Time quarantine_at_ = kTimeInfinite;          // when it looks next without anything that happened
  Time triggers_at_ = kTimeInfinite;            // next_trigger_time() of the state as it is
  std::set<uint32_t> started_triggers_;         // volatile: pulled ones that the daemon was told to run
  Time maintenance_at_{};                       // when it looks at maintenances next: at first, and when a node changes
  bool may_upload_ = false;                     // volatile: slurmdbd is there and nothing is on its way to it
  std::vector<std::pair<NodeId, bool>> links_;  // nodes that connected or disconnected
};

template <class Decided>
requires(!std::is_same_v<Decided, Command>) Result<DecidedAnswer<Decided>> Core::run(const Caller& who, const Decided& command) {
  constexpr CommandRow kRow = row_of<Decided>;
  static_assert(kRow.kind == CommandKind::kChange);
  const View v{cluster_, indexes_, settings_, feasibility_, now_, who, kRow.of_job};
  if constexpr (kRow.first != Right::kAsk) MUSTER_TRY_VOID(may_ask(kRow, v.rights()));
  MUSTER_TRY(decision, decide(v, command));
  const size_t first = events_.size();
  take(std::move(decision.events));
  take(std::move(decision.orders));
  finish(command, decision, first);
  return std::move(decision.reply);
}

// mail.cc: the mails that an event calls for. `before`: the state before the event's turn.
std::vector<SendMail> mails_for(const Cluster& before, const Cluster& cluster, const Event& event);

// The job as its nodes need to know it: job_on_nodes() is the part that all of them share, place_on_node() adds what is node `index`'s own,
// job_on_node() gives both.
node_rpc::JobOnNode job_on_nodes(const Cluster& cluster, const Job& job);
void place_on_node(const Cluster& cluster, const Job& job, size_t index, node_rpc::JobOnNode& n);
node_rpc::JobOnNode job_on_node(const Cluster& cluster, const Job& job, size_t index);

}  // namespace muster::slurmctld
