// Points in time as people write them. One left-to-right scan that collects a date and a time of day in any order;
// the rules for what is missing (year, day, time) are in resolve().
#include <ctime>

#include "base/text.h"
#include "base/time.h"

namespace muster {
namespace {

using std::chrono::seconds;

constexpr int64_t kLatest = 253402300799;  // 9999-12-31T23:59:59, the last moment that a date can be written for

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
};
struct Date {
  int year = -1, month = 0, day = 0;  // year -1: not said
};

struct Keyword {
  std::string_view word;
  int hour;
};
constexpr Keyword kTimesOfDay[] = {{"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

int days_of(int year, int month) {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && leap);
}

class PointParser {
 public:
  PointParser(std::string_view text, Time now, ClockRule rule) : text_(text), now_(unix_seconds(now)), rule_(rule) {}

  Result<Time> parse() {
    skip_blanks();
    if (rest().empty()) return bad("no time is given");
    if (take_word("now")) return now_expression();
    if (istarts_with(rest(), "uts")) return unix_time();
    while (skip_separators(), at_ < text_.size()) {
      auto piece = date_or_time();
      if (!piece) return std::unexpected(std::move(piece).error());
    }
    if (!date_ && !clock_) return bad("no time is given");
    return resolve();
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  // What may stand between a date and a time: blanks, and one T or - of "2026-01-31T16:00", "0131-16:00" and "noon-tomorrow".
  void skip_separators() {
    skip_blanks();
    const char next = peek(1);
    const bool word = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (peek() == '-' && word && (date_ || clock_)) ++at_;
    if ((peek() == 'T' || peek() == '-') && (is_digit(peek(1)) || (peek(1) == '\0' && date_))) ++at_;
  }
  bool take_word(std::string_view word) {
    if (!istarts_with(rest(), word)) return false;
    at_ += word.size();
    return true;
  }
  std::unexpected<Error> bad(std::string hint) const {
    return fail(Errc::kInvalidTime, "Invalid time specification (pos=" + std::to_string(at_) + "): " + std::string(text_), std::move(hint));
  }
  size_t digits() const {
    size_t n = 0;
    while (is_digit(peek(n))) ++n;
    return n;
  }
  // Exactly the next n characters, which the caller knows to be digits.
  int take(size_t n) {
    int v = 0;
    while (n-- > 0) v = v * 10 + (text_[at_++] - '0');
    return v;
  }

  Result<Time> now_expression() {
    skip_blanks();
    if (at_ == text_.size()) return from_unix(now_);
    char sign = peek();
    if (sign != '+' && sign != '-') return bad("after now comes + or - and a count");
    ++at_;
    skip_blanks();
    size_t n = digits();
    auto count = parse_number<int64_t>(rest().substr(0, n), 0, kLatest);
    if (!count) return bad(n ? "the count is too large" : "a count is missing");
    at_ += n;
    skip_blanks();
    int64_t unit = time_unit(trim(rest()));
    if (unit == 0) return bad("the unit must be seconds, minutes, hours, days or weeks");
    if (*count > kLatest / unit) return bad("the time is too far away");
    int64_t at = sign == '+' ? now_ + *count * unit : now_ - *count * unit;
    if (at <= 0 || at > kLatest) return bad("the time is too far away");
    return from_unix(at);
  }
  static int64_t time_unit(std::string_view word) {
    struct Unit {
      std::string_view name;
      int64_t seconds;
    };
    constexpr Unit units[] = {{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}, {"week", 604800}};
    if (word.empty()) return 1;
    if (word.size() > 1 && (word.back() == 's' || word.back() == 'S')) word.remove_suffix(1);
    for (const Unit& u : units)
      if (iequals(word, u.name)) return u.seconds;
    return 0;
  }
  Result<Time> unix_time() {
    auto s = parse_number<int64_t>(rest().substr(3), 1, kLatest);
    if (!s) return bad("uts is followed by seconds since 1970");
    return from_unix(*s);
  }

  Result<void> date_or_time() {
    if (const bool tomorrow = take_word("tomorrow"); tomorrow || take_word("today")) {
      day_after(tomorrow ? 1 : 0);
      return {};
    }
    for (const Keyword& k : kTimesOfDay)
      if (take_word(k.word)) {
        clock_ = TimeOfDay{k.hour, 0, 0};
        return {};
      }
    size_t n = digits();
    char after = peek(n);
    // A digit group of four before '-' is a year if a month follows (2026-01-31); in 0131-16:00 it is a day, followed by a time.
    if (n == 4 && after == '-' && peek(6) != ':' && peek(7) != ':') return iso_date();
    if ((n == 4 || n == 6) && after != ':') return packed_date(n);
    if ((n == 1 || n == 2) && (after == '/' || after == '.')) return split_date(n, after);
    if ((n == 1 || n == 2) && after == ':') return time_of_day(n);
    if (n == 1 || n == 2) at_ += n;
    return bad("a date (2026-01-31, 01/31/26, 0131), a time (16:00, 4:00PM) or a word such as tomorrow is expected");
  }
  void day_after(int days) {
    auto at = static_cast<time_t>(now_);
    std::tm local{};
    localtime_r(&at, &local);
    local.tm_mday += days;
    local.tm_hour = 12;  // mktime only normalises the date; noon exists on every day
    local.tm_isdst = -1;
    mktime(&local);
    date_ = Date{local.tm_year + 1900, local.tm_mon + 1, local.tm_mday};
  }
  Result<void> iso_date() {
    Date date;
    date.year = take(4);
    if (!(peek() == '-' && is_digit(peek(1)) && is_digit(peek(2)) && peek(3) == '-' && is_digit(peek(4)) && is_digit(peek(5)) &&
          !is_digit(peek(6))))
      return bad("a date is written YYYY-MM-DD");
    ++at_;
    size_t month_at = at_;
    date.month = take(2);
    ++at_;
    size_t day_at = at_;
    date.day = take(2);
    return keep(date, month_at, day_at);
  }
  Result<void> packed_date(size_t n) {
    Date d;
    size_t month_at = at_;
    d.month = take(2);
    d.day = take(2);
    if (n == 6) d.year = 2000 + take(2);
    return keep(d, month_at, month_at + 2);
  }
  Result<void> split_date(size_t width, char sep) {
    Date date;
    size_t month_at = at_;
    date.month = take(width);
    ++at_;
    size_t day_at = at_;
    width = digits();
    if (width != 1 && width != 2) return bad("a day of one or two digits is expected");
    date.day = take(width);
    if (peek() == sep) {
      ++at_;
      if (digits() != 2) return bad("a year of two digits is expected");
      date.year = 2000 + take(2);
    }
    return keep(date, month_at, day_at);
  }
  Result<void> keep(const Date& date, size_t month_at, size_t day_at) {
    if (date.month < 1 || date.month > 12) {
      at_ = month_at;
      return bad("the month must be 1 to 12");
    }
    // Without a year the 29th of February may still turn out to exist: resolve() looks again.
    if (date.day < 1 || date.day > days_of(date.year < 0 ? 2000 : date.year, date.month)) {
      at_ = day_at;
      return bad("there is no such day in that month");
    }
    date_ = date;
    return {};
  }
  Result<void> time_of_day(size_t width) {
    TimeOfDay time;
    size_t hour_at = at_;
    time.hour = take(width);
    for (int* part : {&time.minute, &time.second}) {
      if (peek() != ':') break;
      ++at_;
      if (digits() < 2) return at_ += digits(), bad("minutes and seconds have two digits");
      if (peek() > '5') return bad("minutes and seconds must be 00 to 59");
      *part = take(2);
    }
    bool twelve_hours = false;
    size_t end = at_;
    skip_blanks();
    if (istarts_with(rest(), "am") || istarts_with(rest(), "pm")) {
      if (time.hour > 12) return at_ = end, bad("AM and PM go with hours up to 12");
      twelve_hours = true;
      bool pm = peek() == 'p' || peek() == 'P';
      time.hour = time.hour % 12 + (pm ? 12 : 0);
      at_ += 2;
    }
    if (!twelve_hours && time.hour > 23) return at_ = hour_at, bad("the hour must be 0 to 23");
    clock_ = time;
    return {};
  }

  std::optional<int64_t> local_seconds(const Date& date, const TimeOfDay& time) const {
    std::tm local{};
    local.tm_year = date.year - 1900;
    local.tm_mon = date.month - 1;
    local.tm_mday = date.day;
    local.tm_hour = time.hour;
    local.tm_min = time.minute;
    local.tm_sec = time.second;
    local.tm_isdst = -1;  // mktime knows whether summer time is in force then
    auto at = static_cast<int64_t>(mktime(&local));
    if (at <= 0 || at > kLatest) return std::nullopt;
    return at;
  }
  Result<Time> resolve() {
    TimeOfDay time = clock_.value_or(TimeOfDay{});
    bool roll_day = !date_ && rule_ == ClockRule::kNextOccurrence;
    if (!date_) day_after(0);
    Date date = *date_;
    bool roll_year = date.year < 0 && rule_ == ClockRule::kNextOccurrence;
    if (date.year < 0) date.year = this_year();
    auto at = local_seconds(date, time);
    if (roll_day && at && *at < now_) {
      day_after(1);
      date = *date_;
      at = local_seconds(date, time);
    }
    if (roll_year && at && *at < now_) {
      ++date.year;
      at = local_seconds(date, time);
    }
    if (date.day > days_of(date.year, date.month)) return bad("there is no 29 February in " + std::to_string(date.year));
    if (!at) return bad("the time must lie between 1970 and 9999");
    return from_unix(*at);
  }
  int this_year() const {
    auto at = static_cast<time_t>(now_);
    std::tm local{};
    localtime_r(&at, &local);
    return local.tm_year + 1900;
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t now_;
  ClockRule rule_;
  std::optional<Date> date_;
  std::optional<TimeOfDay> clock_;
};

}  // namespace

Result<Time> parse_time_point(std::string_view text, Time now, ClockRule rule) { return PointParser(text, now, rule).parse(); }

}  // namespace muster
