// Which time counts, and hours, days and months of the local calendar, in zones whose clocks change in odd ways.
#include "model/usage_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace muster {
namespace {

struct Zone {
  explicit Zone(const char* name) {
    if (const char* before = getenv("TZ")) before_ = before;
    setenv("TZ", name, 1);
    tzset();
  }
  ~Zone() {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }
  std::string before_;
};

Time local(int year, int month, int day, int hour = 0, int minute = 0) {
  tm t{};
  t.tm_year = year - 1900;
  t.tm_mon = month - 1;
  t.tm_mday = day;
  t.tm_hour = hour;
  t.tm_min = minute;
  t.tm_isdst = -1;
  return from_unix(mktime(&t));
}

int64_t hours_of(Time day) {
  int64_t n = 0;
  for (Time t = day, end = period_after(UsagePeriod::kDay, day); t < end; t = period_after(UsagePeriod::kHour, t)) ++n;
  return n;
}

TEST(UsagePeriods, DaysHave23And25Hours) {
  const Zone zone("Europe/Zurich");
  EXPECT_EQ(hours_of(local(2026, 3, 29)), 23);
  EXPECT_EQ(hours_of(local(2026, 3, 30)), 24);
  EXPECT_EQ(hours_of(local(2026, 10, 25)), 25);
  EXPECT_EQ(period_after(UsagePeriod::kDay, local(2026, 10, 25)), local(2026, 10, 26));
  EXPECT_EQ(period_after(UsagePeriod::kMonth, local(2026, 10, 1)), local(2026, 11, 1));
  EXPECT_EQ(to_seconds(local(2026, 11, 1) - local(2026, 10, 1)), 31 * 86'400 + 3600);
  EXPECT_EQ(period_begin(UsagePeriod::kMonth, local(2026, 12, 31, 23, 59)), local(2026, 12, 1));
  EXPECT_EQ(period_after(UsagePeriod::kMonth, local(2026, 12, 1)), local(2027, 1, 1));
  EXPECT_EQ(hour_not_before(local(2026, 5, 5, 10, 1)), local(2026, 5, 5, 11));
  EXPECT_EQ(hour_not_before(local(2026, 5, 5, 10)), local(2026, 5, 5, 10));
}

// Half hours off, half an hour of summer time, a midnight that is skipped, a day that is skipped.
TEST(UsagePeriods, TheyTileTheTimeInEveryZone) {
  for (const char* name : {"UTC", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "America/St_Johns"}) {
    const Zone zone(name);
    for (int year : {2011, 2017, 2026})
      for (UsagePeriod period : {UsagePeriod::kHour, UsagePeriod::kDay, UsagePeriod::kMonth}) {
        Time t = period_begin(period, local(year, 1, 1));
        for (const Time end = t + minutes(60 * 24 * 366); t < end;) {
          const Time next = period_after(period, t);
          ASSERT_GT(next, t) << name << " " << format_time(t);
          ASSERT_LE(next - t, minutes(60 * 24 * 32)) << name << " " << format_time(t);
          ASSERT_EQ(period_begin(period, next), next) << name << " " << format_time(t);
          if (period != UsagePeriod::kHour) ASSERT_EQ(period_begin(UsagePeriod::kHour, next), next) << name << " " << format_time(next);
          t = next;
        }
      }
  }
}

TEST(UsagePeriods, AnyTimeIsHarmless) {
  for (Time t : {Time{}, Time::min(), Time::max(), from_unix(-1), from_unix(1ll << 50)})
    for (UsagePeriod period : {UsagePeriod::kHour, UsagePeriod::kDay, UsagePeriod::kMonth})
      EXPECT_GT(period_after(period, period_begin(period, t)), period_begin(period, t));
}

Time at(int64_t minute) { return from_unix(1'700'000'000) + minutes(minute); }

JobRecord run(int64_t from, int64_t until) {
  JobRecord j;
  j.state = until < 0 ? JobState::kRunning : JobState::kCompleted;
  j.eligible = at(0);
  j.started = at(from);
  j.ended = until < 0 ? kTimeUnset : at(until);
  return j;
}

TEST(UsageTime, SuspendedTimeIsTakenOffTheEnd) {
  JobRecord j = run(10, 100);
  j.suspended_total = minutes(30);
  EXPECT_EQ(used_span(j), (Span{at(10), at(70)}));
  EXPECT_EQ(waiting_span(j), (Span{at(0), at(10)}));
  j = run(10, -1);
  EXPECT_EQ(used_span(j), (Span{at(10), kTimeInfinite}));
  j.state = JobState::kSuspended;
  j.suspended = at(40);
  EXPECT_EQ(used_span(j), (Span{at(10), at(40)}));
  j = run(10, 10);  // cancelled as it waited
  EXPECT_TRUE(used_span(j).empty());
  EXPECT_EQ(waiting_span(j), (Span{at(0), at(10)}));
}

TEST(UsageTime, AChangeMarksWhatItChanges) {
  const JobRecord running = run(10, -1), ended = run(10, 100);
  EXPECT_EQ(changed_time(nullptr, running), (Span{at(0), kTimeInfinite}));
  EXPECT_EQ(changed_time(&running, ended), (Span{at(100), kTimeInfinite}));  // an end changes nothing of what was before
  EXPECT_TRUE(changed_time(&ended, ended).empty());
  JobRecord failed = ended;
  failed.state = JobState::kFailed;
  EXPECT_EQ(changed_time(&running, failed), (Span{at(10), kTimeInfinite}));  // all of it was lost
  JobRecord moved = running;
  moved.account = "other";
  EXPECT_EQ(changed_time(&running, moved), (Span{at(10), kTimeInfinite}));
  JobRecord told = ended;
  told.comment = "x";
  EXPECT_TRUE(changed_time(&ended, told).empty());
  EXPECT_EQ(united({{at(5), at(7)}, {at(1), at(2)}, {at(2), at(3)}, {at(6), at(9)}, {at(4), at(4)}}),
            (std::vector<Span>{{at(1), at(3)}, {at(5), at(9)}}));
}

TEST(UsageTime, WhatCameToNothing) {
  JobRecord j = run(0, 1);
  EXPECT_FALSE(came_to_nothing(j));
  for (JobState s : {JobState::kFailed, JobState::kNodeFail, JobState::kBootFail, JobState::kOutOfMemory, JobState::kPreempted}) {
    j.state = s;
    EXPECT_TRUE(came_to_nothing(j));
  }
  for (JobState s : {JobState::kTimeout, JobState::kDeadline, JobState::kCancelled, JobState::kRunning}) {
    j.state = s;
    EXPECT_FALSE(came_to_nothing(j));
  }
  j.state = JobState::kCancelled;
  j.flags = kJobRequeued;
  EXPECT_TRUE(came_to_nothing(j));
}

}  // namespace
}  // namespace muster
