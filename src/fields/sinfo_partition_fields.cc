// sinfo's fields of partitions.
#include "base/text.h"
#include "fields/field_table.h"
#include "fields/sinfo_view.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const SinfoView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr Split kApart = Split::kAlways;

const Partition* part(V v) { return v.line.partition ? &v.line.partition->partition : nullptr; }

// Prints a value of the partition; nothing when the nodes belong to none.
template <auto F>
void of_partition(V v, S o) {
  if (const Partition* p = part(v)) F(*p, o);
}

void name(const Partition& p, S o) { put(o, p.name); }
void starred_name(const Partition& p, S o) {
  put(o, p.name);
  if (p.is_default) o += '*';
}
void available(const Partition& p, S o) {
  put(o, p.state == PartitionState::kInactive ? "inact" : to_lower(partition_state_name(p.state)));
}
void list_or_all(S o, const std::vector<std::string>& list) { put_or(o, join(list, ","), "all"); }
void max_time(const Partition& p, S o) { put_minutes(o, p.max_time_min, "infinite"); }
void default_time(const Partition& p, S o) {
  if (p.default_time_min) put_minutes(o, *p.default_time_min, "infinite");
  else o += "n/a";
}
void size(const Partition& p, S o) {
  uint32_t least = std::max(1u, p.min_nodes);
  put_number(o, least);
  if (p.max_nodes == least) return;
  o += '-';
  if (p.max_nodes == kUnlimited32) o += "infinite";
  else put_number(o, p.max_nodes);
}
void oversubscribe(const Partition& p, S o) {
  switch (p.oversubscribe) {
    case OverSubscribe::kNo: o += "NO"; return;
    case OverSubscribe::kExclusive: o += "EXCLUSIVE"; return;
    case OverSubscribe::kYes: o += "YES:"; break;
    case OverSubscribe::kForce: o += "FORCE:"; break;
  }
  put_number(o, p.oversubscribe_count);
}
void max_cpus(const Partition& p, S o) {
  if (p.max_cpus_per_node == kUnlimited32) o += "UNLIMITED";
  else put_number(o, p.max_cpus_per_node);
}

int64_t order(V v) { return part(v) ? int64_t{part(v)->index} : INT64_MAX; }
int64_t time_order(V v) { return part(v) ? int64_t{part(v)->max_time_min} : 0; }

constexpr SinfoField kFields[] = {
    {'P', "Partition", "", "PARTITION", kKeepStar, kWorks, "Partition, '*' after the default one", of_partition<starred_name>, nullptr,
     kApart},
    {'R', "PartitionName", "", "PARTITION", 0, kWorks, "Partition", of_partition<name>, nullptr, kApart},
    {'a', "Available", "", "AVAIL", 0, kWorks, "State of the partition", of_partition<available>, nullptr, kApart},
    {'l', "Time", "", "TIMELIMIT", 0, kWorks, "Longest time limit", of_partition<max_time>, time_order, kApart},
    {'L', "DefaultTime", "", "DEFAULTTIME", 0, kWorks, "Time limit of jobs that ask for none", of_partition<default_time>, nullptr, kApart},
    {'s', "Size", "", "JOB_SIZE", 0, kWorks, "Least and most nodes of a job", of_partition<size>, nullptr, kApart},
    {'r', "Root", "", "ROOT", 0, kWorks, "Whether only root may use it",
     of_partition<[](const Partition& p, S o) { o += p.root_only ? "yes" : "no"; }>, nullptr, kApart},
    {'h', "OverSubscribe", "", "OVERSUBSCRIBE", 0, kWorks, "Sharing of CPUs", of_partition<oversubscribe>, nullptr, kApart},
    {'g', "Groups", "", "GROUPS", 0, kWorks, "Groups that may use it",
     of_partition<[](const Partition& p, S o) { list_or_all(o, p.allow_groups); }>, nullptr, kApart},
    {'S', "AllocNodes", "", "ALLOCNODES", 0, kWorks, "Hosts jobs may be submitted from",
     of_partition<[](const Partition& p, S o) { list_or_all(o, p.alloc_nodes); }>, nullptr, kApart},
    {'B', "MaxCPUsPerNode", "", "MAX_CPUS_PER_NODE", 0, kWorks, "Most CPUs of a node its jobs get", of_partition<max_cpus>, nullptr,
     kApart},
    {'I', "PriorityJobFactor", "", "PRIO_JOB_FACTOR", 0, kWorks, "Its factor in job priorities",
     of_partition<[](const Partition& p, S o) { put_number(o, p.priority_job_factor); }>,
     [](V v) { return part(v) ? int64_t{part(v)->priority_job_factor} : 0; }, kApart},
    {'p', "PriorityTier", "Priority", "PRIO_TIER", 0, kWorks, "Tier of scheduling and preemption",
     of_partition<[](const Partition& p, S o) { put_number(o, p.priority_tier); }>,
     [](V v) { return part(v) ? int64_t{part(v)->priority_tier} : 0; }, kApart},
    {'M', "PreemptMode", "", "PREEMPT_MODE", 0, kWorks, "What preemption does to its jobs",
     of_partition<[](const Partition& p, S o) { put_or(o, p.preempt_mode.text(), "OFF"); }>, nullptr, kApart},
    {'V', "Cluster", "", "CLUSTER", 0, kWorks, "Cluster, in a federation",
     [](V v, S o) { put_or(o, v.env.in_federation ? v.env.cluster : std::string(), "N/A"); }},
};

}  // namespace

int64_t partition_order(const SinfoView& v) { return order(v); }
std::span<const SinfoField> sinfo_partition_fields() { return kFields; }

}  // namespace muster::fields
