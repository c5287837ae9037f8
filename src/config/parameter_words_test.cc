#include "config/parameter_words.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

struct Said {
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  OptionList given;
  explicit Said(std::string_view text) : given(OptionList::parse(text)) {
    Findings f{errors, notices};
    check_words("SchedulerParameters", scheduler_words(), given, SourcePos{}, f);
  }
};

TEST(ParameterWords, EachHasOneRowThatSaysWhatBecomesOfIt) {
  for (const ParameterKey& key : parameter_keys()) {
    std::set<std::string> names;
    for (const ParameterWord& w : key.words) {
      EXPECT_TRUE(names.insert(to_lower(w.name)).second) << key.key << ": " << w.name << " twice";
      EXPECT_STRNE(w.note, "") << w.name;
      EXPECT_LE(w.min, w.max) << w.name;
    }
  }
}

TEST(ParameterWords, WhatWorksIsTakenInSilence) {
  Said said("bf_window=2880,BF_Resolution=300,enable_user_top,sched_interval=-1");
  EXPECT_TRUE(said.errors.empty());
  EXPECT_TRUE(said.notices.empty());
}

TEST(ParameterWords, WhatHasNoEffectIsSaidOnce) {
  Said said("defer_batch,no_backup_scheduling");
  EXPECT_TRUE(said.errors.empty());
  ASSERT_EQ(said.notices.size(), 2u);
  EXPECT_EQ(said.notices[0].message, "defer_batch has no effect: planning runs beside the controller and holds up no request");
  EXPECT_EQ(said.notices[1].message, "no_backup_scheduling has no effect, this is not there yet: a standby controller");
}

TEST(ParameterWords, EachKeyHasItsOwn) {
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  Findings f{errors, notices};
  bool said = false;
  for (const ParameterKey& key : parameter_keys()) {
    OptionList given = OptionList::parse("node_reg_mem_percent=101,rl_enable");
    check_words(key.key, key.words, given, SourcePos{}, f);
  }
  for (const ConfigNotice& n : notices)
    said = said || n.message == "node_reg_mem_percent=101: must be a number from 0 to 100; it is left out";
  EXPECT_TRUE(said);
  EXPECT_EQ(notices.size(), 2 * parameter_keys().size());
}

TEST(ParameterWords, AWordNobodyKnowsIsNamed) {
  Said said("bf_windw=30");
  ASSERT_EQ(said.notices.size(), 1u);
  EXPECT_EQ(said.notices[0].message, "\"bf_windw\" is not known and has no effect; did you mean bf_window?");
}

TEST(ParameterWords, AWordThatMovedIsPointedTo) {
  Said said("kill_invalid_depend,preempt_youngest_first");
  ASSERT_EQ(said.notices.size(), 2u);
  EXPECT_EQ(said.notices[0].message, "\"kill_invalid_depend\" is a word of DependencyParameters and has no effect here");
  EXPECT_EQ(said.notices[1].message, "\"preempt_youngest_first\" is a word of PreemptParameters and has no effect here");
}

TEST(ParameterWords, NumbersKeepTheirBounds) {
  for (const char* text : {"bf_window=0", "bf_resolution=3601", "bf_max_job_test", "bf_interval=soon", "bf_window=1h"}) {
    Said said(text);
    EXPECT_TRUE(said.errors.empty());
    ASSERT_EQ(said.notices.size(), 1u) << text;
    EXPECT_NE(said.notices[0].message.find("must be a number from"), std::string::npos) << said.notices[0].message;
    EXPECT_TRUE(said.given.empty()) << text;  // the daemons go on as if it were not there
  }
}

TEST(ParameterWords, AChoiceIsOneOfThose) {
  for (const char* text : {"bf_hetjob_prio=mean", "bf_hetjob_prio"}) {
    Said said(text);
    EXPECT_TRUE(said.errors.empty());
    ASSERT_EQ(said.notices.size(), 1u) << text;
    EXPECT_NE(said.notices[0].message.find(": must be one of min, avg, max; it is left out"), std::string::npos) << said.notices[0].message;
    EXPECT_TRUE(said.given.empty()) << text;
  }
  EXPECT_TRUE(Said("bf_hetjob_prio=AVG").notices.empty());
}

TEST(ParameterWords, AValueOfAWordThatTakesNoneIsSaidAndTheWordCounts) {
  Said said("defer=1,enable_user_top=no");
  EXPECT_TRUE(said.errors.empty());
  ASSERT_EQ(said.notices.size(), 2u);
  EXPECT_EQ(said.notices[0].message, "defer=1: takes no value; the word counts, its value does not");
  EXPECT_EQ(said.notices[1].message, "enable_user_top=no: takes no value; the word counts, its value does not");
  EXPECT_TRUE(said.given.has("defer") && said.given.has("enable_user_top"));
}

TEST(ParameterWords, TextsAreTakenAsTheyAre) {
  const std::pair<const char*, const char*> kGiven[] = {
      {"AuthInfo", "socket=/run/munge"}, {"BcastParameters", "DestDir=/tmp,Compression=lz4,send_libs"}, {"MpiParams", "ports=1-2"}};
  for (const auto& [name, text] : kGiven)
    for (const ParameterKey& key : parameter_keys()) {
      if (std::string_view(key.key) != name) continue;
      std::vector<ConfigError> errors;
      std::vector<ConfigNotice> notices;
      Findings f{errors, notices};
      OptionList given = OptionList::parse(text);
      check_words(key.key, key.words, given, SourcePos{}, f);
      EXPECT_TRUE(errors.empty() && notices.empty()) << text;
    }
}

TEST(ParameterWords, GpuChecksTakesNoNumber) {
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  Findings f{errors, notices};
  f.strict = true;
  OptionList given = OptionList::parse("gpu_checks=3");
  check_words("SlurmdParameters", slurmd_words(), given, SourcePos{}, f);
  EXPECT_TRUE(errors.empty()) << "never a refusal";
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].message, "gpu_checks=3: takes no value; the word counts, its value does not");
  EXPECT_TRUE(given.has("gpu_checks"));
}

}  // namespace
}  // namespace muster::config
