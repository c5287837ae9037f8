// The facts of a partition (fact.h): sinfo, scontrol show partition, --json of both. A column of sinfo is of the partition of the line, and
// nothing where its nodes belong to none; lines of partitions that differ in it stand apart.
#include "fields/partition_fields.h"

#include <algorithm>

#include "fields/partition_kinds.h"
#include "fields/sinfo_view.h"

namespace muster::fields {
namespace {

using PartitionFact = Fact<PartitionView, SinfoField>;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto column(char letter, std::string_view name, std::string_view header) {
  return column_of<PartitionFact, K, Get, partition_of>(letter, name, header).split(Split::kAlways);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto shown(std::string_view key, At place) {
  return shown_of<PartitionFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<PartitionFact, K, Get>(key, place);
}

using Row = Partition;

std::string starred_name(const Row& row) { return row.is_default ? row.name + "*" : row.name; }
std::string job_size(const Row& row) {
  const uint32_t least = std::max(1u, row.min_nodes);
  std::string out = std::to_string(least);
  if (row.max_nodes == kUnlimited32) out += "-infinite";
  else if (row.max_nodes != least) out += "-" + std::to_string(row.max_nodes);
  return out;
}

bool is_shared(const Row& row) { return row.oversubscribe == OverSubscribe::kYes || row.oversubscribe == OverSubscribe::kForce; }
std::string sharing(const Row& row) {
  if (row.oversubscribe == OverSubscribe::kExclusive) return "EXCLUSIVE";
  if (!is_shared(row)) return "NO";
  return (row.oversubscribe == OverSubscribe::kYes ? "YES:" : "FORCE:") + std::to_string(row.oversubscribe_count);
}
std::string sharing_of_cpus(const Row& row) { return is_shared(row) ? sharing(row) : "NO"; }  // Exclusive=NODE says it otherwise
uint32_t jobs_on_a_cpu(const Row& row) {
  if (is_shared(row)) return row.oversubscribe_count;
  return row.oversubscribe == OverSubscribe::kExclusive ? 0 : 1;
}
std::string_view sharing_flags(const Row& row) { return row.oversubscribe == OverSubscribe::kForce ? "force" : ""; }
std::string_view exclusive(const Row& row) {
  if (row.exclusive_user) return "USER";
  if (row.exclusive_topo) return "TOPO";
  return row.oversubscribe == OverSubscribe::kExclusive ? "NODE" : "NO";
}

// Who may use it is said by those allowed, or by those denied if only these are named.
bool denies_accounts(const PartitionView& view) {
  return !view.row.partition.deny_accounts.empty() && view.row.partition.allow_accounts.empty();
}
bool allows_accounts(const PartitionView& view) { return !denies_accounts(view); }
bool denies_qos(const PartitionView& view) { return !view.row.partition.deny_qos.empty() && view.row.partition.allow_qos.empty(); }
bool allows_qos(const PartitionView& view) { return !denies_qos(view); }

std::string job_defaults(const Row& row) {
  if (!row.job_defaults.empty()) return row.job_defaults;
  std::string out;
  if (row.def_cpu_per_gpu) out = "DefCpuPerGPU=" + std::to_string(*row.def_cpu_per_gpu);
  if (row.def_mem_per_gpu_mb) out += (out.empty() ? "DefMemPerGPU=" : ",DefMemPerGPU=") + std::to_string(*row.def_mem_per_gpu_mb);
  return out;
}
// A limit of memory is one of CPUs or one of nodes. Slurm has one number for both: its highest bit marks "per CPU".
bool no_default_per_cpu(const PartitionView& view) { return !view.row.partition.def_mem_per_cpu_mb; }
bool no_most_per_cpu(const PartitionView& view) { return !view.row.partition.max_mem_per_cpu_mb; }
constexpr uint64_t one_memory(const std::optional<uint64_t>& per_cpu, const std::optional<uint64_t>& per_node) {
  return per_cpu ? *per_cpu | 0x8000000000000000ull : per_node.value_or(0);
}
uint64_t default_memory(const Row& row) { return one_memory(row.def_mem_per_cpu_mb, row.def_mem_per_node_mb); }
uint64_t most_memory(const Row& row) { return one_memory(row.max_mem_per_cpu_mb, row.max_mem_per_node_mb); }

// Of power saving something is shown where the partition has values of its own.
bool saves_power(const PartitionView& view) {
  const Partition& row = view.row.partition;
  return row.resume_timeout_seconds || row.suspend_timeout_seconds || row.suspend_time_seconds || row.power_down_on_idle;
}

const std::string& cluster(const PartitionView& view) { return view.env.cluster; }
void cluster_of_federation(const SinfoView& view, std::string& out) { put_or(out, view.env.in_federation ? view.env.cluster : "", "N/A"); }

constexpr std::string_view no_text(const Row&) { return {}; }
constexpr int64_t zero(const Row&) { return 0; }

// In the order of sinfo's columns.
constexpr PartitionFact kFacts[] = {
    field<Text, starred_name>("Partition, '*' after the default one", column('P', "Partition", "PARTITION").cut(kKeepStar).none("")),
    field<Text, &Row::name>("Partition", column('R', "PartitionName", "PARTITION").none(""), shown("PartitionName", at(10, 10)).none(""),
                            member("name", 350)),
    field<Availability, &Row::state>("State of the partition", column('a', "Available", "AVAIL"), shown("State", at(90, 10)),
                                     member("partition.state", 420)),
    field<Limit, &Row::max_time_min>("Longest time limit", column('l', "Time", "TIMELIMIT").none("infinite"), shown("MaxTime", at(50, 20)),
                                     member("maximums.time", 320)),
    field<IfSaid<Limit>, &Row::default_time_min>("Time limit of jobs that ask for none", column('L', "DefaultTime", "DEFAULTTIME"),
                                                 shown("DefaultTime", at(40, 10)), member("defaults.time", 200)),
    field<Text, job_size>("Least and most nodes of a job", column('s', "Size", "JOB_SIZE")),
    field<YesNo, &Row::root_only>("Whether only root may use it", column('r', "Root", "ROOT"), shown("RootOnly", at(70, 30))),
    field<Text, sharing>("Sharing of CPUs", column('h', "OverSubscribe", "OVERSUBSCRIBE"),
                         shown<Text, sharing_of_cpus>("OverSubscribe", at(70, 50)),
                         member<Number, jobs_on_a_cpu>("maximums.oversubscribe.jobs", 300)),
    field<JoinedList, &Row::allow_groups>("Groups that may use it", column('g', "Groups", "GROUPS").none("all"),
                                          shown("AllowGroups", at(20, 10)).none("ALL"), member("groups.allowed", 60)),
    field<JoinedList, &Row::alloc_nodes>("Hosts jobs may be submitted from", column('S', "AllocNodes", "ALLOCNODES").none("all"),
                                         shown("AllocNodes", at(30, 10)).none("ALL"), member("nodes.allowed_allocation", 10)),
    field<Bound, &Row::max_cpus_per_node>("Most CPUs of a node its jobs get", column('B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE"),
                                          shown("MaxCPUsPerNode", at(50, 50)), member("maximums.cpus_per_node", 230)),
    field<Number, &Row::priority_job_factor>("Its factor in job priorities", column('I', "PriorityJobFactor", "PRIO_JOB_FACTOR"),
                                             shown("PriorityJobFactor", at(70, 10)), member("priority.job_factor", 370)),
    field<Number, &Row::priority_tier>("Tier of scheduling and preemption", column('p', "PriorityTier", "PRIO_TIER").alias("Priority"),
                                       shown("PriorityTier", at(70, 20)), member("priority.tier", 380)),
    field<Text, &Row::preempt_mode>("What preemption does to its jobs", column('M', "PreemptMode", "PREEMPT_MODE").none("OFF"),
                                    shown("PreemptMode", at(80, 20)).none("OFF")),
    composite("Cluster, in a federation", column_of<PartitionFact>('V', "Cluster", "CLUSTER").written(cluster_of_federation)),
    // without a column: who may use it
    field<Text, cluster>("Its cluster", member("cluster", 130)),
    field<JoinedList, &Row::allow_accounts>(
        "Accounts that may use it", shown("AllowAccounts", at(20, 20)).none("ALL").when(allows_accounts), member("accounts.allowed", 40)),
    field<JoinedList, &Row::deny_accounts>("Accounts that may not", shown("DenyAccounts", at(20, 30)).when(denies_accounts),
                                           member("accounts.deny", 50)),
    field<JoinedList, &Row::allow_qos>("QOS that may use it", shown("AllowQos", at(20, 40)).none("ALL").when(allows_qos),
                                       member("qos.allowed", 70)),
    field<JoinedList, &Row::deny_qos>("QOS that may not", shown("DenyQos", at(20, 50)).when(denies_qos), member("qos.deny", 80)),
    field<Text, &Row::alternate>("The partition used where this one is down", shown("Alternate", at(30, 20)).if_any(),
                                 member("alternate", 100)),
    field<YesNo, &Row::is_default>("Whether jobs that name none are in it", shown("Default", at(30, 30))),
    field<Text, &Row::qos>("The QOS that limits it", shown("QoS", at(30, 40)).none("N/A"), member("qos.assigned", 90)),
    field<YesNo, &Row::disable_root_jobs>("Whether root may not run jobs", shown("DisableRootJobs", at(40, 20))),
    field<YesNo, &Row::hidden>("Whether it is left out of listings", shown("Hidden", at(40, 50))),
    field<YesNo, &Row::req_resv>("Whether jobs need a reservation", shown("ReqResv", at(70, 40))),
    // what its jobs get
    field<Text, exclusive>("What its jobs share with nobody else", shown("Exclusive", at(40, 30))),
    field<Number, jobs_on_a_cpu>("Jobs that share a CPU", member("maximums.shares", 290)),
    field<Words, sharing_flags>("Whether jobs cannot ask for CPUs of their own", member("maximums.oversubscribe.flags", 310)),
    field<Number, &Row::grace_time_seconds>("Seconds before preemption", shown("GraceTime", at(40, 40)), member("grace_time", 220)),
    field<Bound, &Row::max_nodes>("Most nodes of a job", shown("MaxNodes", at(50, 10)), member("maximums.nodes", 280)),
    field<Number, &Row::min_nodes>("Least nodes of a job", shown("MinNodes", at(50, 30)), member("minimums.nodes", 340)),
    field<YesNo, &Row::lln>("Whether jobs go to the least loaded nodes", shown("LLN", at(50, 40))),
    field<Bound, &Row::max_cpus_per_socket>("Most CPUs of a socket its jobs get", shown("MaxCPUsPerSocket", at(50, 60)),
                                            member("maximums.cpus_per_socket", 240)),
    field<IfSaid<Bound>, &Row::over_time_limit_min>("Minutes that jobs may exceed their limit by", shown("OverTimeLimit", at(80, 10)),
                                                    member("maximums.over_time_limit", 330)),
    field<Text, job_defaults>("What its jobs get for each GPU", shown("JobDefaults", at(100, 10)),
                              member<Text, &Row::job_defaults>("defaults.job", 210)),
    field<Number, default_memory>("Memory that jobs get, for a CPU or a node", member("defaults.memory_per_cpu", 170)),
    field<MbIfSet, &Row::def_mem_per_cpu_mb>("Memory that jobs get for a CPU, MiB", shown("DefMemPerCPU", at(110, 10)).if_any(),
                                             member("defaults.partition_memory_per_cpu", 180)),
    field<MbOrUnlimited, &Row::def_mem_per_node_mb>("Memory that jobs get on a node, MiB",
                                                    shown("DefMemPerNode", at(110, 20)).when(no_default_per_cpu),
                                                    member("defaults.partition_memory_per_node", 190)),
    field<Number, most_memory>("Most memory of a job, for a CPU or a node", member("maximums.memory_per_cpu", 250)),
    field<MbIfSet, &Row::max_mem_per_cpu_mb>("Most memory of a job for a CPU, MiB", shown("MaxMemPerCPU", at(110, 30)).if_any(),
                                             member("maximums.partition_memory_per_cpu", 260)),
    field<MbOrUnlimited, &Row::max_mem_per_node_mb>("Most memory of a job on a node, MiB",
                                                    shown("MaxMemPerNode", at(110, 40)).when(no_most_per_cpu),
                                                    member("maximums.partition_memory_per_node", 270)),
    field<Text, &Row::select_parameters>("How its nodes are shared out", shown("SelectTypeParameters", at(90, 40)).none("NONE")),
    // what it has
    field<Text, &PartitionRow::node_list>("Its nodes", shown("Nodes", at(60, 10)), member("nodes.configured", 20)),
    field<Number, &PartitionRow::total_nodes>("How many nodes it has", shown("TotalNodes", at(90, 30)), member("nodes.total", 30)),
    field<Number, &PartitionRow::total_cpus>("How many CPUs it has", shown("TotalCPUs", at(90, 20)), member("cpus.total", 160)),
    field<Amounts, &PartitionRow::tres>("TRES it has", shown("TRES", at(120, 10)), member("tres.configured", 120)),
    field<Text, &Row::tres_billing_weights>("What its TRES cost", shown("TRESBillingWeights", at(130, 10)).if_any(),
                                            member("tres.billing_weights", 110)),
    field<IfSaid<Bound>, &Row::resume_timeout_seconds>("Seconds that a node has to come up",
                                                       shown("ResumeTimeout", at(140, 10)).none("GLOBAL").when(saves_power),
                                                       member("timeouts.resume", 390)),
    field<IfSaid<Bound>, &Row::suspend_timeout_seconds>("Seconds that a node has to go down",
                                                        shown("SuspendTimeout", at(140, 20)).none("GLOBAL").when(saves_power),
                                                        member("timeouts.suspend", 400)),
    field<IfSaid<Bound>, &Row::suspend_time_seconds>("Idle seconds after which a node goes down",
                                                     shown("SuspendTime", at(140, 30)).none("GLOBAL").when(saves_power),
                                                     member("suspend_time", 430)),
    field<YesNo, &Row::power_down_on_idle>("Whether nodes go down once they are idle",
                                           shown("PowerDownOnIdle", at(140, 40)).when(saves_power)),
    field<Text, &Row::topology>("The topology it uses", member("topology", 410)),
    // what Slurm has and Muster does not
    absent_field<Words, no_text>("", "Plugin that picks its nodes", member("select_type", 140)),
    absent_field<Number, zero>("", "How tasks are bound where nobody asks", member("cpus.task_binding", 150)),
    absent_field<Text, no_text>("", "Sets of nodes that it was defined with", member("node_sets", 360)),
};

constexpr std::array<std::span<const PartitionFact>, 1> kSubjects = {kFacts};
constexpr auto kColumns = columns_of<kSubjects>();
constexpr auto kRecord = in_order<kSubjects, &PartitionFact::shown>();
constexpr auto kObject = in_order<kSubjects, &PartitionFact::member>();

}  // namespace

std::span<const SinfoField> sinfo_partition_fields() { return kColumns; }
ShownRecord<PartitionView> partition_record() { return record_of<PartitionView, kRecord>(); }
DocumentObject<PartitionView> partition_object() { return object_of<PartitionView, kObject>(); }

}  // namespace muster::fields
