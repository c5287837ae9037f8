// Core: the controller without a world. One owner (the core thread or the simulator) drives it in turns:
//
//   core.begin(now)
//   reply = core.submit(…), core.report(…), …     decided and applied one after the other, so each sees the last
//   core.housekeep()                              due timers, dependents, requeues
//   log.append(encode(core.events()))             ONE sync for the whole turn
//   core.commit()      then answer the clients and carry out take_effects()
//   core.rollback()    instead, when the append failed: the state is what it was at begin()
//
// Nothing decided in a turn may leave (no answer, no effect, no snapshot) before commit(): durable before visible.
// Restart: restore(snapshot), replay(events …), then take_effects() says what the world still owes. No recovery code.
//
// Cost: begin and commit O(1) (persistent tables); a submission of a known request about 2 µs; see the bench.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "slurmctld/core/apply.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {

struct PowerNodes {               // run ResumeProgram or SuspendProgram
  bool resume = true;
  std::vector<NodeId> nodes;
};
struct SendMail {
  Job job;                        // as it was then
  uint16_t what = 0;              // one bit of model/mail.h
  bool array = false;             // about the array as a whole
  ArrayGroup group;
};
struct RunJobProgram {            // PrologSlurmctld or EpilogSlurmctld; said again until program_ended() tells how it went
  Job job;
  bool epilog = false;
};
struct AbandonProlog {            // of a job that ended meanwhile
  JobId job{};
  uint32_t generation = 0;
};
using Effect = std::variant<Order, PowerNodes, SendMail, UploadRecords, RunJobProgram, AbandonProlog>;

// What prologs and epilogs are told of a job, made once for a run of nodes of the same one. It does not outlive a turn.
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
  // Takes effect in the running turn: events bring nodes and partitions to what the new settings say.
  void configure(Settings settings);

  // ---- a turn
  void begin(Time now);
  Result<rpc::JobSubmitted> submit(const Caller& who, const JobRequest& request);
  Result<JobRequest> check(const Caller& who, const JobRequest& request);   // for --test-only
  Result<rpc::Empty> finish_allocation(const Caller& who, const rpc::FinishAllocation& c);
  Result<rpc::StepCreated> create_step(const Caller& who, const rpc::CreateStep& c);
  Result<rpc::StepCreated> step_or_nodes(const Caller& who, const rpc::AskCredential& c);
  Result<rpc::Empty> finish_step(const Caller& who, const rpc::FinishStep& c);
  Result<rpc::SignalJobsAnswer> signal(const Caller& who, const rpc::SignalJobs& c);
  Result<rpc::Messages> control(const Caller& who, const rpc::ControlJobs& c);
  Result<rpc::Messages> update_job(const Caller& who, const rpc::UpdateJob& c);
  Result<rpc::Messages> update_step(const Caller& who, const rpc::UpdateStep& c);
  // The settings of this core change with it; `loaded` is for whoever else holds them.
  Result<ConfigDecision> update_config(const Caller& who, const rpc::UpdateConfig& c);
  Result<rpc::Messages> control_nodes(const Caller& who, const rpc::ControlNodes& c);
  Result<rpc::Empty> notify(const Caller& who, const rpc::NotifyJob& c);
  Result<rpc::Messages> update_node(const Caller& who, const rpc::UpdateNode& c);
  Result<rpc::Messages> update_partition(const Caller& who, const rpc::UpdatePartition& c);
  void report(NodeId node, const NodeReport& report);
  void program_ended(const JobProgramEnd& end) { take(decide_program_ended(own(), end)); }
  // Returns how many items were still valid.
  size_t carry_out(const sched::Plan& plan);
  void node_connected(NodeId node);
  void node_disconnected(NodeId node);
  // slurmdbd can be reached and has all up to `position`: the next records may leave. 0: since it connected.
  void records_stored(uint64_t position);
  void records_link_lost();
  void housekeep();

  const Events& events() const { return events_; }   // of this turn, in order
  void commit();
  void rollback();

  // ---- after commit
  std::vector<Effect> take_effects(Time now);
  std::shared_ptr<const Snapshot> snapshot() const;   // as of the last commit
  Time next_timer() const { return indexes_.has_due() ? now_ : indexes_.next_timer(); }
  const Cluster& cluster() const { return cluster_; }
  const Indexes& indexes() const { return indexes_; }
  std::vector<std::string> take_unused_blobs() { return indexes_.take_unused_blobs(); }
  // The orders that an obligation stands for; nullopt when its job is gone.
  std::optional<NodeOrder> order_for(const Obligation& o, DescribedJob& described) const;

 private:
  View view(const Caller& who) { return {cluster_, indexes_, settings_, feasibility_, now_, who}; }
  View own() { return view(Caller{settings_.slurm_user, {}, {}, {}}); }
  void take(Events events);
  void take(std::vector<Order> orders);
  template <class R>
  Result<R> finish(Result<Decision<R>> decision);
  void change_settings(Settings settings);
  void follow_up(const Event& event);
  void fire_timers();
  void drop_excess_records();
  void settle(NodeId id);
  template <class F>
  void for_each_job(const std::vector<JobId>& ids, F decide);
  void note_idle_nodes(JobId id);
  void note_idle_node(NodeId id);
  void rebuild();
  void watch_silence(const Node& node);

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
  std::vector<JobId> ended_, released_, readied_, unsettled_;   // to be followed up in housekeep
  std::vector<NodeId> idled_;
  bool may_upload_ = false;                                   // volatile: slurmdbd is there and nothing is on its way to it
  std::vector<std::pair<NodeId, bool>> links_;                // nodes that connected or disconnected
};

// mail.cc: the mails that an event calls for. `before`: the state before the event's turn.
std::vector<SendMail> mails_for(const Cluster& before, const Cluster& cluster, const Event& event);

// The job as all of its nodes need to know it, what is its node `index`'s own, and both.
node_rpc::JobOnNode job_on_nodes(const Cluster& cluster, const Job& job);
void place_on_node(const Cluster& cluster, const Job& job, size_t index, node_rpc::JobOnNode& n);
node_rpc::JobOnNode job_on_node(const Cluster& cluster, const Job& job, size_t index);

}  // namespace muster::slurmctld
