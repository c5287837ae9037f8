#include "fields/show_partition.h"

#include "base/text.h"

namespace muster::fields {
namespace {

void all_or(Record& r, std::string_view name, const std::vector<std::string>& list) {
  r.pair(name, list.empty() ? std::string("ALL") : join(list, ","));
}
void number_or(Record& r, std::string_view name, uint32_t n, std::string_view none = "UNLIMITED") {
  if (n == kUnlimited32) r.pair(name, none);
  else r.pair(name, n);
}
void minutes_or(Record& r, std::string_view name, uint32_t mins) {
  if (mins == kUnlimited32) r.pair(name, "UNLIMITED");
  else put_span_full(r.key(name), minutes(mins));
}

void show_access(const Partition& partition, Record& record) {
  record.pair("PartitionName", partition.name);
  record.line();
  all_or(record, "AllowGroups", partition.allow_groups);
  if (partition.deny_accounts.empty() || !partition.allow_accounts.empty()) all_or(record, "AllowAccounts", partition.allow_accounts);
  else record.pair("DenyAccounts", join(partition.deny_accounts, ","));
  if (partition.deny_qos.empty() || !partition.allow_qos.empty()) all_or(record, "AllowQos", partition.allow_qos);
  else record.pair("DenyQos", join(partition.deny_qos, ","));
  record.line();
  all_or(record, "AllocNodes", partition.alloc_nodes);
  if (!partition.alternate.empty()) record.pair("Alternate", partition.alternate);
  record.yes_no("Default", partition.is_default).pair("QoS", partition.qos.empty() ? "N/A" : std::string_view(partition.qos));
}

std::string_view exclusive(const Partition& p) {
  if (p.exclusive_user) return "USER";
  if (p.exclusive_topo) return "TOPO";
  return p.oversubscribe == OverSubscribe::kExclusive ? "NODE" : "NO";
}

void show_limits(const Partition& partition, Record& record) {
  record.line();
  if (partition.default_time_min) minutes_or(record, "DefaultTime", *partition.default_time_min);
  else record.pair("DefaultTime", "NONE");
  record.yes_no("DisableRootJobs", partition.disable_root_jobs).pair("Exclusive", exclusive(partition));
  record.pair("GraceTime", partition.grace_time_seconds).yes_no("Hidden", partition.hidden);
  record.line();
  number_or(record, "MaxNodes", partition.max_nodes);
  minutes_or(record, "MaxTime", partition.max_time_min);
  record.pair("MinNodes", partition.min_nodes).yes_no("LLN", partition.lln);
  number_or(record, "MaxCPUsPerNode", partition.max_cpus_per_node);
  number_or(record, "MaxCPUsPerSocket", partition.max_cpus_per_socket);
}

void show_sharing(const Partition& partition, Record& record) {
  record.line();
  record.pair("PriorityJobFactor", partition.priority_job_factor).pair("PriorityTier", partition.priority_tier);
  record.yes_no("RootOnly", partition.root_only).yes_no("ReqResv", partition.req_resv);
  switch (partition.oversubscribe) {
    case OverSubscribe::kNo:
    case OverSubscribe::kExclusive:  // Exclusive=NODE says so
      record.pair("OverSubscribe", "NO");
      break;
    case OverSubscribe::kYes:
    case OverSubscribe::kForce:
      record.key("OverSubscribe") += partition.oversubscribe == OverSubscribe::kYes ? "YES:" : "FORCE:";
      put_number(record.out(), partition.oversubscribe_count);
  }
  record.line();
  if (partition.over_time_limit_min) number_or(record, "OverTimeLimit", *partition.over_time_limit_min);
  else record.pair("OverTimeLimit", "NONE");
  record.pair("PreemptMode", partition.preempt_mode.empty() ? "OFF" : std::string_view(partition.preempt_mode.text()));
}

void memory_limit(Record& r, std::string_view which, const std::optional<uint64_t>& per_cpu, const std::optional<uint64_t>& per_node) {
  std::string name(which);
  if (per_cpu) r.pair(name + "PerCPU", *per_cpu);
  else if (per_node && *per_node) r.pair(name + "PerNode", *per_node);
  else r.pair(name + "PerNode", "UNLIMITED");
}

std::string job_defaults(const Partition& p) {
  if (!p.job_defaults.empty()) return p.job_defaults;
  std::string out;
  if (p.def_cpu_per_gpu) out = "DefCpuPerGPU=" + std::to_string(*p.def_cpu_per_gpu);
  if (p.def_mem_per_gpu_mb) out += (out.empty() ? "DefMemPerGPU=" : ",DefMemPerGPU=") + std::to_string(*p.def_mem_per_gpu_mb);
  return out;
}

void show_power(const Partition& p, Record& r) {
  if (!p.resume_timeout_seconds && !p.suspend_timeout_seconds && !p.suspend_time_seconds && !p.power_down_on_idle) return;
  r.line();
  auto number = [&](std::string_view name, const std::optional<uint32_t>& n) {
    if (n) number_or(r, name, *n);
    else r.pair(name, "GLOBAL");
  };
  number("ResumeTimeout", p.resume_timeout_seconds);
  number("SuspendTimeout", p.suspend_timeout_seconds);
  number("SuspendTime", p.suspend_time_seconds);
  r.yes_no("PowerDownOnIdle", p.power_down_on_idle);
}

}  // namespace

void show_partition(const PartitionRow& row, const ShowOptions& options, std::string& out) {
  const Partition& partition = row.partition;
  Record r(out, options.oneliner);
  show_access(partition, r);
  show_limits(partition, r);
  r.line();
  r.or_null("Nodes", row.node_list);
  show_sharing(partition, r);
  r.line();
  r.pair("State", partition_state_name(partition.state)).pair("TotalCPUs", row.total_cpus).pair("TotalNodes", row.total_nodes);
  r.pair("SelectTypeParameters", partition.select_parameters.empty() ? "NONE" : std::string_view(partition.select_parameters.text()));
  r.line();
  r.or_null("JobDefaults", job_defaults(partition));
  r.line();
  memory_limit(r, "DefMem", partition.def_mem_per_cpu_mb, partition.def_mem_per_node_mb);
  memory_limit(r, "MaxMem", partition.max_mem_per_cpu_mb, partition.max_mem_per_node_mb);
  r.line();
  r.or_null("TRES", tres_text(row.tres));
  if (!partition.tres_billing_weights.empty()) {
    r.line();
    r.pair("TRESBillingWeights", partition.tres_billing_weights.text());
  }
  show_power(partition, r);
  r.end();
}

}  // namespace muster::fields
