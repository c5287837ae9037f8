// A row for each rule by which a card is judged.
#include "slurmd/core/gpu_checks.h"

#include <gtest/gtest.h>

namespace muster::slurmd {
namespace {

using Ids = std::vector<GpuId>;

std::vector<GpuFinding> judged(GpuReading now, std::optional<GpuReading> before = {}) {
  GpuReadings all, earlier;
  now.card = {3};
  all.cards.push_back(now);
  if (!before) return judge_gpus(all, nullptr, Ids{{3}});
  before->card = {3};
  earlier.cards.push_back(*before);
  return judge_gpus(all, &earlier, Ids{{3}});
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
      {{.engine_errors = 2}, {}, "GPU 3: 2 uncorrectable errors outside its memory", "engine", 2, true},
      {{.retirement_failed = true}, {}, "GPU 3: a page of its memory could not be retired", "retirement_failed", 1, true},
      {{.bus_fatal = 5}, {}, "", "", 0, false},  // of before slurmd looked
      {{.bus_fatal = 5}, GpuReading{.bus_fatal = 3}, "GPU 3: 2 fatal PCI Express errors more", "bus_fatal", 2, true},
      {{.bus_fatal = 5}, GpuReading{}, "", "", 0, false},
      {{.bus_lanes = 8, .bus_lanes_most = 16}, {}, "GPU 3: its PCI Express link has 8 of 16 lanes", "bus_lanes", 8, false},
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
  now.cards.push_back({.card = {0}});
  now.cards.push_back({.card = {7}, .ecc = 1});  // not ours to serve
  const auto found = judge_gpus(now, nullptr, Ids{{0}, {1}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(), "GPU 1: the driver does not have it any more");
  EXPECT_STREQ(found[0].rule, "count");
}

TEST(GpuChecks, ALinkThatWentDownIsNotForgotten) {
  GpuReadings up, down, lost, broken;
  up.cards.push_back({.card = {0}, .links = {{5, true, 1}, {6, false, 0}}});
  down.cards.push_back({.card = {0}, .links = {{5, false, 2}, {6, false, 0}}});
  lost.cards.push_back({.card = {0}, .lost = "GPU is lost"});
  broken.fault = "Driver Not Loaded";
  GpuReadings known = remembered(nullptr, up);
  EXPECT_EQ(known, up);
  for (const GpuReadings& next : {down, lost, broken, GpuReadings()}) {
    known = remembered(&known, next);
    const auto found = judge_gpus(down, &known, Ids{{0}});
    ASSERT_FALSE(found.empty());
    EXPECT_STREQ(found[0].rule, "nvlink_down");
  }
}

TEST(GpuChecks, ADriverThatIsNotThere) {
  GpuReadings now;
  now.fault = "Driver Not Loaded";
  EXPECT_TRUE(judge_gpus(now, nullptr, Ids{{0}})[0].serious);
  EXPECT_FALSE(judge_gpus(now, nullptr, Ids{})[0].serious);
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{{0}})), "gpu_checks: GPUs: Driver Not Loaded");
}

TEST(GpuChecks, TheReasonNamesWhatIsSerious) {
  GpuReadings now;
  for (uint32_t i = 0; i < 5; ++i) now.cards.push_back({.card = {i}, .ecc = i, .throttled = 0x40});
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{{0}})), "");
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{{0}, {1}})), "gpu_checks: GPU 1: 1 uncorrectable ECC errors");
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{{1}, {2}, {3}, {4}})),
            "gpu_checks: GPU 1: 1 uncorrectable ECC errors; GPU 2: 2 uncorrectable ECC errors; GPU 3: 3 uncorrectable ECC errors; 1 more");
}

TEST(GpuChecks, XidsCountOnceAndFromTheFirstLookOn) {
  GpuReadings first, later;
  first.cards.push_back({.card = {3}});
  first.logged = {{.record = 7, .card = {3}, .number = 79}};
  first.log_end = 9;
  later = first;
  later.logged.push_back({.record = 9, .card = {3}, .number = 48});
  later.logged.push_back({.record = 10, .card = {3}, .number = 31});
  later.logged.push_back({.record = 11, .card = {4}, .number = 79});
  later.log_end = 12;
  const auto old = judge_gpus(first, nullptr, Ids{{3}});
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].text(), "GPU 3: XID 79: it has fallen off the bus, before slurmd looked");
  EXPECT_FALSE(old[0].serious);
  const GpuReadings known = remembered(nullptr, first);
  const auto found = judge_gpus(later, &known, Ids{{3}});
  ASSERT_EQ(found.size(), 2u) << "not the old one, nor one of a card that the node does not have";
  EXPECT_EQ(gpu_reason(found), "gpu_checks: GPU 3: XID 48: an uncorrectable ECC error");
  EXPECT_EQ(found[1].text(), "GPU 3: XID 31");
  EXPECT_FALSE(found[1].serious);
  GpuReadings broken;
  broken.fault = "Driver Not Loaded";
  const GpuReadings after = remembered(&known, broken), next = remembered(&after, later);
  EXPECT_EQ(after.log_end, 9u) << "what was seen stays seen while the driver is away";
  EXPECT_TRUE(judge_gpus(later, &next, Ids{{3}}).empty());
}

TEST(GpuChecks, TheOtherVendorsCardsAreJudgedByTheSameRules) {
  const GpuId good{128, true}, bad{129, true}, missing{130, true};
  GpuReadings now;
  now.cards.push_back({.card = good, .ecc = 0});
  now.cards.push_back({.card = bad, .ecc = 2});
  now.cards.push_back({.card = {129}, .ecc = 7});  // /dev/nvidia129 is another card
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{good, bad, missing})),
            "gpu_checks: GPU renderD129: 2 uncorrectable ECC errors; GPU renderD130: the driver does not have it any more");
}

TEST(GpuChecks, TroublesOfTheLog) {
  const GpuId card{128, true};
  struct Row {
    GpuTrouble trouble;
    const char* text;
    bool serious;
  };
  const Row rows[] = {{GpuTrouble::kUncorrectable, "GPU renderD128: the kernel's log: an uncorrectable hardware error", true},
                      {GpuTrouble::kOffTheBus, "GPU renderD128: the kernel's log: it has fallen off the bus", true},
                      {GpuTrouble::kResetBegun, "GPU renderD128: the kernel's log: it is reset", false},
                      {GpuTrouble::kResetFailed, "GPU renderD128: the kernel's log: a reset has failed", true},
                      {GpuTrouble::kHang, "GPU renderD128: the kernel's log: it hangs", false},
                      {GpuTrouble::kWedged, "GPU renderD128: the kernel's log: its driver has given it up (wedged)", true},
                      {GpuTrouble::kFatal, "GPU renderD128: the kernel's log: a fatal hardware error", true}};
  GpuReadings before, now;
  before.log_end = 5;
  now.cards.push_back({.card = card});
  for (const Row& row : rows) {
    now.logged = {{.record = 6, .card = card, .number = static_cast<uint32_t>(row.trouble)}};
    const auto found = judge_gpus(now, &before, Ids{card});
    ASSERT_EQ(found.size(), 1u) << row.text;
    EXPECT_EQ(found[0].text(), row.text);
    EXPECT_EQ(found[0].serious, row.serious) << row.text;
  }
  now.logged = {{.record = 6, .card = card, .number = 99}};
  EXPECT_TRUE(judge_gpus(now, &before, Ids{card}).empty()) << "a word that is none of these";
}

TEST(GpuChecks, ALibraryThatFailsSaysNothingOfTheOtherVendorsCards) {
  GpuReadings now;
  now.fault = "Driver Not Loaded";
  now.cards.push_back({.card = {128, true}, .engine_errors = 1});
  EXPECT_EQ(gpu_reason(judge_gpus(now, nullptr, Ids{{0}, {128, true}})),
            "gpu_checks: GPUs: Driver Not Loaded; GPU renderD128: 1 uncorrectable errors outside its memory");
}

}  // namespace
}  // namespace muster::slurmd
