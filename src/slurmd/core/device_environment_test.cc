#include "slurmd/core/device_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/gres_conf.h"

namespace muster::slurmd {
namespace {

using namespace config;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

GresDevices line(const char* name, uint32_t first, uint64_t count, std::vector<std::string> files, uint32_t flags = 0) {
  GresDevices d;
  d.name = name;
  d.first_index = first;
  d.count = count;
  d.files = std::move(files);
  d.flags = flags;
  return d;
}

GresShare held(const char* name, const char* devices, uint64_t count = 0) {
  GresShare g;
  g.name = name;
  g.count = count;
  EXPECT_TRUE(Bitmap::parse_ranges(devices, g.devices));
  return g;
}

NodeContext node(uint32_t flags) {
  NodeContext n;
  n.gres = {line("gpu", 0, 4, {"/dev/g0", "/dev/g1", "/dev/g2", "/dev/g3"}, flags)};
  n.gpu_uuids = {"GPU-a", "GPU-b", "GPU-c", "GPU-d"};
  return n;
}

TEST(DeviceEnvironment, EveryVendorUnlessFlagsSayOtherwise) {
  EXPECT_THAT(device_environment(node(0), {held("gpu", "1,3")}, "SLURM_JOB_GPUS"),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=1,3", "ROCR_VISIBLE_DEVICES=1,3", "ZE_AFFINITY_MASK=1,3", "GPU_DEVICE_ORDINAL=1,3",
                                   "SLURM_JOB_GPUS=1,3", "SLURM_GPUS_ON_NODE=2"));
  EXPECT_THAT(device_environment(node(kGresEnvAmd | kGresEnvOpencl), {held("gpu", "2")}, ""),
              UnorderedElementsAre("ROCR_VISIBLE_DEVICES=2", "GPU_DEVICE_ORDINAL=2", "SLURM_GPUS_ON_NODE=1"));
  EXPECT_THAT(device_environment(node(kGresNoEnv), {held("gpu", "2")}, ""), ElementsAre("SLURM_GPUS_ON_NODE=1"));
  EXPECT_THAT(device_environment(node(0), {}, "SLURM_JOB_GPUS"), IsEmpty());
}

TEST(DeviceEnvironment, ConstrainedDevicesCountFromZeroAndListsDoNot) {
  NodeContext n = node(kGresEnvNvidia);
  n.devices_constrained = true;
  EXPECT_THAT(device_environment(n, {held("gpu", "1,3")}, "SLURM_STEP_GPUS"),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=0,1", "SLURM_STEP_GPUS=1,3", "SLURM_GPUS_ON_NODE=2"));
  EXPECT_THAT(bound_environment(n, held("gpu", "1-3").devices, held("gpu", "3").devices), ElementsAre("CUDA_VISIBLE_DEVICES=2"));
}

TEST(DeviceEnvironment, UuidsByFlagAndForMig) {
  EXPECT_THAT(device_environment(node(kGresEnvUuid), {held("gpu", "1,3")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=GPU-b,GPU-d", "ROCR_VISIBLE_DEVICES=GPU-b,GPU-d", "ZE_AFFINITY_MASK=1,3",
                                   "GPU_DEVICE_ORDINAL=1,3", "SLURM_GPUS_ON_NODE=2"));
  NodeContext n = node(kGresEnvUuid | kGresEnvNvidia);
  n.gpu_uuids.clear();  // nothing was detected: numbers
  EXPECT_THAT(device_environment(n, {held("gpu", "1")}, ""), UnorderedElementsAre("CUDA_VISIBLE_DEVICES=1", "SLURM_GPUS_ON_NODE=1"));
  n = node(kGresEnvNvidia);
  n.gpu_uuids[1] = "MIG-1";
  EXPECT_THAT(device_environment(n, {held("gpu", "1")}, ""), UnorderedElementsAre("CUDA_VISIBLE_DEVICES=MIG-1", "SLURM_GPUS_ON_NODE=1"));
}

GresDevices shares(const char* name, uint32_t gpu, uint64_t count) {
  GresDevices d = line(name, gpu, count, {"/dev/g" + std::to_string(gpu)});
  d.shared = true;
  return d;
}

GresShare shared(const char* name, const char* gpus, std::vector<uint64_t> each) {
  GresShare g = held(name, gpus);
  for (uint64_t n : each) g.count += n;
  g.shares = std::move(each);
  return g;
}

TEST(DeviceEnvironment, ShardsShowTheirGpuAlone) {
  NodeContext n = node(kGresEnvNvidia);
  for (uint32_t gpu = 0; gpu < 4; ++gpu) n.gres.push_back(shares("shard", gpu, 8));
  EXPECT_THAT(device_environment(n, {shared("shard", "2", {3})}, "SLURM_JOB_GPUS"),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=2", "SLURM_SHARDS_ON_NODE=3"));
  EXPECT_THAT(device_environment(n, {shared("shard", "0,3", {8, 1})}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=0,3", "SLURM_SHARDS_ON_NODE=9"));
}

TEST(DeviceEnvironment, MpsIsThePartOfOneGpu) {
  NodeContext n = node(kGresEnvNvidia);
  n.gres.push_back(shares("mps", 0, 100));
  n.gres.push_back(shares("mps", 3, 1300));
  EXPECT_THAT(device_environment(n, {shared("mps", "0", {50})}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"));
  EXPECT_THAT(device_environment(n, {shared("mps", "3", {200})}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=3", "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=15"));
}

TEST(DeviceEnvironment, OfTheSubmittingShellGoes) {
  std::vector<std::string> e = {"A=1", "CUDA_VISIBLE_DEVICES=0", "ZE_AFFINITY_MASK=1", "CUDA_VISIBLE_DEVICES_X=1"};
  drop_device_variables(e);
  EXPECT_THAT(e, ElementsAre("A=1", "CUDA_VISIBLE_DEVICES_X=1"));
}

}  // namespace
}  // namespace muster::slurmd
