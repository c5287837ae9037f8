// Params: what slurm.conf says about scheduling, already typed; slurmctld/core fills it from config/. Plain values, equal for
// every pass until the configuration changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acct/enforcement.h"
#include "acct/fair_share.h"
#include "base/time.h"
#include "model/changeable_features.h"
#include "model/hres.h"
#include "model/job_request.h"
#include "model/preemption.h"
#include "model/tres_name.h"
#include "model/usage_reset.h"

namespace muster::sched {

// TopologyParam; the topologies themselves are the cluster's (Cluster::topologies).
struct TopologyRules {
  bool dragonfly = false;                                        // Dragonfly
  bool optional = false;                                         // TopoOptional: only with --switches
  bool switch_as_node_rank = false, block_as_node_rank = false;  // rank order by leaf
  uint32_t max_size_unroll = kUnlimited32;                       // sizes of -N min-max looked at (block)
  Duration max_switch_wait = seconds(300);                       // SchedulerParameters=max_switch_wait
};

// Of PriorityWeightTRES.
struct TresWeight {
  TresName tres;
  double weight = 0;
};

// PriorityType, PriorityWeight*, PriorityFlags … : priority.h.
struct PriorityParams {
  bool multifactor = false;
  uint32_t weight_age = 0, weight_job_size = 0, weight_partition = 0, weight_qos = 0, weight_fairshare = 0, weight_assoc = 0;
  std::vector<TresWeight> weight_tres;
  std::vector<std::pair<std::string, uint64_t>> licenses;  // of the cluster, for their weights
  Duration max_age = minutes(7 * 24 * 60);
  Duration period = minutes(5);  // PriorityCalcPeriod: priorities move in steps of it
  Duration half_life{};          // of usage; 0: it does not decay
  UsageResetPeriod usage_reset = UsageResetPeriod::kNone;
  bool favor_small = false;
  // PriorityFlags
  bool accrue_always = false, small_relative_to_time = false;
  bool of_running = false;  // CALCULATE_RUNNING: priorities of jobs that run move, too
  bool only_up = false;     // INCR_ONLY: no priority falls
  bool raw_partition = false, raw_tres = false, raw_qos = false, raw_association = false;  // NO_NORMAL_*
  acct::FairShareRule fair_share;
};

// SchedulerParameters=bf_*: what limits backfill; 0 = no bound. slurm.conf(5).
struct BackfillRules {
  uint32_t resolution_s = 60;
  uint32_t window_min = 0;  // places later than that are told, but not kept
  // how many jobs are looked at behind the first that waits; max_start: how many start before others of more priority
  uint32_t max_test = 0, max_user = 0, max_association = 0, max_partition = 0, max_user_partition = 0, max_start = 0;
  uint32_t array_tasks = 20;  // tasks of one array record that places are kept for
  // places are kept for such jobs only, and others wait for them
  Duration min_age_reserve{};
  uint32_t min_priority_reserve = 0, reserve_per_partition = 0;
  bool busy_nodes = false;  // places kept are on nodes in use where there is a choice
  // bf_hetjob_prio: the turn of a heterogeneous job comes with the highest priority of its components, the lowest, or their mean
  enum class HetTurn : uint8_t { kMax, kMin, kAvg };
  HetTurn het_turn = HetTurn::kMax;
};

// PreemptType, PreemptMode, PreemptExemptTime, PreemptParameters, SchedulerTimeSlice: preempt/preempt_rule.h, preempt/time_slicer.h.
struct PreemptRules {
  enum class By : uint8_t { kNothing, kQos, kPartition };
  By by = By::kNothing;
  PreemptModes modes;                           // of the cluster
  Duration exempt{};                            // a job runs at least so long before it makes room
  uint32_t min_exempt_priority = kUnlimited32;  // jobs of this priority or more never do
  bool requeue = true;                          // JobRequeue: whether jobs that say nothing may be requeued
  bool reclaim_licenses = false, youngest_first = false, send_user_signal = false;
  Duration suspend_grace = seconds(2), time_slice = seconds(30);
  bool preempts() const { return by != By::kNothing && modes.how != PreemptHow::kOff; }
  // --signal=R:, for a reservation with MaxStartDelay: how long before its end a job is told that lies over it. Zero: it may not, for it does
  // not ask to, or nobody preempts here. sbatch(1).
  Duration notice(const RequestBody& request) const {
    return request.warn.reservation && preempts() ? seconds(request.warn.seconds_before_end) : Duration{};
  }
};

// When passes are made, for whoever calls Planner::plan.
struct Rhythm {
  bool quick = true;                  // sched_interval=-1: false
  Duration quick_gap{};               // sched_min_interval
  Duration full_every = seconds(30);  // bf_interval: expected starts move with the clock
};

// What slurm.conf says about scheduling, already typed (slurmctld/core fills it from config/).
struct Params {
  bool backfill = true;                  // SchedulerType=sched/backfill; builtin stops at the first job that cannot start
  bool allocate_cores = false;           // CR_Core*: whole cores; CR_CPU*: single CPUs
  bool allocate_sockets = false;         // CR_Socket*: whole sockets (allocate_cores is set too)
  bool memory_consumable = false;        // CR_*_Memory
  bool linear = false;                   // select/linear: whole nodes
  bool one_task_per_core = false;        // CR_ONE_TASK_PER_CORE
  bool lln = false, pack_nodes = false;  // CR_LLN, CR_Pack_Nodes
  bool block_cores = false;              // CR_CORE_DEFAULT_DIST_BLOCK
  // ENFORCE_BINDING_GRES, ONE_TASK_PER_SHARING_GRES, MULTIPLE_SHARING_GRES_PJ, LL_SHARED_GRES
  bool enforce_binding = false, one_task_per_sharing = false, several_sharing = false, spread_shared = false;
  enum class ByLabel : uint8_t { kNever, kAlways, kOnDemand };  // --exclusive=mcs asks for it
  ByLabel keep_by_label = ByLabel::kOnDemand;                   // MCSParameters: which labelled jobs keep other labels off their nodes
  bool job_core_spec = false, spec_cores_first = false;         // AllowSpecResourcesUsage; which cores those are
  uint32_t def_cpu_per_gpu = 0;
  uint64_t def_mem_per_gpu_mb = 0;
  uint64_t def_mem_per_cpu_mb = 0, def_mem_per_node_mb = 0, max_mem_per_cpu_mb = 0, max_mem_per_node_mb = 0;
  BackfillRules bf;
  std::optional<uint32_t> max_powered_nodes;  // a start wakes no node beyond so many that are powered up (rules/power_room.cc)
  uint32_t imex_channels = 0;                 // SwitchType=switch/nvidia_imex: a job has one of so many for itself; 0: it needs none
  bool defer = false;                         // jobs of --immediate do not start
  bool stop_at_association = false;           // assoc_limit_stop: nobody behind a job that waits for a limit of an association starts
  bool soft_time_min = false;                 // time_min_as_soft_limit: plans count on --time-min, jobs may run until --time
  bool serial_at_end = false;                 // pack_serial_at_end: jobs of one CPU on the last nodes
  uint32_t quick_starts = 0;                  // sched_max_job_start; 0 = no bound
  Rhythm rhythm;
  // allow_zero_lic, ignore_constraint_validation, ignore_prefer_validation: a job that names what the cluster does not have waits for it
  // instead of being refused.
  bool unknown_licenses_wait = false, unknown_features_wait = false, unknown_prefer_ok = false;
  ChangeableFeaturesPtr changeable;                      // null: no feature is
  bool reboots = false;                                  // a node that is up can be rebooted for a job
  Duration delay_boot{};                                 // of jobs that do not say --delay-boot
  bool extra_constraints = false;                        // extra_constraints: --extra chooses nodes by their Extra
  Duration default_time_limit = minutes(365 * 24 * 60);  // how long a profile expects UNLIMITED jobs to run
  TopologyRules topology;
  std::vector<std::pair<std::string, uint64_t>> licenses;  // of the cluster: name, count; then the layers of `hierarchies`
  HierarchiesPtr hierarchies;                              // null: no hierarchical resources
  size_t layers = 0;                                       // the last so many of `licenses` are layers (request/layers.h)
  std::vector<uint64_t> license_deficits;                  // of each of them so many are not handed out; empty: none
  uint64_t usable_licenses(size_t i) const {
    const uint64_t gone = i < license_deficits.size() ? license_deficits[i] : 0;
    return licenses[i].second - std::min(licenses[i].second, gone);
  }
  PriorityParams priority;
  PreemptRules preempt;
  std::optional<Uid> slurm_user;  // may use every reservation, as root may
  acct::Enforcement enforcement;  // which parts of accounting a start needs (gate.h)
};

}  // namespace muster::sched
