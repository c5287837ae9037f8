#include "muster/gpu_hours.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/plain_text.h"
#include "fields/json_values.h"
#include "model/tres_name.h"

namespace muster::front {
namespace {

struct Dimension {
  std::string_view name;
  UsagePart part;
  std::string UsageKey::*key;
};
constexpr Dimension kDimensions[] = {{"account", kUsageAccount, &UsageKey::account},
                                     {"user", kUsageUser, &UsageKey::user},
                                     {"partition", kUsagePartition, &UsageKey::partition},
                                     {"qos", kUsageQos, &UsageKey::qos}};
const Dimension& dimension_of(UsagePart part) { return *std::ranges::find(kDimensions, part, &Dimension::part); }

std::string percent(uint64_t part, uint64_t whole) {
  char text[32];
  const double value = whole ? static_cast<double>(part) / static_cast<double>(whole) * 100 : 0;
  return std::string(text, static_cast<size_t>(snprintf(text, sizeof text, "%.1f%%", value)));
}
std::string shown(const std::string& name) { return name.empty() ? "(none)" : plain(name); }
std::string title_of(const GpuHours& g) {
  return "GPU-hours of cluster " + plain(g.cluster) + " by " + g.by + ", " + format_time(g.from) + " - " + format_time(g.until);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : plain(text)) switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

constexpr size_t kMostBars = 40;

std::string rect(double x, size_t y, double width, const char* colour, const std::string& title) {
  char text[128];
  const int n = snprintf(text, sizeof text, "<rect x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"16\" fill=\"%s\">", x, y, width, colour);
  return std::string(text, static_cast<size_t>(n)) + "<title>" + title + "</title></rect>\n";
}

}  // namespace

Result<GpuHoursAsk> parse_gpu_hours(std::span<const std::string> arguments, Time now) {
  static constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kDimensions)> names;
    std::ranges::transform(kDimensions, names.begin(), &Dimension::name);
    return names;
  }();
  constexpr ReportShape kShape{"gpu-hours", kNames, ReportForm::kHtml, false};
  MUSTER_TRY(words, parse_report_words(kShape, arguments, now));
  return GpuHoursAsk{kDimensions[words.by].part, words.from, words.until, words.form};
}

rpc::QueryUsage query_of(const GpuHoursAsk& ask, const std::string& cluster) {
  rpc::QueryUsage q;
  q.clusters = {cluster};
  q.from = ask.from;
  q.until = ask.until;
  q.parts = ask.by | kUsageWasted;
  return q;
}

GpuHours gpu_hours_of(const GpuHoursAsk& ask, const std::string& cluster, const Usage& usage) {
  const Dimension& dimension = dimension_of(ask.by);
  const TresName gpu{TresKind::kGres, "gpu", ""};
  GpuHours out;
  out.cluster = cluster;
  out.by = dimension.name;
  out.from = ask.from;
  out.until = ask.until;
  std::map<std::string, GpuHoursRow> rows;
  for (const UsageEntry& e : usage.entries) {
    const uint64_t seconds = e.used.of(gpu);
    if (!seconds) continue;
    GpuHoursRow& row = rows[e.key.*dimension.key];
    for (GpuHoursRow* r : {&row, &out.total}) {
      r->allocated += seconds;
      if (e.key.wasted) r->wasted += seconds;
    }
  }
  for (auto& [name, row] : rows) {
    row.name = name;
    out.rows.push_back(row);
  }
  std::ranges::stable_sort(out.rows, std::greater<>(), &GpuHoursRow::allocated);
  const ClusterTime& t = usage.cluster;
  out.reported = t.reported.of(gpu);
  out.down = t.down.of(gpu) + t.planned_down.of(gpu);
  const uint64_t given = t.allocated.of(gpu) + out.down;
  out.idle = out.reported - std::min(out.reported, given);
  return out;
}

std::string to_text(const GpuHours& g) {
  std::string out = title_of(g) + "\n\n";
  auto line = [&](const std::string& name, const std::string& a, const std::string& u, const std::string& w, const std::string& part) {
    out += padded(name, -24) + padded(a, 12) + padded(u, 12) + padded(w, 12) + padded(part, 9) + "\n";
  };
  line(g.by, "allocated", "used", "wasted", "share");
  for (const GpuHoursRow& r : g.rows)
    line(shown(r.name), hours(r.allocated), hours(r.used()), hours(r.wasted), percent(r.allocated, g.total.allocated));
  line("total", hours(g.total.allocated), hours(g.total.used()), hours(g.total.wasted), percent(g.total.allocated, g.total.allocated));
  if (g.reported) out += "\nThe cluster had " + hours(g.reported) + ": " + hours(g.idle) + " were idle, " + hours(g.down) + " down.\n";
  return out;
}

std::string to_csv(const GpuHours& g) {
  std::string out = g.by + ",allocated_hours,used_hours,wasted_hours\n";
  for (const GpuHoursRow& r : g.rows)
    out += csv_field(r.name) + "," + hours(r.allocated) + "," + hours(r.used()) + "," + hours(r.wasted) + "\n";
  return out;
}

void to_tree(const GpuHours& hours, fields::TreeSink& sink) {
  fields::Members members(sink);
  auto real = [&](std::string_view key, uint64_t seconds) {
    sink.key(key);
    sink.real(static_cast<double>(seconds) / 3600);
  };
  auto row = [&](const GpuHoursRow& r) {
    real("allocated_hours", r.allocated);
    real("used_hours", r.used());
    real("wasted_hours", r.wasted);
  };
  sink.begin_object();
  members.text("cluster", hours.cluster)
      .text("by", hours.by)
      .number("from", unix_seconds(hours.from))
      .number("until", unix_seconds(hours.until));
  sink.key("rows");
  sink.begin_list();
  for (const GpuHoursRow& r : hours.rows) {
    sink.begin_object();
    members.text(hours.by, r.name);
    row(r);
    sink.end_object();
  }
  sink.end_list();
  members.begin("total");
  row(hours.total);
  real("idle_hours", hours.idle);
  real("down_hours", hours.down);
  real("reported_hours", hours.reported);
  members.end();
  sink.end_object();
}

std::string to_svg(const GpuHours& use) {
  constexpr double kLeft = 180, kWide = 420;
  const size_t bars = std::min(use.rows.size(), kMostBars), height = 40 + bars * 22;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"" + std::to_string(height) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n<text x=\"4\" y=\"16\">" + escaped(title_of(use)) + "</text>\n";
  const double scale = use.rows.empty() ? 0 : kWide / static_cast<double>(use.rows.front().allocated);
  for (size_t i = 0; i < bars; ++i) {
    const GpuHoursRow& r = use.rows[i];
    const size_t y = 30 + i * 22;
    const double used = static_cast<double>(r.used()) * scale, wasted = static_cast<double>(r.wasted) * scale;
    out += "<text x=\"" + std::to_string(static_cast<int>(kLeft) - 6) + "\" y=\"" + std::to_string(y + 12) + "\" text-anchor=\"end\">" +
           escaped(shown(r.name).substr(0, 28)) + "</text>\n";
    out += rect(kLeft, y, used, "#2b7bba", "used " + hours(r.used()));
    out += rect(kLeft + used, y, wasted, "#d1605e", "wasted " + hours(r.wasted));
    out += "<text x=\"" + std::to_string(static_cast<int>(kLeft + used + wasted) + 6) + "\" y=\"" + std::to_string(y + 12) + "\">" +
           hours(r.allocated) + "</text>\n";
  }
  return out + "</svg>\n";
}

std::string to_html(const GpuHours& use) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title_of(use)) +
                    "</title>\n<style>body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}"
                    "td,th{padding:.2em .8em;text-align:right}td:first-child,th:first-child{text-align:left}"
                    "tr:nth-child(even){background:#f3f3f3}</style></head>\n<body>\n<h1>GPU-hours</h1>\n" +
                    to_svg(use) + "<table>\n";
  auto line = [&](const char* cell, const std::vector<std::string>& cells) {
    out += "<tr>";
    for (const std::string& c : cells) out += "<" + std::string(cell) + ">" + escaped(c) + "</" + cell + ">";
    out += "</tr>\n";
  };
  line("th", {use.by, "allocated", "used", "wasted", "share"});
  for (const GpuHoursRow& r : use.rows)
    line("td", {shown(r.name), hours(r.allocated), hours(r.used()), hours(r.wasted), percent(r.allocated, use.total.allocated)});
  line("th", {"total", hours(use.total.allocated), hours(use.total.used()), hours(use.total.wasted), ""});
  return out + "</table>\n<p>The cluster had " + hours(use.reported) + " GPU-hours: " + hours(use.idle) + " were idle, " + hours(use.down) +
         " down.</p>\n</body></html>\n";
}

}  // namespace muster::front
