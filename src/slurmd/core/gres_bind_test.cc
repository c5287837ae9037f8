#include "slurmd/core/gres_bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bitmap set(const char* text) {
  Bitmap b;
  EXPECT_TRUE(Bitmap::parse_ranges(text, b));
  return b;
}

// Eight GPUs: 0-3 near cores 0-3, 4-7 near cores 4-7.
std::vector<GresDevices> eight() {
  std::vector<GresDevices> out(2);
  for (uint32_t i : {0u, 1u}) {
    out[i].name = "gpu";
    out[i].count = 4;
    out[i].first_index = i * 4;
    out[i].cores = set(i ? "4-7" : "0-3");
  }
  return out;
}

std::vector<std::string> bound(const char* how, const char* held, std::vector<const char*> cores, bool relative = false,
                               std::vector<std::string>* notes = nullptr) {
  DeviceBindRequest r;
  r.name = "gpu";
  r.held = set(held);
  r.relative = relative;
  for (const char* c : cores) {
    r.ranks.push_back(static_cast<uint32_t>(r.ranks.size()));
    r.task_cores.push_back(set(c));
  }
  auto b = bind_devices(how, r, eight());
  if (!b) return {std::string(b.error().message())};
  if (notes) *notes = b->notes;
  std::vector<std::string> out;
  for (const Bitmap& d : b->devices) out.push_back(d.to_ranges());
  return out;
}

TEST(DeviceBind, ClosestAndSingleGoByAffinity) {
  EXPECT_THAT(bound("gres/gpu:closest", "1-2,5", {"0", "4", "3-4"}), ElementsAre("1-2", "5", "1-2,5"));
  EXPECT_THAT(bound("gres/gpu:closest", "1", {"4"}), ElementsAre("1"));  // none is near: a task must get one
  EXPECT_THAT(bound("gres/gpu:single:1", "0-7", {"0", "1", "4", "5", "2"}), ElementsAre("0", "1", "4", "5", "2"));
  EXPECT_THAT(bound("gres/gpu:single:2", "0,1,4,5", {"0", "1", "2", "4", "5"}), ElementsAre("0", "0", "1", "4", "4"));
}

TEST(DeviceBind, PerTaskPrefersNearAndSharesNothing) {
  EXPECT_THAT(bound("gres/gpu:per_task:1", "0-7", {"4", "0", "5", "1"}), ElementsAre("4", "0", "5", "1"));
  EXPECT_THAT(bound("gres/gpu:per_task:2", "0-3", {"4", "5"}), ElementsAre("0-1", "2-3"));
  EXPECT_THAT(bound("gres/gpu:per_task:3", "0-1", {"0"}), ElementsAre("0-1"));  // more than there are
  EXPECT_THAT(bound("gres/gpu:per_task:1", "0-1", {"0", "0", "0"}), ElementsAre("0", "1", "0"));
}

TEST(DeviceBind, ListsCountOnTheNodeOrInTheCgroup) {
  EXPECT_THAT(bound("gres/gpu:map:5,1", "1,5", {"0", "0", "0"}), ElementsAre("5", "1", "5"));
  EXPECT_THAT(bound("gres/gpu:map_gpu:1*2,0", "1,5", {"0", "0", "0"}, true), ElementsAre("5", "5", "1"));
  EXPECT_THAT(bound("gres/gpu:mask:0x22,0x2", "1,5", {"0", "0"}), ElementsAre("1,5", "1"));
  EXPECT_THAT(bound("gres/gpu:mask_gpu:0x3*2,0x2", "1,5", {"0", "0", "0"}, true), ElementsAre("1,5", "1,5", "5"));
  std::vector<std::string> notes;
  EXPECT_THAT(bound("gres/gpu:map:7", "1,5", {"0"}, false, &notes), ElementsAre("1"));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("does not specify any devices within the allocation for task 0. Binding to the first"));
}

TEST(DeviceBind, NoneVerboseOtherKindsAndErrors) {
  EXPECT_THAT(bound("gres/gpu:none", "0-1", {"0"}), ElementsAre(""));
  EXPECT_THAT(bound("", "0-1", {"0"}), ElementsAre(""));
  EXPECT_THAT(bound("gres/nic:closest", "0-1", {"0"}), ElementsAre(""));
  EXPECT_THAT(bound("gres/nic:closest+gres/gpu:single:1", "0-1", {"0"}), ElementsAre("0"));
  std::vector<std::string> notes;
  EXPECT_THAT(bound("gres/gpu:verbose,single:1", "2-3", {"0", "1"}, false, &notes), ElementsAre("2", "3"));
  EXPECT_THAT(notes, ElementsAre("gpu-bind: usable_gres=0x4; bit_alloc=0xC; local_inx=2; task=0",
                                 "gpu-bind: usable_gres=0x8; bit_alloc=0xC; local_inx=2; task=1"));
  for (const char* wrong : {"gres/gpu:single:0", "gres/gpu:map:x", "gres/gpu:nearby", "gres/gpu:map:", "gres/gpu:per_task"})
    EXPECT_THAT(bound(wrong, "0", {"0"}), ElementsAre(HasSubstr(" "))) << wrong;
}

}  // namespace
}  // namespace muster::slurmd
