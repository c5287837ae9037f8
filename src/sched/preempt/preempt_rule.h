// PreemptRule: who may make whom give up what it holds, from when on, and what becomes of it. slurm.conf(5) PreemptType, PreemptMode,
// PreemptExemptTime, PreemptParameters, GraceTime; sacctmgr(1) Preempt, PreemptMode, PreemptExemptTime, GraceTime; guides preempt, qos, mcs.
//
//   preempt/partition_prio   a job of a partition may preempt those of partitions with a lower PriorityTier
//   preempt/qos              a job may preempt those of the QOS that its own names (Preempt), and with WITHIN those of its own QOS
//
// Of jobs of one QOS only one with a higher priority preempts another, for else the two would take turns without end; the manual is silent.
// What is said of a partition goes before the cluster's word with partition_prio, what is said of a QOS with qos.
// A job that is shown in mcs or exclusive=user is left alone by others, as the guide has it.
//
// Cost: O(log QOS) a question, and O(words of a QOS) the first time that one is asked about.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/account_directory.h"
#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sched {

// The job that wants room.
struct Preemptor {
  const RequestBody& request;
  const Partition& partition;
  uint32_t priority = 0;
  bool exclusive_user = false;  // its nodes would be kept for its user
  bool component = false;       // of a heterogeneous job: it takes no turns with others, so nobody is suspended for it
};

class PreemptRule {
 public:
  PreemptRule(const Cluster& cluster, const PreemptRules& rules, Time now) : cluster_(&cluster), rules_(rules), now_(now) {}

  // Whether jobs of this partition and QOS may preempt anybody at all.
  bool preempts(const Partition& partition, const RequestBody& request) const;
  // Whether such jobs are to be looked at before others: they name QOS that they may preempt.
  bool goes_first(const RequestBody& request) const;
  // Whether the job may take the place of this one, now; the second also when PreemptExemptTime will be over.
  bool may(const Preemptor& who, const Job& victim) const { return may_ever(who, victim) && eligible_at(victim) <= now_; }
  bool may_ever(const Preemptor& who, const Job& victim) const;

  // What happens to the job when it makes room. kOff: it never does. A heterogeneous job goes as a whole, requeued if one of its components
  // would be, and never suspended.
  PreemptHow how(const Job& victim) const;
  // The same where PreemptMode has no say: requeued if that is allowed, else cancelled.
  PreemptHow how_it_goes(const Job& victim) const;
  // When the job has run long enough to make room; kTimeInfinite: it never does.
  Time eligible_at(const Job& victim) const;
  // How long it may go on once it was chosen.
  Duration grace(const Job& victim) const;
  // The worth of jobs in the eyes of this rule: those of lower rank make room first. youngest_first is ignored with GANG and
  // preempt/partition_prio.
  uint64_t rank(const Job& victim) const;

 private:
  struct Qos {
    std::set<std::string, std::less<>> preempts;
    PreemptModes modes;
    bool has_mode = false, over_partition = false;
    std::optional<Duration> exempt;
    Duration grace{};
    uint64_t priority = 0;
  };
  const Qos& qos(const std::string& name) const;
  // f(component) for those of the victim's whole that still hold nodes; for other jobs the victim itself. Whether f says so of all.
  template <class F>
  bool all_of_whole(const Job& victim, F f) const;
  PreemptHow how_alone(const Job& victim) const;
  Time eligible_alone(const Job& victim) const;
  bool may_alone(const Preemptor& who, const Job& victim) const;
  const PreemptModes& modes_of(const Job& victim) const;
  bool may_by_qos(const Preemptor& who, const Job& victim, const PreemptModes& modes) const;
  static bool kept_apart(const Preemptor& who, const Job& victim);

  const Cluster* cluster_;
  PreemptRules rules_;
  Time now_;
  mutable std::map<std::string, Qos, std::less<>> qos_;
};

}  // namespace muster::sched
