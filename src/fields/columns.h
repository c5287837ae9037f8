// The tables of the accounting commands: columns named in a list ("jobid,jobname%-20,state"), a header, a rule of dashes below it, and
// values fitted into their columns, or everything between delimiters. sacct(1) --format, sacctmgr(1) format=. The columns there are: the
// tables of record_view.h and entity_view.h. squeue and sinfo have other rules: format.h.
//
// A name stands for the column of that name, in any case of letters, else for the first column of the table that begins with it. "%N" sets
// the width, a minus puts the value to the left. A value that is too wide is cut and ends in '+'; times are cut without it, numbers are not
// cut. Cost: a row appends to the caller's buffer; a value is written into it and shifted in place.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain_text.h"
#include "base/result.h"
#include "base/text.h"
#include "fields/field_table.h"

namespace muster::fields {

enum class Fit : uint8_t { kMarked, kCut, kWhole };

template <class ViewOf>
struct ColumnField {
  using View = ViewOf;
  std::string_view name;  // as --helpformat lists it
  std::string_view header;
  int16_t width;  // below 0: to the left
  Fit fit;
  FieldStatus status;
  std::string_view doc;
  void (*text)(const View&, std::string& out);  // appends
  std::string_view aliases = "";                // other names, with blanks; not listed
  std::string_view needs = "";                  // kConstant: the feature that will fill it; "": nothing will
  std::string_view none = "";                   // stands for a value of which `text` prints nothing
  bool (*there)(const View&) = nullptr;         // whether the view has that of which this is a value; if not, `none` is not printed
};

// Tables are constants, so they are put together when the program is made.
template <class Row, size_t kFirst, size_t kSecond>
consteval std::array<Row, kFirst + kSecond> together(const std::array<Row, kFirst>& first, const std::array<Row, kSecond>& second) {
  std::array<Row, kFirst + kSecond> all{};
  std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
  return all;
}
template <class Row, size_t kCount>
consteval std::array<Row, kCount> by_name(std::array<Row, kCount> table) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::ranges::sort(table,
                    [&](const Row& a, const Row& b) { return std::ranges::lexicographical_compare(a.name, b.name, {}, lower, lower); });
  return table;
}

struct TableStyle {
  enum class Form : uint8_t { kAligned, kEnded, kSeparated } form = Form::kAligned;  // -, -p, -P
  std::string delimiter = "|";
  bool header = true;
};

inline constexpr int kMaxColumnWidth = 4096;

// Splits a text such as "jobname%-20" into its parts. kInvalidReq for a width that is no number or above kMaxColumnWidth.
struct ColumnText {
  std::string_view name;
  std::optional<int16_t> width;
};
Result<ColumnText> parse_column(std::string_view text);

// Fits the text appended to `out` since `from` into `width` columns and puts a blank after it.
void fit_value(std::string& out, size_t from, int16_t width, Fit fit);
// The list that --helpformat prints, four names in a line, each `width` wide: "Account             AdminComment …".
std::string column_help(std::span<const std::string_view> names, size_t width = 19);
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& field : table) names.push_back(field.name);
  return names;
}

template <class View>
const ColumnField<View>* find_column(std::span<const ColumnField<View>> table, std::string_view name) {
  for (const auto& f : table) {
    if (iequals(f.name, name)) return &f;
    for (std::string_view alias : split(f.aliases, ' '))
      if (iequals(alias, name)) return &f;
  }
  for (const auto& f : table)
    if (istarts_with(f.name, name)) return &f;
  return nullptr;
}

template <class View>
class Table {
 public:
  explicit Table(TableStyle style = {}) : style_(std::move(style)) {}

  void add(const ColumnField<View>& field, std::optional<int16_t> width = {}) { columns_.push_back({&field, width.value_or(field.width)}); }
  // Adds the columns of a list of names. A name nobody knows gives kInvalidReq; the error's text is that name, the hint the one probably
  // meant. `unlisted`: names that are understood, too, but never offered.
  Result<> add(std::span<const ColumnField<View>> table, std::string_view list, std::span<const ColumnField<View>> unlisted = {}) {
    for (std::string_view part : split(list, ',')) {
      MUSTER_TRY(column, parse_column(trim(part)));
      const ColumnField<View>* field = find_column(table, column.name);
      if (!field) field = find_column(unlisted, column.name);
      if (!field) return unknown(table, column.name);
      add(*field, column.width);
    }
    return {};
  }
  bool empty() const { return columns_.empty(); }

  // Prints the names and, for aligned columns, the rule; nothing when the style has no header.
  void header(std::string& out) const {
    if (!style_.header) return;
    line(
        out, [](const Column& c, std::string& o) { o += c.field->header; }, true);
    if (style_.form != TableStyle::Form::kAligned) return;
    for (const Column& c : columns_) out.append(static_cast<size_t>(c.width < 0 ? -c.width : c.width), '-') += ' ';
    out += '\n';
  }
  void row(const View& view, std::string& out) const {
    line(
        out, [&](const Column& c, std::string& o) { print_field(*c.field, view, o); }, false);
  }

 private:
  struct Column {
    const ColumnField<View>* field;
    int16_t width;
  };

  static Result<> unknown(std::span<const ColumnField<View>> table, std::string_view name) {
    std::string_view near = did_you_mean(name, names_of(table));
    return fail(Errc::kInvalidReq, std::string(name), near.empty() ? "" : "did you mean " + std::string(near) + "?");
  }

  void line(std::string& out, auto&& value, bool names) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t from = out.size();
      if (style_.form != TableStyle::Form::kAligned && i > 0) out += style_.delimiter;
      const size_t start = out.size();
      value(columns_[i], out);
      make_plain(out, start);
      if (style_.form != TableStyle::Form::kAligned) continue;
      fit_value(out, from, columns_[i].width, names ? Fit::kCut : columns_[i].field->fit);
    }
    if (style_.form == TableStyle::Form::kEnded) out += style_.delimiter;
    out += '\n';
  }

  TableStyle style_;
  std::vector<Column> columns_;
};

}  // namespace muster::fields
