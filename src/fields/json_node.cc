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

void description(Members& members, const NodeRow& n, const Environment& env) {
  members.list("features", n.features).list("active_features", n.features_active).text("gpu_spec", "").text("gres", n.gres);
  members.text("gres_drained", "N/A")
      .text("gres_used", n.gres_used)
      .text("instance_id", n.instance_id)
      .text("instance_type", n.instance_type);
  members.time("last_busy", n.last_busy).text("mcs_label", n.mcs_label).number("specialized_memory", static_cast<int64_t>(n.mem_spec_mb));
  members.text("name", n.name)
      .words("next_state_after_reboot", n.next_state == "RESUME" ? "IDLE" : n.next_state)
      .text("address", n.address.empty() ? n.name : n.address);
  members.text("hostname", n.hostname.empty() ? n.name : n.hostname);
  states(members, "state", n);
  members.text("operating_system", n.os)
      .text("owner", n.owned ? node_owner(n, env) : std::string())
      .list("partitions", n.partitions)
      .number("port", n.port);
}

void amounts(Members& members, const NodeRow& n, const Environment& env) {
  members.number("real_memory", static_cast<int64_t>(n.real_memory_mb)).number("res_cores_per_gpu", 0).text("comment", n.comment);
  members.text("reason", n.reason).time("reason_changed_at", n.reason_time);
  members.text("reason_set_by_user", n.reason_time == kTimeUnset ? std::string() : reason_owner(n, env));
  members.time("resume_after", n.resume_after).text("reservation", n.reservation);
  uint32_t used = std::min(n.cpus_allocated, n.cpus);
  members.number("alloc_memory", static_cast<int64_t>(n.mem_allocated_mb))
      .number("alloc_cpus", used)
      .number("alloc_idle_cpus", n.cpus - used);
  members.text("tres_used", tres_text(n.tres_allocated));
  members.sink().key("tres_weighted");
  members.sink().real(0);
  members.time("slurmd_start_time", n.slurmd_start).number("sockets", n.sockets).number("threads", n.threads_per_core);
  members.number("temporary_disk", static_cast<int64_t>(n.tmp_disk_mb)).number("weight", n.weight).text("topology", "");
  members.text("tres", tres_text(n.tres_configured)).text("version", n.version);
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

void line_counts(Members& members, const SinfoLine& l) {
  const StateCounts &n = l.node_counts, &c = l.cpu_counts;
  members.begin("nodes").number("allocated", n.allocated).number("idle", n.idle).number("other", n.other).number("total", n.total());
  names(members, "hostnames", l, &NodeRow::hostname);
  names(members, "addresses", l, &NodeRow::address);
  names(members, "nodes", l, &NodeRow::name);
  members.end();
  bool any = l.cpus.min <= l.cpus.max;
  members.begin("cpus").number("allocated", c.allocated).number("idle", c.idle).number("other", c.other).number("total", c.total());
  members.number("minimum", any ? static_cast<int64_t>(l.cpus.min) : 0).number("maximum", any ? static_cast<int64_t>(l.cpus.max) : 0).end();
  extent(members, "sockets", l.sockets);
  extent(members, "cores", l.cores);
  extent(members, "threads", l.threads);
  extent(members, "disk", l.disk_mb);
  members.begin("memory")
      .number("minimum", any ? static_cast<int64_t>(l.memory_mb.min) : 0)
      .number("maximum", static_cast<int64_t>(l.memory_mb.max));
  bool known = any && l.free_mem_mb.max < 0xfffffffffffffffeull;
  members.begin("free").maybe("minimum", known, l.free_mem_mb.min).maybe("maximum", known, l.free_mem_mb.max).end();
  members.number("allocated", l.first ? static_cast<int64_t>(l.first->mem_allocated_mb) : 0).end();
  extent(members, "weight", l.weight);
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

void json_sinfo(const SinfoView& view, TreeSink& sink) {
  Members m(sink);
  const SinfoLine& l = view.line;
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
  json_partition(l.partition ? *l.partition : no_partition, view.env, sink);
  m.text("cluster", view.env.cluster).text("comment", first.comment).text("extra", first.extra);
  m.begin("reason").text("description", first.reason).time("time", first.reason_time);
  m.text("user", first.reason_time == kTimeUnset ? std::string() : reason_owner(first, view.env)).end();
  m.text("reservation", first.reservation);
  sink.end_object();
}

}  // namespace muster::fields
