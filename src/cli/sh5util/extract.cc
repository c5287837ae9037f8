#include "cli/sh5util/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace muster::cli {
namespace {

constexpr std::string_view kTasks = "Tasks/";

// A table and where it was found.
struct Found {
  std::string step, node, series;
  Table table;
  std::string item = {};  // the column that is asked for, as this table spells it
  bool of_task() const { return series.starts_with(kTasks); }
  std::string task() const { return series.substr(kTasks.size()); }
};

bool is_meant(const std::string& series, const std::string& asked) {
  if (asked.empty()) return true;
  if (iequals(asked, "Task") || iequals(asked, "Tasks")) return series.starts_with(kTasks);
  if (istarts_with(asked, "Task_")) return series == std::string(kTasks) + asked.substr(5);
  return iequals(series, asked);
}

Error not_found(const Extraction& how) { return Error(Errc::kNotFound, "Series " + how.series + " not found"); }

// Calls `each` with all tables that are meant, one after the other: steps, their nodes, the nodes' series.
Result<> each_table(const JobFile& file, const Extraction& how, const std::function<Result<>(Found&&)>& each) {
  bool any = false;
  for (const std::string& step : file.steps()) {
    if (!how.wanted.wants(step)) continue;
    for (const std::string& node : file.nodes(step)) {
      if (!how.node.empty() && node != how.node) continue;
      for (const std::string& series : file.series(step, node)) {
        if (!is_meant(series, how.series)) continue;
        MUSTER_TRY(table, file.read(step, node, series));
        any = true;
        MUSTER_TRY_VOID(each({step, node, series, std::move(table)}));
      }
    }
  }
  return any ? Result<>() : std::unexpected(not_found(how));
}

void put_value(const Column& column, size_t row, std::string& out) {
  if (column.real) fmt::format_to(std::back_inserter(out), ",{:.6f}", column.fractions[row]);
  else fmt::format_to(std::back_inserter(out), ",{}", column.whole[row]);
}

struct Sum {
  double fraction = 0;
  uint64_t whole = 0;
  size_t count = 0;
  void add(const Column& column, size_t row) {
    fraction += column.value(row);
    if (!column.real) whole += column.whole[row];
    ++count;
  }
  void put(bool real, std::string& out) const {
    if (real) fmt::format_to(std::back_inserter(out), ",{:.6f}", fraction);
    else fmt::format_to(std::back_inserter(out), ",{}", whole);
    fmt::format_to(std::back_inserter(out), ",{:.6f}", count ? fraction / static_cast<double>(count) : 0);
  }
};

bool is_time(const Column& column) { return column.name == "ElapsedTime"; }

std::string heading_of(const Found& found, bool time_series) {
  std::string out = found.of_task() ? "Step,Node,Series" : "Step,Node";
  for (const Column& column : found.table.columns) {
    if (time_series || is_time(column)) (out += ",") += column.name;
    else out += fmt::format(",Min_{0},Max_{0},Sum_{0},Avg_{0}", column.name);
  }
  return out + "\n";
}

std::string place_of(const Found& found) { return found.step + "," + found.node + (found.of_task() ? "," + found.task() : std::string()); }

void put_rows(const Found& found, std::string& out) {
  for (size_t row = 0; row < found.table.rows(); ++row) {
    out += place_of(found);
    for (const Column& column : found.table.columns) put_value(column, row, out);
    out += '\n';
  }
}

// How long it went on, then of each column the least, the most, the sum and the average.
void put_totals(const Found& found, std::string& out) {
  const size_t rows = found.table.rows();
  if (rows == 0) return;
  out += place_of(found);
  for (const Column& column : found.table.columns) {
    if (is_time(column)) {
      put_value(column, rows - 1, out);
      continue;
    }
    size_t least = 0, most = 0;
    Sum sum;
    for (size_t row = 0; row < rows; ++row) {
      if (column.value(row) < column.value(least)) least = row;
      if (column.value(row) > column.value(most)) most = row;
      sum.add(column, row);
    }
    put_value(column, least, out);
    put_value(column, most, out);
    sum.put(column.real, out);
  }
  out += '\n';
}

// ---- one item
// The same column of all tables of a step.
struct ItemOfStep {
  std::string step, item;
  std::vector<Found> tables;
};

std::string column_heading(const Found& found) { return (found.of_task() ? "Task_" + found.task() : found.series) + " " + found.node; }

std::string item_heading(const ItemOfStep& of) {
  std::string out =
      "Step,ElaspedTime,MinNode,MinValue,MaxNode,MaxValue,Sum,Avg,NumNodes";  // spelt as Slurm does, for those who look for it
  for (const Found& found : of.tables) (out += ",") += column_heading(found);
  return out + "\n";
}

// One sample: the least and the most of the tables that have it, with all values. Gives the sum.
double put_sample(const ItemOfStep& of, size_t row, std::string& out, uint64_t& elapsed, size_t& count) {
  const Found *least = nullptr, *most = nullptr;
  Sum sum;
  std::string values;
  const auto column_of = [&](const Found& found) -> const Column& { return *found.table.find(found.item); };
  for (const Found& found : of.tables) {
    if (row >= found.table.rows()) {
      values += ',';
      continue;
    }
    const Column& column = column_of(found);
    if (!least || column.value(row) < column_of(*least).value(row)) least = &found;
    if (!most || column.value(row) > column_of(*most).value(row)) most = &found;
    if (const Column* time = found.table.find("ElapsedTime"); time && sum.count == 0 && !time->real) elapsed = time->whole[row];
    sum.add(column, row);
    put_value(column, row, values);
  }
  (out += of.step) += "," + std::to_string(elapsed) + "," + least->node;
  put_value(column_of(*least), row, out);
  (out += ",") += most->node;
  put_value(column_of(*most), row, out);
  sum.put(column_of(*least).real, out);
  out += "," + std::to_string(sum.count) + values + "\n";
  count = sum.count;
  return sum.fraction;
}

void put_item(const ItemOfStep& of, std::string& heading, ItemExtraction& out) {
  size_t rows = 0, count = 0, nodes = 1;
  for (const Found& found : of.tables) rows = std::max(rows, found.table.rows());
  if (std::string own = item_heading(of); own != heading) out.lines += heading = std::move(own);
  double most = -1;
  uint64_t elapsed = 0, when = 0;
  for (size_t row = 0; row < rows; ++row) {
    const double sum = put_sample(of, row, out.lines, elapsed, count);
    if (sum <= most) continue;
    most = sum;
    when = elapsed;
    nodes = count;
  }
  if (rows == 0) return;
  const Column* column = of.tables.front().table.find(of.tables.front().item);
  const std::string value = column->real ? fmt::format("{:.6f}", most) : fmt::format("{:.0f}", most);
  out.summary.push_back(fmt::format("    Step {} Maximum accumulated {} Value ({}) occurred at Time={}, Ave Node {:.6f}", of.step, of.item,
                                    value, when, most / static_cast<double>(nodes)));
}

}  // namespace

Result<std::string> extract_series(const JobFile& file, const Extraction& how) {
  std::string out, heading;
  MUSTER_TRY_VOID(each_table(file, how, [&](Found&& found) -> Result<> {
    if (std::string own = heading_of(found, how.time_series); own != heading) out += heading = std::move(own);
    how.time_series ? put_rows(found, out) : put_totals(found, out);
    return {};
  }));
  return out;
}

Result<ItemExtraction> extract_item(const JobFile& file, const Extraction& how, const std::string& item) {
  ItemExtraction out;
  ItemOfStep of;
  std::string heading;
  MUSTER_TRY_VOID(each_table(file, how, [&](Found&& found) -> Result<> {
    const std::string name = column_named(found.table, item);
    if (name.empty()) return fail(Errc::kNotFound, "Item " + item + " not found in series " + found.series + " of step " + found.step);
    if (found.step != of.step && !of.tables.empty()) {
      put_item(of, heading, out);
      of.tables.clear();
    }
    of.step = found.step;
    of.item = name;
    found.item = name;
    of.tables.push_back(std::move(found));
    return {};
  }));
  put_item(of, heading, out);
  return out;
}

Result<std::vector<std::string>> list_items(const JobFile& file, const Extraction& how) {
  std::vector<std::string> out;
  MUSTER_TRY_VOID(each_table(file, how, [&](Found&& found) -> Result<> {
    for (const Column& column : found.table.columns)
      if (std::ranges::find(out, column.name) == out.end()) out.push_back(column.name);
    return {};
  }));
  return out;
}

}  // namespace muster::cli
