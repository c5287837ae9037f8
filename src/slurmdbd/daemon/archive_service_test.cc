// What slurmdbd answers to sacctmgr archive, and MaxQueryTimeRange.
#include <gtest/gtest.h>

#include <algorithm>

#include "slurmdbd/daemon/service_testing.h"

namespace muster::slurmdbd {
namespace {

TEST_F(ServiceTest, OnlyAdministratorsArchive) {
  rpc::ArchiveLoad load;
  load.file = "x";
  EXPECT_EQ(ask(kAlice, rpc::ArchiveDump{}).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kAlice, load).error().code, Errc::kAccessDenied);
  EXPECT_EQ(ask(kSlurm, load).error().code, Errc::kNotFound);
  settings.archive.commands = false;
  EXPECT_EQ(ask(0, rpc::ArchiveDump{}).error().code, Errc::kDisabled);
  EXPECT_EQ(ask(0, load).error().code, Errc::kDisabled);
}

TEST_F(ServiceTest, ADumpIsLoadedOnce) {
  settings.rolls_up = false;
  settings.archive.directory = dir.path();
  rpc::StoreRecords m;
  m.cluster = "test";
  for (uint32_t id = 1; id <= 3; ++id) {
    JobRecord& r = m.jobs.emplace_back();
    r.key = {JobId(id), from_unix(2000), 0};
    r.position = 1;
    r.state = JobState::kCompleted;
    r.started = from_unix(2010);
    r.ended = from_unix(3000);
  }
  ASSERT_TRUE(ask(kSlurm, m));
  rpc::ArchiveDump dump;
  EXPECT_TRUE(ask(kSlurm, dump)->purged.empty()) << "no age is given";
  dump.choices = {{RecordKind::kJobs, true, PurgeAge{1, PurgeUnit::kHour}}};
  auto dumped = ask(kSlurm, dump);
  ASSERT_TRUE(dumped) << dumped.error().message();
  ASSERT_EQ(dumped->purged.size(), 1u);
  EXPECT_EQ(dumped->purged[0].records, 3u);
  ASSERT_EQ(dumped->purged[0].files.size(), 1u);
  EXPECT_TRUE(jobs(0).empty());
  const rpc::ArchiveLoad load{dumped->purged[0].files[0]};
  auto loaded = ask(kSlurm, load);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->added, 3u);
  EXPECT_EQ(jobs(0).size(), 3u);
  EXPECT_EQ(ask(kSlurm, load).error().code, Errc::kAlreadyDone);
  EXPECT_EQ(jobs(0).size(), 3u);
}

// The script archives: nothing goes when it fails.
TEST_F(ServiceTest, AScriptThatFailsStopsThePurge) {
  settings.rolls_up = false;
  ASSERT_TRUE(store(kSlurm, 1, 1));
  rpc::StoreRecords m;
  m.cluster = "test";
  JobRecord& r = m.jobs.emplace_back();
  r.key = {JobId(9), from_unix(2000), 0};
  r.position = 1;
  r.state = JobState::kCompleted;
  r.ended = from_unix(3000);
  ASSERT_TRUE(ask(kSlurm, m));
  rpc::ArchiveDump dump;
  dump.script = "/etc/copy";
  dump.choices = {{RecordKind::kJobs, true, PurgeAge{1, PurgeUnit::kHour}}};
  script_says = "/etc/copy: exit code 1";
  auto done = ask(kSlurm, dump);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "ArchiveScript: /etc/copy: exit code 1");
  EXPECT_EQ(jobs(0).size(), 2u);
  EXPECT_NE(std::ranges::find(script_variables, "SLURM_ARCHIVE_JOBS=1"), script_variables.end());
  script_says = "";
  done = ask(kSlurm, dump);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->purged[0].records, 1u);
  EXPECT_TRUE(done->purged[0].files.empty());
  EXPECT_EQ(jobs(0).size(), 1u);
}

TEST_F(ServiceTest, UsersAskForNoLongerTimeThanMaxQueryTimeRange) {
  settings.longest_query = minutes(24 * 60);
  rpc::QueryRecords q;
  q.filter.until = net::Loop::now();
  q.filter.from = q.filter.until - minutes(24 * 60 + 1);
  const auto nothing = [](const std::string&) {};
  EXPECT_EQ(ask(kAlice, q, nothing).error().code, Errc::kDateRangeTooWide);
  EXPECT_TRUE(ask(kSlurm, q, nothing));
  q.filter.from += minutes(2);
  EXPECT_TRUE(ask(kAlice, q, nothing));
  q.filter.from = kTimeUnset;
  EXPECT_EQ(ask(kAlice, q, nothing).error().code, Errc::kDateRangeTooWide);
  q.filter.jobs.emplace_back().job = JobId(1);
  EXPECT_TRUE(ask(kAlice, q, nothing)) << "a job by its id";
  rpc::QueryEvents events;
  EXPECT_EQ(ask(kAlice, events, nothing).error().code, Errc::kDateRangeTooWide);
  rpc::QueryUsage usage;
  EXPECT_EQ(ask(kAlice, usage, nothing).error().code, Errc::kDateRangeTooWide);
}

}  // namespace
}  // namespace muster::slurmdbd
