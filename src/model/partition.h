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
  static void describe(S& self, V&& field) {
    field(1, "index", self.index);
    field(2, "name", self.name);
    field(3, "nodes_text", self.nodes_text);
    field(4, "nodes", self.nodes);
    field(5, "state", self.state);
    field(6, "is_default", self.is_default);
    field(7, "hidden", self.hidden);
    field(8, "root_only", self.root_only);
    field(9, "exclusive_user", self.exclusive_user);
    field(10, "exclusive_topo", self.exclusive_topo);
    field(11, "disable_root_jobs", self.disable_root_jobs);
    field(12, "lln", self.lln);
    field(13, "req_resv", self.req_resv);
    field(14, "power_down_on_idle", self.power_down_on_idle);
    field(15, "max_time_min", self.max_time_min);
    field(16, "default_time_min", self.default_time_min);
    field(17, "min_nodes", self.min_nodes);
    field(18, "max_nodes", self.max_nodes);
    field(19, "max_cpus_per_node", self.max_cpus_per_node);
    field(20, "max_cpus_per_socket", self.max_cpus_per_socket);
    field(21, "max_cpus_per_user", self.max_cpus_per_user);
    field(22, "oversubscribe", self.oversubscribe);
    field(23, "oversubscribe_count", self.oversubscribe_count);
    field(24, "priority_tier", self.priority_tier);
    field(25, "priority_job_factor", self.priority_job_factor);
    field(26, "preempt_mode", self.preempt_mode);
    field(27, "grace_time_seconds", self.grace_time_seconds);
    field(28, "def_mem_per_node_mb", self.def_mem_per_node_mb);
    field(29, "def_mem_per_cpu_mb", self.def_mem_per_cpu_mb);
    field(30, "max_mem_per_node_mb", self.max_mem_per_node_mb);
    field(31, "max_mem_per_cpu_mb", self.max_mem_per_cpu_mb);
    field(32, "def_cpu_per_gpu", self.def_cpu_per_gpu);
    field(33, "def_mem_per_gpu_mb", self.def_mem_per_gpu_mb);
    field(34, "allow_groups", self.allow_groups);
    field(35, "allow_accounts", self.allow_accounts);
    field(36, "deny_accounts", self.deny_accounts);
    field(37, "allow_qos", self.allow_qos);
    field(38, "deny_qos", self.deny_qos);
    field(39, "alloc_nodes", self.alloc_nodes);
    field(40, "qos", self.qos);
    field(41, "alternate", self.alternate);
    field(42, "tres_billing_weights", self.tres_billing_weights);
    field(43, "job_defaults", self.job_defaults);
    field(44, "select_parameters", self.select_parameters);
    field(45, "topology", self.topology);
    field(46, "cpu_bind", self.cpu_bind);
    field(47, "over_time_limit_min", self.over_time_limit_min);
    field(48, "suspend_time_seconds", self.suspend_time_seconds);
    field(49, "resume_timeout_seconds", self.resume_timeout_seconds);
    field(50, "suspend_timeout_seconds", self.suspend_timeout_seconds);
    field(51, "updates", self.updates);
    field(52, "created", self.created);
  }
};

}  // namespace muster
