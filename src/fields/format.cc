#include "fields/format.h"

#include <ctime>

#include "base/plain_text.h"
#include "base/text.h"
#include "fields/priority_fields.h"
#include "fields/sinfo_view.h"

namespace muster::fields {
namespace {

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

// The name of each table in messages about an unknown type of -o, and the separators of its "%all".
template <class View>
struct Kind;
template <>
struct Kind<JobView> {
  static constexpr std::string_view what = "job";
  static constexpr std::string_view between = "|", between_upper = "|", last = "";
};
template <>
struct Kind<StepView> {
  static constexpr std::string_view what = "job step";
  static constexpr std::string_view between = "|", between_upper = "|", last = "|";
};
template <>
struct Kind<SinfoView> {
  static constexpr std::string_view what = "node";
  static constexpr std::string_view between = "|", between_upper = " |", last = " ";
};
template <>
struct Kind<PriorityView> {
  static constexpr std::string_view what = "job";
  static constexpr std::string_view between = "|", between_upper = "|", last = "";
};

// sprio leaves an unknown piece out; squeue and sinfo print it as it stands.
template <class View>
constexpr bool prints_unknown_pieces() {
  return !std::is_same_v<View, PriorityView>;
}

// Fits the text appended since `start` into the column.
void fit(std::string& out, size_t start, uint32_t width, bool right, bool keep_whole, bool keep_star) {
  if (!width) return;
  size_t printed = out.size() - start;
  if (printed > width) {
    if (right && keep_whole) return;
    bool star = keep_star && out.back() == '*';
    bool null_text = !right && width < 6 && printed == 6 && std::string_view(out).substr(start) == "(null)";
    out.resize(start + width);
    if (star) out.back() = '*';
    if (null_text) out.replace(start, width, width, ' ');  // as printf does for "%-3.3s" of a null pointer
  } else if (printed < width) {
    if (right) out.insert(start, width - printed, ' ');
    else out.append(width - printed, ' ');
  }
}

struct Size {
  bool right = false;
  uint32_t width = 0;
};

// Takes "[.][digits]" off the front of `s`.
Size take_size(std::string_view& s) {
  Size size;
  if (!s.empty() && s[0] == '.') {
    size.right = true;
    s.remove_prefix(1);
  }
  while (!s.empty() && digit(s[0])) {
    size.width = std::min(kMaxWidth, size.width * 10 + static_cast<uint32_t>(s[0] - '0'));
    s.remove_prefix(1);
  }
  return size;
}

template <class View>
void add_all(Format<View>& format) {
  auto add = [&](char letter) {
    const FieldRow<View>* f = field_by_letter<View>(letter);
    if (!f) return;
    bool upper = letter <= 'Z';
    std::string_view suffix = upper ? Kind<View>::between_upper : Kind<View>::between;
    format.columns.push_back({.field = f, .width = 0, .right = false, .long_header = false, .suffix = std::string(suffix)});
  };
  for (char c = 'a'; c <= 'z'; ++c) add(c);
  for (char c = 'A'; c <= 'Z'; ++c) add(c);
  if (!format.columns.empty()) format.columns.back().suffix = Kind<View>::last;
}

}  // namespace

template <class View>
void Format<View>::header(std::string& out) const {
  out += prefix;
  for (const Column<View>& c : columns) {
    if (c.field) {
      size_t start = out.size();
      out += c.long_header && !c.field->long_header.empty() ? c.field->long_header : c.field->header;
      fit(out, start, c.width, c.right, c.field->cut & kWideHeader, false);
    }
    out += c.suffix;
  }
  out += '\n';
}

template <class View>
void Format<View>::row(const View& view, std::string& out) const {
  out += prefix;
  for (const Column<View>& c : columns) {
    if (c.field) {
      size_t start = out.size();
      print_field(*c.field, view, out);
      make_plain(out, start);
      fit(out, start, c.width, c.right, c.field->cut & kWideValue, c.field->cut & kKeepStar);
    }
    out += c.suffix;
  }
  out += '\n';
}

template <class View>
bool Format<View>::has(char letter) const {
  for (const Column<View>& c : columns)
    if (c.field && c.field->letter == letter) return true;
  return false;
}

template <class View>
bool Format<View>::has(std::string_view long_name) const {
  for (const Column<View>& c : columns)
    if (c.field && iequals(c.field->name, long_name)) return true;
  return false;
}

template <class View>
uint32_t Format<View>::parts() const {
  uint32_t bits = 0;
  for (const Column<View>& c : columns)
    if (c.field) bits |= c.field->parts;
  return bits;
}

template <class View>
ParsedFormat<View> parse_format(std::string_view text) {
  ParsedFormat<View> out;
  if (text == "%all") {
    add_all(out.format);
    return out;
  }
  size_t at = text.find('%');
  out.format.prefix = text.substr(0, at);
  while (at < text.size() && out.format.columns.size() < kMaxColumns) {
    size_t end = std::min(text.find('%', at + 1), text.size());
    std::string_view piece = text.substr(at + 1, end - at - 1);
    std::string_view whole = text.substr(at, end - at);
    at = end;
    if (piece.empty()) continue;  // "%%", or a last "%"
    Size size = take_size(piece);
    Column<View> column;
    column.field = piece.empty() ? nullptr : field_by_letter<View>(piece[0]);
    if (column.field) {
      column.width = size.width;
      column.right = size.right;
      column.suffix = piece.substr(1);
    } else {
      out.messages.push_back("Invalid " + std::string(Kind<View>::what) + " format specification: " + std::string(piece.substr(0, 1)));
      if constexpr (!prints_unknown_pieces<View>()) continue;
      column.suffix = whole;
    }
    out.format.columns.push_back(std::move(column));
  }
  return out;
}

template <class View>
ParsedFormat<View> parse_long_format(std::string_view text) {
  ParsedFormat<View> out;
  constexpr std::string_view what = std::is_same_v<View, StepView> ? "job step" : "job";  // sinfo says job as well
  for (std::string_view piece : split(text, ',')) {
    if (out.format.columns.size() >= kMaxColumns) break;
    size_t colon = piece.find(':');
    std::string_view name = piece.substr(0, colon);
    if (std::is_same_v<View, SinfoView> && iequals(name, "all")) {
      add_all(out.format);
      continue;
    }
    Column<View> column;
    column.width = kDefaultLongWidth;
    column.long_header = true;
    column.field = field_by_name<View>(trim(name));
    if (!column.field) {
      out.messages.push_back("Invalid " + std::string(what) + " format specification: " + std::string(name));
      continue;
    }
    if (colon != std::string_view::npos) {
      std::string_view rest = piece.substr(colon + 1);
      Size size = take_size(rest);
      column.width = size.width;
      column.right = size.right;
      column.suffix = rest;
    }
    out.format.columns.push_back(std::move(column));
  }
  return out;
}

std::string date_line(Time now) {
  auto clock = static_cast<time_t>(unix_seconds(now));
  std::tm local{};
  char text[64];
  if (!localtime_r(&clock, &local)) return "\n";
  size_t n = std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y\n", &local);
  return std::string(text, n);
}

template class Format<JobView>;
template class Format<StepView>;
template class Format<SinfoView>;
template class Format<PriorityView>;
template ParsedFormat<JobView> parse_format<JobView>(std::string_view);
template ParsedFormat<StepView> parse_format<StepView>(std::string_view);
template ParsedFormat<SinfoView> parse_format<SinfoView>(std::string_view);
template ParsedFormat<PriorityView> parse_format<PriorityView>(std::string_view);
template ParsedFormat<JobView> parse_long_format<JobView>(std::string_view);
template ParsedFormat<StepView> parse_long_format<StepView>(std::string_view);
template ParsedFormat<SinfoView> parse_long_format<SinfoView>(std::string_view);

}  // namespace muster::fields
