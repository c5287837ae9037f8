// GpuReadings: what the driver says of the health of this node's NVIDIA cards at one moment, as values. os/node/gpu_health.h asks for them in a
// process of its own and prints them; slurmd reads them and judges (slurmd/core/gpu_checks.h). What a driver or a card does not tell is none.
//
// The text is a line a card and a last line "end", so that one that was cut off is known. Parsing is bounded and believes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

// Bits of GpuReading::throttled, by NVML's own numbers.
enum GpuThrottle : uint64_t { kThrottleHardware = 0x8, kThrottleThermal = 0x40, kThrottlePowerBrake = 0x80 };

struct GpuLink {
  uint32_t number = 0;
  bool active = false;
  uint64_t errors = 0;  // replays, recoveries and CRC errors since the driver's start
  bool operator==(const GpuLink&) const = default;
};

struct GpuReading {
  uint32_t minor = 0;                               // X of /dev/nvidiaX
  std::string lost;                                 // why it does not answer; "": it does
  std::optional<uint64_t> ecc, ecc_lifetime;        // uncorrectable errors since the driver's start, and ever
  std::optional<bool> retirement_pending;           // pages of memory are taken out at the next reset
  std::optional<bool> remap_pending, remap_failed;  // the same of rows
  std::optional<uint64_t> throttled;                // why the clocks are lower than asked for: GpuThrottle and others
  std::vector<GpuLink> links;                       // that the card has
  bool operator==(const GpuReading&) const = default;
};

// An error that the driver wrote into the kernel's log.
struct GpuXid {
  uint64_t record = 0;  // its number there, from the boot on
  uint32_t minor = 0;
  uint32_t number = 0;  // 79: the card has fallen off the bus
  bool operator==(const GpuXid&) const = default;
};

struct GpuReadings {
  static constexpr size_t kMostCards = 64, kMostLinks = 36, kMostXids = 64;
  std::string fault;  // the library or the driver as a whole
  std::vector<GpuReading> cards;
  std::vector<GpuXid> xids;  // the latest, in the order of the log
  uint64_t log_end = 0;      // the number that the kernel's next record had; 0: its log could not be read
  bool operator==(const GpuReadings&) const = default;

  std::string text() const;
  static Result<GpuReadings> parse(std::string_view text);  // kInvalidArgument
};

}  // namespace muster
