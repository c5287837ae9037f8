// From when on records are purged: months of different length, and days and hours around a change of the clock.
#include "slurmdbd/core/purge.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "slurmdbd/core/settings.h"

namespace muster::slurmdbd {
namespace {

using config::PurgeAge;
using config::PurgeUnit;

struct PurgeBefore : testing::Test {
  void zone(const char* name) {
    setenv("TZ", name, 1);
    tzset();
  }
  void SetUp() override { zone("Europe/Zurich"); }
  void TearDown() override { zone("UTC"); }
  std::string before(uint32_t count, PurgeUnit unit, const char* now) {
    return format_time(purge_before({count, unit}, *parse_time_point(now, from_unix(1'790'000'000))));
  }
};

TEST_F(PurgeBefore, CountsFromTheBeginOfTheUnit) {
  EXPECT_EQ(before(1, PurgeUnit::kMonth, "2026-03-31T23:59:59"), "2026-02-01T00:00:00");
  EXPECT_EQ(before(12, PurgeUnit::kMonth, "2026-01-01T00:00:00"), "2025-01-01T00:00:00");
  EXPECT_EQ(before(13, PurgeUnit::kMonth, "2024-03-01T00:00:01"), "2023-02-01T00:00:00");
  EXPECT_EQ(before(60, PurgeUnit::kDay, "2024-03-01T05:06:07"), "2024-01-01T00:00:00");  // a February of 29 days
  EXPECT_EQ(before(1, PurgeUnit::kHour, "2026-07-01T00:30:00"), "2026-06-30T23:00:00");
}

TEST_F(PurgeBefore, ADayOf23Or25HoursIsADay) {
  EXPECT_EQ(before(1, PurgeUnit::kDay, "2026-03-30T08:00:00"), "2026-03-29T00:00:00");
  EXPECT_EQ(before(1, PurgeUnit::kDay, "2026-10-26T08:00:00"), "2026-10-25T00:00:00");
  EXPECT_EQ(before(1, PurgeUnit::kMonth, "2026-11-01T08:00:00"), "2026-10-01T00:00:00");
  EXPECT_EQ(before(2, PurgeUnit::kHour, "2026-03-29T04:10:00"), "2026-03-29T01:00:00");  // the hour from 2 is not there
  zone("America/Santiago");  // its clock goes from midnight to one o'clock on that day
  EXPECT_EQ(before(1, PurgeUnit::kDay, "2026-09-07T12:00:00"), "2026-09-06T01:00:00");
  EXPECT_EQ(before(1, PurgeUnit::kDay, "2026-09-06T12:00:00"), "2026-09-05T00:00:00");
}

TEST_F(PurgeBefore, AnAgeBeyondAllRecordsPurgesNothing) {
  for (PurgeUnit unit : {PurgeUnit::kHour, PurgeUnit::kDay, PurgeUnit::kMonth})
    EXPECT_LE(purge_before({config::kLongestPurgeAge, unit}, from_unix(200'000'000)), from_unix(86'400));
  EXPECT_GE(purge_before({config::kLongestPurgeAge, PurgeUnit::kMonth}, from_unix(1'790'000'000)), Time{});
}

TEST(PurgeRules, ComeFromSlurmdbdConf) {
  auto rules_of = [](const std::string& lines) {
    config::MemoryFiles files{{"/d.conf", "DbdHost=db\n" + lines}};
    auto loaded = config::load_simple(files, "/d.conf", config::ConfFile::kSlurmdbd);
    EXPECT_TRUE(loaded);
    auto settings = make_settings(loaded->conf, "/");
    EXPECT_TRUE(settings);
    return settings->purge;
  };
  const PurgeRules none = rules_of("PurgeJobAfter=soon\n");
  EXPECT_FALSE(none.jobs || none.steps || none.events || none.reservations || none.transactions || none.usage);
  EXPECT_EQ(none.most_rows, 50'000u);
  const PurgeRules all = rules_of("PurgeJobAfter=12\nPurgeStepAfter=60days\nPurgeEventAfter=24hours\nPurgeResvAfter=1month\n"
                                  "PurgeTXNAfter=2months\nPurgeUsageAfter=24months\nMaxPurgeLimit=10\n");
  EXPECT_EQ(all.jobs, (PurgeAge{12, PurgeUnit::kMonth}));
  EXPECT_EQ(all.steps, (PurgeAge{60, PurgeUnit::kDay}));
  EXPECT_EQ(all.events, (PurgeAge{24, PurgeUnit::kHour}));
  EXPECT_EQ(all.reservations, (PurgeAge{1, PurgeUnit::kMonth}));
  EXPECT_EQ(all.transactions, (PurgeAge{2, PurgeUnit::kMonth}));
  EXPECT_EQ(all.usage, (PurgeAge{24, PurgeUnit::kMonth}));
  EXPECT_EQ(all.most_rows, 10u);
}

}  // namespace
}  // namespace muster::slurmdbd
