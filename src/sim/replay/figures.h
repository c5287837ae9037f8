// Figures of one or two reports side by side, as texts in tables: what the text and the HTML report print alike. Pure.
#pragma once

#include <string>
#include <vector>

#include "sim/replay/report.h"

namespace muster::sim::replay {

std::string span_text(double seconds);            // "0 s", "45 s", "12.5 min", "3.4 h", "2.1 d"
std::string count_text(uint64_t n);               // "12,345"
std::string number_text(double x, int decimals);  // "12,345.6"
std::string percent_text(double part);            // "81.3 %"

struct FigureRow {
  std::string label;
  std::vector<std::string> values;  // one for each report, and the change where there are two
  bool heading = false;
};
struct FigureTable {
  std::string title, note;
  std::vector<std::string> columns;  // the first is the label's
  std::vector<FigureRow> rows;
};

using Reports = std::vector<const Report*>;  // one or two

FigureTable summary_table(const Reports& reports);
// A table for each grouping (size, account, partition, QOS) that has more than one group.
std::vector<FigureTable> group_tables(const Reports& reports);
FigureTable account_table(const Reports& reports);

}  // namespace muster::sim::replay
