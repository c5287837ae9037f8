// From when on records are purged: months of different length, and days and hours around a change of the clock.
#include "slurmdbd/core/purge.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "base/text.h"
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
    EXPECT_LE(purge_before({kLongestPurgeAge, unit}, from_unix(200'000'000)), from_unix(86'400));
  EXPECT_GE(purge_before({kLongestPurgeAge, PurgeUnit::kMonth}, from_unix(1'790'000'000)), Time{});
}

TEST(PurgeRules, ComeFromSlurmdbdConf) {
  auto rules_of = [](const std::string& lines) {
    config::MemoryFiles files{{"/d.conf", "DbdHost=db\n" + lines}};
    auto loaded = config::load_simple(files, "/d.conf", config::ConfFile::kSlurmdbd);
    EXPECT_TRUE(loaded);
    auto settings = make_settings(loaded->conf, "/");
    EXPECT_TRUE(settings);
    EXPECT_FALSE(settings->archive.scripts) << "not given";
    return settings->purge;
  };
  const PurgeRules none = rules_of("PurgeJobAfter=soon\n");
  EXPECT_FALSE(none.jobs || none.steps || none.events || none.reservations || none.transactions || none.usage);
  EXPECT_EQ(none.most_rows, 50'000u);
  const PurgeRules all = rules_of("PurgeJobAfter=12\nPurgeStepAfter=60days\nPurgeEventAfter=24hours\nPurgeResvAfter=1month\n"
                                  "PurgeTXNAfter=2months\nPurgeUsageAfter=24months\nPurgeJobScriptAfter=3days\nMaxPurgeLimit=10\n");
  EXPECT_EQ(all.jobs, (PurgeAge{12, PurgeUnit::kMonth}));
  EXPECT_EQ(all.steps, (PurgeAge{60, PurgeUnit::kDay}));
  EXPECT_EQ(all.events, (PurgeAge{24, PurgeUnit::kHour}));
  EXPECT_EQ(all.reservations, (PurgeAge{1, PurgeUnit::kMonth}));
  EXPECT_EQ(all.transactions, (PurgeAge{2, PurgeUnit::kMonth}));
  EXPECT_EQ(all.usage, (PurgeAge{24, PurgeUnit::kMonth}));
  EXPECT_EQ(all.scripts, (PurgeAge{3, PurgeUnit::kDay}));
  EXPECT_FALSE(all.environments);
  EXPECT_EQ(all.most_rows, 10u);
}

TEST(PurgeRules, ScriptsAndEnvironmentsGoWithJobsUnlessTheirOwnKeysSayOtherwise) {
  PurgeRules purge;
  ArchiveRules archive;
  const RecordKindRow &scripts = row_of(RecordKind::kScripts), &environments = row_of(RecordKind::kEnvironments);
  EXPECT_FALSE(age_of(purge, scripts));
  EXPECT_FALSE(archived(archive, scripts));
  purge.jobs = PurgeAge{12, PurgeUnit::kMonth};
  archive.jobs = true;
  EXPECT_EQ(age_of(purge, scripts), purge.jobs);
  EXPECT_TRUE(archived(archive, environments));
  EXPECT_FALSE(age_of(purge, row_of(RecordKind::kSteps))) << "these do not follow";
  purge.scripts = PurgeAge{2, PurgeUnit::kDay};
  archive.environments = false;
  EXPECT_EQ(age_of(purge, scripts), purge.scripts);
  EXPECT_EQ(age_of(purge, environments), purge.jobs);
  EXPECT_FALSE(archived(archive, environments));
  EXPECT_TRUE(archived(archive, scripts));
}

// ---- archives
TEST(ArchiveRules, AreThoseOfTheFileButForWhatADumpSays) {
  PurgeRules purge;
  purge.jobs = PurgeAge{2, PurgeUnit::kMonth};
  ArchiveRules archive;
  archive.directory = "/var/archive";
  archive.script = "/etc/copy";
  rpc::ArchiveDump request;
  request.choices = {{RecordKind::kJobs, true, {}}, {RecordKind::kEvents, false, PurgeAge{12, PurgeUnit::kHour}}};
  ASSERT_TRUE(apply_dump(request, purge, archive));
  EXPECT_EQ(purge.jobs, (PurgeAge{2, PurgeUnit::kMonth}));
  EXPECT_EQ(purge.events, (PurgeAge{12, PurgeUnit::kHour}));
  EXPECT_EQ(archive.jobs, true);
  EXPECT_FALSE(archive.events);
  EXPECT_EQ(archive.script, "/etc/copy");
  request.directory = "old";
  ASSERT_TRUE(apply_dump(request, purge, archive));
  EXPECT_EQ(archive.script, "") << "who names a directory wants files";
  for (uint32_t count : {0u, kLongestPurgeAge + 1}) {
    request.choices = {{RecordKind::kSteps, false, PurgeAge{count, PurgeUnit::kDay}}};
    EXPECT_EQ(apply_dump(request, purge, archive).error().message().substr(0, 15), "PurgeStepAfter:");
  }
}

TEST(ArchiveRules, ScriptsAreToldWhatIsDue) {
  ArchiveRules rules;
  rules.jobs = true;
  std::vector<Time> before(record_kinds().size());
  for (size_t index = 0; index < before.size(); ++index)
    if (record_kinds()[index].kind == RecordKind::kJobs || record_kinds()[index].kind == RecordKind::kEvents) before[index] = from_unix(77);
  std::string all;
  for (const std::string& variable : script_variables(rules, before)) all += variable + " ";
  for (const char* has : {"SLURM_ARCHIVE_JOBS=1 ", "SLURM_ARCHIVE_LAST_JOB=77 ", "SLURM_ARCHIVE_EVENTS=0 ", "SLURM_ARCHIVE_LAST_EVENT=0 ",
                          "SLURM_ARCHIVE_SUSPEND=0 ", "SLURM_ARCHIVE_USAGE=0 "})
    EXPECT_NE(all.find(has), std::string::npos) << has << all;
}

TEST(ArchiveRules, PlacesThatAClientNames) {
  ArchiveRules rules;
  rules.directory = "/var/archive/";
  auto where = [&](const std::string& named, bool anywhere) -> std::string {
    const Result<NamedPlace> place = named_place(rules, "File", named, anywhere);
    return place ? place->from + ":" + join(place->names, "|") : std::string(place.error().message());
  };
  EXPECT_EQ(where("", false), "/var/archive:");
  EXPECT_EQ(where("a/b", false), "/var/archive:a|b");
  EXPECT_EQ(where("/var/archive/a//./b", false), "/var/archive:a|b");
  EXPECT_EQ(where("/var/archive", false), "/var/archive:");
  EXPECT_EQ(where("/var/archives", false), "Access/permission denied");
  EXPECT_EQ(where("/etc/shadow", false), "Access/permission denied");
  EXPECT_EQ(where("/etc/old/shadow", true), "/etc/old:shadow");
  EXPECT_EQ(where("/", true), "/:");
  EXPECT_EQ(where("../../etc", false), "File=../../etc: may not lead upwards (..)");
  EXPECT_EQ(where("/var/archive/../x", true), "File=/var/archive/../x: may not lead upwards (..)");
  EXPECT_FALSE(named_place(rules, "File", std::string("a\0b", 3), true));
}

TEST(ArchivedRecords, AreBelievedOnlySoFar) {
  auto wrong = [](auto change) -> std::string {
    ArchivePart part;
    part.cluster = "c";
    JobRecord& job = part.jobs.emplace_back();
    job.key = {JobId(7), from_unix(100), 0};
    job.state = JobState::kFailed;
    job.ended = from_unix(200);
    change(part);
    const Result<> checked = check_archived(part);
    return checked ? "" : std::string(checked.error().message());
  };
  EXPECT_EQ(wrong([](ArchivePart&) {}), "");
  EXPECT_EQ(wrong([](ArchivePart& part) { part.cluster.clear(); }), "records of no cluster");
  EXPECT_EQ(wrong([](ArchivePart& part) { part.jobs[0].key.id = {}; }), "job 0: it has no number");
  EXPECT_EQ(wrong([](ArchivePart& part) { part.jobs[0].state = static_cast<JobState>(31); }), "job 7: there is no such state");
  EXPECT_EQ(wrong([](ArchivePart& part) { part.jobs[0].ended = kTimeUnset; }), "job 7: it has not ended");
  EXPECT_NE(wrong([](ArchivePart& part) { part.jobs[0].ended = kTimeInfinite; }), "");
  EXPECT_NE(wrong([](ArchivePart& part) { part.jobs[0].suspended_total = -seconds(1); }), "");
  EXPECT_NE(wrong([](ArchivePart& part) { part.usage.push_back({UsagePeriod::kHour, from_unix(3601), 0, {}}); }), "");
  EXPECT_EQ(wrong([](ArchivePart& part) { part.usage.push_back({UsagePeriod::kHour, from_unix(3600), 0, {}}); }), "");
  EXPECT_NE(wrong([](ArchivePart& part) { part.transactions.emplace_back(); }), "");
}

}  // namespace
}  // namespace muster::slurmdbd
