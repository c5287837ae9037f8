#include "fields/show_license.h"

#include <algorithm>

#include "fields/json_values.h"

namespace muster::fields {
namespace {

uint32_t free_of(const LicenseRow& l) { return l.total - std::min(l.total, l.used + l.reserved); }

}  // namespace

void show_license(const LicenseRow& l, const ShowOptions& options, std::string& out) {
  Record r(out, options.oneliner);
  r.pair("LicenseName", l.name);
  r.line(1);
  r.pair("Total", l.total).pair("Used", l.used).pair("Free", free_of(l)).pair("Reserved", l.reserved);
  r.pair("Remote", l.remote ? "yes" : "no");
  out += '\n';
}

void json_license(const LicenseRow& l, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  m.text("LicenseName", l.name).number("Total", l.total).number("Used", l.used).number("Free", free_of(l));
  m.flag("Remote", l.remote).number("Reserved", l.reserved).number("LastConsumed", 0).number("LastDeficit", 0);
  m.number("LastUpdate", 0).text("Nodes", "");
  sink.end_object();
}

}  // namespace muster::fields
