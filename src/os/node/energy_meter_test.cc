#include "os/node/energy_meter.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

TEST(CounterSum, CountsFromTheFirstSightOverWrapsAndNewStarts) {
  CounterSum s;
  s.see("a", 900, 1000);
  EXPECT_EQ(s.sum(), 0u);
  s.see("a", 950, 1000);
  s.see("b", 5, 0);
  EXPECT_EQ(s.sum(), 50u);
  s.see("a", 20, 1000);  // 50 to the end, and 20
  EXPECT_EQ(s.sum(), 120u);
  s.see("b", 3, 0);  // its driver was started again
  EXPECT_EQ(s.sum(), 123u);
}

class RaplFolder : public testing::Test {
 protected:
  void zone(const std::string& name, const std::string& what, uint64_t energy, uint64_t range = 1'000'000'000) {
    const std::string folder = dir_.path() + "/" + name;
    ASSERT_TRUE(make_dirs(folder));
    ASSERT_TRUE(write_file_atomic(folder + "/name", what + "\n"));
    ASSERT_TRUE(write_file_atomic(folder + "/energy_uj", std::to_string(energy) + "\n"));
    ASSERT_TRUE(write_file_atomic(folder + "/max_energy_range_uj", std::to_string(range) + "\n"));
  }
  TempDir dir_ = *TempDir::create("muster-rapl-");
};

TEST_F(RaplFolder, PackagesAndMemoryCountAndWhatIsInThemDoesNot) {
  zone("intel-rapl:0", "package-0", 100);
  zone("intel-rapl:0:0", "core", 50);
  zone("intel-rapl:0:1", "dram", 10);
  zone("intel-rapl:1", "package-1", 999'999'900);
  zone("intel-rapl:2", "psys", 7);
  zone("dtpm", "package-9", 7);
  auto rapl = Rapl::open(dir_.path());
  ASSERT_TRUE(rapl) << rapl.error().message();
  EXPECT_EQ(rapl->read(), 0u);
  zone("intel-rapl:0", "package-0", 300);
  zone("intel-rapl:0:0", "core", 5000);
  zone("intel-rapl:0:1", "dram", 40);
  zone("intel-rapl:1", "package-1", 50);  // around
  zone("intel-rapl:2", "psys", 7'000'000);
  EXPECT_EQ(rapl->read(), 200u + 30 + 100 + 50);
}

TEST_F(RaplFolder, WithoutCountersAndWithRubbish) {
  EXPECT_EQ(Rapl::open(dir_.path() + "/none").error().code, Errc::kNotFound);
  zone("intel-rapl:0", "package-0", 100);
  ASSERT_TRUE(write_file_atomic(dir_.path() + "/intel-rapl:0/energy_uj", "many\n"));
  EXPECT_FALSE(Rapl::open(dir_.path()));
  zone("intel-rapl:0", "package-0", 100);
  auto rapl = Rapl::open(dir_.path());
  ASSERT_TRUE(rapl);
  ASSERT_TRUE(write_file_atomic(dir_.path() + "/intel-rapl:0/energy_uj", "-5\n"));
  EXPECT_EQ(rapl->read(), 0u);
}

TEST(PowerMeter, WattsNowAndOnAverage) {
  PowerMeter m;
  m.sample(seconds(10), 1000);
  EXPECT_TRUE(m.any());
  EXPECT_FALSE(m.measured());
  m.sample(seconds(20), 3000);
  EXPECT_EQ(m.watts_now(), 200u);
  m.sample(seconds(30), 4000);
  EXPECT_EQ(m.watts_now(), 100u);
  EXPECT_EQ(m.watts_average(), 150u);
  EXPECT_EQ(m.joules(), 3000u);
  EXPECT_EQ(m.joules_before(), 2000u);
  m.sample(seconds(30), 5000);  // no time has passed
  EXPECT_EQ(m.watts_now(), 100u);
}

}  // namespace
}  // namespace muster::os
