// What the reports of `muster report` have in common: their options, and numbers and cells as they print them. Pure.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster::front {

enum class ReportForm : uint8_t { kText, kCsv, kJson, kSvg, kHtml };

// What a report offers.
struct ReportShape {
  std::string_view name;
  std::span<const std::string_view> by;  // the words of --by; the first one is the default
  ReportForm last = ReportForm::kHtml;   // the forms up to this one
  bool any_period = false;               // --start and --end, not only whole months
};
struct ReportWords {
  size_t by = 0;  // an index into ReportShape::by
  Time from{}, until{};
  ReportForm form = ReportForm::kText;
};
// Reads "--by user --month 2026-10 --csv"; a value may also follow '='. Without a period it is this month, as far as it has come.
// Errors: kBadOption and kInvalidTime, with the word and the rule.
Result<ReportWords> parse_report_words(const ReportShape& shape, std::span<const std::string> arguments, Time now);

// "2.50".
template <class Number>
std::string hours(Number seconds) {
  return fmt::format("{:.2f}", static_cast<double>(seconds) / 3600);
}
std::string padded(std::string text, int width);  // to the left where the width is negative
std::string csv_field(const std::string& text);   // quoted where it has to be

}  // namespace muster::front
