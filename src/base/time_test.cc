#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster {
namespace {

// Sets the zone for one test and puts the old one back.
class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* tz = getenv("TZ")) old_ = tz;
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

// What sbatch 22.05 makes of --time.
TEST(TimeLimit, IsReadAsSbatchDoes) {
  const struct {
    const char* text;
    uint32_t minutes;
  } good[] = {{"30", 30},
              {"1:30", 2},
              {"2:00:00", 120},
              {"1-12", 2160},
              {"1-12:30", 2190},
              {"1-12:30:15", 2191},
              {"1-0:0:1", 1441},
              {"1-", 1440},
              {"0:0", 0},
              {"0", 0},
              {"0:01", 1},
              {"1-25", 2940},
              {"1:99", 3},
              {"5000000", 5000000},
              {"00:30:00", 30},
              {"0-0", 0},
              {"71582789", 71582789},
              {"4294967293", 4294967293u}};
  for (const auto& c : good) EXPECT_EQ(parse_time_limit(c.text).value().minutes, c.minutes) << c.text;
  for (auto text : {"unlimited", "INFINITE", "-1", "4294967295", "4294967294"})
    EXPECT_EQ(parse_time_limit(text).value().minutes, std::nullopt) << text;
}

TEST(TimeLimit, RefusesOtherText) {
  for (auto text :
       {"",   "UNLIM", "inf",  "abc",  "1:", ":30", "1:2:3:4", "1-2-3",       "1.5",        " 5",           "5 ",        "+5",  "0x10",
        "::", "5m",    "1::5", "1-:5", "-",  "-2",  "-5",      "99999999999", "4294967296", "4294967295-0", "1-1:2:3:4", "1-1:"}) {
    auto r = parse_time_limit(text);
    ASSERT_FALSE(r) << text;
    EXPECT_EQ(r.error().code, Errc::kInvalidTimeLimit);
    EXPECT_EQ(r.error().text, "Invalid time limit specification '" + std::string(text) + "'");
  }
}

TEST(Span, IsReadToTheSecondInTheFormsOfTimeLimits) {
  EXPECT_EQ(parse_time_span("0:05"), seconds(5));
  EXPECT_EQ(parse_time_span("30"), minutes(30));
  EXPECT_EQ(parse_time_span("1-12:00:01"), minutes(2160) + seconds(1));
  EXPECT_EQ(parse_time_span("4294967293"), minutes(4294967293));
  for (auto text : {"", "UNLIMITED", "-1", "4294967294", "4294967295-0", "5m", "1:2:3:4"})
    EXPECT_EQ(parse_time_span(text), std::nullopt) << text;
}

TEST(Span, IsPrintedAsSqueueDoes) {
  EXPECT_EQ(format_span(seconds(0)), "0:00");
  EXPECT_EQ(format_span(seconds(7)), "0:07");
  EXPECT_EQ(format_span(milliseconds(7999)), "0:07");
  EXPECT_EQ(format_span(minutes(5)), "5:00");
  EXPECT_EQ(format_span(minutes(120)), "2:00:00");
  EXPECT_EQ(format_span(seconds(86400)), "1-00:00:00");
  EXPECT_EQ(format_span(seconds(365 * 86400 + 3661)), "365-01:01:01");
  EXPECT_EQ(format_span(seconds(-1)), "INVALID");
  EXPECT_EQ(format_span_full(seconds(0)), "00:00:00");
  EXPECT_EQ(format_span_full(minutes(5)), "00:05:00");
  EXPECT_EQ(format_span_full(seconds(90061)), "1-01:01:01");
  EXPECT_EQ(format_span_full(seconds(-1)), "INVALID");
  EXPECT_EQ(format_span_full(Duration::max()).substr(0, 10), "106751991-");
}

TEST(Span, IsReadBackAsALimit) {
  for (uint32_t m : {1u, 59u, 60u, 1439u, 1440u, 1441u, 100000u}) {
    EXPECT_EQ(parse_time_limit(format_span(minutes(m))).value().minutes, m);
    EXPECT_EQ(parse_time_limit(format_span_full(minutes(m))).value().minutes, m);
  }
}

TEST(TimePrint, UsesTheZoneOfTheProcess) {
  Time t = from_unix(1795250940);
  {
    Zone utc("UTC");
    EXPECT_EQ(format_time(t), "2026-11-21T08:49:00");
    EXPECT_EQ(format_time(Time(milliseconds(-1))), "1969-12-31T23:59:59");
    EXPECT_EQ(format_time(from_unix(253402300800)), "10000-01-01T00:00:00");
  }
  {
    Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
    EXPECT_EQ(format_time(t), "2026-11-21T09:49:00");
  }
  EXPECT_EQ(format_time(kTimeUnset), "Unknown");
  EXPECT_EQ(format_time(kTimeUnset, "None"), "None");
  EXPECT_EQ(format_time(kTimeInfinite, "N/A"), "N/A");
}

const Time kNow = from_unix(1795250940);  // Saturday 2026-11-21T08:49:00 UTC

std::string point(std::string_view text, ClockRule rule = ClockRule::kNextOccurrence) {
  auto t = parse_time_point(text, kNow, rule);
  return t ? format_time(*t) : t.error().text;
}

struct Case {
  const char *text, *time;
};

// What sbatch 22.05 makes of --begin at 2026-11-21T08:49:00.
TEST(TimePoint, IsReadAsSbatchDoes) {
  Zone utc("UTC");
  const Case cases[] = {
      {"now", "2026-11-21T08:49:00"},
      {"NOW", "2026-11-21T08:49:00"},
      {"now+1hour", "2026-11-21T09:49:00"},
      {"Now+1HOURS", "2026-11-21T09:49:00"},
      {"now+60", "2026-11-21T08:50:00"},
      {"now + 60", "2026-11-21T08:50:00"},
      {"now+1 hour", "2026-11-21T09:49:00"},
      {"now+5minutes", "2026-11-21T08:54:00"},
      {"now+2days", "2026-11-23T08:49:00"},
      {"now+1week", "2026-11-28T08:49:00"},
      {"now-1hour", "2026-11-21T07:49:00"},
      {"now+99999999999", "5195-10-06T18:35:39"},
      {"16:00", "2026-11-21T16:00:00"},
      {"1:00", "2026-11-22T01:00:00"},
      {"01:00:05", "2026-11-22T01:00:05"},
      {"T16:00", "2026-11-21T16:00:00"},
      {"-16:00", "2026-11-21T16:00:00"},
      {"fika", "2026-11-21T15:00:00"},
      {"teatime", "2026-11-21T16:00:00"},
      {"noon", "2026-11-21T12:00:00"},
      {"midnight", "2026-11-22T00:00:00"},
      {"elevenses", "2026-11-21T11:00:00"},  // newer than 22.05
      {"today", "2026-11-21T00:00:00"},
      {"tomorrow", "2026-11-22T00:00:00"},
      {"today tomorrow", "2026-11-22T00:00:00"},
      {"tomorrow 16:00", "2026-11-22T16:00:00"},
      {"16:00 tomorrow", "2026-11-22T16:00:00"},
      {"noon tomorrow", "2026-11-22T12:00:00"},
      {"noon-tomorrow", "2026-11-22T12:00:00"},
      {"tomorrow-noon", "2026-11-22T12:00:00"},
      {"16:00-tomorrow", "2026-11-22T16:00:00"},
      {"today16:00", "2026-11-21T16:00:00"},
      {"4:00 pm tomorrow", "2026-11-22T16:00:00"},
      {"2026-12-20", "2026-12-20T00:00:00"},
      {"2026-12-20T12:34", "2026-12-20T12:34:00"},
      {"2026-12-20T12:34:56", "2026-12-20T12:34:56"},
      {"2026-12-20T", "2026-12-20T00:00:00"},
      {"2026-12-20 12:34", "2026-12-20T12:34:00"},
      {"2026-12-20-16:00", "2026-12-20T16:00:00"},
      {"2026-12-20T4:00PM", "2026-12-20T16:00:00"},
      {"2010-01-20T12:34:00", "2010-01-20T12:34:00"},
      {"2038-01-19T03:14:08", "2038-01-19T03:14:08"},
      {"0120", "2027-01-20T00:00:00"},
      {"012027", "2027-01-20T00:00:00"},
      {"01.20.27", "2027-01-20T00:00:00"},
      {"01/20", "2027-01-20T00:00:00"},
      {"01/20/27", "2027-01-20T00:00:00"},
      {"1/2/27", "2027-01-02T00:00:00"},
      {"12/25/99", "2099-12-25T00:00:00"},
      {"11/21", "2027-11-21T00:00:00"},
      {"1121-07:00", "2027-11-21T07:00:00"},
      {"1121-7:00", "2027-11-21T07:00:00"},
      {"11/21 16:00", "2026-11-21T16:00:00"},
      {"112126-16:00", "2026-11-21T16:00:00"},
      {"16:00 12/25/26", "2026-12-25T16:00:00"},
      {"12/25-16:00", "2026-12-25T16:00:00"},
      {"12/25T16:00", "2026-12-25T16:00:00"},
      {"12.25", "2026-12-25T00:00:00"},
      {"022928", "2028-02-29T00:00:00"},
      {"4:00PM", "2026-11-21T16:00:00"},
      {"12:00AM", "2026-11-22T00:00:00"},
      {"12:00PM", "2026-11-21T12:00:00"},
      {"0:30AM", "2026-11-22T00:30:00"},
      {"04:00:00am", "2026-11-22T04:00:00"},
      {"uts1234567890", "2009-02-13T23:31:30"},
      {"uts2147483648", "2038-01-19T03:14:08"},
  };
  for (const Case& c : cases) EXPECT_EQ(point(c.text), c.time) << c.text;
}

// The first line is the one sbatch prints. The offset is that of the first character that does not fit (sbatch points a
// character or two off in a few of these).
TEST(TimePoint, ErrorsPointAtTheCharacter) {
  Zone utc("UTC");
  const struct {
    const char* text;
    int at;
  } cases[] = {{"now+5min", 5},
               {"now+1h", 5},
               {"now+1fortnight", 5},
               {"now+0x10", 5},
               {"now+1.5hours", 5},
               {"16:00:61", 6},
               {"25:00", 0},
               {"24:00", 0},
               {"00:60", 3},
               {"today+1hour", 5},
               {"fika+1hour", 4},
               {"2026-13-01", 5},
               {"4PM", 1},
               {"16:00PM", 5},
               {"13:00AM", 5},
               {"uts0", 0},
               {"utsx", 0},
               {"uts-1", 0},
               {"1795000000", 0},
               {"5", 1},
               {"abc", 0},
               {"2026-12-20T12", 13},
               {"12:00:00.5", 8},
               {"20261220", 0},
               {"now+", 4},
               {"01/20/2027", 6},
               {"13/01", 0},
               {"00/10", 0},
               {"12/32", 3},
               {"8:5", 3},
               {"08:05:5", 7},
               {"12:34Z", 5},
               {"noonPM", 4},
               {"16:00+1hour", 5}};
  for (const auto& c : cases) {
    auto r = parse_time_point(c.text, kNow);
    ASSERT_FALSE(r) << c.text << " is " << format_time(*r);
    EXPECT_EQ(r.error().code, Errc::kInvalidTime);
    EXPECT_EQ(r.error().text, "Invalid time specification (pos=" + std::to_string(c.at) + "): " + c.text);
    EXPECT_FALSE(r.error().hint.empty()) << c.text;
  }
  for (auto text : {"", "  ", "T", "-", "1970-01-01", "1969-12-31", "2026-1-2", "70-01-01", "now+99999999999999999999",
                    "now+253402300799weeks", "now-99999999999", "2026-12-20T12:34:56Z", "16:00 now", "now today"})
    EXPECT_FALSE(parse_time_point(text, kNow)) << text;
}

// Slurm turns 30 February into 2 March; a day that does not exist is an error here.
TEST(TimePoint, DaysMustExist) {
  Zone utc("UTC");
  for (auto text : {"2026-02-30", "2027-02-29", "02/30", "0229", "0431", "022927"}) EXPECT_FALSE(parse_time_point(text, kNow)) << text;
  EXPECT_EQ(point("2028-02-29"), "2028-02-29T00:00:00");
}

TEST(TimePoint, QueriesOfThePastDoNotRollForward) {
  Zone utc("UTC");
  EXPECT_EQ(point("01:00", ClockRule::kThisDayOrYear), "2026-11-21T01:00:00");
  EXPECT_EQ(point("midnight", ClockRule::kThisDayOrYear), "2026-11-21T00:00:00");
  EXPECT_EQ(point("0120", ClockRule::kThisDayOrYear), "2026-01-20T00:00:00");
  EXPECT_EQ(point("0120-12:00", ClockRule::kThisDayOrYear), "2026-01-20T12:00:00");
}

TEST(TimePoint, KnowsSummerTime) {
  Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  // 02:30 does not exist on that day; an hour later does, as sbatch has it.
  EXPECT_EQ(point("2027-03-28T02:30"), "2027-03-28T03:30:00");
  EXPECT_EQ(point("2027-07-01T12:00"), "2027-07-01T12:00:00");
  EXPECT_EQ(point("2027-12-01T12:00"), "2027-12-01T12:00:00");
  // "tomorrow" is the next date also when the day has 25 hours.
  auto night = parse_time_point("2026-10-25T00:30", kNow);
  ASSERT_TRUE(night);
  EXPECT_EQ(format_time(parse_time_point("tomorrow", *night).value()), "2026-10-26T00:00:00");
}

TEST(TimePoint, ReadsWhatIsPrinted) {
  Zone zone("CET-1CEST,M3.5.0,M10.5.0/3");
  for (int64_t s = 1; s < 4102444800; s += 86400 * 17 + 3671) {
    std::string text = format_time(from_unix(s));
    ASSERT_EQ(format_time(parse_time_point(text, kNow).value()), text);
  }
}

}  // namespace
}  // namespace muster
