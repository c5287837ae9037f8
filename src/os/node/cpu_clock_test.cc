#include "os/node/cpu_clock.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

struct CpuClock : testing::Test {
  TempDir dir = *TempDir::create("muster-clock-");
  void put(const std::string& path, const std::string& text) {
    const std::string full = dir.path() + path;
    ASSERT_TRUE(make_dirs(full.substr(0, full.rfind('/'))));
    ASSERT_TRUE(write_file_atomic(full, text));
  }
  void core(size_t n, const std::string& khz) {
    put("/sys/devices/system/cpu/cpu" + std::to_string(n) + "/cpufreq/scaling_cur_freq", khz + "\n");
  }
};

TEST_F(CpuClock, TheDriverSaysItForEachCore) {
  core(0, "1200000");
  core(1, "3400000");
  put("/proc/cpuinfo", "cpu MHz\t\t: 99.0\n");
  EXPECT_EQ(cpu_clock(1, dir.path()), 3'400'000u);
  EXPECT_EQ(mean_cpu_clock(2, dir.path()), 2'300'000u);
  EXPECT_EQ(mean_cpu_clock(4, dir.path()), 2'300'000u);  // of those that say it
}

TEST_F(CpuClock, VirtualMachinesHaveOneForAll) {
  put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu MHz\t\t: 2596.992\ncache size\t: 1 KB\n");
  EXPECT_EQ(cpu_clock(7, dir.path()), 2'596'992u);
  EXPECT_EQ(mean_cpu_clock(8, dir.path()), 2'596'992u);
}

TEST_F(CpuClock, NoneWhereTheMachineSaysNothing) {
  EXPECT_EQ(cpu_clock(0, dir.path()), 0u);
  put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
  EXPECT_EQ(cpu_clock(0, dir.path()), 0u);
  for (const char* odd : {"cpu MHz", "cpu MHz :", "cpu MHz : fast", "cpu MHz : -5", "cpu MHz : 1e300"}) {
    put("/proc/cpuinfo", std::string(odd) + "\n");
    EXPECT_EQ(cpu_clock(0, dir.path()), 0u) << odd;
  }
}

}  // namespace
}  // namespace muster::os
