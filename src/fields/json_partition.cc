// One partition of scontrol show partition --json (`partition_info` of the description), and the member of sinfo --json.
#include "fields/json.h"
#include "fields/json_values.h"

namespace muster::fields {
namespace {

void optional_memory(Members& m, std::string_view key, const std::optional<uint64_t>& mb) { m.maybe(key, mb.has_value(), mb.value_or(0)); }

// Slurm has one number for both limits: its highest bit marks "per CPU".
int64_t one_memory(const std::optional<uint64_t>& per_cpu, const std::optional<uint64_t>& per_node) {
  if (per_cpu) return static_cast<int64_t>(*per_cpu | 0x8000000000000000ull);
  return static_cast<int64_t>(per_node.value_or(0));
}

void limits(Members& members, const Partition& partition) {
  members.begin("defaults").number("memory_per_cpu", one_memory(partition.def_mem_per_cpu_mb, partition.def_mem_per_node_mb));
  optional_memory(members, "partition_memory_per_cpu", partition.def_mem_per_cpu_mb);
  optional_memory(members, "partition_memory_per_node", partition.def_mem_per_node_mb);
  uint32_t time = partition.default_time_min.value_or(0);
  members.maybe("time", partition.default_time_min.has_value(), time, time == kUnlimited32).text("job", partition.job_defaults).end();
  members.number("grace_time", partition.grace_time_seconds);
  members.begin("maximums").limit("cpus_per_node", partition.max_cpus_per_node).limit("cpus_per_socket", partition.max_cpus_per_socket);
  members.number("memory_per_cpu", one_memory(partition.max_mem_per_cpu_mb, partition.max_mem_per_node_mb));
  optional_memory(members, "partition_memory_per_cpu", partition.max_mem_per_cpu_mb);
  optional_memory(members, "partition_memory_per_node", partition.max_mem_per_node_mb);
  bool shared = partition.oversubscribe == OverSubscribe::kYes || partition.oversubscribe == OverSubscribe::kForce;
  uint32_t jobs = shared ? partition.oversubscribe_count : partition.oversubscribe == OverSubscribe::kExclusive ? 0 : 1;
  members.limit("nodes", partition.max_nodes).number("shares", jobs).begin("oversubscribe").number("jobs", jobs);
  members.words("flags", partition.oversubscribe == OverSubscribe::kForce ? "force" : "").end();
  members.limit("time", partition.max_time_min);
  uint32_t over = partition.over_time_limit_min.value_or(0);
  members.maybe("over_time_limit", partition.over_time_limit_min.has_value(), over, over == kUnlimited32).end();
  members.begin("minimums").number("nodes", partition.min_nodes).end();
}

}  // namespace

void json_partition(const PartitionRow& row, const Environment& env, TreeSink& sink) {
  const Partition& partition = row.partition;
  Members m(sink);
  sink.begin_object();
  m.begin("nodes")
      .text("allowed_allocation", join(partition.alloc_nodes, ","))
      .text("configured", row.node_list)
      .number("total", row.total_nodes)
      .end();
  m.begin("accounts").text("allowed", join(partition.allow_accounts, ",")).text("deny", join(partition.deny_accounts, ",")).end();
  m.begin("groups").text("allowed", join(partition.allow_groups, ",")).end();
  m.begin("qos")
      .text("allowed", join(partition.allow_qos, ","))
      .text("deny", join(partition.deny_qos, ","))
      .text("assigned", partition.qos)
      .end();
  m.text("alternate", partition.alternate);
  m.begin("tres").text("billing_weights", partition.tres_billing_weights.text()).text("configured", tres_text(row.tres)).end();
  m.text("cluster", env.cluster).list("select_type", {}).begin("cpus").number("task_binding", 0).number("total", row.total_cpus).end();
  limits(m, partition);
  m.text("name", partition.name)
      .text("node_sets", "")
      .begin("priority")
      .number("job_factor", partition.priority_job_factor)
      .number("tier", partition.priority_tier)
      .end();
  auto seconds_member = [&](std::string_view key, const std::optional<uint32_t>& s) {
    m.maybe(key, s.has_value(), s.value_or(0), s.value_or(0) == kUnlimited32);
  };
  m.begin("timeouts");
  seconds_member("resume", partition.resume_timeout_seconds);
  seconds_member("suspend", partition.suspend_timeout_seconds);
  m.end().text("topology", partition.topology);
  m.begin("partition").words("state", partition_state_name(partition.state)).end();
  seconds_member("suspend_time", partition.suspend_time_seconds);
  sink.end_object();
}

}  // namespace muster::fields
