#include "os/node/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two sockets of four cores with two threads; the kernel numbers them in our order.
CpuMap sixteen_cpus() {
  CpuMap map;
  map.threads_per_core = 2;
  for (uint32_t i = 0; i < 16; ++i) {
    map.os_cpu.push_back(i);
    map.numa_node.push_back(i / 8);
  }
  return map;
}

struct Gpus : testing::Test {
  TempDir dir = *TempDir::create("muster-gpu-");
  void TearDown() override { unsetenv("MUSTER_FAKE_NVML"); }
  GpuDiscovery options() { return {.library = MUSTER_FAKE_NVML_PATH, .root = dir.path()}; }
  Result<GpuInventory> on(const char* machine) {
    setenv("MUSTER_FAKE_NVML", machine, 1);
    return discover_gpus_nvml(sixteen_cpus(), options());
  }
  void put(const std::string& path, std::string_view content) {
    const std::string full = dir.path() + path;
    ASSERT_TRUE(make_dirs(full.substr(0, full.find_last_of('/'))));
    ASSERT_TRUE(write_file_atomic(full, content));
  }
};

TEST_F(Gpus, EightH100BehindSwitches) {
  auto inv = on("h100");
  ASSERT_TRUE(inv) << inv.error().message();
  ASSERT_EQ(inv->devices.size(), 8u);
  EXPECT_TRUE(inv->faults.empty());
  EXPECT_EQ(inv->driver_version, "555.42.06");
  const GpuDevice& first = inv->devices[0];
  EXPECT_EQ(first.type, "nvidia_h100_80gb_hbm3");
  EXPECT_EQ(first.pci_bus_id, "0000:20:00.0");  // smallest bus first …
  EXPECT_EQ(first.uuid, "GPU-00000007");
  EXPECT_THAT(first.files, ElementsAre(dir.path() + "/dev/nvidia7"));  // … whatever its minor
  EXPECT_EQ(first.cores.to_ranges(), "0-3");
  EXPECT_EQ(inv->devices[7].cores.to_ranges(), "4-7");
  EXPECT_THAT(first.links, ElementsAre(-1, 17, 17, 17, 17, 17, 17, 17));
  EXPECT_EQ(inv->devices[3].links[3], -1);
  const auto gres = to_gres(*inv);
  ASSERT_EQ(gres.size(), 8u);
  EXPECT_EQ(gres[5].first_index, 5u);
  EXPECT_EQ(format_gres(gres), "gpu:nvidia_h100_80gb_hbm3:8");
}

TEST_F(Gpus, TheFabricIsOfTheCardsThatAnswer) {
  const std::string file = dir.path() + "/fabric";
  ASSERT_TRUE(write_file_atomic(file, "fabric -1 2f9c1d3e00aa4bcd8e010242ac120002 7 3 0\n"));
  setenv("MUSTER_FAKE_NVML_FABRIC", file.c_str(), 1);
  EXPECT_EQ(on("dead")->fabric.text(), "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.7");
  ASSERT_TRUE(write_file_atomic(file, "fabric -1 2f9c1d3e00aa4bcd8e010242ac120002 7 2 0\n"));
  auto early = on("h100");
  unsetenv("MUSTER_FAKE_NVML_FABRIC");
  EXPECT_FALSE(early->fabric.known());
  EXPECT_THAT(early->fabric_note, HasSubstr("GPU 0000:20:00.0 has not registered"));
  EXPECT_TRUE(early->faults.empty());  // its GPUs work
  EXPECT_EQ(early->devices.size(), 8u);
}

TEST_F(Gpus, MigInstancesAreDevices) {
  const std::string caps = "/proc/driver/nvidia/capabilities/gpu0/mig/";
  put(caps + "gi1/access", "DeviceFileMinor: 12\nDeviceFileMode: 256\n");
  put(caps + "gi1/ci0/access", "DeviceFileMinor: 13\n");
  put(caps + "gi2/access", "DeviceFileMinor: 21\n");
  put(caps + "gi2/ci0/access", "DeviceFileMinor: 22\n");
  auto inv = on("mig");
  ASSERT_TRUE(inv) << inv.error().message();
  EXPECT_THAT(inv->faults, ElementsAre());
  ASSERT_EQ(inv->devices.size(), 3u);
  EXPECT_EQ(inv->devices[0].type, "nvidia_a100-sxm4-40gb_3g.20gb");
  EXPECT_EQ(inv->devices[1].type, "nvidia_a100-sxm4-40gb_1c.3g.20gb");
  EXPECT_EQ(inv->devices[2].type, "nvidia_a100-sxm4-40gb");
  EXPECT_EQ(inv->devices[1].uuid, "MIG-00000000-0001");
  const std::string d = dir.path() + "/dev/";
  EXPECT_THAT(inv->devices[0].files, ElementsAre(d + "nvidia0", d + "nvidia-caps/nvidia-cap12", d + "nvidia-caps/nvidia-cap13"));
  EXPECT_EQ(inv->devices[0].cores.to_ranges(), "0-3");
  EXPECT_EQ(inv->devices[2].cores.to_ranges(), "4-7");
  EXPECT_THAT(inv->devices[2].links, ElementsAre(0, 0, -1));  // its peer is cut up
  EXPECT_EQ(to_gres(*inv).size(), 3u);
}

TEST_F(Gpus, AMigInstanceWithoutItsFilesIsAFault) {
  auto inv = on("mig");
  ASSERT_TRUE(inv);
  EXPECT_EQ(inv->devices.size(), 1u);
  ASSERT_EQ(inv->faults.size(), 3u);
  EXPECT_THAT(inv->faults[0], HasSubstr("GPU 0000:10:00.0 MIG 0: "));
  EXPECT_THAT(inv->faults[2], HasSubstr("no usable instance"));
}

TEST_F(Gpus, ADeadCardLeavesTheOthers) {
  auto inv = on("dead");
  ASSERT_TRUE(inv);
  EXPECT_EQ(inv->devices.size(), 3u);
  EXPECT_THAT(inv->faults, ElementsAre("GPU 2: GPU is lost"));
  EXPECT_EQ(inv->devices[0].links.size(), 3u);
}

TEST_F(Gpus, ErrorsOfTheLibrary) {
  EXPECT_EQ(on("broken").error().message(), "AutoDetect=nvml: Driver Not Loaded");
  auto absent = discover_gpus_nvml(sixteen_cpus(), {.library = "/no/libnvidia-ml.so.1", .root = ""});
  EXPECT_EQ(absent.error().code, Errc::kNotFound);
  auto other = discover_gpus_nvml(sixteen_cpus(), {.library = "libm.so.6", .root = ""});
  EXPECT_EQ(other.error().message(), "AutoDetect=nvml: libm.so.6 has no nvmlInit_v2");
}

TEST_F(Gpus, FromTheDriversFiles) {
  put("/proc/driver/nvidia/gpus/0000:1b:00.0/information",
      "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 64\nGPU UUID: \t GPU-aaaa\nBus Location: \t "
      "0000:1b:00.0\nDevice Minor: \t 1\n");
  put("/proc/driver/nvidia/gpus/0000:0a:00.0/information", "Model: NVIDIA A100-SXM4-80GB\nGPU UUID: GPU-bbbb\nDevice Minor: 0\n");
  put("/proc/driver/nvidia/gpus/0000:90:00.0/information", "Model: Unknown\nGPU UUID: GPU-????\nDevice Minor: 2\n");
  for (const char* bus : {"0000:1b:00.0", "0000:0a:00.0"}) put(std::string("/sys/bus/pci/devices/") + bus + "/local_cpulist", "0-7\n");
  auto inv = discover_gpus_nvidia(sixteen_cpus(), options());
  ASSERT_TRUE(inv);
  ASSERT_EQ(inv->devices.size(), 2u);
  EXPECT_EQ(inv->devices[0].uuid, "GPU-bbbb");
  EXPECT_EQ(inv->devices[1].minor, 1u);
  EXPECT_THAT(inv->faults, ElementsAre(HasSubstr("GPU 0000:90:00.0")));
  const auto gres = to_gres(*inv);
  ASSERT_EQ(gres.size(), 1u);  // alike, so one entry
  EXPECT_EQ(gres[0].count, 2u);
  EXPECT_EQ(gres[0].type, "nvidia_a100-sxm4-80gb");
  EXPECT_EQ(gres[0].cores.to_ranges(), "0-3");
  EXPECT_EQ(gres[0].files.size(), 2u);
}

TEST_F(Gpus, NoneIsNoError) {
  auto inv = discover_gpus_nvidia(sixteen_cpus(), {.library = "", .root = dir.path()});
  ASSERT_TRUE(inv);
  EXPECT_TRUE(inv->devices.empty());
  EXPECT_TRUE(inv->faults.empty());
}

struct Rsmi : Gpus {
  void TearDown() override { unsetenv("MUSTER_FAKE_ROCM_SMI"); }
  Result<GpuInventory> on(const char* machine) {
    setenv("MUSTER_FAKE_ROCM_SMI", machine, 1);
    return discover_gpus_rsmi(sixteen_cpus(), {.library = MUSTER_FAKE_ROCM_SMI_PATH, .root = dir.path()});
  }
};

TEST_F(Rsmi, FourCardsWithXgmi) {
  put("/sys/bus/pci/devices/0000:80:00.0/local_cpulist", "8-15\n");
  auto inv = on("mi300");
  ASSERT_TRUE(inv) << inv.error().message();
  ASSERT_EQ(inv->devices.size(), 4u);
  EXPECT_TRUE(inv->faults.empty());
  const GpuDevice& first = inv->devices[0];
  EXPECT_EQ(first.type, "amd_instinct_mi300x");
  EXPECT_EQ(first.pci_bus_id, "0000:80:00.0");
  EXPECT_EQ(first.uuid, "GPU-000000000000abc3");
  EXPECT_THAT(first.files, ElementsAre(dir.path() + "/dev/dri/renderD131"));
  EXPECT_EQ(first.cores.to_ranges(), "4-7");
  EXPECT_THAT(inv->devices[1].links, ElementsAre(1, -1, 1, 1));
}

TEST_F(Rsmi, FaultsAndErrors) {
  auto inv = on("dead");
  ASSERT_TRUE(inv);
  EXPECT_EQ(inv->devices.size(), 3u);
  EXPECT_THAT(inv->faults, ElementsAre("GPU 0000:c0:00.0: RSMI_STATUS_NO_DATA: no data"));
  EXPECT_EQ(on("broken").error().message(), "AutoDetect=rsmi: RSMI_STATUS_INIT_ERROR: driver not loaded");
  EXPECT_EQ(discover_gpus_rsmi(sixteen_cpus(), {.library = "/no/lib.so", .root = ""}).error().code, Errc::kNotFound);
  EXPECT_EQ(discover_gpus_rsmi(sixteen_cpus(), {.library = "libm.so.6", .root = ""}).error().message(),
            "AutoDetect=rsmi: libm.so.6 has no rsmi_init");
}

TEST_F(Gpus, OneapiTellsIntelCards) {
  for (const char* place : {"0000:20:00.0/drm/renderD129/x", "0000:30:00.0/drm/renderD128/x"})
    put(std::string("/sys/bus/pci/devices/") + place, "");
  auto ask = [&] { return discover_gpus_oneapi(sixteen_cpus(), {.library = MUSTER_FAKE_LEVEL_ZERO_PATH, .root = dir.path()}); };
  auto inv = ask();
  ASSERT_TRUE(inv) << inv.error().message();
  ASSERT_EQ(inv->devices.size(), 2u);
  EXPECT_EQ(inv->devices[0].type, "intel_data_center_gpu_max_1550");
  EXPECT_EQ(inv->devices[0].pci_bus_id, "0000:20:00.0");
  EXPECT_EQ(inv->devices[0].uuid, "GPU-12121212121212121212121212121212");
  EXPECT_THAT(inv->devices[1].files, ElementsAre(dir.path() + "/dev/dri/renderD128"));
  EXPECT_EQ(inv->devices[1].minor, 128u);
  setenv("MUSTER_FAKE_LEVEL_ZERO", "broken", 1);
  EXPECT_EQ(ask().error().message(), "AutoDetect=oneapi: Level Zero error 0x78000001");
  unsetenv("MUSTER_FAKE_LEVEL_ZERO");
}

}  // namespace
}  // namespace muster::os
