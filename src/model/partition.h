// Partition: a queue over a set of nodes, with its limits and access lists. slurm.conf(5) PARTITION CONFIGURATION.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bitmap.h"
#include "base/describe.h"
#include "model/billing.h"
#include "model/enums.h"
#include "model/job_request.h"
#include "model/partition_select.h"
#include "model/preemption.h"

namespace muster {

enum class OverSubscribe : uint8_t { kNo, kExclusive, kYes, kForce };

struct Partition {
  uint32_t index = 0;  // order of definition; key in Cluster::partitions
  std::string name;
  std::string nodes_text;  // as configured
  Bitmap nodes;            // by NodeId
  PartitionState state = PartitionState::kUp;
  bool is_default = false, hidden = false, root_only = false, exclusive_user = false, exclusive_topo = false;
  bool disable_root_jobs = false, lln = false, req_resv = false, power_down_on_idle = false;
  uint32_t max_time_min = kUnlimited32;
  std::optional<uint32_t> default_time_min;  // unset: max_time
  uint32_t min_nodes = 0, max_nodes = kUnlimited32;
  uint32_t max_cpus_per_node = kUnlimited32, max_cpus_per_socket = kUnlimited32;
  uint32_t max_cpus_per_user = kUnlimited32;  // Muster accepts it on the partition line (a QOS limit in Slurm)
  OverSubscribe oversubscribe = OverSubscribe::kNo;
  uint32_t oversubscribe_count = 4;
  uint32_t priority_tier = 1, priority_job_factor = 1;
  Parsed<PreemptModes> preempt_mode;  // empty: the cluster's
  uint32_t grace_time_seconds = 0;
  std::optional<uint64_t> def_mem_per_node_mb, def_mem_per_cpu_mb, max_mem_per_node_mb, max_mem_per_cpu_mb;
  std::optional<uint32_t> def_cpu_per_gpu;
  std::optional<uint64_t> def_mem_per_gpu_mb;
  std::vector<std::string> allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos, alloc_nodes;
  BillingText tres_billing_weights;
  std::string qos, alternate, job_defaults, topology;
  Parsed<PartitionSelect> select_parameters;  // empty: the cluster's
  CpuBindText cpu_bind;                       // of tasks that ask for none
  std::optional<uint32_t> over_time_limit_min, suspend_time_seconds, resume_timeout_seconds, suspend_timeout_seconds;
  std::vector<std::string> updates;  // "MaxTime=30", "AllowGroups+=lab": what scontrol changed since the files were read
  bool created = false;              // by scontrol: the files do not have it
  bool operator==(const Partition&) const = default;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "index", s.index);
    v(2, "name", s.name);
    v(3, "nodes_text", s.nodes_text);
    v(4, "nodes", s.nodes);
    v(5, "state", s.state);
    v(6, "is_default", s.is_default);
    v(7, "hidden", s.hidden);
    v(8, "root_only", s.root_only);
    v(9, "exclusive_user", s.exclusive_user);
    v(10, "exclusive_topo", s.exclusive_topo);
    v(11, "disable_root_jobs", s.disable_root_jobs);
    v(12, "lln", s.lln);
    v(13, "req_resv", s.req_resv);
    v(14, "power_down_on_idle", s.power_down_on_idle);
    v(15, "max_time_min", s.max_time_min);
    v(16, "default_time_min", s.default_time_min);
    v(17, "min_nodes", s.min_nodes);
    v(18, "max_nodes", s.max_nodes);
    v(19, "max_cpus_per_node", s.max_cpus_per_node);
    v(20, "max_cpus_per_socket", s.max_cpus_per_socket);
    v(21, "max_cpus_per_user", s.max_cpus_per_user);
    v(22, "oversubscribe", s.oversubscribe);
    v(23, "oversubscribe_count", s.oversubscribe_count);
    v(24, "priority_tier", s.priority_tier);
    v(25, "priority_job_factor", s.priority_job_factor);
    v(26, "preempt_mode", s.preempt_mode);
    v(27, "grace_time_seconds", s.grace_time_seconds);
    v(28, "def_mem_per_node_mb", s.def_mem_per_node_mb);
    v(29, "def_mem_per_cpu_mb", s.def_mem_per_cpu_mb);
    v(30, "max_mem_per_node_mb", s.max_mem_per_node_mb);
    v(31, "max_mem_per_cpu_mb", s.max_mem_per_cpu_mb);
    v(32, "def_cpu_per_gpu", s.def_cpu_per_gpu);
    v(33, "def_mem_per_gpu_mb", s.def_mem_per_gpu_mb);
    v(34, "allow_groups", s.allow_groups);
    v(35, "allow_accounts", s.allow_accounts);
    v(36, "deny_accounts", s.deny_accounts);
    v(37, "allow_qos", s.allow_qos);
    v(38, "deny_qos", s.deny_qos);
    v(39, "alloc_nodes", s.alloc_nodes);
    v(40, "qos", s.qos);
    v(41, "alternate", s.alternate);
    v(42, "tres_billing_weights", s.tres_billing_weights);
    v(43, "job_defaults", s.job_defaults);
    v(44, "select_parameters", s.select_parameters);
    v(45, "topology", s.topology);
    v(46, "cpu_bind", s.cpu_bind);
    v(47, "over_time_limit_min", s.over_time_limit_min);
    v(48, "suspend_time_seconds", s.suspend_time_seconds);
    v(49, "resume_timeout_seconds", s.resume_timeout_seconds);
    v(50, "suspend_timeout_seconds", s.suspend_timeout_seconds);
    v(51, "updates", s.updates);
    v(52, "created", s.created);
  }
};

}  // namespace muster
