// Priorities: PriorityType=priority/basic, and the factors of priority/multifactor. Guide priority_multifactor, sprio(1).
//
// A job's priority is not stored while it waits: it follows from parts of the job that do not change and from the time, rounded down to
// PriorityCalcPeriod. Planner, squeue, sprio and scontrol ask the same rule, so they agree and nothing has to be written when time passes.
// Only a priority that is held (0), set by hand (kJobPriorityFixed) or given by order of submission (priority/basic) is a stored number,
// Job::priority.
//
// With PriorityFlags=INCR_ONLY that number is also the least that a priority which moves may be: what it was before something lowered it
// (event PrioritiesKept). It is that of the job's own partition; in its other ones the least differs by what the partitions add.
//
// The fair share comes from factors that the scheduler's pass works out once in a PriorityCalcPeriod (model/fair_factors.h).
//
// Cost: PriorityRule O(partitions), and O(nodes) once where sizes or TRES have weights, O(associations) once where those have; of() O(weights).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "sched/params.h"

namespace muster::sched {

// From 0 to 1 (more with NO_NORMAL_*), and times its weight.
struct PriorityFactor {
  double normal = 0, weighted = 0;
};

struct PriorityFactors {
  PriorityFactor age, fair_share, association, job_size, partition, qos;
  std::vector<std::pair<std::string, PriorityFactor>> tres;
  int64_t site = 0, nice = 0;
  uint32_t priority = 0;
};

class PriorityRule {
 public:
  // With the fair-share factors given, else with those of the cluster.
  PriorityRule(const Cluster& cluster, const PriorityParams& params, Time now, FairFactorsPtr fair_factors = nullptr);

  const FairFactorsPtr& fair_factors() const { return fair_factors_; }
  // Whether time moves the job's priority at all.
  bool moves(const Job& job) const;
  uint32_t of(const Job& job) const;
  PriorityFactors factors(const Job& job, uint32_t partition) const;

  // The two parts that the planner keeps for jobs that are alike: all but age, and age.
  double fixed_part(const RequestBody& request, uint32_t partition, uint32_t time_limit_min, uint32_t association) const;
  double age_part(Time since) const;
  static uint32_t total(double fixed, double age);
  // The least that the priority in a partition may be, where `kept` is that in partition `kept_in`. 0: none was kept.
  uint32_t least(const RequestBody& request, uint32_t partition, uint32_t kept, uint32_t kept_in) const;
  // Since when a job's age counts, or how much of it there is (model/stopped_age.h): the age of a job that is not yet eligible, or that waits
  // for a limit on such jobs or on its partition, does not grow.
  Time age_from(const Job& job) const;

 private:
  struct Totals {
    double cpus = 0, mem_mb = 0, nodes = 0;
    std::map<std::string, double> gres;  // by the name of the TRES
  };
  const Totals& totals(uint32_t partition) const;
  double partition_part(const RequestBody& request, uint32_t partition) const;
  double fair_share_factor(uint32_t association) const;
  double association_factor(uint32_t association) const;
  double qos_factor(const RequestBody& request) const;
  double size_factor(const RequestBody& request, uint32_t time_limit_min) const;
  double part_of(double wants, double all) const;
  double partition_factor(uint32_t partition) const;
  double tres_factor(const TresName& tres, const RequestBody& request, uint32_t partition) const;
  double whole(const TresName& tres, uint32_t partition) const;

  const Cluster* cluster_;
  PriorityParams params_;
  Time now_;
  FairFactorsPtr fair_factors_;
  uint32_t top_partition_ = 1;
  mutable std::optional<uint64_t> top_association_, top_qos_;  // the greatest priority that one has; worked out when first asked for
  mutable std::map<uint32_t, Totals> totals_;
};

}  // namespace muster::sched
