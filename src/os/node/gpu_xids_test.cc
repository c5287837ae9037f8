#include "os/node/gpu_xids.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

class GpuXids : public testing::Test {
 protected:
  void SetUp() override {
    card("0000:3b:00", 3);
    card("0000:af:00", 5);
    ASSERT_TRUE(make_dirs(dir_.path() + "/dev", 0755));
  }
  void card(const std::string& address, uint32_t minor) {
    const std::string folder = dir_.path() + "/proc/driver/nvidia/gpus/" + address + ".0";
    ASSERT_TRUE(make_dirs(folder, 0755));
    ASSERT_TRUE(write_file_atomic(folder + "/information", "Model: \t\t NVIDIA H100\nDevice Minor: \t " + std::to_string(minor) + "\n"));
  }
  GpuReadings of(std::string_view log) {
    EXPECT_TRUE(write_file_atomic(dir_.path() + "/dev/kmsg", log));
    GpuReadings out;
    read_gpu_xids(dir_.path(), out);
    return out;
  }
  TempDir dir_ = *TempDir::create("muster-gpu-xids-");
};

TEST_F(GpuXids, OfTheDriversRecords) {
  const GpuReadings now = of("6,811,90000,-;usb 1-1: new device\n SUBSYSTEM=usb\n"
                             "3,812,90113,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
                             "3,813,90114,-;NVRM: Xid (PCI:0000:AF:00): 31, pid=77, name=python, MMU Fault\n"
                             "3,814,90115,-;NVRM: Xid (0000:3b:00): 48\n"
                             "6,815,90116,-;the last one\n");
  const std::vector<GpuXid> expected = {{812, 3, 79}, {813, 5, 31}, {814, 3, 48}};
  EXPECT_EQ(now.xids, expected);
  EXPECT_EQ(now.log_end, 816u);
}

TEST_F(GpuXids, WhatIsNoWordOfTheDriver) {
  for (const char* line :
       {"14,1,1,-;NVRM: Xid (PCI:0000:3b:00): 79, written by a program", "3,1,1,-;said: NVRM: Xid (PCI:0000:3b:00): 79,",
        "3,1,1,-;NVRM: Xid (PCI:0000:3c:00): 79, of no card here", "3,1,1,-;NVRM: Xid (PCI:../../x): 79,",
        "3,1,1,-;NVRM: Xid (PCI:0000:3b:00): many,", "3,1,1,-;NVRM: Xid (PCI:0000:3b:00)", "NVRM: Xid (PCI:0000:3b:00): 79,"})
    EXPECT_TRUE(of(std::string(line) + "\n").xids.empty()) << line;
}

TEST_F(GpuXids, TheLatestOfMany) {
  std::string log;
  for (int i = 1; i <= 70; ++i) log += "3," + std::to_string(i) + ",1,-;NVRM: Xid (PCI:0000:3b:00): 43,\n";
  const GpuReadings now = of(log);
  ASSERT_EQ(now.xids.size(), GpuReadings::kMostXids);
  EXPECT_EQ(now.xids.front().record, 7u);
  EXPECT_EQ(now.log_end, 71u);
}

TEST_F(GpuXids, WithoutALog) {
  GpuReadings out;
  read_gpu_xids(dir_.path() + "/nowhere", out);
  EXPECT_EQ(out, GpuReadings());
}

}  // namespace
}  // namespace muster::os
