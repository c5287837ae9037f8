#include "model/gpu_fabric.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(GpuFabric, IsWrittenAsNvidiaWritesIt) {
  EXPECT_EQ((GpuFabric{0x2f9c1d3e00aa4bcd, 0x8e010242ac120002, 32766}.text()), "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.32766");
  EXPECT_EQ((GpuFabric{0, 1, 0}.text()), "00000000-0000-0000-0000-000000000001.0");
  EXPECT_EQ((GpuFabric{~0ull, ~0ull, ~0u}.text()), "ffffffff-ffff-ffff-ffff-ffffffffffff.4294967295");
}

TEST(GpuFabric, IsNotKnownWithoutACluster) {
  EXPECT_FALSE(GpuFabric{}.known());
  EXPECT_FALSE((GpuFabric{0, 0, 7}.known()));  // a board of eight GPUs and NVSwitches of its own tells this
  EXPECT_EQ((GpuFabric{0, 0, 7}.text()), "");
}

}  // namespace
}  // namespace muster
