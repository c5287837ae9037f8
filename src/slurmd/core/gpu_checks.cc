#include "slurmd/core/gpu_checks.h"

#include <algorithm>

namespace muster::slurmd {
namespace {

constexpr size_t kInReason = 3;

struct Judge {
  const GpuReading& now;
  const GpuReading* before;
  std::vector<GpuFinding>& out;

  void find(const char* rule, bool serious, uint64_t figure, std::string what) const {
    out.push_back({now.card, std::move(what), figure, rule, serious});
  }
  void memory() const {
    if (now.ecc.value_or(0)) find("ecc", true, *now.ecc, std::to_string(*now.ecc) + " uncorrectable ECC errors");
    else if (now.ecc_lifetime.value_or(0))
      find("ecc_lifetime", false, *now.ecc_lifetime, std::to_string(*now.ecc_lifetime) + " uncorrectable ECC errors in its life");
    if (now.remap_failed.value_or(false)) find("remap_failed", true, 1, "a row of its memory could not be remapped");
    if (now.remap_pending.value_or(false)) find("remap_pending", true, 1, "rows of its memory wait for a reset to be remapped");
    if (now.retirement_failed.value_or(false)) find("retirement_failed", true, 1, "a page of its memory could not be retired");
    if (now.retirement_pending.value_or(false)) find("retirement_pending", true, 1, "pages of its memory wait for a reset to be retired");
  }
  void engines() const {
    if (now.engine_errors.value_or(0))
      find("engine", true, *now.engine_errors, std::to_string(*now.engine_errors) + " uncorrectable errors outside its memory");
  }
  // The kernel counts from the boot on, and a link that was mended works: only what is new counts.
  void bus() const {
    const uint64_t fatal = now.bus_fatal.value_or(0), was = before ? before->bus_fatal.value_or(fatal) : fatal;
    if (fatal > was) find("bus_fatal", true, fatal - was, std::to_string(fatal - was) + " fatal PCI Express errors more");
    const uint64_t lanes = now.bus_lanes.value_or(0), most = now.bus_lanes_most.value_or(0);
    if (lanes < most)
      find("bus_lanes", false, lanes, "its PCI Express link has " + std::to_string(lanes) + " of " + std::to_string(most) + " lanes");
  }
  void links() const {
    for (const GpuLink& link : now.links) {
      const std::string name = "NVLink " + std::to_string(link.number);
      const GpuLink* was = nullptr;
      if (before)
        for (const GpuLink& l : before->links)
          if (l.number == link.number) was = &l;
      // One that never was active may not be connected; one that was has failed, and stays failed until a reset.
      if (!link.active && was && was->active) find("nvlink_down", true, link.number, name + " has gone down");
      if (was && link.errors > was->errors)
        find("nvlink_errors", false, link.errors - was->errors, name + ": " + std::to_string(link.errors - was->errors) + " errors more");
    }
  }
  void clocks() const {
    const uint64_t why = now.throttled.value_or(0);
    if (why & kThrottleThermal) find("thermal", false, kThrottleThermal, "its clocks are lowered: it is too hot");
    else if (why & kThrottlePowerBrake) find("power_brake", false, kThrottlePowerBrake, "its clocks are lowered: the power brake is on");
    else if (why & kThrottleHardware) find("hardware_slowdown", false, kThrottleHardware, "its clocks are lowered by the hardware");
  }
};

// XIDs after which a card works again only when it was reset or mended, by NVIDIA's list of XID errors. Others are mostly of programs that err.
struct XidRow {
  uint32_t number;
  const char* what;
};
constexpr XidRow kSeriousXids[] = {
    {46, "it has stopped processing"}, {48, "an uncorrectable ECC error"},
    {62, "its controller has halted"}, {64, "its memory cannot be mended"},
    {74, "an NVLink error"},           {79, "it has fallen off the bus"},
    {95, "an uncontained ECC error"},  {119, "its firmware does not answer"},
    {120, "its firmware has failed"},  {136, "an NVLink cannot be trained"},
    {140, "an unrecovered ECC error"}, {143, "it does not start"},
};

// The same of the other vendors' drivers. A reset that worked is mostly the end of a program that hung the card.
struct TroubleRow {
  GpuTrouble trouble;
  bool serious;
  const char* what;
};
constexpr TroubleRow kTroubles[] = {
    {GpuTrouble::kUncorrectable, true, "an uncorrectable hardware error"},
    {GpuTrouble::kOffTheBus, true, "it has fallen off the bus"},
    {GpuTrouble::kResetBegun, false, "it is reset"},
    {GpuTrouble::kResetFailed, true, "a reset has failed"},
    {GpuTrouble::kHang, false, "it hangs"},
    {GpuTrouble::kWedged, true, "its driver has given it up (wedged)"},
    {GpuTrouble::kFatal, true, "a fatal hardware error"},
};

struct Weight {
  bool serious = false;
  std::string what;
  const char* rule = "";
};

Weight weigh(const GpuLogEntry& entry) {
  if (entry.card.render) {
    const auto* row = std::ranges::find(kTroubles, static_cast<GpuTrouble>(entry.number), &TroubleRow::trouble);
    return row == std::end(kTroubles) ? Weight() : Weight{row->serious, std::string("the kernel's log: ") + row->what, "log"};
  }
  const auto* row = std::ranges::find(kSeriousXids, entry.number, &XidRow::number);
  const bool serious = row != std::end(kSeriousXids);
  return {serious, "XID " + std::to_string(entry.number) + (serious ? std::string(": ") + row->what : std::string()), "xid"};
}

// Of what was in the log before the first look nobody knows whether the card was reset since: that is only told.
void judge_log(const GpuReadings& now, const GpuReadings* before, const std::vector<GpuId>& expected, std::vector<GpuFinding>& out) {
  const uint64_t seen = before ? before->log_end : 0;
  for (const GpuLogEntry& entry : now.logged) {
    if (entry.record < seen || std::ranges::find(expected, entry.card) == expected.end()) continue;
    Weight weight = weigh(entry);
    if (!weight.what.empty())
      out.push_back({entry.card, weight.what + (seen ? "" : ", before slurmd looked"), entry.number, weight.rule, weight.serious && seen});
  }
}

const GpuReading* card_of(const GpuReadings& readings, GpuId card) {
  const auto at = std::ranges::find(readings.cards, card, &GpuReading::card);
  return at == readings.cards.end() ? nullptr : &*at;
}

}  // namespace

std::string GpuFinding::text() const { return gpu ? "GPU " + gpu->text() + ": " + what : "GPUs: " + what; }

std::vector<GpuFinding> judge_gpus(const GpuReadings& now, const GpuReadings* before, const std::vector<GpuId>& expected) {
  std::vector<GpuFinding> out;
  judge_log(now, before, expected, out);
  const bool told = now.fault.empty();
  if (!told) out.push_back({{}, now.fault, 0, "driver", !expected.empty()});
  for (const GpuId id : expected) {
    const GpuReading* card = card_of(now, id);
    if (!card && told) out.push_back({id, "the driver does not have it any more", 0, "count", true});
    if (!card) continue;
    if (!card->lost.empty()) {
      out.push_back({id, card->lost, 0, "lost", true});
      continue;
    }
    const Judge judge{*card, before ? card_of(*before, id) : nullptr, out};
    judge.memory();
    judge.engines();
    judge.bus();
    judge.links();
    judge.clocks();
  }
  return out;
}

GpuReadings remembered(const GpuReadings* before, const GpuReadings& now) {
  GpuReadings out = now;
  out.fault.clear();
  out.log_end = std::max(now.log_end, before ? before->log_end : 0);
  if (!before) return out;
  for (const GpuReading& was : before->cards) {
    const auto is = std::ranges::find(out.cards, was.card, &GpuReading::card);
    if (is == out.cards.end()) {
      out.cards.push_back(was);
      continue;
    }
    if (!is->lost.empty()) {
      *is = was;
      continue;
    }
    for (GpuLink& link : is->links) {
      const auto earlier = std::ranges::find(was.links, link.number, &GpuLink::number);
      link.active |= earlier != was.links.end() && earlier->active;
    }
  }
  return out;
}

std::string gpu_reason(const std::vector<GpuFinding>& findings) {
  std::string out;
  size_t serious = 0;
  for (const GpuFinding& finding : findings) {
    if (!finding.serious || ++serious > kInReason) continue;
    out += (out.empty() ? "gpu_checks: " : "; ") + finding.text();
  }
  if (serious > kInReason) out += "; " + std::to_string(serious - kInReason) + " more";
  return out;
}

}  // namespace muster::slurmd
