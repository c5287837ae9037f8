#include "fields/show_license.h"

#include <algorithm>

#include "fields/json_values.h"

namespace muster::fields {
namespace {

uint32_t free_of(const LicenseRow& l) {
  return static_cast<uint32_t>(l.total - std::min<uint64_t>(l.total, uint64_t{l.used} + l.reserved + l.last_deficit));
}

}  // namespace

void show_license(const LicenseRow& l, const ShowOptions& options, std::string& out) {
  Record r(out, options.oneliner);
  r.pair("LicenseName", l.name);
  r.line(1);
  r.pair("Total", l.total).pair("Used", l.used).pair("Free", free_of(l)).pair("Reserved", l.reserved);
  r.pair("Remote", l.remote ? "yes" : "no");
  if (l.remote) {
    r.line(1);
    r.pair("LastConsumed", l.last_consumed).pair("LastDeficit", l.last_deficit).pair("LastUpdate", format_time(l.last_update));
  }
  out += '\n';
}

void json_license(const LicenseRow& l, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  m.text("LicenseName", l.name).number("Total", l.total).number("Used", l.used).number("Free", free_of(l));
  m.flag("Remote", l.remote).number("Reserved", l.reserved).number("LastConsumed", l.last_consumed).number("LastDeficit", l.last_deficit);
  m.number("LastUpdate", l.last_update == Time{} ? 0 : unix_seconds(l.last_update)).text("Nodes", "");
  sink.end_object();
}

}  // namespace muster::fields
