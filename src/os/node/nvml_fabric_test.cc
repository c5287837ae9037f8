#include "os/node/nvml_fabric.h"

#include <gtest/gtest.h>

#include "os/files.h"

namespace muster::os {
namespace {

const std::string kRack = "2f9c1d3e00aa4bcd8e010242ac120002", kOtherRack = "ffffffff00aa4bcd8e010242ac120002";
const std::string kNoCluster(32, '0');
constexpr char kRackText[] = "2f9c1d3e-00aa-4bcd-8e01-0242ac120002.7";

// The line of the stand-in for these cards (-1: all): registered, unless said otherwise.
std::string told(int card, const std::string& cluster, int clique, int state = nvml::kFabricCompleted, int status = 0) {
  return "fabric " + std::to_string(card) + " " + cluster + " " + std::to_string(clique) + " " + std::to_string(state) + " " +
         std::to_string(status) + "\n";
}

class NvmlFabric : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("MUSTER_FAKE_NVML", "h100", 1);
    ::setenv("MUSTER_FAKE_NVML_FABRIC", file_.c_str(), 1);
    auto loaded = Nvml::load(MUSTER_FAKE_NVML_PATH, "test");
    ASSERT_TRUE(loaded) << loaded.error().message();
    nvml_ = std::move(*loaded);
  }
  void TearDown() override {
    ::unsetenv("MUSTER_FAKE_NVML");
    ::unsetenv("MUSTER_FAKE_NVML_FABRIC");
  }
  FabricFound on(std::string_view driver, unsigned count = 4) {
    EXPECT_TRUE(write_file_atomic(file_, driver));
    std::vector<NvmlCard> cards;
    for (unsigned i = 0; i < count; ++i) {
      cards.push_back({nullptr, "GPU " + std::to_string(i)});
      EXPECT_EQ(nvml_->api.handle_by_index(i, &cards.back().handle), nvml::kSuccess);
    }
    return find_fabric(*nvml_, cards);
  }
  TempDir dir_ = *TempDir::create("muster-fabric-");
  const std::string file_ = dir_.path() + "/fabric";
  std::unique_ptr<Nvml> nvml_;
};

TEST_F(NvmlFabric, OfCardsThatAgree) {
  const FabricFound found = on(told(-1, kRack, 7));
  EXPECT_EQ(found.fabric.text(), kRackText);
  EXPECT_EQ(found.note, "");
}

TEST_F(NvmlFabric, OfNoCards) { EXPECT_FALSE(on(told(-1, kRack, 7), 0).fabric.known()); }

TEST_F(NvmlFabric, OfDriversThatCannotTell) {
  EXPECT_FALSE(on("").fabric.known());
  EXPECT_EQ(on("").note, "");
  nvml_->api.fabric_info = nullptr;
  EXPECT_FALSE(on(told(-1, kRack, 7)).fabric.known());
  EXPECT_EQ(on(told(-1, kRack, 7)).note, "");
}

TEST_F(NvmlFabric, OfABoardWithoutACluster) {
  const FabricFound found = on(told(-1, kNoCluster, 3));
  EXPECT_EQ(found.fabric, GpuFabric{});
  EXPECT_EQ(found.note, "");
}

TEST_F(NvmlFabric, OfCardsThatDisagree) {
  FabricFound found = on(told(-1, kRack, 7) + told(2, kRack, 8));
  EXPECT_FALSE(found.fabric.known());
  EXPECT_EQ(found.note, std::string("the GPUs are not of one NVLink fabric: GPU 0 is of ") + kRackText +
                            ", GPU 2 of 2f9c1d3e-00aa-4bcd-8e01-0242ac120002.8");
  found = on(told(-1, kRack, 7) + told(1, kOtherRack, 7));
  EXPECT_FALSE(found.fabric.known());
  found = on(told(0, kRack, 7));  // the others cannot tell
  EXPECT_FALSE(found.fabric.known());
  EXPECT_EQ(found.note, std::string("the GPUs are not of one NVLink fabric: GPU 0 is of ") + kRackText + ", GPU 1 of none");
}

TEST_F(NvmlFabric, OfCardsThatHaveNotRegistered) {
  for (int state : {nvml::kFabricNotStarted, nvml::kFabricInProgress}) {
    const FabricFound found = on(told(-1, kRack, 7) + told(3, kRack, 7, state));
    EXPECT_FALSE(found.fabric.known());
    EXPECT_EQ(found.note, "GPU 3 has not registered with its NVLink fabric yet: slurmd tells of it when it starts again");
  }
  EXPECT_EQ(on(told(-1, kNoCluster, 0, 0)).note, "");  // the card has no fabric
}

TEST_F(NvmlFabric, OfARegistrationThatFailed) {
  const FabricFound found = on(told(-1, kRack, 7, nvml::kFabricCompleted, 15));
  EXPECT_FALSE(found.fabric.known());
  EXPECT_EQ(found.note, "GPU 0 could not register with its NVLink fabric: GPU is lost");
}

}  // namespace
}  // namespace muster::os
