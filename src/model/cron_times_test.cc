#include "model/cron_times.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "model/crontab.h"

namespace muster {
namespace {

class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* old = getenv("TZ")) old_ = old;
    setenv("TZ", name, 1);
    tzset();
  }
  ~Zone() {
    if (old_) setenv("TZ", old_->c_str(), 1);
    else unsetenv("TZ");
    tzset();
  }

 private:
  std::optional<std::string> old_;
};

CronTimes times(const char* text) {
  auto parsed = CronTimes::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message();
  return parsed ? *parsed : CronTimes();
}

// The next due moment after a local time, as local times both.
std::string next(const char* text, const char* now) {
  const Time from = *parse_time_point(now, from_unix(1));
  const auto at = times(text).next(from);
  return at ? format_time(*at) : "never";
}

std::string refused(const char* text) {
  auto parsed = CronTimes::parse(text);
  return parsed ? "taken" : std::string(parsed.error().message());
}

constexpr char kBerlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";  // clocks change at 02:00 and 03:00 on the last Sundays of March and October

TEST(CronTimes, EachFieldHasItsValuesListsRangesAndSteps) {
  Zone utc("UTC0");
  EXPECT_EQ(next("* * * * *", "2026-01-01T00:00:00"), "2026-01-01T00:01:00");
  EXPECT_EQ(next("* * * * *", "2026-01-01T00:00:59"), "2026-01-01T00:01:00");
  EXPECT_EQ(next("30 * * * *", "2026-01-01T00:30:00"), "2026-01-01T01:30:00");  // after that moment, not at it
  EXPECT_EQ(next("*/15 * * * *", "2026-01-01T00:31:00"), "2026-01-01T00:45:00");
  EXPECT_EQ(next("7/20 * * * *", "2026-01-01T00:08:00"), "2026-01-01T00:27:00");
  EXPECT_EQ(next("0 8-17/4 * * *", "2026-01-01T12:00:00"), "2026-01-01T16:00:00");
  EXPECT_EQ(next("0 0 1 jan *", "2026-01-01T00:00:00"), "2027-01-01T00:00:00");
  EXPECT_EQ(next("0 0 * JAN-mar,12 *", "2026-03-31T00:00:00"), "2026-12-01T00:00:00");
  EXPECT_EQ(next("0 0 29 2 *", "2026-01-01T00:00:00"), "2028-02-29T00:00:00");
  // The manual's example.
  EXPECT_EQ(next("1-5,30 8-17/2 * * wed", "2026-11-24T12:00:00"), "2026-11-25T08:01:00");
  EXPECT_EQ(next("1-5,30 8-17/2 * * wed", "2026-11-25T08:05:00"), "2026-11-25T08:30:00");
}

TEST(CronTimes, SundayIs0And7) {
  Zone utc("UTC0");
  for (const char* text : {"0 0 * * 0", "0 0 * * 7", "0 0 * * sun", "@weekly"})
    EXPECT_EQ(next(text, "2026-11-24T12:00:00"), "2026-11-29T00:00:00");
  EXPECT_EQ(next("0 0 * * 5-7", "2026-11-28T00:00:00"), "2026-11-29T00:00:00");
}

TEST(CronTimes, OfTwoRestrictedDaysEitherWillDo) {
  Zone utc("UTC0");
  EXPECT_EQ(next("0 0 13 * fri", "2026-11-24T00:00:00"), "2026-11-27T00:00:00");
  EXPECT_EQ(next("0 0 28 * fri", "2026-11-27T00:00:00"), "2026-11-28T00:00:00");
  EXPECT_EQ(next("0 0 */2 * fri", "2026-11-24T00:00:00"), "2026-11-27T00:00:00");  // begins with *: both
}

TEST(CronTimes, Shortcuts) {
  Zone utc("UTC0");
  const char* now = "2026-11-24T11:30:00";
  EXPECT_EQ(next("@hourly", now), "2026-11-24T12:00:00");
  EXPECT_EQ(next("@daily", now), "2026-11-25T00:00:00");
  EXPECT_EQ(next("@midnight", now), "2026-11-25T00:00:00");
  EXPECT_EQ(next("@monthly", now), "2026-12-01T00:00:00");
  EXPECT_EQ(next("@yearly", now), "2027-01-01T00:00:00");
  EXPECT_EQ(next("@annually", now), "2027-01-01T00:00:00");
  EXPECT_EQ(next("@elevenses", now), "2026-11-25T11:00:00");
  EXPECT_EQ(next("@fika", now), "2026-11-24T15:00:00");
  EXPECT_EQ(next("@teatime", now), "2026-11-24T16:00:00");
}

TEST(CronTimes, WhenClocksAreChangedNothingIsLostOrRunTwice) {
  Zone berlin(kBerlin);
  // 02:00 becomes 03:00 on 2026-03-29.
  EXPECT_EQ(next("30 2 * * *", "2026-03-28T12:00:00"), "2026-03-29T03:00:00");
  EXPECT_EQ(next("30 2 * * *", "2026-03-29T03:00:00"), "2026-03-30T02:30:00");
  EXPECT_EQ(next("30 * * * *", "2026-03-29T01:30:00"), "2026-03-29T03:30:00");  // an hour later
  EXPECT_EQ(next("0 3 * * *", "2026-03-29T00:00:00"), "2026-03-29T03:00:00");
  // 03:00 becomes 02:00 on 2026-10-25: 02:30 comes twice, at 00:30 and 01:30 UTC.
  const Time first = from_unix(1792888200), second = first + minutes(60);
  EXPECT_EQ(format_time(first), "2026-10-25T02:30:00");
  EXPECT_EQ(format_time(second), "2026-10-25T02:30:00");
  EXPECT_EQ(times("30 2 * * *").next(first - seconds(1)), first);
  EXPECT_EQ(format_time(*times("30 2 * * *").next(first)), "2026-10-26T02:30:00");
  EXPECT_EQ(times("30 * * * *").next(first), second);
}

TEST(CronTimes, ADayThatIsAnHourShortOrLongHasEachHourlyRun) {
  Zone berlin(kBerlin);
  for (auto [day, hours] :
       {std::pair("2026-03-29T00:00:00", 23), std::pair("2026-10-25T00:00:00", 25), std::pair("2026-06-01T00:00:00", 24)}) {
    const Time begin = *parse_time_point(day, from_unix(1));
    int runs = 0;
    for (auto t = times("@hourly").next(begin - seconds(1)); format_time(*t).substr(0, 10) == std::string(day).substr(0, 10);
         t = times("@hourly").next(*t))
      ++runs;
    EXPECT_EQ(runs, hours) << day;
  }
}

TEST(CronTimes, NextIsAlwaysLaterAndAlwaysMatches) {
  Zone berlin(kBerlin);
  for (const char* text : {"*/7 * * * *", "59 23 31 12 *", "0 2,3 * * sun", "15 1-4 * 3,10 *", "1 1 1 1 1"}) {
    Time t = from_unix(1764000000);
    for (int i = 0; i < 200; ++i) {
      const auto after = times(text).next(t);
      ASSERT_TRUE(after);
      ASSERT_GT(*after, t) << text;
      ASSERT_EQ(unix_seconds(*after) % 60, 0);
      t = *after;
    }
  }
}

TEST(CronTimes, WhatIsWrongIsNamed) {
  EXPECT_EQ(refused("60 * * * *"), "Invalid minute \"60\" in a crontab entry");
  EXPECT_EQ(refused("* 24 * * *"), "Invalid hour \"24\" in a crontab entry");
  EXPECT_EQ(refused("* * 0 * *"), "Invalid day of month \"0\" in a crontab entry");
  EXPECT_EQ(refused("* * * foo *"), "Invalid month \"foo\" in a crontab entry");
  EXPECT_EQ(refused("* * * * 8"), "Invalid day of week \"8\" in a crontab entry");
  EXPECT_EQ(refused("5-5 * * * *"), "Invalid minute \"5-5\" in a crontab entry");
  EXPECT_EQ(refused("5-3 * * * *"), "Invalid minute \"5-3\" in a crontab entry");
  EXPECT_EQ(refused("*/0 * * * *"), "Invalid minute \"*/0\" in a crontab entry");
  EXPECT_EQ(refused("1,,2 * * * *"), "Invalid minute \"1,,2\" in a crontab entry");
  EXPECT_EQ(refused("1, * * * *"), "Invalid minute \"1,\" in a crontab entry");
  EXPECT_EQ(refused("-1 * * * *"), "Invalid minute \"-1\" in a crontab entry");
  EXPECT_EQ(refused("* * * *"), "Invalid times \"* * * *\" in a crontab entry");
  EXPECT_EQ(refused("* * * * * *"), "Invalid times \"* * * * * *\" in a crontab entry");
  EXPECT_EQ(refused("@sometimes"), "Unknown interval \"@sometimes\" in a crontab entry");
  EXPECT_EQ(refused("0 0 30 2 *"), "Invalid times \"0 0 30 2 *\" in a crontab entry");  // never comes
}

TEST(CronTimes, TheCommandComesAfterTheTimes) {
  EXPECT_EQ(cron_times_length("@hourly echo a"), 7u);
  EXPECT_EQ(cron_times_length("  1 2\t3 4 5 echo a"), 11u);
  EXPECT_EQ(cron_times_length("1 2 3 4"), 0u);
  EXPECT_EQ(cron_times_length(""), 0u);
}

TEST(Crontab, LinesOfACancelledJobAreCommentedOut) {
  const std::string text = "# mine\n#SCRON -t 1\n\n@hourly a\n@daily b";
  EXPECT_EQ(with_lines_disabled(text, 2, 4), "# mine\n#DISABLED: #SCRON -t 1\n\n#DISABLED: @hourly a\n@daily b");
  EXPECT_EQ(with_lines_disabled(text, 5, 5), "# mine\n#SCRON -t 1\n\n@hourly a\n#DISABLED: @daily b");
  EXPECT_EQ(with_lines_disabled(with_lines_disabled(text, 4, 4), 2, 4), with_lines_disabled(text, 2, 4));
  EXPECT_EQ(with_lines_disabled(text, 6, 4000000000u), text);
  EXPECT_EQ(with_lines_disabled("", 1, 1), "");
}

}  // namespace
}  // namespace muster
