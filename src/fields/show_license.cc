#include "fields/show_license.h"

#include <algorithm>

#include "fields/json_values.h"
#include "model/hres.h"

namespace muster::fields {
namespace {

// Of a layer that has no end all is free but what reservations keep.
bool endless(const LicenseRow& l) { return l.total == kUnlimited32; }

uint32_t free_of(const LicenseRow& l) {
  if (endless(l)) return l.total;
  return static_cast<uint32_t>(l.total - std::min<uint64_t>(l.total, uint64_t{l.used} + l.reserved + l.last_deficit));
}

}  // namespace

void show_license(const LicenseRow& row, const ShowOptions& options, std::string& out) {
  Record record(out, options.oneliner);
  record.pair("LicenseName", row.name);
  record.line(1);
  const std::string total = endless(row) ? "INFINITE" : std::to_string(row.total),
                    free = endless(row) ? total : std::to_string(free_of(row));
  record.pair("Total", total).pair("Used", row.used).pair("Free", free).pair("Reserved", row.reserved);
  record.pair("Remote", row.remote ? "yes" : "no");
  if (row.remote) {
    record.line(1);
    record.pair("LastConsumed", row.last_consumed).pair("LastDeficit", row.last_deficit).pair("LastUpdate", format_time(row.last_update));
  }
  out += '\n';
}

void json_license(const LicenseRow& l, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  const PoolName name = PoolName::of(l.name);
  m.text("LicenseName", std::string(name.resource)).number("Total", l.total).number("Used", l.used).number("Free", free_of(l));
  m.flag("Remote", l.remote).number("Reserved", l.reserved).number("LastConsumed", l.last_consumed).number("LastDeficit", l.last_deficit);
  m.number("LastUpdate", l.last_update == Time{} ? 0 : unix_seconds(l.last_update)).text("Nodes", std::string(name.nodes));
  sink.end_object();
}

}  // namespace muster::fields
