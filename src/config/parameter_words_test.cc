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
  explicit Said(std::string_view text) {
    Findings f{errors, notices};
    check_words("SchedulerParameters", scheduler_words(), OptionList::parse(text), SourcePos{}, f);
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
  Said said("defer,bf_hetjob_prio=min");
  EXPECT_TRUE(said.errors.empty());
  ASSERT_EQ(said.notices.size(), 2u);
  EXPECT_EQ(said.notices[0].message, "defer has no effect: planning runs beside the controller and holds up no request");
  EXPECT_EQ(said.notices[1].message, "bf_hetjob_prio has no effect, this is not there yet: heterogeneous jobs");
}

TEST(ParameterWords, EachKeyHasItsOwn) {
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  Findings f{errors, notices};
  for (const ParameterKey& key : parameter_keys())
    check_words(key.key, key.words, OptionList::parse("node_reg_mem_percent=101,enable_configless"), SourcePos{}, f);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "node_reg_mem_percent=101: must be a number from 0 to 100");
  EXPECT_EQ(notices.size(), 2 * parameter_keys().size() - 1);
}

TEST(ParameterWords, AWordNobodyKnowsIsNamed) {
  Said said("bf_windw=30");
  ASSERT_EQ(said.notices.size(), 1u);
  EXPECT_EQ(said.notices[0].message, "\"bf_windw\" is not known and has no effect; did you mean bf_window?");
}

TEST(ParameterWords, NumbersKeepTheirBounds) {
  for (const char* text : {"bf_window=0", "bf_resolution=3601", "bf_max_job_test", "bf_interval=soon", "bf_window=1h"}) {
    Said said(text);
    ASSERT_EQ(said.errors.size(), 1u) << text;
    EXPECT_NE(said.errors[0].message.find("must be a number from"), std::string::npos) << said.errors[0].message;
  }
}

}  // namespace
}  // namespace muster::config
