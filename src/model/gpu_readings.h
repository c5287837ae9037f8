// GpuReadings: what is known of the health of this node's GPUs at one moment, as values: what NVIDIA's library says (os/node/gpu_health.h), what the
// kernel's files say of AMD's and Intel's cards (os/node/gpu_sysfs.h), and what the drivers wrote into the kernel's log (os/node/gpu_log.h). A process
// of its own asks and prints them; slurmd reads them and judges (slurmd/core/gpu_checks.h). What a driver or a card does not tell is none.
//
// The text is a line a card and a last line "end", so that one that was cut off is known. Parsing is bounded and believes nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

// Bits of GpuReading::throttled, by NVML's own numbers.
enum GpuThrottle : uint64_t { kThrottleHardware = 0x8, kThrottleThermal = 0x40, kThrottlePowerBrake = 0x80 };

// Which card, by its device file: /dev/nvidiaX, or /dev/dri/renderDX of the other vendors.
struct GpuId {
  static constexpr uint32_t kMostMinor = 65535;
  uint32_t minor = 0;  // X
  bool render = false;
  auto operator<=>(const GpuId&) const = default;
  std::string text() const;                               // "3", "renderD129"
  static std::optional<GpuId> parse(std::string_view);    // the reverse
  static std::optional<GpuId> of_file(std::string_view);  // of a path that ends in such a device file
};

struct GpuLink {
  uint32_t number = 0;
  bool active = false;
  uint64_t errors = 0;  // replays, recoveries and CRC errors since the driver's start
  bool operator==(const GpuLink&) const = default;
};

struct GpuReading {
  GpuId card;
  std::string lost;                                   // why it does not answer; "": it does
  std::optional<uint64_t> ecc, ecc_lifetime;          // uncorrectable errors of its memory since the driver's start, and ever
  std::optional<uint64_t> engine_errors;              // uncorrectable errors of all else in it since the driver's start
  std::optional<bool> retirement_pending;             // pages of memory are taken out at the next reset
  std::optional<bool> retirement_failed;              // some could not be taken out
  std::optional<bool> remap_pending, remap_failed;    // the same of rows
  std::optional<uint64_t> bus_fatal;                  // fatal PCI Express errors since the boot
  std::optional<uint64_t> bus_lanes, bus_lanes_most;  // of its PCI Express link
  std::optional<uint64_t> throttled;                  // why the clocks are lower than asked for: GpuThrottle and others
  std::vector<GpuLink> links;                         // that the card has
  bool operator==(const GpuReading&) const = default;
};

// What AMD's and Intel's drivers say of a card in the kernel's log, as far as it matters here.
enum class GpuTrouble : uint32_t { kUncorrectable = 1, kOffTheBus, kResetBegun, kResetFailed, kHang, kWedged, kFatal };

// An error that a driver wrote into the kernel's log.
struct GpuLogEntry {
  uint64_t record = 0;  // its number there, from the boot on
  GpuId card;
  uint32_t number = 0;  // of /dev/nvidiaX an XID (79: the card has fallen off the bus), of the others a GpuTrouble
  bool operator==(const GpuLogEntry&) const = default;
};

struct GpuReadings {
  static constexpr size_t kMostCards = 64, kMostLinks = 36, kMostLogged = 64;
  std::string fault;  // of a library or driver as a whole: of cards that are not among these nothing is known
  std::vector<GpuReading> cards;
  std::vector<GpuLogEntry> logged;  // the latest, in the order of the log
  uint64_t log_end = 0;             // the number that the kernel's next record had; 0: its log could not be read
  bool operator==(const GpuReadings&) const = default;

  std::string text() const;
  static Result<GpuReadings> parse(std::string_view text);  // kInvalidArgument
};

}  // namespace muster
