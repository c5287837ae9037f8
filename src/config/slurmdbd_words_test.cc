// What is said of the words of a slurmdbd.conf.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"
#include "config/load.h"
#include "config/parameter_words.h"

namespace muster::config {
namespace {

std::string said_of(const std::string& lines) {
  MemoryFiles files{{"/etc/slurmdbd.conf", "DbdHost=db\n" + lines}};
  auto loaded = load_simple(files, "/etc/slurmdbd.conf", ConfFile::kSlurmdbd);
  if (!loaded) return "refused: " + to_text(loaded.error());
  std::string out;
  for (const ConfigNotice& n : loaded->notices) out += n.key + ": " + n.message + "\n";
  return out;
}

TEST(SlurmdbdWords, EachHasOneRowThatSaysWhatBecomesOfIt) {
  for (const SlurmdbdKey& key : slurmdbd_keys()) {
    EXPECT_NE(find_row(ConfFile::kSlurmdbd, Section::kGlobal, key.key), nullptr) << key.key;
    std::set<std::string> names;
    for (const ParameterWord& w : key.words) {
      EXPECT_TRUE(names.insert(to_lower(w.name)).second) << key.key << ": " << w.name << " twice";
      EXPECT_STRNE(w.note, "") << w.name;
    }
  }
}

TEST(SlurmdbdWords, WhatWorksIsTakenInSilence) {
  EXPECT_EQ(said_of("DebugFlags=DB_JOB,auditrpcs,Federation\nCommunicationParameters=DisableIPv4\nParameters=PreserveCaseUser\n"
                    "StorageParameters=SSL_CA=/ca.pem,token_duration=60\nMessageTimeout=20\nTCPTimeout=3\nDebugLevelSyslog=error\n"
                    "StoragePassScript=/etc/slurm/token\n"),
            "");
}

TEST(SlurmdbdWords, WhatHasNoEffectIsSaidWithTheReason) {
  EXPECT_TRUE(said_of("DebugFlags=NetworkRaw\n").starts_with("DebugFlags: NetworkRaw has no effect: messages hold"));
  EXPECT_EQ(said_of("DebugFlags=DB_JOBS\n"), "DebugFlags: \"DB_JOBS\" is not known and has no effect; did you mean DB_JOB?\n");
  EXPECT_EQ(said_of("StorageParameters=token_duration=soon\n"),
            "StorageParameters: token_duration=soon: must be a number from 0 to 31536000; it is left out\n");
  EXPECT_TRUE(said_of("CommunicationParameters=keepalivetime=30\n").contains("keepalivetime has no effect"));
  for (const char* key : {"CommitDelay=1", "PluginDir=/usr/lib/slurm", "HashPlugin=hash/sha3"})
    EXPECT_TRUE(said_of(std::string(key) + "\n").contains("no effect")) << key;
}

TEST(SlurmdbdWords, AWrongWordOfPrivateDataLeavesTheOthersInForce) {
  MemoryFiles files{{"/etc/slurmdbd.conf", "DbdHost=db\nPrivateData=accounts,jbos,users\n"}};
  const auto loaded = load_simple(files, "/etc/slurmdbd.conf", ConfFile::kSlurmdbd);
  ASSERT_TRUE(loaded) << to_text(loaded.error());
  EXPECT_EQ(loaded->conf.text("PrivateData"), "accounts,users");
  EXPECT_EQ(to_text(loaded->notices),
            "/etc/slurmdbd.conf:2: PrivateData: \"jbos\" is not one of accounts, events, jobs, reservations, usage, users, none;"
            " it is left out (did you mean jobs?)\n");
}

TEST(SlurmdbdWords, APasswordBesideItsScriptIsNotUsed) {
  EXPECT_EQ(said_of("StoragePass=some_pass\nStoragePassScript=/etc/slurm/token\n"),
            "StoragePass: has no effect: StoragePassScript says the password\n");
}

}  // namespace
}  // namespace muster::config
