// slurmdbd.conf as Settings, and what is told of it.
#include "slurmdbd/core/settings.h"

#include <gtest/gtest.h>

#include "slurmdbd/core/settings_text.h"

namespace muster::slurmdbd {
namespace {

Result<Settings> settings_of(const std::string& lines) {
  config::MemoryFiles files{{"/etc/slurmdbd.conf", "DbdHost=db\n" + lines}};
  auto loaded = config::load_simple(files, "/etc/slurmdbd.conf", config::ConfFile::kSlurmdbd);
  if (!loaded) return fail(Errc::kConfig, config::to_text(loaded.error()));
  return make_settings(loaded->conf, "/etc");
}

TEST(Settings, TimesAreOursUnlessTheyAreGiven) {
  const auto none = settings_of("");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->message_timeout || none->tcp_timeout);
  EXPECT_EQ(none->token_duration, minutes(5));
  const auto given = settings_of("MessageTimeout=20\nTCPTimeout=3\nStorageParameters=token_duration=60,SSL_CA=/ca\n");
  ASSERT_TRUE(given);
  EXPECT_EQ(given->message_timeout, seconds(20));
  EXPECT_EQ(given->tcp_timeout, seconds(3));
  EXPECT_EQ(given->token_duration, seconds(60));
  EXPECT_EQ(settings_of("StorageParameters=token_duration=soon\n")->token_duration, minutes(5));
}

TEST(Settings, AScriptIsNamedByItsWholePath) {
  EXPECT_EQ(settings_of("StoragePassScript=/etc/slurm/token\n")->storage_password_script, "/etc/slurm/token");
  const auto refused = settings_of("StoragePassScript=token\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "StoragePassScript=token: must be a path that begins with /");
}

TEST(Settings, WhatIsToldHasNoPassword) {
  const auto settings = settings_of(
      "StorageType=accounting_storage/mysql\nStoragePass=some_pass\nStoragePassScript=/etc/slurm/token\nDebugFlags=DB_JOB,Network\n"
      "MessageTimeout=20\n");
  ASSERT_TRUE(settings);
  const std::string told = settings_text(*settings, Uid{64030});
  EXPECT_FALSE(told.contains("some_pass")) << told;
  for (const char* line : {"DebugFlags=DB_JOB,Network\n", "MessageTimeout=20 secs\n", "StoragePassScript=/etc/slurm/token\n",
                           "StorageType=accounting_storage/mysql\n", "SlurmUser=root(64030)\n"})
    EXPECT_TRUE(told.contains(line)) << line << told;
}

TEST(Settings, WhatIsActedUponIsTold) {
  const auto settings =
      settings_of("PrivateData=users,jbos,jobs\nPurgeJobAfter=12\nPurgeEventAfter=36hours\nArchiveEvents=yes\nDefaultQOS=Batch\nParameters="
                  "PreserveCaseResource\n"
                  "StorageParameters=token_duration=60,SSL_CA=/ca\nDisableCoordDBD=yes\nDisableRollups=yes\nDisableArchiveCommands=yes\n"
                  "AllowNoDefAcct=yes\nAllResourcesAbsolute=yes\nMaxPurgeLimit=10\nAuthType=auth/munge\nAuthInfo=socket=/m\n");
  ASSERT_TRUE(settings);
  const std::string told = settings_text(*settings, Uid{64030});
  for (const char* line : {"PrivateData=jobs,users\n", "PurgeJobAfter=12 months\n", "PurgeEventAfter=36 hours*\n", "PurgeStepAfter=NONE\n",
                           "PurgeJobScriptAfter=12 months\n", "DefaultQOS=batch\n", "Parameters=PreserveCaseResource\n",
                           "StorageParameters=token_duration=60,SSL_CA=/ca\n", "DisableCoordDBD=Yes\n", "DisableRollups=Yes\n",
                           "DisableArchiveCommands=Yes\n", "AllowNoDefAcct=Yes\n", "AllResourcesAbsolute=Yes\n", "MaxPurgeLimit=10\n",
                           "AuthType=auth/munge\n", "AuthInfo=socket=/m\n", "LogTimeFormat=iso8601_ms\n"})
    EXPECT_TRUE(told.contains(line)) << line << told;
  EXPECT_TRUE(settings_text(*settings_of(""), Uid{}).contains("PrivateData=none\n"));
}

// A key that works and is not told would be forgotten; passwords are never told.
TEST(Settings, EachKeyThatHasAnEffectIsTold) {
  const auto settings = settings_of("MessageTimeout=20\nTCPTimeout=3\n");
  ASSERT_TRUE(settings);
  const std::string told = "\n" + settings_text(*settings, Uid{});
  for (const config::KeyRow* row : config::rows_of(config::ConfFile::kSlurmdbd, config::Section::kGlobal)) {
    const bool acts = row->state == config::KeyStatus::kWorks && !row->secret;
    EXPECT_EQ(told.contains("\n" + std::string(row->name) + "="), acts) << row->name;
  }
}

}  // namespace
}  // namespace muster::slurmdbd
