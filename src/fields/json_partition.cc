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

void limits(Members& m, const Partition& p) {
  m.begin("defaults").number("memory_per_cpu", one_memory(p.def_mem_per_cpu_mb, p.def_mem_per_node_mb));
  optional_memory(m, "partition_memory_per_cpu", p.def_mem_per_cpu_mb);
  optional_memory(m, "partition_memory_per_node", p.def_mem_per_node_mb);
  uint32_t time = p.default_time_min.value_or(0);
  m.maybe("time", p.default_time_min.has_value(), time, time == kUnlimited32).text("job", p.job_defaults).end();
  m.number("grace_time", p.grace_time_seconds);
  m.begin("maximums").limit("cpus_per_node", p.max_cpus_per_node).limit("cpus_per_socket", p.max_cpus_per_socket);
  m.number("memory_per_cpu", one_memory(p.max_mem_per_cpu_mb, p.max_mem_per_node_mb));
  optional_memory(m, "partition_memory_per_cpu", p.max_mem_per_cpu_mb);
  optional_memory(m, "partition_memory_per_node", p.max_mem_per_node_mb);
  bool shared = p.oversubscribe == OverSubscribe::kYes || p.oversubscribe == OverSubscribe::kForce;
  uint32_t jobs = shared ? p.oversubscribe_count : p.oversubscribe == OverSubscribe::kExclusive ? 0 : 1;
  m.limit("nodes", p.max_nodes).number("shares", jobs).begin("oversubscribe").number("jobs", jobs);
  m.words("flags", p.oversubscribe == OverSubscribe::kForce ? "force" : "").end();
  m.limit("time", p.max_time_min);
  uint32_t over = p.over_time_limit_min.value_or(0);
  m.maybe("over_time_limit", p.over_time_limit_min.has_value(), over, over == kUnlimited32).end();
  m.begin("minimums").number("nodes", p.min_nodes).end();
}

}  // namespace

void json_partition(const PartitionRow& row, const Environment& env, TreeSink& sink) {
  const Partition& p = row.partition;
  Members m(sink);
  sink.begin_object();
  m.begin("nodes")
      .text("allowed_allocation", join(p.alloc_nodes, ","))
      .text("configured", row.node_list)
      .number("total", row.total_nodes)
      .end();
  m.begin("accounts").text("allowed", join(p.allow_accounts, ",")).text("deny", join(p.deny_accounts, ",")).end();
  m.begin("groups").text("allowed", join(p.allow_groups, ",")).end();
  m.begin("qos").text("allowed", join(p.allow_qos, ",")).text("deny", join(p.deny_qos, ",")).text("assigned", p.qos).end();
  m.text("alternate", p.alternate);
  m.begin("tres").text("billing_weights", p.tres_billing_weights.text()).text("configured", tres_text(row.tres)).end();
  m.text("cluster", env.cluster).list("select_type", {}).begin("cpus").number("task_binding", 0).number("total", row.total_cpus).end();
  limits(m, p);
  m.text("name", p.name)
      .text("node_sets", "")
      .begin("priority")
      .number("job_factor", p.priority_job_factor)
      .number("tier", p.priority_tier)
      .end();
  auto seconds_member = [&](std::string_view key, const std::optional<uint32_t>& s) {
    m.maybe(key, s.has_value(), s.value_or(0), s.value_or(0) == kUnlimited32);
  };
  m.begin("timeouts");
  seconds_member("resume", p.resume_timeout_seconds);
  seconds_member("suspend", p.suspend_timeout_seconds);
  m.end().text("topology", p.topology);
  m.begin("partition").words("state", partition_state_name(p.state)).end();
  seconds_member("suspend_time", p.suspend_time_seconds);
  sink.end_object();
}

}  // namespace muster::fields
