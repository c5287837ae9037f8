#include "slurmd/core/gres_reconcile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/gres_conf.h"

namespace muster::slurmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Bitmap cores(const char* text) {
  Bitmap b;
  EXPECT_TRUE(Bitmap::parse_ranges(text, b));
  return b;
}

// Four H100, two on each socket.
std::vector<FoundDevice> box() {
  std::vector<FoundDevice> out;
  for (int i = 0; i < 4; ++i)
    out.push_back(
        {"nvidia_h100_80gb_hbm3", {"/dev/nvidia" + std::to_string(i)}, cores(i < 2 ? "0-3" : "4-7"), {}, "GPU-" + std::to_string(i)});
  return out;
}

GresDevices line(const char* type, uint32_t first, uint64_t count, std::vector<std::string> files = {}) {
  GresDevices d;
  d.name = "gpu";
  d.type = type;
  d.first_index = first;
  d.count = count;
  d.files = std::move(files);
  return d;
}

std::vector<std::string> shown(const Reconciled& r) {
  std::vector<std::string> out;
  for (const GresDevices& d : r.devices)
    out.push_back(std::to_string(d.first_index) + ":" + d.type + ":" + d.files.at(0) + ":" + d.cores.to_ranges());
  return out;
}

TEST(ReconcileGpus, CountsTakeWhatWasFound) {
  Reconciled r = reconcile_gpus({line("h100", 0, 4)}, box(), kGresEnvNvidia);
  EXPECT_THAT(shown(r),
              ElementsAre("0:h100:/dev/nvidia0:0-3", "1:h100:/dev/nvidia1:0-3", "2:h100:/dev/nvidia2:4-7", "3:h100:/dev/nvidia3:4-7"));
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_EQ(r.devices[0].flags, kGresEnvNvidia);
  EXPECT_THAT(r.uuids, ElementsAre("GPU-0", "GPU-1", "GPU-2", "GPU-3"));
}

TEST(ReconcileGpus, NothingConfiguredRegistersAll) {
  Reconciled r = reconcile_gpus({}, box(), 0);
  ASSERT_EQ(r.devices.size(), 4u);
  EXPECT_EQ(r.devices[3].type, "nvidia_h100_80gb_hbm3");
  EXPECT_EQ(r.devices[3].first_index, 3u);
}

// The dead card's number stays free: the others keep theirs.
TEST(ReconcileGpus, AMissingCardLeavesAGap) {
  std::vector<FoundDevice> found = box();
  found.erase(found.begin() + 1);
  std::vector<std::string> files = {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2", "/dev/nvidia3"};
  Reconciled r = reconcile_gpus({line("h100", 0, 4, files)}, found, 0);
  EXPECT_THAT(shown(r), ElementsAre("0:h100:/dev/nvidia0:0-3", "2:h100:/dev/nvidia2:4-7", "3:h100:/dev/nvidia3:4-7"));
  EXPECT_THAT(r.problems, ElementsAre("gres/gpu:h100 File=/dev/nvidia1 is configured and was not found"));
  EXPECT_EQ(r.uuids[2], "GPU-2");
  r = reconcile_gpus({line("h100", 0, 4)}, found, 0);
  EXPECT_EQ(r.devices.size(), 3u);
  EXPECT_THAT(r.problems, ElementsAre("gres/gpu:h100: 4 configured, 3 found"));
}

TEST(ReconcileGpus, ContradictionsAreNotRegistered) {
  GresDevices wrong_type = line("a100", 0, 1, {"/dev/nvidia0"}), wrong_cores = line("h100", 1, 1, {"/dev/nvidia1"}),
              twice = line("h100", 2, 1, {"/dev/nvidia2"}), again = line("h100", 3, 1, {"/dev/nvidia2"});
  wrong_cores.cores = cores("4-7");
  Reconciled r = reconcile_gpus({wrong_type, wrong_cores, twice, again}, box(), 0);
  EXPECT_THAT(shown(r), ElementsAre("2:h100:/dev/nvidia2:4-7"));
  EXPECT_THAT(r.problems, ElementsAre(HasSubstr("does not fit what was found: Type=nvidia_h100"),
                                      "gres/gpu:h100 File=/dev/nvidia1 has Cores=4-7, found: Cores=0-3", HasSubstr("is configured twice"),
                                      "3 more GPUs found than configured: not used"));
}

TEST(ReconcileGpus, ConfiguredOrderAndFlagsStand) {
  GresDevices second = line("h100", 1, 1, {"/dev/nvidia0"});
  second.flags = kGresEnvAmd;
  GresDevices nic;
  nic.name = "nic";
  nic.count = 1;
  Reconciled r = reconcile_gpus({line("h100", 0, 1, {"/dev/nvidia3"}), nic, second}, box(), kGresEnvNvidia);
  ASSERT_EQ(r.devices.size(), 3u);
  EXPECT_EQ(r.devices[0].name, "nic");
  EXPECT_EQ(r.devices[1].files[0], "/dev/nvidia3");
  EXPECT_EQ(r.devices[2].flags, kGresEnvAmd);
  EXPECT_THAT(r.uuids, ElementsAre("GPU-3", "GPU-0"));
}

TEST(ReconcileGpus, MigInstancesAreTypes) {
  std::vector<FoundDevice> found = {{"nvidia_a100-sxm4-40gb_3g.20gb", {"/dev/nvidia0", "/dev/cap12", "/dev/cap13"}, {}, {}, "MIG-1"},
                                    {"nvidia_a100-sxm4-40gb_1c.3g.20gb", {"/dev/nvidia0", "/dev/cap21", "/dev/cap22"}, {}, {}, "MIG-2"},
                                    {"nvidia_a100-sxm4-40gb", {"/dev/nvidia1"}, {}, {}, "GPU-1"}};
  Reconciled r =
      reconcile_gpus({line("a100_3g.20gb", 0, 1), line("a100_1c.3g.20gb", 1, 1), line("a100", 2, 1, {"/dev/nvidia1"})}, found, 0);
  EXPECT_THAT(r.problems, IsEmpty());
  EXPECT_THAT(r.uuids, ElementsAre("MIG-1", "MIG-2", "GPU-1"));
  r = reconcile_gpus({line("a100", 0, 1), line("a100_3g.20gb", 1, 1)}, found, 0);
  EXPECT_THAT(r.uuids, ElementsAre("GPU-1", "MIG-1"));
  GresDevices by_files = line("a100_3g.20gb", 0, 1, {"/dev/cap13", "/dev/nvidia0", "/dev/cap12"});
  EXPECT_EQ(reconcile_gpus({by_files}, found, 0).uuids[0], "MIG-1");
  // The card's own file alone is the whole card, and it is cut up.
  EXPECT_THAT(reconcile_gpus({line("a100_3g.20gb", 0, 1, {"/dev/nvidia0"})}, found, 0).devices, IsEmpty());
}

TEST(TypeFits, SubstringsAndProfiles) {
  EXPECT_TRUE(type_fits("", "anything"));
  EXPECT_TRUE(type_fits("H100", "nvidia_h100_80gb_hbm3"));
  EXPECT_TRUE(type_fits("a100_3g.20gb", "nvidia_a100-sxm4-40gb_3g.20gb"));
  EXPECT_FALSE(type_fits("a100_1g.5gb", "nvidia_a100-sxm4-40gb_3g.20gb"));
  EXPECT_FALSE(type_fits("h100_3g.20gb", "nvidia_a100-sxm4-40gb_3g.20gb"));
  EXPECT_FALSE(type_fits("a100", "nvidia_h100_80gb_hbm3"));
}

}  // namespace
}  // namespace muster::slurmd
