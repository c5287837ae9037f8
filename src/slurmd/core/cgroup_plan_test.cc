#include "slurmd/core/cgroup_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
constexpr uint64_t kMb = 1 << 20;

config::CgroupConf conf(bool ram, bool swap) {
  config::CgroupConf c;
  c.constrain_ram = ram;
  c.constrain_swap = swap;
  return c;
}

TEST(MemoryPlan, RamByPercentageWithinItsBounds) {
  config::CgroupConf c = conf(true, false);
  MemoryPlan p = memory_plan(c, 1000, 64000);
  EXPECT_EQ(p.hard_bytes, 1000 * kMb);
  EXPECT_EQ(p.soft_bytes, 1000 * kMb);
  EXPECT_FALSE(p.limit_swap);
  c.allowed_ram_percent = 101.5;  // soft at what was allocated, hard above
  p = memory_plan(c, 1000, 64000);
  EXPECT_EQ(p.hard_bytes, 1015 * kMb);
  EXPECT_EQ(p.soft_bytes, 1000 * kMb);
  c.allowed_ram_percent = 50;  // soft as hard
  p = memory_plan(c, 1000, 64000);
  EXPECT_EQ(p.hard_bytes, 500 * kMb);
  EXPECT_EQ(p.soft_bytes, 500 * kMb);
  EXPECT_EQ(memory_plan(c, 10, 64000).hard_bytes, 30 * kMb);  // MinRAMSpace
  c.max_ram_percent = 10;
  EXPECT_EQ(memory_plan(c, 60000, 64000).hard_bytes, 6400 * kMb);
  EXPECT_EQ(memory_plan(c, 0, 64000).hard_bytes, 6400 * kMb);  // memory is not handed out
  EXPECT_EQ(memory_plan(conf(false, false), 1000, 64000).hard_bytes, 0u);
}

TEST(MemoryPlan, SwapIsBeyondRam) {
  config::CgroupConf c = conf(true, true);
  MemoryPlan p = memory_plan(c, 1000, 64000);
  EXPECT_TRUE(p.limit_swap);
  EXPECT_EQ(p.swap_bytes, 0u);  // AllowedSwapSpace=0: RAM and swap together are AllowedRAMSpace
  c.allowed_swap_percent = 50;
  EXPECT_EQ(memory_plan(c, 1000, 64000).swap_bytes, 500 * kMb);
  c.max_swap_percent = 2;
  EXPECT_EQ(memory_plan(c, 1000, 64000).swap_bytes, 280 * kMb);  // 1280 together
  c = conf(false, true);
  c.allowed_swap_percent = 20;
  p = memory_plan(c, 1000, 64000);
  EXPECT_EQ(p.hard_bytes, 1200 * kMb);
  EXPECT_EQ(p.swap_bytes, 0u);
}

GresDevices line(const char* name, uint32_t first, uint64_t count, std::vector<std::string> files) {
  GresDevices d;
  d.name = name;
  d.first_index = first;
  d.count = count;
  d.files = std::move(files);
  return d;
}
GresShare held(const char* name, size_t device) {
  GresShare g;
  g.name = name;
  g.count = 1;
  g.devices.set(device);
  return g;
}

TEST(DeniedFiles, AllOfTheNodeButOnesOwn) {
  std::vector<GresDevices> node = {line("gpu", 0, 2, {"/dev/g0", "/dev/g1"}), line("nic", 0, 2, {"/dev/n0", "/dev/n1"}),
                                   line("shard", 0, 4, {"/dev/g0"}), line("shard", 1, 4, {"/dev/g1"})};
  EXPECT_THAT(denied_files(node, {}), ElementsAre("/dev/g0", "/dev/g1", "/dev/n0", "/dev/n1"));
  EXPECT_THAT(denied_files(node, {held("gpu", 0), held("nic", 1)}), ElementsAre("/dev/g1", "/dev/n0"));
  EXPECT_THAT(denied_files(node, {held("shard", 1)}), ElementsAre("/dev/g0", "/dev/n0", "/dev/n1"));
  EXPECT_THAT(denied_files({line("license", 0, 9, {})}, {}), IsEmpty());
}

// Two instances of one card: its file stays open to both.
TEST(DeniedFiles, MigInstancesShareTheirCard) {
  std::vector<GresDevices> node = {line("gpu", 0, 1, {"/dev/g0", "/dev/cap12", "/dev/cap13"}),
                                   line("gpu", 1, 1, {"/dev/g0", "/dev/cap21", "/dev/cap22"})};
  EXPECT_THAT(denied_files(node, {held("gpu", 1)}), ElementsAre("/dev/cap12", "/dev/cap13"));
}

}  // namespace
}  // namespace muster::slurmd
