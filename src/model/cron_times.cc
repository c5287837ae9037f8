#include "model/cron_times.h"

#include <chrono>
#include <ctime>
#include <span>

#include "base/text.h"

namespace muster {
namespace {

using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year_month_day;
using days_type = std::chrono::days;

struct Shortcut {
  std::string_view word, times;
};
constexpr Shortcut kShortcuts[] = {{"@yearly", "0 0 1 1 *"},  {"@annually", "0 0 1 1 *"},   {"@monthly", "0 0 1 * *"},
                                   {"@weekly", "0 0 * * 0"},  {"@daily", "0 0 * * *"},      {"@midnight", "0 0 * * *"},
                                   {"@hourly", "0 * * * *"},  {"@elevenses", "0 11 * * *"}, {"@fika", "0 15 * * *"},
                                   {"@teatime", "0 16 * * *"}};
constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr int kMostDays = 9 * 366;  // 29 February may be eight years away

struct Field {
  const char* name;
  int first, last;
  std::span<const std::string_view> names;  // of `first` and those after it
};
constexpr Field kFields[] = {
    {"minute", 0, 59, {}}, {"hour", 0, 23, {}}, {"day of month", 1, 31, {}}, {"month", 1, 12, kMonths}, {"day of week", 0, 7, kWeekdays}};

std::unexpected<Error> bad(const Field& field, std::string_view text, std::string why) {
  return fail(Errc::kInvalidTime, "Invalid " + std::string(field.name) + " \"" + std::string(text) + "\" in a crontab entry",
              std::move(why));
}

std::optional<int> number_or_name(const Field& field, std::string_view word) {
  for (size_t i = 0; i < field.names.size(); ++i)
    if (iequals(word, field.names[i])) return field.first + static_cast<int>(i);
  return parse_number<int>(word, field.first, field.last);
}

// Sets the values that one piece of a list means: "*", "5", "1-5", each perhaps with "/step".
template <class Set>
Result<> set_piece(const Field& field, std::string_view piece, Set&& set) {
  const size_t slash = piece.find('/');
  const std::string_view range = piece.substr(0, slash);
  int first = field.first, last = field.last, step = 1;
  if (slash != piece.npos) {
    auto n = parse_number<int>(piece.substr(slash + 1), 1, field.last - field.first + 1);
    if (!n) return bad(field, piece, "after / comes a step from 1 to " + std::to_string(field.last - field.first + 1));
    step = *n;
  }
  if (range != "*") {
    const size_t dash = range.find('-');
    auto from = number_or_name(field, range.substr(0, dash));
    auto to = dash == range.npos ? from : number_or_name(field, range.substr(dash + 1));
    if (!from || !to)
      return bad(field, piece, "expected * or numbers from " + std::to_string(field.first) + " to " + std::to_string(field.last));
    if (dash != range.npos && *to <= *from) return bad(field, piece, "the second number of a range must be greater than the first");
    first = *from;
    // "5/10" is every tenth from 5 on.
    last = dash == range.npos && slash != piece.npos ? field.last : *to;
  } else if (field.last == 7) {
    last = 6;  // Sunday is there as 0
  }
  for (int i = first; i <= last; i += step) set(i);
  return {};
}

template <class Set>
Result<> set_field(const Field& field, std::string_view text, Set&& set) {
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view piece = text.substr(at, comma - at);
    if (piece.empty()) return bad(field, text, "a number is missing");
    MUSTER_TRY_VOID(set_piece(field, piece, set));
    at = comma + 1;
  }
  return {};
}

std::string_view next_word(std::string_view& rest) {
  const size_t begin = rest.find_first_not_of(" \t");
  if (begin == rest.npos) return rest = {};
  const size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

tm local(Time t) {
  const time_t seconds = static_cast<time_t>(unix_seconds(t));
  tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

year_month_day date_of(const tm& t) {
  return std::chrono::year(t.tm_year + 1900) / std::chrono::month(static_cast<unsigned>(t.tm_mon + 1)) /
         std::chrono::day(static_cast<unsigned>(t.tm_mday));
}

// The first moment of that local minute. In a gap: the moment at which the clocks go on.
Time moment(year_month_day date, int hour, int minute) {
  tm made{};
  made.tm_year = static_cast<int>(date.year()) - 1900;
  made.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  made.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  made.tm_hour = hour;
  made.tm_min = minute;
  made.tm_isdst = -1;
  const time_t at = mktime(&made);
  if (made.tm_hour == hour && made.tm_min == minute) {
    // Where the minute comes twice, mktime may have given either.
    for (time_t earlier : {at - 3600, at - 1800}) {
      tm then{};
      localtime_r(&earlier, &then);
      if (date_of(then) == date && then.tm_hour == hour && then.tm_min == minute) return from_unix(earlier);
    }
    return from_unix(at);
  }
  // The first minute that is not before what is asked for.
  for (time_t t = at - 3 * 3600; t <= at + 3 * 3600; t += 60) {
    tm then{};
    localtime_r(&t, &then);
    if (date_of(then) == date && then.tm_hour * 60 + then.tm_min >= hour * 60 + minute) return from_unix(t);
  }
  return from_unix(at);
}

// Whether some month has one of the days.
bool comes(const CronTimes& c) {
  if (!c.any_day && !c.any_weekday) return true;  // the weekday alone will do
  constexpr size_t kLast[] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (size_t month = 1; month <= 12; ++month)
    for (size_t day = 1; c.months.test(month) && day <= kLast[month]; ++day)
      if (c.days.test(day)) return true;
  return false;
}

}  // namespace

size_t cron_times_length(std::string_view line) {
  std::string_view rest = line;
  std::string_view word = next_word(rest);
  if (word.starts_with('@')) return line.size() - rest.size();
  for (int i = 0; i < 5; ++i) {
    if (word.empty()) return 0;
    if (i < 4) word = next_word(rest);
  }
  return line.size() - rest.size();
}

Result<CronTimes> CronTimes::parse(std::string_view text) {
  std::string_view rest = trim(text);
  if (rest.starts_with('@')) {
    const Shortcut* known = nullptr;
    for (const Shortcut& s : kShortcuts)
      if (iequals(rest, s.word)) known = &s;
    if (!known)
      return fail(Errc::kInvalidTime, "Unknown interval \"" + std::string(rest) + "\" in a crontab entry",
                  "there are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @elevenses, @fika and @teatime");
    rest = known->times;
  }
  std::string_view words[5];
  for (std::string_view& word : words) word = next_word(rest);
  if (words[4].empty() || !trim(rest).empty())
    return fail(Errc::kInvalidTime, "Invalid times \"" + std::string(text) + "\" in a crontab entry",
                "expected five fields: minute, hour, day of month, month, day of week");
  CronTimes out;
  MUSTER_TRY_VOID(set_field(kFields[0], words[0], [&](int i) { out.minutes.set(static_cast<size_t>(i)); }));
  MUSTER_TRY_VOID(set_field(kFields[1], words[1], [&](int i) { out.hours.set(static_cast<size_t>(i)); }));
  MUSTER_TRY_VOID(set_field(kFields[2], words[2], [&](int i) { out.days.set(static_cast<size_t>(i)); }));
  MUSTER_TRY_VOID(set_field(kFields[3], words[3], [&](int i) { out.months.set(static_cast<size_t>(i)); }));
  MUSTER_TRY_VOID(set_field(kFields[4], words[4], [&](int i) { out.weekdays.set(static_cast<size_t>(i % 7)); }));
  out.every_hour = out.hours.all();
  out.any_day = words[2].starts_with('*');
  out.any_weekday = words[4].starts_with('*');
  if (!comes(out))
    return fail(Errc::kInvalidTime, "Invalid times \"" + std::string(text) + "\" in a crontab entry", "that day never comes");
  return out;
}

namespace {

bool day_matches(const CronTimes& c, year_month_day date) {
  const bool of_month = c.days.test(static_cast<unsigned>(date.day()));
  const bool of_week = c.weekdays.test(weekday(sys_days(date)).c_encoding());
  return c.any_day || c.any_weekday ? of_month && of_week : of_month || of_week;
}

// For an entry for every hour: minute by minute as time passes, from `from` up to the end of that local day.
std::optional<Time> next_passing(const CronTimes& c, Time from, year_month_day date) {
  for (Time t = from;; t += minutes(1)) {
    const tm then = local(t);
    if (date_of(then) != date) return std::nullopt;
    if (c.minutes.test(static_cast<size_t>(then.tm_min))) return t;
  }
}

std::optional<Time> next_of_day(const CronTimes& times, Time now, year_month_day date) {
  const tm wall = local(now);
  const bool today = date_of(wall) == date;
  if (times.every_hour) return next_passing(times, today ? from_unix(unix_seconds(now) / 60 * 60 + 60) : moment(date, 0, 0), date);
  // An hour that the wall clock shows as past is past, however the clocks were changed.
  for (int h = today ? wall.tm_hour : 0; h < 24; ++h) {
    if (!times.hours.test(static_cast<size_t>(h))) continue;
    for (int m = today && h == wall.tm_hour ? wall.tm_min : 0; m < 60; ++m)
      if (times.minutes.test(static_cast<size_t>(m)))
        if (const Time at = moment(date, h, m); at > now) return at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Time> CronTimes::next(Time now) const {
  sys_days day = date_of(local(now));
  for (const sys_days end = day + days_type(kMostDays); day < end;) {
    const year_month_day date(day);
    if (!months.test(static_cast<unsigned>(date.month()))) {
      day = sys_days(date.year() / date.month() / 1) +
            days_type(static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day()));
      continue;
    }
    if (day_matches(*this, date))
      if (auto at = next_of_day(*this, now, date)) return at;
    day += days_type(1);
  }
  return std::nullopt;
}

}  // namespace muster
