#include "base/time.h"

#include <charconv>
#include <concepts>
#include <ctime>

#include "base/text.h"

namespace muster {
namespace {

// The two top values mean "not set" and "infinite" in what is exchanged with older tools.
constexpr uint64_t kMostMinutes = 0xfffffffdu;
constexpr uint64_t kMarker = 0xfffffffeu;

std::unexpected<Error> bad_limit(std::string_view text, std::string_view rule) {
  std::string said = "Invalid time limit specification '";
  said.append(text).append("'");
  return fail(Errc::kInvalidTimeLimit, std::move(said), std::string(rule));
}

constexpr std::string_view kForms = "use minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, "
                                    "days-hours:minutes:seconds or UNLIMITED";

struct Parts {
  uint64_t days, hours, minutes, seconds;
};

Parts parts_of(Duration span) {
  auto s = static_cast<uint64_t>(to_seconds(span));
  return {s / 86400, s / 3600 % 24, s / 60 % 60, s % 60};
}

// Builds a printed time digit by digit: lists print several for each job, and snprintf and strftime took a third of a list's time. The
// buffer has room for two 64-bit numbers and the separators.
class Digits {
 public:
  Digits& sign(char c) {
    *at_++ = c;
    return *this;
  }
  Digits& two(uint64_t v) {
    *at_++ = static_cast<char>('0' + v / 10 % 10);
    *at_++ = static_cast<char>('0' + v % 10);
    return *this;
  }
  template <std::integral T>
  Digits& number(T v) {
    at_ = std::to_chars(at_, text_ + sizeof text_, v).ptr;
    return *this;
  }
  std::string text() const { return std::string(text_, static_cast<size_t>(at_ - text_)); }

 private:
  char text_[48];
  char* at_ = text_;
};

}  // namespace

namespace {

// The seconds that a time in the forms above means; nullopt for any other text.
std::optional<uint64_t> seconds_in(std::string_view rest) {
  uint64_t total = 0;  // each part is below 2^32, so no sum or product here can overflow
  auto add = [&total](std::string_view digits, uint64_t unit) {
    auto value = parse_number<uint32_t>(digits);
    total += value.value_or(0) * unit;
    return value.has_value();
  };
  size_t dash = rest.find('-');
  bool days = dash != std::string_view::npos;
  if (days) {
    if (!add(rest.substr(0, dash), 86400)) return std::nullopt;
    rest = rest.substr(dash + 1);
  }
  auto fields = split(rest, ':', true);
  if (fields.size() > 3) return std::nullopt;
  // Slurm accepts "days-" alone. A lone number counts hours after days, and minutes otherwise.
  uint64_t unit = days || fields.size() == 3 ? 3600 : 60;
  for (std::string_view field : fields) {
    if (days && rest.empty()) break;
    if (!add(field, unit)) return std::nullopt;
    unit /= 60;
  }
  return total;
}

}  // namespace

Result<TimeLimit> parse_time_limit(std::string_view text) {
  if (iequals(text, "unlimited") || iequals(text, "infinite") || text == "-1") return TimeLimit{};
  if (auto minutes = parse_number<uint64_t>(text); minutes && (*minutes == kMarker || *minutes == kMarker + 1)) return TimeLimit{};
  const std::optional<uint64_t> total = seconds_in(text);
  if (!total) return bad_limit(text, kForms);
  uint64_t minutes = (*total + 59) / 60;
  if (minutes > kMostMinutes) return bad_limit(text, "the limit is too long; use UNLIMITED");
  return TimeLimit{static_cast<uint32_t>(minutes)};
}

std::optional<Duration> parse_time_span(std::string_view text) {
  const std::optional<uint64_t> total = seconds_in(text);
  if (!total || *total / 60 > kMostMinutes) return std::nullopt;
  return seconds(static_cast<int64_t>(*total));
}

std::string format_span(Duration span) {
  if (span < Duration::zero()) return "INVALID";
  Parts p = parts_of(span);
  Digits d;
  if (p.days) d.number(p.days).sign('-').two(p.hours).sign(':').two(p.minutes);
  else if (p.hours) d.number(p.hours).sign(':').two(p.minutes);
  else d.number(p.minutes);
  return d.sign(':').two(p.seconds).text();
}

std::string format_span_full(Duration span) {
  if (span < Duration::zero()) return "INVALID";
  Parts p = parts_of(span);
  Digits d;
  if (p.days) d.number(p.days).sign('-');
  return d.two(p.hours).sign(':').two(p.minutes).sign(':').two(p.seconds).text();
}

Time add_local_days(Time t, int days) {
  auto clock = static_cast<time_t>(unix_seconds(t));
  std::tm local{};
  if (!localtime_r(&clock, &local)) return t + minutes(int64_t{days} * 24 * 60);
  local.tm_mday += days;
  local.tm_isdst = -1;  // mktime knows whether summer time is in force then
  return from_unix(static_cast<int64_t>(mktime(&local))) + (t - from_unix(unix_seconds(t)));
}

int local_weekday(Time t) {
  auto clock = static_cast<time_t>(unix_seconds(t));
  std::tm local{};
  return localtime_r(&clock, &local) ? local.tm_wday : 0;
}

std::string format_time(Time time, std::string_view unset) {
  if (time == kTimeUnset || time == kTimeInfinite) return std::string(unset);
  // Rounds down also before 1970, so that the printed second is the one in which the moment lies.
  auto clock = static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
  std::tm local{};
  if (!localtime_r(&clock, &local)) return std::string(unset);
  auto two = [](int v) { return static_cast<uint64_t>(v); };
  return Digits()
      .number(int64_t{local.tm_year} + 1900)
      .sign('-')
      .two(two(local.tm_mon + 1))
      .sign('-')
      .two(two(local.tm_mday))
      .sign('T')
      .two(two(local.tm_hour))
      .sign(':')
      .two(two(local.tm_min))
      .sign(':')
      .two(two(local.tm_sec))
      .text();
}

}  // namespace muster
