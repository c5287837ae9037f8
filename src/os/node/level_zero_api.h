// The part of Intel's Level Zero loader that we call, declared by ourselves: no Intel header is needed to build, no library to start.
// Numbers and layouts are the public ABI of libze_loader (ze_api.h and zes_api.h, version 1.x).
#pragma once

#include <cstdint>

namespace muster::os::level_zero {

using Status = uint32_t;
inline constexpr Status kSuccess = 0;
inline constexpr uint32_t kDeviceProperties = 3;  // ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES
inline constexpr uint32_t kPciProperties = 2;     // ZES_STRUCTURE_TYPE_PCI_PROPERTIES
inline constexpr uint32_t kDeviceTypeGpu = 1;

struct DeviceProperties {
  uint32_t stype = kDeviceProperties;
  void* next = nullptr;
  uint32_t type = 0, vendor_id = 0, device_id = 0, flags = 0, subdevice_id = 0, core_clock_rate = 0;
  uint64_t max_mem_alloc_size = 0;
  uint32_t max_hardware_contexts = 0, max_command_queue_priority = 0, threads_per_eu = 0, simd_width = 0, eus_per_subslice = 0,
           subslices_per_slice = 0, slices = 0;
  uint64_t timer_resolution = 0;
  uint32_t timestamp_valid_bits = 0, kernel_timestamp_valid_bits = 0;
  uint8_t uuid[16] = {};
  char name[256] = {};
};
struct PciProperties {
  uint32_t stype = kPciProperties;
  void* next = nullptr;
  uint32_t domain = 0, bus = 0, device = 0, function = 0;
  int32_t gen = 0, width = 0;
  int64_t max_bandwidth = 0;
  uint8_t have_bandwidth_counters = 0, have_packet_counters = 0, have_replay_counters = 0;
};

using Driver = struct DriverHandle*;
using Device = struct DeviceHandle*;
struct Api {
  Status (*init)(uint32_t flags) = nullptr;
  Status (*drivers)(uint32_t*, Driver*) = nullptr;
  Status (*devices)(Driver, uint32_t*, Device*) = nullptr;
  Status (*properties)(Device, DeviceProperties*) = nullptr;
  Status (*pci)(Device, PciProperties*) = nullptr;
};

}  // namespace muster::os::level_zero
