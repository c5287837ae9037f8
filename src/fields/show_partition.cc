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

void show_access(const Partition& p, Record& r) {
  r.pair("PartitionName", p.name);
  r.line();
  all_or(r, "AllowGroups", p.allow_groups);
  if (p.deny_accounts.empty() || !p.allow_accounts.empty()) all_or(r, "AllowAccounts", p.allow_accounts);
  else r.pair("DenyAccounts", join(p.deny_accounts, ","));
  if (p.deny_qos.empty() || !p.allow_qos.empty()) all_or(r, "AllowQos", p.allow_qos);
  else r.pair("DenyQos", join(p.deny_qos, ","));
  r.line();
  all_or(r, "AllocNodes", p.alloc_nodes);
  if (!p.alternate.empty()) r.pair("Alternate", p.alternate);
  r.yes_no("Default", p.is_default).pair("QoS", p.qos.empty() ? "N/A" : std::string_view(p.qos));
}

std::string_view exclusive(const Partition& p) {
  if (p.exclusive_user) return "USER";
  if (p.exclusive_topo) return "TOPO";
  return p.oversubscribe == OverSubscribe::kExclusive ? "NODE" : "NO";
}

void show_limits(const Partition& p, Record& r) {
  r.line();
  if (p.default_time_min) minutes_or(r, "DefaultTime", *p.default_time_min);
  else r.pair("DefaultTime", "NONE");
  r.yes_no("DisableRootJobs", p.disable_root_jobs).pair("Exclusive", exclusive(p));
  r.pair("GraceTime", p.grace_time_seconds).yes_no("Hidden", p.hidden);
  r.line();
  number_or(r, "MaxNodes", p.max_nodes);
  minutes_or(r, "MaxTime", p.max_time_min);
  r.pair("MinNodes", p.min_nodes).yes_no("LLN", p.lln);
  number_or(r, "MaxCPUsPerNode", p.max_cpus_per_node);
  number_or(r, "MaxCPUsPerSocket", p.max_cpus_per_socket);
}

void show_sharing(const Partition& p, Record& r) {
  r.line();
  r.pair("PriorityJobFactor", p.priority_job_factor).pair("PriorityTier", p.priority_tier);
  r.yes_no("RootOnly", p.root_only).yes_no("ReqResv", p.req_resv);
  switch (p.oversubscribe) {
    case OverSubscribe::kNo:
    case OverSubscribe::kExclusive:  // Exclusive=NODE says so
      r.pair("OverSubscribe", "NO");
      break;
    case OverSubscribe::kYes:
    case OverSubscribe::kForce:
      r.key("OverSubscribe") += p.oversubscribe == OverSubscribe::kYes ? "YES:" : "FORCE:";
      put_number(r.out(), p.oversubscribe_count);
  }
  r.line();
  if (p.over_time_limit_min) number_or(r, "OverTimeLimit", *p.over_time_limit_min);
  else r.pair("OverTimeLimit", "NONE");
  r.pair("PreemptMode", p.preempt_mode.empty() ? "OFF" : std::string_view(p.preempt_mode.text()));
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
  const Partition& p = row.partition;
  Record r(out, options.oneliner);
  show_access(p, r);
  show_limits(p, r);
  r.line();
  r.or_null("Nodes", row.node_list);
  show_sharing(p, r);
  r.line();
  r.pair("State", partition_state_name(p.state)).pair("TotalCPUs", row.total_cpus).pair("TotalNodes", row.total_nodes);
  r.pair("SelectTypeParameters", p.select_parameters.empty() ? "NONE" : std::string_view(p.select_parameters.text()));
  r.line();
  r.or_null("JobDefaults", job_defaults(p));
  r.line();
  memory_limit(r, "DefMem", p.def_mem_per_cpu_mb, p.def_mem_per_node_mb);
  memory_limit(r, "MaxMem", p.max_mem_per_cpu_mb, p.max_mem_per_node_mb);
  r.line();
  r.or_null("TRES", tres_text(row.tres));
  if (!p.tres_billing_weights.empty()) {
    r.line();
    r.pair("TRESBillingWeights", p.tres_billing_weights.text());
  }
  show_power(p, r);
  r.end();
}

}  // namespace muster::fields
