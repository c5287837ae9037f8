// Checkers: what must hold in every run. They look at the log's durable records (replayed into a mirror of their own), at the
// live Cluster, and at what the nodes really run. One .cc per promise:
//
//   check_transitions    a job's states follow one another as documented; times are in order
//   check_layers         no layer of a hierarchical resource gives more than it has; a job holds what the mode says for its nodes
//   check_usage          no node gives out more than it has; exclusive is exclusive; the counters of Node agree with the jobs
//   check_processes      what nodes run: no overlap, only where the controller placed it, a generation's script at most once,
//                        nothing released while it still runs
//   check_gang           a start has all its nodes, once each, with the tasks, CPUs and devices asked for
//   check_preempt        whoever makes room is needed for that, once, and has gone before its place is another's; nobody is suspended for
//                        a job that is not there
//   check_limits         array %limit, partition limits; where accounting is enforced an association, and a QOS of it, that slurmdbd knew;
//                        where limits are, nobody holds more than GrpTRES, GrpJobs, MaxTRESPU, MaxJobsPU, MaxTRESPerNode let
//   check_reservations   a start never encroaches upon a reservation; a job in one belongs there, and is over when it is
//   check_acknowledged   an id that a client was given exists until it is purged, in every later incarnation
//   check_replay         the live state, and the state after a rollback or restart, is the replay of the log
//   check_queries        queries show each job and node once, as it is; every query is answered or refused, with an end
//   check_records        after healing slurmdbd has each run of each job, and the last state of each job
//   check_plan           a planner with caches plans the same as a fresh one
//   check_end            after healing: queue empty, obligations empty, no process anywhere
//
// It is not checked here that no promised start moves later. A start is promised for the state of that moment; ends that come early re-pack
// the queue in priority order and may move a lower job either way, so no sound rule holds across plans. sched/backfill_test.cc and
// property_test.cc check it within a plan.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "model/accounting.h"
#include "model/cluster.h"
#include "model/event.h"
#include "sched/planner.h"
#include "sim/node_host.h"
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
  void planned(const Cluster& cluster, const sched::Params& params, Time now, sched::Pass pass, const sched::Plan& plan);
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
  void check_released(const Event& event);
  void check_released(const Job& job, const Bitmap& nodes, const char* by);
  void check_released(const Job& job, NodeId node, const char* by);
  // of a state
  void check_together(const Cluster& cluster);
  void check_usage(const Cluster& cluster);
  void check_node_usage(const Cluster& cluster, const Node& node, const std::vector<const Job*>& jobs);
  void check_overlap(uint32_t node, const Process& process);
  void check_acknowledged(const Cluster& cluster);
  void note_width(const event::StepCreated& created);
  void check_records(const slurmctld::Core& core);
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
  uint32_t commits_ = 0;
  sched::Params params_;
};

}  // namespace muster::sim
