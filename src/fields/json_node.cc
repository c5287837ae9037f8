// One node of scontrol show node --json (`node` of the description), and the line of sinfo --json.
#include "fields/json.h"
#include "fields/json_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

// Lists the words of node_state_long. Each of them ("DRAIN", "CLOUD" …) is a name of the description, too.
void states(Members& m, std::string_view key, const NodeRow& n) { m.words(key, node_state_long(n.state, n.flags), '+'); }

void hardware(Members& m, const NodeRow& n, const Environment& env) {
  m.text("architecture", n.arch).text("burstbuffer_network_address", "").number("boards", n.boards).time("boot_time", n.boot_time);
  m.time("tls_cert_last_renewal", kTimeUnset).list("cert_flags", {}).text("cluster_name", env.cluster);
  m.number("cores", n.cores_per_socket).number("specialized_cores", n.core_spec_count).number("cpu_binding", 0);
  m.number("cpu_load", n.cpu_load >= 0xfffffffeu ? 0 : n.cpu_load);
  bool known = n.free_mem_mb < 0xfffffffffffffffeull;
  m.maybe("free_mem", known, known ? n.free_mem_mb : 0).number("cpus", n.cpus).number("effective_cpus", n.cpus_effective);
  m.text("specialized_cpus", n.cpu_spec_list);
  m.begin("energy").number("average_watts", 0).number("base_consumed_energy", 0).number("consumed_energy", 0);
  m.maybe("current_watts", false, 0).number("previous_consumed_energy", 0).number("last_collected", 0).end();
  m.begin("external_sensors").end().text("extra", n.extra).begin("power").end();
}

void description(Members& m, const NodeRow& n, const Environment& env) {
  m.list("features", n.features).list("active_features", n.features_active).text("gpu_spec", "").text("gres", n.gres);
  m.text("gres_drained", "N/A").text("gres_used", n.gres_used).text("instance_id", n.instance_id).text("instance_type", n.instance_type);
  m.time("last_busy", n.last_busy).text("mcs_label", n.mcs_label).number("specialized_memory", static_cast<int64_t>(n.mem_spec_mb));
  m.text("name", n.name)
      .words("next_state_after_reboot", n.next_state == "RESUME" ? "IDLE" : n.next_state)
      .text("address", n.address.empty() ? n.name : n.address);
  m.text("hostname", n.hostname.empty() ? n.name : n.hostname);
  states(m, "state", n);
  m.text("operating_system", n.os)
      .text("owner", n.owned ? node_owner(n, env) : std::string())
      .list("partitions", n.partitions)
      .number("port", n.port);
}

void amounts(Members& m, const NodeRow& n, const Environment& env) {
  m.number("real_memory", static_cast<int64_t>(n.real_memory_mb)).number("res_cores_per_gpu", 0).text("comment", n.comment);
  m.text("reason", n.reason).time("reason_changed_at", n.reason_time);
  m.text("reason_set_by_user", n.reason_time == kTimeUnset ? std::string() : reason_owner(n, env));
  m.time("resume_after", n.resume_after).text("reservation", n.reservation);
  uint32_t used = std::min(n.cpus_allocated, n.cpus);
  m.number("alloc_memory", static_cast<int64_t>(n.mem_allocated_mb)).number("alloc_cpus", used).number("alloc_idle_cpus", n.cpus - used);
  m.text("tres_used", tres_text(n.tres_allocated));
  m.sink().key("tres_weighted");
  m.sink().real(0);
  m.time("slurmd_start_time", n.slurmd_start).number("sockets", n.sockets).number("threads", n.threads_per_core);
  m.number("temporary_disk", static_cast<int64_t>(n.tmp_disk_mb)).number("weight", n.weight).text("topology", "");
  m.text("tres", tres_text(n.tres_configured)).text("version", n.version);
}

void extent(Members& m, std::string_view key, const Extent& e) {
  bool any = e.min <= e.max;
  m.begin(key).number("minimum", any ? static_cast<int64_t>(e.min) : 0).number("maximum", any ? static_cast<int64_t>(e.max) : 0).end();
}

void names(Members& m, std::string_view key, const SinfoLine& line, const std::string NodeRow::*member) {
  m.sink().key(key);
  m.sink().begin_list();
  for (const NodeRow* n : line.nodes) m.sink().text(n->*member);
  m.sink().end_list();
}

void line_counts(Members& m, const SinfoLine& l) {
  const StateCounts &n = l.node_counts, &c = l.cpu_counts;
  m.begin("nodes").number("allocated", n.allocated).number("idle", n.idle).number("other", n.other).number("total", n.total());
  names(m, "hostnames", l, &NodeRow::hostname);
  names(m, "addresses", l, &NodeRow::address);
  names(m, "nodes", l, &NodeRow::name);
  m.end();
  bool any = l.cpus.min <= l.cpus.max;
  m.begin("cpus").number("allocated", c.allocated).number("idle", c.idle).number("other", c.other).number("total", c.total());
  m.number("minimum", any ? static_cast<int64_t>(l.cpus.min) : 0).number("maximum", any ? static_cast<int64_t>(l.cpus.max) : 0).end();
  extent(m, "sockets", l.sockets);
  extent(m, "cores", l.cores);
  extent(m, "threads", l.threads);
  extent(m, "disk", l.disk_mb);
  m.begin("memory")
      .number("minimum", any ? static_cast<int64_t>(l.memory_mb.min) : 0)
      .number("maximum", static_cast<int64_t>(l.memory_mb.max));
  bool known = any && l.free_mem_mb.max < 0xfffffffffffffffeull;
  m.begin("free").maybe("minimum", known, l.free_mem_mb.min).maybe("maximum", known, l.free_mem_mb.max).end();
  m.number("allocated", l.first ? static_cast<int64_t>(l.first->mem_allocated_mb) : 0).end();
  extent(m, "weight", l.weight);
}

}  // namespace

void json_node(const NodeRow& node, const Environment& env, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  hardware(m, node, env);
  description(m, node, env);
  amounts(m, node, env);
  sink.end_object();
}

void json_sinfo(const SinfoView& v, TreeSink& sink) {
  Members m(sink);
  const SinfoLine& l = v.line;
  static const NodeRow nobody;
  const NodeRow& first = l.first ? *l.first : nobody;
  sink.begin_object();
  m.number("port", first.port).begin("node");
  if (l.first) states(m, "state", first);
  else m.list("state", {});
  m.end();
  line_counts(m, l);
  m.begin("features").text("total", join(first.features, ",")).text("active", join(first.features_active, ",")).end();
  m.begin("gres").text("total", first.gres).text("used", first.gres_used).end();
  sink.key("partition");
  static const PartitionRow no_partition;
  json_partition(l.partition ? *l.partition : no_partition, v.env, sink);
  m.text("cluster", v.env.cluster).text("comment", first.comment).text("extra", first.extra);
  m.begin("reason").text("description", first.reason).time("time", first.reason_time);
  m.text("user", first.reason_time == kTimeUnset ? std::string() : reason_owner(first, v.env)).end();
  m.text("reservation", first.reservation);
  sink.end_object();
}

}  // namespace muster::fields
