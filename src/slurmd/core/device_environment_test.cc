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

GresDevices line(const char* name, uint32_t first, uint64_t count, std::vector<std::string> files,
                 uint32_t flags = 0) {
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
  EXPECT_THAT(
      device_environment(node(0), {held("gpu", "1,3")}, "SLURM_JOB_GPUS"),
      UnorderedElementsAre("CUDA_VISIBLE_DEVICES=1,3", "ROCR_VISIBLE_DEVICES=1,3", "ZE_AFFINITY_MASK=1,3",
                           "GPU_DEVICE_ORDINAL=1,3", "SLURM_JOB_GPUS=1,3", "SLURM_GPUS_ON_NODE=2"));
  EXPECT_THAT(device_environment(node(kGresEnvAmd | kGresEnvOpencl), {held("gpu", "2")}, ""),
              UnorderedElementsAre("ROCR_VISIBLE_DEVICES=2", "GPU_DEVICE_ORDINAL=2", "SLURM_GPUS_ON_NODE=1"));
  EXPECT_THAT(device_environment(node(kGresNoEnv), {held("gpu", "2")}, ""),
              ElementsAre("SLURM_GPUS_ON_NODE=1"));
  EXPECT_THAT(device_environment(node(0), {}, "SLURM_JOB_GPUS"), IsEmpty());
}

TEST(DeviceEnvironment, ConstrainedDevicesCountFromZeroAndListsDoNot) {
  NodeContext n = node(kGresEnvNvidia);
  n.devices_constrained = true;
  EXPECT_THAT(
      device_environment(n, {held("gpu", "1,3")}, "SLURM_STEP_GPUS"),
      UnorderedElementsAre("CUDA_VISIBLE_DEVICES=0,1", "SLURM_STEP_GPUS=1,3", "SLURM_GPUS_ON_NODE=2"));
  EXPECT_THAT(bound_environment(n, held("gpu", "1-3").devices, held("gpu", "3").devices),
              ElementsAre("CUDA_VISIBLE_DEVICES=2"));
}

TEST(DeviceEnvironment, UuidsByFlagAndForMig) {
  EXPECT_THAT(device_environment(node(kGresEnvUuid), {held("gpu", "1,3")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=GPU-b,GPU-d", "ROCR_VISIBLE_DEVICES=GPU-b,GPU-d",
                                   "ZE_AFFINITY_MASK=1,3", "GPU_DEVICE_ORDINAL=1,3", "SLURM_GPUS_ON_NODE=2"));
  NodeContext n = node(kGresEnvUuid | kGresEnvNvidia);
  n.gpu_uuids.clear();  // nothing was detected: numbers
  EXPECT_THAT(device_environment(n, {held("gpu", "1")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=1", "SLURM_GPUS_ON_NODE=1"));
  n = node(kGresEnvNvidia);
  n.gpu_uuids[1] = "MIG-1";
  EXPECT_THAT(device_environment(n, {held("gpu", "1")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=MIG-1", "SLURM_GPUS_ON_NODE=1"));
}

TEST(DeviceEnvironment, ShardsAndMpsShowTheirGpu) {
  NodeContext n = node(kGresEnvNvidia);
  n.gres.push_back(line("shard", 0, 8, {"/dev/g2"}));
  n.gres.push_back(line("shard", 8, 16, {"/dev/g0", "/dev/g1"}));
  EXPECT_THAT(device_environment(n, {held("shard", "1-3")}, "SLURM_JOB_GPUS"),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=2", "SLURM_SHARDS_ON_NODE=3"));
  EXPECT_THAT(device_environment(n, {held("shard", "16")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=1", "SLURM_SHARDS_ON_NODE=1"));
  n.gres.push_back(line("mps", 0, 1300, {"/dev/g3"}));
  EXPECT_THAT(device_environment(n, {held("mps", "0-199")}, ""),
              UnorderedElementsAre("CUDA_VISIBLE_DEVICES=3", "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                                   "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=15"));
}

TEST(DeviceEnvironment, OfTheSubmittingShellGoes) {
  std::vector<std::string> e = {"A=1", "CUDA_VISIBLE_DEVICES=0", "ZE_AFFINITY_MASK=1",
                                "CUDA_VISIBLE_DEVICES_X=1"};
  drop_device_variables(e);
  EXPECT_THAT(e, ElementsAre("A=1", "CUDA_VISIBLE_DEVICES_X=1"));
}

}  // namespace
}  // namespace muster::slurmd
