// The ages of the Purge…After keys: how they are read, and what slurmdbd.conf says to one that cannot be read.
#include "config/purge_age.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

TEST(PurgeAge, IsANumberWithAUnit) {
  EXPECT_EQ(parse_purge_age("12months"), (PurgeAge{12, PurgeUnit::kMonth}));
  EXPECT_EQ(parse_purge_age("1Month"), (PurgeAge{1, PurgeUnit::kMonth}));
  EXPECT_EQ(parse_purge_age("60days"), (PurgeAge{60, PurgeUnit::kDay}));
  EXPECT_EQ(parse_purge_age("24HOUR"), (PurgeAge{24, PurgeUnit::kHour}));
  EXPECT_EQ(parse_purge_age("6"), (PurgeAge{6, PurgeUnit::kMonth}));
  EXPECT_EQ(parse_purge_age("65535"), (PurgeAge{65'535, PurgeUnit::kMonth}));
  for (const char* bad :
       {"", "0", "0days", "-1", "65536", "99999999999999999999", "days", "2weeks", "2 days", "2dayss", "2days2", "0x2", "1.5"})
    EXPECT_EQ(parse_purge_age(bad), std::nullopt) << bad;
}

LoadedSimple loaded(const std::string& lines) {
  MemoryFiles files{{"/d.conf", "DbdHost=db\n" + lines}};
  auto loaded = load_simple(files, "/d.conf", ConfFile::kSlurmdbd);
  EXPECT_TRUE(loaded) << to_text(loaded.error());
  return loaded ? *loaded : LoadedSimple();
}

TEST(PurgeAge, ABadOneIsToldWithItsRuleAndPurgesNothing) {
  const LoadedSimple got = loaded("PurgeJobAfter=2weeks\nPurgeStepAfter=60days\nMaxPurgeLimit=0\n");
  ASSERT_EQ(got.notices.size(), 2u) << to_text(got.notices);
  EXPECT_EQ(got.notices[0].text(),
            "/d.conf:2: PurgeJobAfter: must be a number from 1 to 65535 with hours, days or months (the default); it is left out"
            " (write 12months, 60days or 24hours)");
  EXPECT_EQ(got.conf.text("PurgeJobAfter"), "");
  EXPECT_EQ(got.conf.text("PurgeStepAfter"), "60days");
  EXPECT_EQ(got.conf.number("MaxPurgeLimit"), 1) << "the nearest that is allowed";
}

TEST(PurgeAge, OfWhatSlurmdbdDoesNotKeepIsToldToHaveNoEffect) {
  const LoadedSimple got = loaded("PurgeSuspendAfter=1month\nPurgeJobScriptAfter=1day\n");
  ASSERT_EQ(got.notices.size(), 1u) << to_text(got.notices);
  EXPECT_EQ(got.notices[0].text(),
            "/d.conf:2: PurgeSuspendAfter: has no effect: suspensions are part of their job's record and go with it");
}

}  // namespace
}  // namespace muster::config
