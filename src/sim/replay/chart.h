// Charts as SVG text: curves, ranges and bars, in the style classes of the HTML report ("a", "b", "grid", "axis" …). Made for a width of 440 units, so that text is
// readable where the page is as narrow as a phone. Numbers come in units of their axes; what lies outside is drawn at the edge. Pure.
#pragma once

#include <string>
#include <vector>

namespace muster::sim::replay {

std::string escape_html(std::string_view text);

struct Axis {
  double low = 0, high = 1;
  bool log = false;  // then low > 0, and what is lower counts as low
  std::vector<std::pair<double, std::string>> ticks;
  double place(double value) const;  // 0 to 1
};

// Ticks of an axis of spans of time in seconds, logarithmic, from a second to `most`.
Axis span_axis(double most);
// 0 to 1, in percent.
Axis part_axis(double most = 1);
// 0 to `most`, rounded up, in about four steps.
Axis count_axis(double most);

struct Curve {
  std::string style;  // class
  std::vector<std::pair<double, double>> points;
  bool filled = false;
};
std::string curve_chart(const std::string& told, const Axis& across, const Axis& up, const std::vector<Curve>& curves);

struct Mark {  // of one configuration in a row: a bar to `value`, or a line from `from` to `to` with a dot at `value`
  std::string style, told;
  double value = 0, from = 0, to = 0;
};
struct ChartRow {
  std::string label;
  std::vector<Mark> marks;
  double target = -1;  // a vertical stroke; < 0: none
};
std::string bar_chart(const std::string& told, const Axis& x, const std::vector<ChartRow>& rows);
std::string range_chart(const std::string& told, const Axis& x, const std::vector<ChartRow>& rows);

}  // namespace muster::sim::replay
