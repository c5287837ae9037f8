#include "sim/replay/report_text.h"

#include <algorithm>

#include "sim/replay/sacct.h"

namespace muster::sim::replay {
namespace {

constexpr size_t kMostRefusals = 8;

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string fill(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + fill : fill + text;
}

void print(const FigureTable& table, std::string& out) {
  std::vector<size_t> widths(table.columns.size());
  for (size_t c = 0; c < table.columns.size(); ++c) widths[c] = table.columns[c].size();
  for (const FigureRow& r : table.rows) {
    widths[0] = std::max(widths[0], r.label.size() + 2 * !r.heading);
    for (size_t c = 0; c < r.values.size() && c + 1 < widths.size(); ++c) widths[c + 1] = std::max(widths[c + 1], r.values[c].size());
  }
  if (!table.title.empty()) out += "\n" + table.title + "\n";
  auto line = [&](const std::string& label, const std::vector<std::string>& values) {
    std::string text = padded(label, widths[0], true);
    for (size_t c = 0; c < values.size() && c + 1 < widths.size(); ++c) text += "  " + padded(values[c], widths[c + 1], false);
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  };
  if (std::ranges::any_of(table.columns, [](const std::string& c) { return !c.empty(); }))
    line(table.columns[0], {table.columns.begin() + 1, table.columns.end()});
  for (const FigureRow& r : table.rows) line(r.heading ? r.label : "  " + r.label, r.values);
  if (!table.note.empty()) out += "  (" + table.note + ")\n";
}

}  // namespace

std::vector<std::string> trace_remarks(const std::string& name, const Trace& trace) {
  std::vector<std::string> out;
  for (const TraceProblem& p : trace.problems)
    out.push_back(name + ":" + std::to_string(p.line) + ": " + p.text + "; the line is left out");
  if (trace.wrong_lines > trace.problems.size())
    out.push_back(name + ": and " + std::to_string(trace.wrong_lines - trace.problems.size()) + " more lines that are wrong");
  auto count = [&](uint64_t n, const char* what) {
    if (n) out.push_back(name + ": " + count_text(n) + " " + what);
  };
  count(trace.never_started, "jobs that never started are left out: nobody knows how long they would have run");
  count(trace.unfinished, "jobs had not ended: they run as long as they had until then");
  count(trace.parts_of_jobs, "lines of steps or of parts of jobs are left out, as they should be");
  for (const std::string& note : trace.notes) out.push_back(name + ": " + note);
  return out;
}

std::string report_text(const ReportHead& head, const Reports& reports) {
  const Report& first = *reports[0];
  const double days = static_cast<double>(head.trace->last_submit() - head.trace->first_submit()) / 86400;
  std::string out = "Replay of " + head.trace_name + ": " + count_text(first.counts.read) + " jobs submitted in " + number_text(days, 1) +
                    " days from " + print_moment(head.trace->first_submit()) + "\n";
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& r = *reports[i];
    out += reports.size() == 2 ? std::string("  ") + (i ? "B" : "A") + ": " : "  ";
    out += r.name + ": " + count_text(r.capacity.nodes) + " nodes, " + count_text(r.capacity.cpus) + " CPUs, " +
           count_text(r.capacity.gpus) + " GPUs\n";
    if (r.drive.stopped) out += "     stopped before its end: " + number_text(r.simulated_seconds / 86400, 1) + " days were replayed\n";
    if (r.drive.out_of_patience) out += "     jobs were left when the patience was at its end\n";
    for (const std::string& note : r.notes) out += "     " + note + "\n";
    for (const auto& [reason, n] : r.waiting) out += "     still waiting at the end " + count_text(n) + " jobs: " + reason + "\n";
    for (size_t n = 0; n < std::min(r.refusals.size(), kMostRefusals); ++n)
      out += "     refused " + count_text(r.refusals[n].second) + " jobs: " + r.refusals[n].first + "\n";
  }
  if (first.from > head.trace->first_submit())
    out += "  waits and use are those of jobs submitted from " + print_moment(first.from) + " on\n";
  FigureTable summary = summary_table(reports);
  out += "\n";
  print(summary, out);
  print(account_table(reports), out);
  for (const FigureTable& t : group_tables(reports)) print(t, out);
  return out;
}

}  // namespace muster::sim::replay
