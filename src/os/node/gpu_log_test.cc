#include "os/node/gpu_log.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

class GpuLog : public testing::Test {
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
    read_gpu_log(dir_.path(), out);
    return out;
  }
  TempDir dir_ = *TempDir::create("muster-gpu-log-");
};

TEST_F(GpuLog, OfTheDriversRecords) {
  const GpuReadings now = of("6,811,90000,-;usb 1-1: new device\n SUBSYSTEM=usb\n"
                             "3,812,90113,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
                             "3,813,90114,-;NVRM: Xid (PCI:0000:AF:00): 31, pid=77, name=python, MMU Fault\n"
                             "3,814,90115,-;NVRM: Xid (0000:3b:00): 48\n"
                             "6,815,90116,-;the last one\n");
  const std::vector<GpuLogEntry> expected = {{812, {3}, 79}, {813, {5}, 31}, {814, {3}, 48}};
  EXPECT_EQ(now.logged, expected);
  EXPECT_EQ(now.log_end, 816u);
}

TEST_F(GpuLog, WhatIsNoWordOfTheDriver) {
  for (const char* line :
       {"14,1,1,-;NVRM: Xid (PCI:0000:3b:00): 79, written by a program", "3,1,1,-;said: NVRM: Xid (PCI:0000:3b:00): 79,",
        "3,1,1,-;NVRM: Xid (PCI:0000:3c:00): 79, of no card here", "3,1,1,-;NVRM: Xid (PCI:../../x): 79,",
        "3,1,1,-;NVRM: Xid (PCI:0000:3b:00): many,", "3,1,1,-;NVRM: Xid (PCI:0000:3b:00)", "NVRM: Xid (PCI:0000:3b:00): 79,"})
    EXPECT_TRUE(of(std::string(line) + "\n").logged.empty()) << line;
}

TEST_F(GpuLog, OfTheOtherVendorsDrivers) {
  for (const auto& [address, render] : {std::pair("0000:c3:00.0", "renderD128"), std::pair("0000:c4:00.0", "renderD129")})
    ASSERT_TRUE(make_dirs(dir_.path() + "/sys/bus/pci/devices/" + address + "/drm/" + render, 0755));
  struct Row {
    const char* message;
    std::optional<GpuTrouble> trouble;
  };
  const Row rows[] = {
      {"amdgpu 0000:c4:00.0: amdgpu: GPU reset begin!", GpuTrouble::kResetBegun},
      {"amdgpu 0000:c4:00.0: amdgpu: GPU reset(2) succeeded!", {}},
      {"amdgpu 0000:c4:00.0: amdgpu: GPU reset end with ret = -62", GpuTrouble::kResetFailed},
      {"amdgpu 0000:c4:00.0: amdgpu: device lost from bus!", GpuTrouble::kOffTheBus},
      {"amdgpu 0000:c4:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!", GpuTrouble::kUncorrectable},
      {"amdgpu 0000:c4:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block", GpuTrouble::kUncorrectable},
      {"amdgpu 0000:c4:00.0: amdgpu: 2 correctable hardware errors detected in umc block", {}},
      {"xe 0000:c4:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:c4:00.0 as wedged.", GpuTrouble::kWedged},
      {"xe 0000:c4:00.0: [drm] *ERROR* [Hardware Error]: Tile0 reported FATAL error 0x40000", GpuTrouble::kFatal},
      {"xe 0000:c4:00.0: [drm] *ERROR* [Hardware Error]: Tile0 reported NONFATAL error 0x40000", {}},
      {"i915 0000:c4:00.0: [drm] GPU HANG: ecode 12:1:85dffffb, in python [77]", GpuTrouble::kHang},
      {"i915 0000:c4:00.0: [drm] *ERROR* Failed to initialize GPU, declaring it wedged!", GpuTrouble::kWedged},
      {"amdgpu 0000:c5:00.0: amdgpu: device lost from bus!", {}},  // of no card here
      {"amdgpu ../../c4: amdgpu: device lost from bus!", {}},
      {"e1000e 0000:c4:00.0: device lost from bus!", {}},
      {"amdgpu: device lost from bus!", {}},
  };
  for (const Row& row : rows) {
    const GpuReadings now = of("3,7,1,-;" + std::string(row.message) + "\n SUBSYSTEM=pci\n");
    if (!row.trouble) {
      EXPECT_TRUE(now.logged.empty()) << row.message;
      continue;
    }
    const std::vector<GpuLogEntry> expected = {{7, {129, true}, static_cast<uint32_t>(*row.trouble)}};
    EXPECT_EQ(now.logged, expected) << row.message;
  }
  EXPECT_TRUE(of("14,7,1,-;amdgpu 0000:c4:00.0: amdgpu: device lost from bus!\n").logged.empty()) << "a program wrote it";
}

TEST_F(GpuLog, TheLatestOfMany) {
  std::string log;
  for (int i = 1; i <= 70; ++i) log += "3," + std::to_string(i) + ",1,-;NVRM: Xid (PCI:0000:3b:00): 43,\n";
  const GpuReadings now = of(log);
  ASSERT_EQ(now.logged.size(), GpuReadings::kMostLogged);
  EXPECT_EQ(now.logged.front().record, 7u);
  EXPECT_EQ(now.log_end, 71u);
}

TEST_F(GpuLog, WithoutALog) {
  GpuReadings out;
  read_gpu_log(dir_.path() + "/nowhere", out);
  EXPECT_EQ(out, GpuReadings());
}

}  // namespace
}  // namespace muster::os
