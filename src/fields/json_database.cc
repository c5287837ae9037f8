#include "fields/json_database.h"

#include "fields/json_values.h"

namespace muster::fields {
namespace {

int64_t count_of(const rpc::WorkCount& work) { return static_cast<int64_t>(work.count); }

void roll_ups(Members& m, std::string_view key, const rpc::WorkCount& work, Time last) {
  m.begin(key).number("count", count_of(work)).number("last_run", last == kTimeUnset ? 0 : unix_seconds(last));
  m.begin("duration").number("last", to_seconds(work.last)).number("max", to_seconds(work.longest)).number("time", to_seconds(work.total));
  m.end().end();
}

template <class Rows, class Name>
void work(Members& m, std::string_view list, std::string_view key, const Rows& rows, Name&& name) {
  m.sink().key(list);
  m.sink().begin_list();
  for (const auto& row : rows) {
    m.sink().begin_object();
    m.text(key, name(row)).number("count", count_of(row.work)).begin("time");
    m.number("average", row.work.count ? row.work.total.count() / count_of(row.work) : 0).number("total", row.work.total.count()).end();
    m.sink().end_object();
  }
  m.sink().end_list();
}

}  // namespace

void json_database_statistics(const rpc::DatabaseStatistics& told, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  members.number("time_start", unix_seconds(told.since));
  members.begin("rollups");
  roll_ups(members, "hourly", told.roll_ups, told.rolled_up);
  roll_ups(members, "daily", {}, kTimeUnset);
  roll_ups(members, "monthly", {}, kTimeUnset);
  members.end();
  work(members, "RPCs", "rpc", told.requests, [](const rpc::RequestCount& row) -> const std::string& { return row.name; });
  work(members, "users", "user", told.callers,
       [](const rpc::CallerCount& row) { return row.name.empty() ? std::to_string(row.uid.value) : row.name; });
  sink.end_object();
}

void json_database_ping(const DatabasePing& ping, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  m.text("hostname", ping.host).flag("responding", ping.up).number("latency", ping.microseconds).flag("primary", ping.primary);
  sink.end_object();
}

void json_config_line(const ConfigLine& line, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  m.text("of", line.of).text("key", line.key).text("value", line.value);
  sink.end_object();
}

}  // namespace muster::fields
