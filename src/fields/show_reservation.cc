#include "fields/show_reservation.h"

#include <algorithm>

#include "fields/json_values.h"

namespace muster::fields {
namespace {

std::string span_text(Duration d) { return format_span_full(d); }

// "lustre:1000"
std::string licenses_text(const ReservationRow& row) {
  std::string out;
  for (const LicenseShare& l : row.licenses) out += (out.empty() ? "" : ",") + l.name + ":" + std::to_string(l.count);
  return out;
}

std::string padded(std::string_view text, size_t width, bool left) {
  std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return left ? std::string(text) + blanks : blanks + std::string(text);
}

}  // namespace

void show_reservation(const ReservationRow& row, const ShowOptions& options, std::string& out) {
  Record record(out, options.oneliner);
  record.pair("ReservationName", row.name);
  record.pair("StartTime", format_time(row.start)).pair("EndTime", format_time(row.end)).pair("Duration", span_text(row.end - row.start));
  record.line();
  record.or_null("Nodes", row.node_list).pair("NodeCnt", row.node_count).pair("CoreCnt", row.core_count);
  record.or_null("Features", row.features).or_null("PartitionName", row.partition);
  record.pair("Flags", reservation_flags_text(row.flags, row.purge_after));
  for (const ReservedCoresRow& node : row.cores) {
    record.line(2);
    record.pair("NodeName", node.node).pair("CoreIDs", node.cores);
  }
  record.line();
  record.or_null("TRES", tres_text(row.tres));
  record.line();
  record.or_null("Users", row.users.text()).or_null("Groups", row.groups.text()).or_null("Accounts", row.accounts.text());
  if (!row.qos.empty()) record.pair("QOS", row.qos.text());
  if (!row.partitions.empty()) record.pair("AllowedPartitions", row.partitions.text());
  record.or_null("Licenses", licenses_text(row)).pair("State", row.active ? "ACTIVE" : "INACTIVE").pair("BurstBuffer", "(null)");
  record.line();
  record.pair("MaxStartDelay", row.max_start_delay == Duration{} ? std::string("(null)") : span_text(row.max_start_delay));
  if (!row.comment.empty()) {
    record.line();
    record.pair("Comment", row.comment);
  }
  record.end();
}

void json_reservation(const ReservationRow& row, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  members.text("accounts", row.accounts.text()).text("burst_buffer", "").number("core_count", row.core_count);
  sink.key("core_specializations");
  sink.begin_list();
  for (const ReservedCoresRow& node : row.cores) {
    sink.begin_object();
    members.text("node", node.node).text("core", node.cores);
    sink.end_object();
  }
  sink.end_list();
  members.time("end_time", row.end).text("features", row.features);
  sink.key("flags");
  sink.begin_list();
  for (std::string_view name : reservation_flag_names(row.flags)) sink.text(name);
  sink.end_list();
  members.text("groups", row.groups.text()).text("licenses", licenses_text(row)).number("max_start_delay", to_seconds(row.max_start_delay));
  members.text("name", row.name).number("node_count", row.node_count).text("node_list", row.node_list).text("partition", row.partition);
  members.begin("purge_completed");
  members.maybe("time", (row.flags & kResvPurgeComp) != 0, static_cast<uint64_t>(to_seconds(row.purge_after))).end();
  members.time("start_time", row.start).maybe("watts", false, 0).text("tres", tres_text(row.tres)).text("users", row.users.text());
  sink.end_object();
}

void list_reservations(std::span<const ReservationRow> rows, bool header, std::string& out) {
  size_t width = std::string_view("RESV_NAME").size();
  for (const ReservationRow& row : rows) width = std::max(width, row.name.size());
  auto line = [&](std::string_view name, std::string_view state, std::string_view start, std::string_view end, std::string_view length,
                  std::string_view nodes) {
    out += padded(name, width, true) + "  " + padded(state, 8, false) + "  " + padded(start, 19, false) + "  " + padded(end, 19, false) +
           "  " + padded(length, 11, false) + "  " + std::string(nodes) + "\n";
  };
  if (header) line("RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST");
  for (const ReservationRow& row : rows)
    line(row.name, row.active ? "ACTIVE" : "INACTIVE", format_time(row.start), format_time(row.end), span_text(row.end - row.start),
         row.node_list);
}

}  // namespace muster::fields
