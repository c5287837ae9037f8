#include "muster/report_words.h"

#include <algorithm>

#include "base/text.h"
#include "model/usage_time.h"

namespace muster::front {
namespace {

struct FormName {
  std::string_view option;
  ReportForm form;
};
constexpr FormName kForms[] = {
    {"--csv", ReportForm::kCsv}, {"--json", ReportForm::kJson}, {"--svg", ReportForm::kSvg}, {"--html", ReportForm::kHtml}};

std::string choices(const ReportShape& shape, std::string_view between) { return fmt::format("{}", fmt::join(shape.by, between)); }

std::string synopsis(const ReportShape& shape) {
  std::string forms;
  for (const FormName& f : kForms)
    if (f.form <= shape.last) forms += (forms.empty() ? "" : "|") + std::string(f.option);
  return fmt::format("muster report {} --by {} [--month 2026-10{}] [{}]", shape.name, choices(shape, "|"),
                     shape.any_period ? "|--start TIME --end TIME" : "", forms);
}

// "2026-10": that month of the local calendar.
Result<Time> month_of(std::string_view text) {
  const bool shaped = text.size() == 7 && text[4] == '-';
  const auto year = shaped ? parse_number<int>(text.substr(0, 4), 1970, 9998) : std::nullopt;
  const auto month = shaped ? parse_number<int>(text.substr(5), 1, 12) : std::nullopt;
  if (!year || !month) return fail(Errc::kInvalidTime, "--month " + std::string(text) + ": no month", "a month is written 2026-10");
  MUSTER_TRY(day, parse_time_point(std::string(text) + "-01", Time{}));
  return period_begin(UsagePeriod::kMonth, day);
}

Result<> set_by(const ReportShape& shape, std::string_view value, ReportWords& words) {
  const auto by = std::ranges::find(shape.by, value);
  if (by == shape.by.end())
    return fail(Errc::kBadOption,
                fmt::format("--by {}: {} or {}", value, fmt::join(shape.by.first(shape.by.size() - 1), ", "), shape.by.back()));
  words.by = static_cast<size_t>(by - shape.by.begin());
  return {};
}

Result<> set_value(const ReportShape& shape, std::string_view option, std::string_view value, Time now, ReportWords& words) {
  if (option == "--by") return set_by(shape, value, words);
  if (option == "--month") {
    MUSTER_TRY(month, month_of(value));
    words.from = month;
    words.until = period_after(UsagePeriod::kMonth, month);
    return {};
  }
  auto point = parse_time_point(value, now, ClockRule::kThisDayOrYear);
  if (!point)
    return fail(Errc::kInvalidTime, fmt::format("{} {}: no time", option, value), "a time is written 2026-10-01 or 2026-10-01T12:00");
  (option == "--start" ? words.from : words.until) = *point;
  return {};
}

bool takes_value(const ReportShape& shape, std::string_view option) {
  if (option == "--by" || option == "--month") return true;
  return shape.any_period && (option == "--start" || option == "--end");
}

}  // namespace

Result<ReportWords> parse_report_words(const ReportShape& shape, std::span<const std::string> arguments, Time now) {
  ReportWords words;
  words.from = period_begin(UsagePeriod::kMonth, now);
  words.until = period_after(UsagePeriod::kMonth, words.from);
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string& word = arguments[index];
    const auto* form = std::ranges::find(kForms, std::string_view(word), &FormName::option);
    if (form != std::end(kForms) && form->form <= shape.last) {
      words.form = form->form;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string_view option = std::string_view(word).substr(0, equals);
    if (!takes_value(shape, option))
      return fail(Errc::kBadOption, fmt::format("{}: unknown option '{}'", shape.name, word), synopsis(shape));
    if (equals == word.npos && index + 1 == arguments.size())
      return fail(Errc::kBadOption, fmt::format("{}: {} needs a value", shape.name, word));
    const std::string_view value = equals == word.npos ? std::string_view(arguments[++index]) : std::string_view(word).substr(equals + 1);
    MUSTER_TRY_VOID(set_value(shape, option, value, now, words));
  }
  if (words.from >= words.until)
    return fail(Errc::kInvalidTime,
                fmt::format("{}: nothing lies between {} and {}", shape.name, format_time(words.from), format_time(words.until)),
                "--end must be after --start");
  return words;
}

std::string padded(std::string text, int width) {
  const auto want = static_cast<size_t>(width < 0 ? -width : width);
  const std::string blanks(text.size() < want ? want - text.size() : 0, ' ');
  return width < 0 ? text + blanks : blanks + text;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (char c : text) out.append(c == '"' ? "\"\"" : std::string(1, c));
  return out + "\"";
}

}  // namespace muster::front
