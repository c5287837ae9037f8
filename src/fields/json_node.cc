// One node of scontrol show node --json (`node` of the description), and the line of sinfo --json: the facts of node_fields.cc, and what of
// them is made of several values.
#include "fields/json.h"
#include "fields/node_composites.h"
#include "fields/node_fields.h"
#include "fields/node_kinds.h"

namespace muster::fields {
namespace {

void list_of(Members& m, std::string_view key, const SinfoLine& line, const std::string NodeRow::*member) {
  m.sink().key(key);
  m.sink().begin_list();
  for (const NodeRow* node : line.nodes) m.sink().text(node->*member);
  m.sink().end_list();
}

Members& begin_counts(Members& m, std::string_view key, const StateCounts& counts) {
  m.begin(key).number("allocated", counts.allocated).number("idle", counts.idle);
  return m.number("other", counts.other).number("total", counts.total());
}

int64_t least(const Extent& e) { return Least::empty(e) ? 0 : static_cast<int64_t>(e.min); }

}  // namespace

void json_node(const NodeRow& node, const Environment& env, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  node_object().write(NodeView{node, env}, members);
  sink.end_object();
}

void json_sinfo(const SinfoView& view, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  sinfo_object().write(view, members);
  sink.end_object();
}

void json_no_names(const NodeView&, std::string_view key, Members& members) { members.list(key, {}); }
void json_empty_object(const NodeView&, std::string_view key, Members& members) { members.begin(key).end(); }
void json_no_weight(const NodeView&, std::string_view key, Members& members) {
  members.sink().key(key);
  members.sink().real(0);
}

void json_line_state(const SinfoView& view, std::string_view key, Members& members) {
  const NodeRow* node = view.line.first;
  members.words(key, node ? node_state_long(node->state, node->flags) : std::string(), '+');
}
void json_line_nodes(const SinfoView& view, std::string_view key, Members& members) {
  begin_counts(members, key, view.line.node_counts);
  list_of(members, "hostnames", view.line, &NodeRow::hostname);
  list_of(members, "addresses", view.line, &NodeRow::address);
  list_of(members, "nodes", view.line, &NodeRow::name);
  members.end();
}
void json_line_cpus(const SinfoView& view, std::string_view key, Members& members) {
  const Extent& cpus = view.line.cpus;
  begin_counts(members, key, view.line.cpu_counts).number("minimum", least(cpus)).number("maximum", static_cast<int64_t>(cpus.max)).end();
}
void json_line_memory(const SinfoView& view, std::string_view key, Members& members) {
  const SinfoLine& line = view.line;
  members.begin(key).number("minimum", least(line.memory_mb)).number("maximum", static_cast<int64_t>(line.memory_mb.max));
  const bool known = line.first && !FreeMb::empty(line.free_mem_mb.max);
  members.begin("free").maybe("minimum", known, line.free_mem_mb.min).maybe("maximum", known, line.free_mem_mb.max).end();
  members.number("allocated", line.first ? static_cast<int64_t>(line.first->mem_allocated_mb) : 0).end();
}
void json_line_partition(const SinfoView& view, std::string_view key, Members& members) {
  static const PartitionRow none;
  members.sink().key(key);
  json_partition(view.line.partition ? *view.line.partition : none, view.env, members.sink());
}

}  // namespace muster::fields
