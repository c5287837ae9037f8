// The report of one replay, or of two side by side, as plain text, as JSON, and as one HTML file that needs nothing else: SVG inside it, no script, no
// download; light or dark as the reader's system is; readable on a phone. Texts of the trace and of file names are escaped.
#pragma once

#include <string>

#include "sim/replay/figures.h"

namespace muster::sim::replay {

struct ReportHead {
  std::string trace_name;
  const Trace* trace = nullptr;
};

std::string report_text(const ReportHead& head, const Reports& reports);
std::string report_json(const ReportHead& head, const Reports& reports);
std::string report_html(const ReportHead& head, const Reports& reports);

// One line or more for each thing that was not as it should be in the trace.
std::vector<std::string> trace_remarks(const std::string& name, const Trace& trace);

}  // namespace muster::sim::replay
