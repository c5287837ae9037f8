#include "os/node/cpu_frequency.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

TEST(CpuFrequency, NearestToWhatThereIs) {
  CpuFrequencyRange steps{1000, 3000, {1000, 1500, 2000, 2500, 3000}}, free{1000, 3000, {}};
  EXPECT_EQ(choose_frequency("low", steps), 1000u);
  EXPECT_EQ(choose_frequency("medium", steps), 2000u);
  EXPECT_EQ(choose_frequency("highm1", steps), 2500u);
  EXPECT_EQ(choose_frequency("high", steps), 3000u);
  EXPECT_EQ(choose_frequency("1700", steps), 1500u);
  EXPECT_EQ(choose_frequency("1", steps), 1000u);
  EXPECT_EQ(choose_frequency("9999", steps), 3000u);
  EXPECT_EQ(choose_frequency("1700", free), 1700u);
  EXPECT_EQ(choose_frequency("medium", free), 2000u);
  EXPECT_EQ(choose_frequency("highm1", free), 3000u);
}

// A machine of files (values of one length: the kernel takes a value, a file keeps what is behind it): CPUs 0 and 1 with steps and userspace, CPU 2 without either, CPU 3 without cpufreq.
struct Machine : testing::Test {
  TempDir dir = *TempDir::create("muster-freq-");
  std::string file(size_t cpu, const std::string& name) {
    return dir.path() + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/" + name;
  }
  void put(size_t cpu, const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_dirs(file(cpu, "")));
    ASSERT_TRUE(write_file_atomic(file(cpu, name), text + "\n"));
  }
  std::string get(size_t cpu, const std::string& name) { return read_line(file(cpu, name)).value_or("-"); }
  void SetUp() override {
    for (size_t cpu : {0, 1, 2}) {
      put(cpu, "cpuinfo_min_freq", "1000");
      put(cpu, "cpuinfo_max_freq", "3000");
      put(cpu, "scaling_min_freq", "1000");
      put(cpu, "scaling_max_freq", "2900");
      put(cpu, "scaling_governor", "powersave");
      put(cpu, "scaling_setspeed", "0000");
      put(cpu, "scaling_available_governors", cpu == 2 ? "performance powersave" : "schedutil userspace powersave");
      if (cpu < 2) put(cpu, "scaling_available_frequencies", "3000 2000 1000");
    }
  }
  Bitmap cpus(const std::string& list) {
    Bitmap out;
    EXPECT_TRUE(Bitmap::parse_ranges(list, out));
    return out;
  }
};

TEST_F(Machine, OneFrequencyForTheTimeOfTheHold) {
  {
    CpuFrequencyHold hold(*CpuFrequencyWish::parse("medium"), cpus("0,2"), dir.path());
    EXPECT_TRUE(hold.faults().empty());
    EXPECT_EQ(get(0, "scaling_governor"), "userspace");
    EXPECT_EQ(get(0, "scaling_setspeed"), "2000");
    EXPECT_EQ(get(0, "scaling_min_freq"), "2000");
    EXPECT_EQ(get(0, "scaling_max_freq"), "2000");
    EXPECT_EQ(get(1, "scaling_governor"), "powersave");  // not asked for
    EXPECT_EQ(get(2, "scaling_governor"), "powersave");  // has no userspace: its bounds hold it
    EXPECT_EQ(get(2, "scaling_min_freq"), "2000");
    EXPECT_EQ(get(2, "scaling_max_freq"), "2000");
  }
  for (size_t cpu : {0, 2}) {
    EXPECT_EQ(get(cpu, "scaling_governor"), "powersave");
    EXPECT_EQ(get(cpu, "scaling_min_freq"), "1000");
    EXPECT_EQ(get(cpu, "scaling_max_freq"), "2900");
  }
}

TEST_F(Machine, ARangeUnderAGovernor) {
  CpuFrequencyHold hold(*CpuFrequencyWish::parse("1400-high:schedutil"), cpus("0-2"), dir.path());
  EXPECT_EQ(get(1, "scaling_governor"), "schedutil");
  EXPECT_EQ(get(1, "scaling_min_freq"), "1000");  // the nearest step
  EXPECT_EQ(get(1, "scaling_max_freq"), "3000");
  EXPECT_EQ(hold.faults(), std::vector<std::string>{"CPU 2: the governor schedutil is not available"});
}

TEST_F(Machine, WhatCannotBeSetIsToldOnceForEachKind) {
  CpuFrequencyHold hold(*CpuFrequencyWish::parse("low"), cpus("3-5"), dir.path());
  EXPECT_EQ(hold.faults(), std::vector<std::string>{"CPU 3: this machine does not let its frequency be set"});
  CpuFrequencyHold upside_down(*CpuFrequencyWish::parse("high-low:schedutil"), cpus("0"), dir.path());
  EXPECT_EQ(upside_down.faults(), std::vector<std::string>{"CPU 0: the lower frequency is above the upper one"});
}

}  // namespace
}  // namespace muster::os
