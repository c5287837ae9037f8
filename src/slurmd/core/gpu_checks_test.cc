// A row for each rule by which a card is judged.
#include "slurmd/core/gpu_checks.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

std::vector<GpuFinding> judged(GpuReading now, std::optional<GpuReading> before = {}) {
  GpuReadings all, earlier;
  now.minor = 3;
  all.cards.push_back(now);
  if (!before) return judge_gpus(all, nullptr, {3});
  before->minor = 3;
  earlier.cards.push_back(*before);
  return judge_gpus(all, &earlier, {3});
}

TEST(GpuChecks, Rules) {
  struct Row {
    GpuReading now;
    std::optional<GpuReading> before;
    const char* text;  // "": nothing is wrong
    const char* rule;
    uint64_t figure;
    bool serious;
  };
  const Row rows[] = {
      {{}, {}, "", "", 0, false},
      {{.ecc = 0, .ecc_lifetime = 0, .retirement_pending = false, .remap_pending = false, .remap_failed = false, .throttled = 1},
       {},
       "",
       "",
       0,
       false},
      {{.ecc = 4, .ecc_lifetime = 9}, {}, "GPU 3: 4 uncorrectable ECC errors", "ecc", 4, true},
      {{.ecc = 0, .ecc_lifetime = 9}, {}, "GPU 3: 9 uncorrectable ECC errors in its life", "ecc_lifetime", 9, false},
      {{.retirement_pending = true}, {}, "GPU 3: pages of its memory wait for a reset to be retired", "retirement_pending", 1, true},
      {{.remap_pending = true}, {}, "GPU 3: rows of its memory wait for a reset to be remapped", "remap_pending", 1, true},
      {{.remap_failed = true}, {}, "GPU 3: a row of its memory could not be remapped", "remap_failed", 1, true},
      {{.throttled = 0x48}, {}, "GPU 3: its clocks are lowered: it is too hot", "thermal", 0x40, false},
      {{.throttled = 0x88}, {}, "GPU 3: its clocks are lowered: the power brake is on", "power_brake", 0x80, false},
      {{.throttled = 0x8}, {}, "GPU 3: its clocks are lowered by the hardware", "hardware_slowdown", 0x8, false},
      {{.lost = "GPU is lost"}, {}, "GPU 3: GPU is lost", "lost", 0, true},
      {{.links = {{5, false, 0}}}, {}, "", "", 0, false},  // never seen active
      {{.links = {{5, false, 0}}}, GpuReading{.links = {{5, true, 0}}}, "GPU 3: NVLink 5 has gone down", "nvlink_down", 5, true},
      {{.links = {{5, true, 7}}}, GpuReading{.links = {{5, true, 2}}}, "GPU 3: NVLink 5: 5 errors more", "nvlink_errors", 5, false},
      {{.links = {{5, true, 7}}}, GpuReading{.links = {{5, true, 9}}}, "", "", 0, false},  // the driver was loaded anew
  };
  for (const Row& row : rows) {
    const auto found = judged(row.now, row.before);
    ASSERT_EQ(found.size(), *row.text ? 1u : 0u) << row.text;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].text(), row.text);
    EXPECT_STREQ(found[0].rule, row.rule);
    EXPECT_EQ(found[0].figure, row.figure) << row.text;
    EXPECT_EQ(found[0].serious, row.serious) << row.text;
  }
}

TEST(GpuChecks, CardsThatAreMissingAndOthers) {
  GpuReadings now;
  now.cards.push_back({.minor = 0});
  now.cards.push_back({.minor = 7, .ecc = 1});  // not ours to serve
  const auto found = judge_gpus(now, nullptr, {0, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(), "GPU 1: the driver does not have it any more");
  EXPECT_STREQ(found[0].rule, "count");
}

TEST(GpuChecks, ALinkThatWentDownIsNotForgotten) {
  GpuReadings up, down, lost, broken;
  up.cards.push_back({.minor = 0, .links = {{5, true, 1}, {6, false, 0}}});
  down.cards.push_back({.minor = 0, .links = {{5, false, 2}, {6, false, 0}}});
  lost.cards.push_back({.minor = 0, .lost = "GPU is lost"});
  broken.fault = "Driver Not Loaded";
  GpuReadings known = remembered(nullptr, up);
  EXPECT_EQ(known, up);
  for (const GpuReadings& next : {down, lost, broken, GpuReadings()}) {
    known = remembered(&known, next);
    const auto found = judge_gpus(down, &known, {0});
    ASSERT_FALSE(found.empty());
    EXPECT_STREQ(found[0].rule, "nvlink_down");
  }
}

TEST(GpuChecks, ADriverThatIsNotThere) {
  GpuReadings now;
  now.fault = "Driver Not Loaded";
  EXPECT_TRUE(judge_gpus(now, nullptr, {0})[0].serious);
  EXPECT_FALSE(judge_gpus(now, nullptr, {})[0].serious);
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, {0})), "gpu_checks: GPUs: Driver Not Loaded");
}

TEST(GpuChecks, TheReasonNamesWhatIsSerious) {
  GpuReadings now;
  for (uint32_t i = 0; i < 5; ++i) now.cards.push_back({.minor = i, .ecc = i, .throttled = 0x40});
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, {0})), "");
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, {0, 1})), "gpu_checks: GPU 1: 1 uncorrectable ECC errors");
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, {1, 2, 3, 4})),
            "gpu_checks: GPU 1: 1 uncorrectable ECC errors; GPU 2: 2 uncorrectable ECC errors; GPU 3: 3 uncorrectable ECC errors; 1 more");
}

TEST(GpuChecks, XidsCountOnceAndFromTheFirstLookOn) {
  GpuReadings first, later;
  first.cards.push_back({.minor = 3});
  first.xids = {{.record = 7, .minor = 3, .number = 79}};
  first.log_end = 9;
  later = first;
  later.xids.push_back({.record = 9, .minor = 3, .number = 48});
  later.xids.push_back({.record = 10, .minor = 3, .number = 31});
  later.xids.push_back({.record = 11, .minor = 4, .number = 79});
  later.log_end = 12;
  const auto old = judge_gpus(first, nullptr, {3});
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].text(), "GPU 3: XID 79: it has fallen off the bus, before slurmd looked");
  EXPECT_FALSE(old[0].serious);
  const GpuReadings known = remembered(nullptr, first);
  const auto found = judge_gpus(later, &known, {3});
  ASSERT_EQ(found.size(), 2u) << "not the old one, nor one of a card that the node does not have";
  EXPECT_EQ(gpu_reason(found), "gpu_checks: GPU 3: XID 48: an uncorrectable ECC error");
  EXPECT_EQ(found[1].text(), "GPU 3: XID 31");
  EXPECT_FALSE(found[1].serious);
  GpuReadings broken;
  broken.fault = "Driver Not Loaded";
  const GpuReadings after = remembered(&known, broken), next = remembered(&after, later);
  EXPECT_EQ(after.log_end, 9u) << "what was seen stays seen while the driver is away";
  EXPECT_TRUE(judge_gpus(later, &next, {3}).empty());
}

}  // namespace
}  // namespace muster::slurmd
