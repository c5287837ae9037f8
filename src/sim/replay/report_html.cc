#include <algorithm>
#include <cmath>

#include "sim/replay/chart.h"
#include "sim/replay/report_text.h"
#include "sim/replay/sacct.h"

namespace muster::sim::replay {
namespace {

constexpr size_t kMostRows = 12;
constexpr const char* kStyles[] = {"a", "b"};

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2430; --soft: #5b6675; --line: #dfe3e8; --card: #f7f8fa; --a: #1f6feb; --b: #c2570c; --target: #1c2430; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12161c; --ink: #e6eaf0; --soft: #9aa5b3; --line: #2c3440; --card: #1a2029; --a: #6cb0ff; --b: #ffa657; --target: #e6eaf0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 1.2rem 1rem 3rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; } h3 { font-size: .95rem; margin: 0; }
p { margin: .2rem 0 .6rem; } .soft { color: var(--soft); } .soft, .card p { font-size: .85rem; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; list-style: none; padding: 0; margin: .6rem 0; overflow-wrap: anywhere; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .45rem; vertical-align: -1px; }
.key.a { background: var(--a); } .key.b { background: var(--b); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .6rem .8rem; }
.tile b { display: block; font-size: 1.25rem; line-height: 1.3; } .tile b.a { color: var(--a); } .tile b.b { color: var(--b); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; align-items: start; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem; min-width: 0; }
.card p { color: var(--soft); margin: 0 0 .5rem; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); } .target { stroke: var(--target); stroke-width: 2.5; }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .curve.a { stroke: var(--a); stroke-width: 2.4; } .curve.b { stroke: var(--b); stroke-width: 1.4; }
.fill { stroke: none; opacity: .12; } .fill.a, .bar.a { fill: var(--a); } .fill.b, .bar.b { fill: var(--b); }
.range line { stroke-width: 2.5; } .range.a line { stroke: var(--a); } .range.b line { stroke: var(--b); }
.range.a circle { fill: var(--a); } .range.b circle { fill: var(--b); } .range circle.hollow { fill: var(--card); stroke-width: 2; }
.range.a circle.hollow { stroke: var(--a); } .range.b circle.hollow { stroke: var(--b); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { text-align: right; padding: .28rem .6rem; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; } tr.part td { font-weight: 600; padding-top: .8rem; }
details { margin: .5rem 0; } summary { cursor: pointer; font-weight: 600; }
)";

std::string card(const std::string& title, const std::string& what, const std::string& chart) {
  return "<section class=\"card\"><h3>" + escape_html(title) + "</h3><p>" + escape_html(what) + "</p>\n" + chart + "</section>\n";
}

std::string table(const FigureTable& table) {
  std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const std::string& c : table.columns) out += "<th>" + escape_html(c) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const FigureRow& r : table.rows) {
    if (r.heading) {
      out += "<tr class=\"part\"><td colspan=\"" + std::to_string(table.columns.size()) + "\">" + escape_html(r.label) + "</td></tr>\n";
      continue;
    }
    out += "<tr><td>" + escape_html(r.label) + "</td>";
    for (const std::string& v : r.values) out += "<td>" + escape_html(v) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.note.empty()) out += "<p class=\"soft\">" + escape_html(table.note) + "</p>\n";
  return out;
}

// Days along the bottom: at most seven ticks.
Axis time_axis(const Report& report) {
  const double begin = static_cast<double>(report.line_begin), width = static_cast<double>(report.line_width);
  Axis axis{begin, std::max(static_cast<double>(report.to), begin + width), false, {}};
  const int64_t kSteps[] = {3600, 4 * 3600, 12 * 3600, 86400, 2 * 86400, 5 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 91 * 86400};
  int64_t step = 365 * 86400;
  for (int64_t s : kSteps)
    if ((axis.high - axis.low) / static_cast<double>(s) <= 7) {
      step = s;
      break;
    }
  for (int64_t at = (report.line_begin + step - 1) / step * step; static_cast<double>(at) <= axis.high; at += step) {
    const std::string moment = print_moment(at);
    axis.ticks.emplace_back(static_cast<double>(at), step < 86400 ? moment.substr(8, 2) + " " + moment.substr(11, 5) : moment.substr(5, 5));
  }
  return axis;
}

std::vector<std::pair<double, double>> over_time(const Report& r, Amount what, double whole) {
  std::vector<std::pair<double, double>> out;
  for (size_t i = 0; i < r.line.size(); ++i) {
    const double at = static_cast<double>(r.line_begin + static_cast<int64_t>(i) * r.line_width);
    if (at > static_cast<double>(r.to)) break;
    out.emplace_back(at, r.line[i][static_cast<size_t>(what)] / whole);
  }
  return out;
}

std::string use_chart(const Reports& reports, Amount what, const char* name) {
  std::vector<Curve> curves;
  for (size_t i = 0; i < reports.size(); ++i) {
    const Capacity& c = reports[i]->capacity;
    const uint64_t whole = what == Amount::kGpus ? c.gpus : what == Amount::kCpus ? c.cpus : c.nodes;
    curves.push_back({kStyles[i], over_time(*reports[i], what, static_cast<double>(std::max<uint64_t>(whole, 1))), reports.size() == 1});
  }
  return card(std::string(name) + " in use",
              "of all in the cluster, on average over " + span_text(static_cast<double>(reports[0]->line_width)) + " each",
              curve_chart(std::string(name) + " in use over time", time_axis(*reports[0]), part_axis(), curves));
}

std::string queue_chart(const Reports& reports, Amount what, const char* title) {
  std::vector<Curve> curves;
  double most = 1;
  for (size_t i = 0; i < reports.size(); ++i) {
    curves.push_back({kStyles[i], over_time(*reports[i], what, 1), reports.size() == 1});
    for (const auto& [x, y] : curves.back().points) most = std::max(most, y);
  }
  return card(title, "on average over " + span_text(static_cast<double>(reports[0]->line_width)) + " each",
              curve_chart(std::string(title) + " over time", time_axis(*reports[0]), count_axis(most), curves));
}

// The part of jobs that waited no longer than a span.
std::string wait_chart(const Reports& reports) {
  std::vector<Curve> curves;
  double most = 60;
  for (const Report* r : reports) most = std::max(most, r->wait.most);
  const Axis across = span_axis(most);
  constexpr int kPoints = 160;
  for (size_t i = 0; i < reports.size(); ++i) {
    Curve c{kStyles[i], {}, false};
    const auto& waits = reports[i]->waits;
    for (int p = 0; p <= kPoints && !waits.empty(); ++p) {
      const double span = std::pow(across.high, static_cast<double>(p) / kPoints);
      const auto below = std::ranges::upper_bound(waits, span) - waits.begin();
      c.points.emplace_back(span, static_cast<double>(below) / static_cast<double>(waits.size()));
    }
    curves.push_back(std::move(c));
  }
  return card("Jobs that waited no longer than …", "the further up and left, the shorter the waits",
              curve_chart("part of the jobs by the longest wait", across, part_axis(), curves));
}

std::string group_chart(const Reports& reports, size_t grouping) {
  const Grouping& first = reports[0]->groupings[grouping];
  std::vector<ChartRow> rows;
  double most = 60;
  for (const Group& group : first.groups) {
    if (rows.size() == kMostRows) break;
    ChartRow row{group.name, {}, -1};
    for (size_t i = 0; i < reports.size(); ++i) {
      const auto& groups = reports[i]->groupings[grouping].groups;
      const auto at = std::ranges::find(groups, group.name, &Group::name);
      if (at == groups.end()) continue;
      const Quantiles& q = at->wait;
      most = std::max(most, q.p99);
      row.marks.push_back({kStyles[i],
                           group.name + ": median " + span_text(q.median) + ", p90 " + span_text(q.p90) + ", p99 " + span_text(q.p99) +
                               " of " + count_text(q.count) + " jobs",
                           q.p90, q.median, q.p99});
    }
    rows.push_back(std::move(row));
  }
  return card("Wait by " + first.by, "○ median   ● p90   | p99", range_chart("waits by " + first.by, span_axis(most), rows));
}

std::string fairness_chart(const Reports& reports) {
  std::vector<ChartRow> rows;
  double most = 0.1;
  for (const AccountShare& a : reports[0]->accounts) {
    if (rows.size() == kMostRows) break;
    ChartRow row{a.account, {}, a.share};
    most = std::max(most, a.share);
    for (size_t i = 0; i < reports.size(); ++i) {
      const auto at = std::ranges::find(reports[i]->accounts, a.account, &AccountShare::account);
      if (at == reports[i]->accounts.end()) continue;
      most = std::max(most, at->use);
      row.marks.push_back({kStyles[i], a.account + " used " + percent_text(at->use) + ", share " + percent_text(a.share), at->use, 0, 0});
    }
    rows.push_back(std::move(row));
  }
  return card("Shares against use",
              std::string("bars: part of the ") + (reports[0]->gpus ? "GPU" : "CPU") +
                  "-hours used while jobs waited; strokes: share of the account",
              bar_chart("use and share of each account", part_axis(most), rows));
}

std::string promise_chart(const Reports& reports) {
  struct Class {
    const char* name;
    double below;
  };
  const Class kClasses[] = {{"a day early", -86400}, {"hours early", -3600}, {"minutes early", -60}, {"on the minute", 60},
                            {"minutes late", 3600},  {"hours late", 86400},  {"a day late", 1e300}};
  std::vector<ChartRow> rows;
  double most = 0.25;
  for (size_t c = 0; c < std::size(kClasses); ++c) {
    ChartRow row{kClasses[c].name, {}, -1};
    for (size_t i = 0; i < reports.size(); ++i) {
      const auto& errors = reports[i]->promises.errors;
      auto up_to = [&](double x) { return std::ranges::upper_bound(errors, x) - errors.begin(); };
      const auto jobs = up_to(kClasses[c].below) - (c ? up_to(kClasses[c - 1].below) : 0);
      const double part = errors.empty() ? 0 : static_cast<double>(jobs) / static_cast<double>(errors.size());
      most = std::max(most, part);
      row.marks.push_back({kStyles[i], count_text(static_cast<uint64_t>(jobs)) + " jobs (" + percent_text(part) + ")", part, 0, 0});
    }
    rows.push_back(std::move(row));
  }
  return card("Start against the first promise", "of the jobs that waited and were told an expected start",
              bar_chart("how jobs started against their first expected start", part_axis(most), rows));
}

std::string tile(const Reports& reports, const std::string& name, std::string (*value)(const Report&)) {
  std::string out = "<div class=\"tile\"><span class=\"soft\">" + escape_html(name) + "</span>";
  for (size_t i = 0; i < reports.size(); ++i)
    out += std::string("<b class=\"") + (reports.size() == 2 ? kStyles[i] : "") + "\">" + escape_html(value(*reports[i])) + "</b>";
  return out + "</div>\n";
}

std::string head_of(const ReportHead& head, const Reports& reports) {
  const double days = static_cast<double>(head.trace->last_submit() - head.trace->first_submit()) / 86400;
  std::string out = "<h1>Replay of " + escape_html(head.trace_name) + "</h1>\n<p class=\"soft\">" + count_text(reports[0]->counts.read) +
                    " jobs submitted in " + number_text(days, 1) + " days from " + print_moment(head.trace->first_submit()) +
                    "</p>\n<ul class=\"legend\">";
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& r = *reports[i];
    out += std::string("<li><span class=\"key ") + kStyles[i] + "\"></span>" + (reports.size() == 2 ? (i ? "B: " : "A: ") : "") +
           escape_html(r.name) + " <span class=\"soft\">" + count_text(r.capacity.nodes) + " nodes, " + count_text(r.capacity.gpus) +
           " GPUs</span></li>";
  }
  out += "</ul>\n";
  for (const Report* r : reports) {
    if (r->drive.stopped)
      out += "<p><b>Stopped before its end</b>: what stands here is of the first " + number_text(r->simulated_seconds / 86400, 1) +
             " days.</p>\n";
    for (const auto& [why, n] : r->refusals)
      out += "<p class=\"soft\">" + escape_html(r->name) + " refused " + count_text(n) + " jobs: " + escape_html(why) + "</p>\n";
    for (const auto& [reason, n] : r->waiting)
      out += "<p class=\"soft\">" + escape_html(r->name) + ": " + count_text(n) + " jobs still wait at the end: " + escape_html(reason) +
             "</p>\n";
    for (const std::string& note : r->notes) out += "<p class=\"soft\">" + escape_html(r->name) + ": " + escape_html(note) + "</p>\n";
  }
  out += "<div class=\"tiles\">\n";
  out += tile(reports, "median wait", [](const Report& r) { return span_text(r.wait.median); });
  out += tile(reports, "p90 wait", [](const Report& r) { return span_text(r.wait.p90); });
  out += tile(reports, "p99 wait", [](const Report& r) { return span_text(r.wait.p99); });
  out += tile(reports, reports[0]->gpus ? "GPUs in use" : "CPUs in use",
              [](const Report& r) { return percent_text(r.gpus ? r.gpu_use : r.cpu_use); });
  out += tile(reports, "fairness (Jain)", [](const Report& r) { return number_text(r.fairness, 2); });
  out += tile(reports, "jobs put off", [](const Report& r) { return count_text(r.promises.moved_later); });
  return out + "</div>\n";
}

}  // namespace

std::string report_html(const ReportHead& head, const Reports& reports) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                    "content=\"width=device-width, initial-scale=1\">\n<title>Replay of " +
                    escape_html(head.trace_name) + "</title>\n<style>" + kStyle + "</style></head>\n<body>\n";
  out += head_of(head, reports);
  out += "<h2>Waits</h2>\n<div class=\"cards\">\n" + wait_chart(reports);
  for (size_t i = 0; i < reports[0]->groupings.size(); ++i)
    if (reports[0]->groupings[i].groups.size() > 1) out += group_chart(reports, i);
  out += "</div>\n<h2>Use</h2>\n<div class=\"cards\">\n";
  if (reports[0]->gpus) out += use_chart(reports, Amount::kGpus, "GPUs");
  out += use_chart(reports, Amount::kCpus, "CPUs") + use_chart(reports, Amount::kNodes, "Nodes") +
         queue_chart(reports, Amount::kWaiting, "Jobs waiting");
  if (reports[0]->gpus) out += queue_chart(reports, Amount::kGpusWaiting, "GPUs waited for");
  out += "</div>\n<h2>Fairness and promises</h2>\n<div class=\"cards\">\n" + fairness_chart(reports) + promise_chart(reports) + "</div>\n";
  out += "<h2>Figures</h2>\n" + table(summary_table(reports));
  auto folded = [&](const FigureTable& t) {
    out += "<details><summary>" + escape_html(t.title) + "</summary>\n" + table(t) + "</details>\n";
  };
  folded(account_table(reports));
  for (const FigureTable& t : group_tables(reports)) folded(t);
  return out + "</body></html>\n";
}

}  // namespace muster::sim::replay
