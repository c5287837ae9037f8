// The parts of a document around its rows: meta, errors, warnings.
#include "fields/json.h"
#include "fields/json_values.h"

namespace muster::fields {
namespace {

void meta_member(TreeSink& sink, const DocumentMeta& meta) {
  Members m(sink);
  m.begin("meta");
  m.begin("plugin").text("type", "").text("name", "").text("data_parser", "data_parser/v0.0.44").text("accounting_storage", "").end();
  m.begin("client").text("source", meta.client_source).text("user", meta.client_user).text("group", meta.client_group).end();
  m.list("command", meta.command);
  m.begin("slurm").begin("version").text("major", meta.major).text("micro", meta.micro).text("minor", meta.minor).end();
  m.text("release", meta.release).text("cluster", meta.cluster).end();
  m.end();
}

void message_members(TreeSink& sink, const DocumentMeta& meta) {
  Members members(sink);
  sink.key("errors");
  sink.begin_list();
  for (const DocumentError& e : meta.errors) {
    sink.begin_object();
    members.text("description", e.description).number("error_number", e.number).text("error", e.error).text("source", e.source);
    sink.end_object();
  }
  sink.end_list();
  sink.key("warnings");
  sink.begin_list();
  for (const DocumentWarning& w : meta.warnings) {
    sink.begin_object();
    members.text("description", w.description).text("source", w.source);
    sink.end_object();
  }
  sink.end_list();
}

}  // namespace

namespace {
// All other documents hold a list.
bool is_one_record(std::string_view name) { return name == "statistics" || name == "shares"; }
}  // namespace

void begin_document(TreeSink& sink, std::string_view list) {
  sink.begin_object();
  sink.key(list);
  if (!is_one_record(list)) sink.begin_list();
}

void end_document(TreeSink& sink, std::string_view list, const DocumentMeta& meta) {
  bool record = is_one_record(list);
  if (!record) sink.end_list();
  Members m(sink);
  const bool controller = !meta.from_database;
  if (controller && list == "jobs") m.time("last_backfill", meta.last_backfill);
  if (controller && !record && list != "sinfo" && list != "pings") m.time("last_update", meta.last_update);
  meta_member(sink, meta);
  message_members(sink, meta);
  sink.end_object();
}

void json_ping(const ControllerPing& p, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  m.text("hostname", p.host).text("pinged", p.up ? "UP" : "DOWN").flag("responding", p.up);
  m.number("latency", p.microseconds).text("mode", p.primary ? "primary" : "backup").flag("primary", p.primary);
  sink.end_object();
}

}  // namespace muster::fields
