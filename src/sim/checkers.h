// Checkers: what must hold in every run. They look at the log's durable records (replayed into a mirror of their own), at the
// live Cluster, and at what the nodes really run. One .cc per promise:
//
//   check_transitions    a job's states follow one another as documented; times are in order
//   check_layers         no layer of a hierarchical resource gives more than it has; a job holds what the mode says for its nodes
//   check_channels       no IMEX channel is two jobs' at a time; whoever runs has one
//   check_usage          no node gives out more than it has; exclusive is exclusive; the counters of Node agree with the jobs
//   check_processes      what nodes run: no overlap, only where the controller placed it, a generation's script at most once,
//                        nothing released while it still runs
//   check_gang           a start has all its nodes, once each, with the tasks, CPUs and devices asked for
//   check_preempt        whoever makes room is needed for that, once, and has gone before its place is another's; nobody is suspended for
//                        a job that is not there
//   check_limits         array %limit, partition limits; where accounting is enforced an association, and a QOS of it, that slurmdbd knew;
//                        where limits are, nobody comes to more than they let: of jobs, of what they hold, of what they have used and may still
//                        use, of one job, of jobs in the queue; no licence is given out twice
//   check_reservations   a start never encroaches upon a reservation; a job in one belongs there, and is over when it is
//   check_maintenance    never more nodes are held than was said; each is empty when it is told to reboot, is told once, and returns with another
//                        boot; a maintenance is over when its nodes are
//   check_acknowledged   an id that a client was given exists until it is purged, in every later incarnation
//   check_replay         the live state, and the state after a rollback or restart, is the replay of the log
//   check_queries        queries show each job and node once, as it is; every query is answered or refused, with an end
//   check_records        after healing slurmdbd has each run of each job, and the last state of each job; the records of a run add up to
//                        what it had, also where its job gave up nodes
//   check_reasons        at quiet moments the reason of each waiting job is true, by arithmetic of its own
//   check_promises       the first job of the queue is not promised a later start than before, see below
//   check_plan           a planner with caches plans the same as a fresh one
//   check_end            after healing: queue empty, obligations empty, no process anywhere
//
// Of promises across plans only this is sure, and checked (check_promises): the first job of the whole queue is never promised a later start than
// it was before, by more than the minutes that plans count in, unless something happens that may move it. That is: a node or a running job
// changes (a node goes, a limit is raised, a job is suspended, overstays its time or is being cleaned up), a job that comes before it starts,
// accounts, partitions or reservations change, the clock steps. Submissions, ends and starts of jobs behind it are nothing of the kind. Of those
// further behind no such rule holds: a start is promised for the state of that moment, and ends that come early re-pack the queue in the order
// of priority and may move a lower job either way. Where priorities move with time, jobs preempt others or reservations are there, nothing is
// said. sched/backfill_test.cc and property_test.cc check promises within a plan.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "model/accounting.h"
#include "model/cluster.h"
#include "model/event.h"
#include "sched/planner.h"
#include "sim/check_maintenance.h"
#include "sim/check_promises.h"
#include "sim/node_host.h"
#include "sim/run_use.h"
#include "sim/usage_sums.h"
#include "slurmctld/core/core.h"
#include "store/memory_log.h"

namespace muster::sim {

class World;

class Checkers {
 public:
  explicit Checkers(World& world);

  // What the controller schedules by: from its settings, once it knows its nodes.
  void go_by(const sched::Params& params) { params_ = params; }
  // Everything durable so far goes through the checks of events and into the mirror.
  void sync_log(const store::MemoryDisk& disk);
  void committed(const slurmctld::Core& core);
  void rolled_back(const slurmctld::Core& core);
  void controller_started(const slurmctld::Core& core);
  void process_started(uint32_t node, Process& process);
  void acknowledged(JobId job);
  void clock_stepped();
  void planned(const Cluster& cluster, const sched::Params& params, Time now, sched::Pass pass, const sched::Plan& plan);
  // A full pass at this time has started nothing, and nothing has happened since; what it said of each job.
  void quiet(const slurmctld::Core& core, const PersistentMap<Verdict>& said, Time time);
  void at_end(const slurmctld::Core& core);

  const Cluster& mirror() const { return mirror_; }
  size_t jobs_seen() const { return acknowledged_.size(); }

 private:
  void fail(const char* checker, const std::string& text);
  // before the event is applied to the mirror
  void check_transition(const Event& event);
  void check_array_limit(const event::JobStarted& e);
  void check_partition_limits(const event::JobStarted& started);
  void check_gang(const event::JobStarted& started);
  void check_admission(const event::JobStarted& start);
  void check_reservations(const Event& event);
  void check_group_limits(const event::JobStarted& e);
  void check_submit_limits(const event::JobSubmitted& e);
  void check_released(const Event& event);
  void check_released(const Job& job, const Bitmap& nodes, const char* by);
  void check_released(const Job& job, NodeId node, const char* by);
  // of a state
  void check_together(const Cluster& cluster);
  void check_usage(const Cluster& cluster);
  void check_node_usage(const Cluster& cluster, const Node& node, const std::vector<const Job*>& jobs);
  void check_overlap(uint32_t node, const Process& process);
  void check_channel(const Process& process);
  void check_acknowledged(const Cluster& cluster);
  void note_width(const event::StepCreated& created);
  void note_width(const event::JobStarted& started);
  void check_records(const slurmctld::Core& core);
  void check_recorded_use();
  void check_replay(const slurmctld::Core& core, const char* when);
  std::string name(NodeId node) const;

  World& world_;
  Cluster mirror_;
  slurmctld::Indexes indexes_;
  uint64_t position_ = 0;
  std::set<JobId> acknowledged_, purged_;
  std::set<JobId> suspended_;                                     // at any time of their life: they may be back beside others
  std::set<std::pair<JobId, uint32_t>> started_;                  // batch scripts, by generation
  std::map<std::pair<JobRecordKey, StepId>, size_t> step_width_;  // the nodes that a step began on
  UsageSums usage_;
  RunUses run_uses_;
  PromiseWatch promises_;
  MaintenanceWatch maintenances_;
  uint32_t commits_ = 0;
  sched::Params params_;
};

}  // namespace muster::sim
