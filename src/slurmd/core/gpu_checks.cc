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
    out.push_back({now.minor, std::move(what), figure, rule, serious});
  }
  void memory() const {
    if (now.ecc.value_or(0)) find("ecc", true, *now.ecc, std::to_string(*now.ecc) + " uncorrectable ECC errors");
    else if (now.ecc_lifetime.value_or(0))
      find("ecc_lifetime", false, *now.ecc_lifetime, std::to_string(*now.ecc_lifetime) + " uncorrectable ECC errors in its life");
    if (now.remap_failed.value_or(false)) find("remap_failed", true, 1, "a row of its memory could not be remapped");
    if (now.remap_pending.value_or(false)) find("remap_pending", true, 1, "rows of its memory wait for a reset to be remapped");
    if (now.retirement_pending.value_or(false)) find("retirement_pending", true, 1, "pages of its memory wait for a reset to be retired");
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

// Of what was in the log before the first look nobody knows whether the card was reset since: that is only told.
void judge_xids(const GpuReadings& now, const GpuReadings* before, const std::vector<uint32_t>& expected, std::vector<GpuFinding>& out) {
  const uint64_t seen = before ? before->log_end : 0;
  for (const GpuXid& xid : now.xids) {
    if (xid.record < seen || std::ranges::find(expected, xid.minor) == expected.end()) continue;
    const auto* row = std::ranges::find(kSeriousXids, xid.number, &XidRow::number);
    const bool serious = row != std::end(kSeriousXids);
    const std::string what = "XID " + std::to_string(xid.number) + (serious ? std::string(": ") + row->what : std::string());
    out.push_back({xid.minor, what + (seen ? "" : ", before slurmd looked"), xid.number, "xid", serious && seen});
  }
}

const GpuReading* card_of(const GpuReadings& readings, uint32_t minor) {
  const auto at = std::ranges::find(readings.cards, minor, &GpuReading::minor);
  return at == readings.cards.end() ? nullptr : &*at;
}

}  // namespace

std::string GpuFinding::text() const { return gpu ? "GPU " + std::to_string(*gpu) + ": " + what : "GPUs: " + what; }

std::vector<GpuFinding> judge_gpus(const GpuReadings& now, const GpuReadings* before, const std::vector<uint32_t>& expected) {
  std::vector<GpuFinding> out;
  judge_xids(now, before, expected, out);
  if (!now.fault.empty()) {
    out.push_back({{}, now.fault, 0, "driver", !expected.empty()});
    return out;
  }
  for (const uint32_t minor : expected) {
    const GpuReading* card = card_of(now, minor);
    if (!card) out.push_back({minor, "the driver does not have it any more", 0, "count", true});
    else if (!card->lost.empty()) out.push_back({minor, card->lost, 0, "lost", true});
    else {
      const Judge judge{*card, before ? card_of(*before, minor) : nullptr, out};
      judge.memory();
      judge.links();
      judge.clocks();
    }
  }
  return out;
}

GpuReadings remembered(const GpuReadings* before, const GpuReadings& now) {
  GpuReadings out = now.fault.empty() ? now : GpuReadings();
  out.log_end = std::max(now.log_end, before ? before->log_end : 0);
  if (!before) return out;
  for (const GpuReading& was : before->cards) {
    const auto is = std::ranges::find(out.cards, was.minor, &GpuReading::minor);
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
