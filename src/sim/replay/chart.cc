#include "sim/replay/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/replay/figures.h"

namespace muster::sim::replay {
namespace {

constexpr double kWidth = 440, kHeight = 230, kLeft = 46, kLeftOfRows = 112, kRight = 12, kTop = 10, kBottom = 26;
constexpr double kRow = 15, kBetween = 9;
constexpr size_t kLongestLabel = 15;

std::string n(double x) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f", x);
  return out;
}

std::string open(const std::string& told, double height) {
  return "<svg viewBox=\"0 0 " + n(kWidth) + " " + n(height) + "\" role=\"img\" aria-label=\"" + escape_html(told) + "\">\n";
}

std::string line(const char* style, double x1, double y1, double x2, double y2) {
  return std::string("<line class=\"") + style + "\" x1=\"" + n(x1) + "\" y1=\"" + n(y1) + "\" x2=\"" + n(x2) + "\" y2=\"" + n(y2) +
         "\"/>\n";
}

std::string text(const char* anchor, double x, double y, const std::string& what) {
  return std::string("<text text-anchor=\"") + anchor + "\" x=\"" + n(x) + "\" y=\"" + n(y) + "\">" + escape_html(what) + "</text>\n";
}

std::string title(const std::string& told) { return told.empty() ? "" : "<title>" + escape_html(told) + "</title>"; }

std::string vertical_grid(const Axis& x, double left, double top, double bottom) {
  std::string out;
  const double width = kWidth - kRight - left;
  for (const auto& [value, name] : x.ticks) {
    const double at = left + width * x.place(value);
    out += line("grid", at, top, at, bottom);
    const char* anchor = at > kWidth - kRight - 14 ? "end" : at < left + 4 && left < kLeftOfRows ? "start" : "middle";
    out += text(anchor, at, bottom + 16, name);
  }
  return out;
}

// A label at the left, cut where it is too long and then told in whole.
std::string row_label(double y, const std::string& label) {
  std::string shown = label;
  if (shown.size() > kLongestLabel) {
    size_t end = kLongestLabel - 1;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;  // not within a character
    shown = shown.substr(0, end) + "…";
  }
  return "<text text-anchor=\"end\" x=\"" + n(kLeftOfRows - 7) + "\" y=\"" + n(y + 4) + "\">" + title(label) + escape_html(shown) +
         "</text>\n";
}

template <class Draw>
std::string row_chart(const std::string& told, const Axis& across, const std::vector<ChartRow>& rows, Draw draw) {
  double height = kTop;
  for (const ChartRow& r : rows) height += kRow * static_cast<double>(std::max<size_t>(1, r.marks.size())) + kBetween;
  std::string out = open(told, height + kBottom);
  out += vertical_grid(across, kLeftOfRows, kTop, height);
  const double width = kWidth - kRight - kLeftOfRows;
  auto at = [&](double value) { return kLeftOfRows + width * across.place(value); };
  double y = kTop + kBetween / 2;
  for (const ChartRow& r : rows) {
    const double tall = kRow * static_cast<double>(std::max<size_t>(1, r.marks.size()));
    out += row_label(y + tall / 2, r.label);
    for (size_t i = 0; i < r.marks.size(); ++i) out += draw(r.marks[i], at, y + kRow * static_cast<double>(i));
    if (r.target >= 0) out += line("target", at(r.target), y - 2, at(r.target), y + tall + 2);
    y += tall + kBetween;
  }
  return out + line("axis", kLeftOfRows, kTop, kLeftOfRows, height) + "</svg>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

double Axis::place(double value) const {
  if (!log) return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0;
  return std::clamp(std::log(std::max(value, low) / low) / std::log(high / low), 0.0, 1.0);
}

Axis span_axis(double most) {
  const std::pair<double, const char*> kAll[] = {{1, "≤1s"},    {10, "10s"},   {60, "1m"},     {600, "10m"},     {3600, "1h"},
                                                 {21600, "6h"}, {86400, "1d"}, {604800, "1w"}, {2592000, "30d"}, {31536000, "1y"}};
  Axis a{1, 60, true, {}};
  for (auto [value, name] : kAll) {
    a.ticks.emplace_back(value, name);
    a.high = std::max(a.high, value);
    if (value >= most && value >= 60) break;
  }
  return a;
}

Axis part_axis(double most) {
  Axis a{0, most > 1 ? most : most > 0.5 ? 1 : most > 0.25 ? 0.5 : 0.25, false, {}};
  for (int i = 0; i <= 4; ++i) a.ticks.emplace_back(a.high * i / 4, number_text(100 * a.high * i / 4, a.high < 0.3 && i % 2 ? 1 : 0) + "%");
  return a;
}

Axis count_axis(double most) {
  double step = 1;
  const double kSteps[] = {1, 2, 2.5, 5, 10};
  const double power = std::pow(10, std::floor(std::log10(std::max(most, 4.0) / 4)));
  for (double s : kSteps)
    if ((step = std::max(1.0, s * power)) * 4 >= most) break;
  Axis a{0, step * 4, false, {}};
  for (int i = 0; i <= 4; ++i) a.ticks.emplace_back(step * i, number_text(step * i, 0));
  return a;
}

std::string curve_chart(const std::string& told, const Axis& across, const Axis& up, const std::vector<Curve>& curves) {
  const double width = kWidth - kLeft - kRight, height = kHeight - kTop - kBottom, bottom = kTop + height;
  std::string out = open(told, kHeight);
  for (const auto& [value, name] : up.ticks) {
    const double at = bottom - height * up.place(value);
    out += line("grid", kLeft, at, kWidth - kRight, at) + text("end", kLeft - 6, at + 4, name);
  }
  out += vertical_grid(across, kLeft, kTop, bottom);
  for (const Curve& curve : curves) {
    std::string path;
    double last = kLeft;
    for (const auto& [px, py] : curve.points) {
      last = kLeft + width * across.place(px);
      path += (path.empty() ? "M" : "L") + n(last) + " " + n(bottom - height * up.place(py));
    }
    if (path.empty()) continue;
    if (curve.filled)
      out += "<path class=\"fill " + curve.style + "\" d=\"" + path + "L" + n(last) + " " + n(bottom) + "L" +
             n(kLeft + width * across.place(curve.points[0].first)) + " " + n(bottom) + "Z\"/>\n";
    out += "<path class=\"curve " + curve.style + "\" d=\"" + path + "\"/>\n";
  }
  return out + line("axis", kLeft, bottom, kWidth - kRight, bottom) + "</svg>\n";
}

std::string bar_chart(const std::string& told, const Axis& x, const std::vector<ChartRow>& rows) {
  return row_chart(told, x, rows, [](const Mark& m, auto at, double y) {
    return "<rect class=\"bar " + m.style + "\" x=\"" + n(kLeftOfRows) + "\" y=\"" + n(y + 2) + "\" width=\"" +
           n(std::max(at(m.value) - kLeftOfRows, 0.5)) + "\" height=\"" + n(kRow - 4) + "\" rx=\"2\">" + title(m.told) + "</rect>\n";
  });
}

std::string range_chart(const std::string& told, const Axis& x, const std::vector<ChartRow>& rows) {
  return row_chart(told, x, rows, [](const Mark& m, auto at, double y) {
    const double middle = y + kRow / 2;
    return "<g class=\"range " + m.style + "\">" + title(m.told) + "<line x1=\"" + n(at(m.from)) + "\" x2=\"" + n(at(m.to)) + "\" y1=\"" +
           n(middle) + "\" y2=\"" + n(middle) + "\"/><line class=\"end\" x1=\"" + n(at(m.to)) + "\" x2=\"" + n(at(m.to)) + "\" y1=\"" +
           n(middle - 4) + "\" y2=\"" + n(middle + 4) + "\"/><circle cx=\"" + n(at(m.value)) + "\" cy=\"" + n(middle) +
           "\" r=\"4\"/><circle class=\"hollow\" cx=\"" + n(at(m.from)) + "\" cy=\"" + n(middle) + "\" r=\"3\"/></g>\n";
  });
}

}  // namespace muster::sim::replay
