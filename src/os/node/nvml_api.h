// The part of NVIDIA's management library that we call, declared by ourselves: no NVIDIA header is needed to
// build, no library to start. Layouts and numbers are NVML's public ABI (nvml.h of CUDA 11 and later).
#pragma once

extern "C" {

typedef struct nvmlDevice_st* nvmlDevice_t;
typedef int nvmlReturn_t;

typedef struct {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

typedef struct {
  unsigned int multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount,
      gpuInstanceSliceCount, computeInstanceSliceCount;
  unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;

typedef struct {
  unsigned long long total, free, used;  // bytes
} nvmlMemory_t;

typedef struct {  // of versions 2 and 3 of the call
  unsigned int pid;
  unsigned long long usedGpuMemory;  // bytes; all ones: not known
  unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

typedef struct {
  unsigned int pid;
  unsigned long long timeStamp;                    // microseconds
  unsigned int smUtil, memUtil, encUtil, decUtil;  // percent
} nvmlProcessUtilizationSample_t;

typedef struct {         // version 2
  unsigned int version;  // in: nvml::kFabricInfoVersion
  unsigned char clusterUuid[16];
  nvmlReturn_t status;  // of the registration, once it is completed
  unsigned int cliqueId;
  unsigned char state;
  unsigned int healthMask;
} nvmlGpuFabricInfoV_t;
}

namespace muster::os::nvml {

inline constexpr nvmlReturn_t kSuccess = 0, kNotSupported = 3, kNotFound = 6, kTooSmall = 7;
inline constexpr unsigned kMaxLinks = 18;
inline constexpr unsigned kNameSize = 96;
inline constexpr int kGraphicsClock = 0, kMemoryClock = 2;
inline constexpr unsigned kMaxClocks = 512;
inline constexpr int kUncorrectedErrors = 1, kVolatileErrors = 0, kAggregateErrors = 1;
inline constexpr unsigned kFabricInfoVersion = sizeof(nvmlGpuFabricInfoV_t) | 2u << 24;
inline constexpr unsigned char kFabricNotStarted = 1, kFabricInProgress = 2, kFabricCompleted = 3;
inline constexpr int kLinkErrorCounters = 4;  // replays, recoveries, CRC errors of flits and of data

struct Api {
  nvmlReturn_t (*init)() = nullptr;
  nvmlReturn_t (*shutdown)() = nullptr;
  const char* (*error_string)(nvmlReturn_t) = nullptr;
  nvmlReturn_t (*driver_version)(char*, unsigned) = nullptr;
  nvmlReturn_t (*count)(unsigned*) = nullptr;
  nvmlReturn_t (*handle_by_index)(unsigned, nvmlDevice_t*) = nullptr;
  nvmlReturn_t (*name)(nvmlDevice_t, char*, unsigned) = nullptr;
  nvmlReturn_t (*uuid)(nvmlDevice_t, char*, unsigned) = nullptr;
  nvmlReturn_t (*minor_number)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*pci_info)(nvmlDevice_t, nvmlPciInfo_t*) = nullptr;
  nvmlReturn_t (*cpu_affinity)(nvmlDevice_t, unsigned, unsigned long*) = nullptr;
  nvmlReturn_t (*nvlink_state)(nvmlDevice_t, unsigned, unsigned*) = nullptr;
  nvmlReturn_t (*nvlink_remote)(nvmlDevice_t, unsigned, nvmlPciInfo_t*) = nullptr;
  nvmlReturn_t (*fabric_info)(nvmlDevice_t, nvmlGpuFabricInfoV_t*) = nullptr;  // drivers of 2023 and later
  // MIG: absent in old drivers
  nvmlReturn_t (*mig_mode)(nvmlDevice_t, unsigned*, unsigned*) = nullptr;
  nvmlReturn_t (*max_mig_devices)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*mig_handle)(nvmlDevice_t, unsigned, nvmlDevice_t*) = nullptr;
  nvmlReturn_t (*gpu_instance_id)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*compute_instance_id)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*attributes)(nvmlDevice_t, nvmlDeviceAttributes_t*) = nullptr;
  // clocks in MHz, for --gpu-freq
  nvmlReturn_t (*memory_clocks)(nvmlDevice_t, unsigned* count, unsigned* clocks) = nullptr;
  nvmlReturn_t (*graphics_clocks)(nvmlDevice_t, unsigned memory, unsigned* count, unsigned* clocks) = nullptr;
  nvmlReturn_t (*application_clock)(nvmlDevice_t, int kind, unsigned* clock) = nullptr;
  nvmlReturn_t (*set_application_clocks)(nvmlDevice_t, unsigned memory, unsigned graphics) = nullptr;

  // what processes use, and what the card takes
  nvmlReturn_t (*memory)(nvmlDevice_t, nvmlMemory_t*) = nullptr;
  nvmlReturn_t (*compute_processes)(nvmlDevice_t, unsigned* count, nvmlProcessInfo_t*) = nullptr;
  nvmlReturn_t (*process_utilization)(nvmlDevice_t, nvmlProcessUtilizationSample_t*, unsigned* count, unsigned long long since) = nullptr;
  nvmlReturn_t (*power)(nvmlDevice_t, unsigned* milliwatts) = nullptr;
  nvmlReturn_t (*total_energy)(nvmlDevice_t, unsigned long long* millijoules) = nullptr;  // Volta and later

  // health
  nvmlReturn_t (*ecc_errors)(nvmlDevice_t, int kind, int counter, unsigned long long* errors) = nullptr;
  nvmlReturn_t (*retirement_pending)(nvmlDevice_t, int* pending) = nullptr;
  nvmlReturn_t (*remapped_rows)(nvmlDevice_t, unsigned* corrected, unsigned* uncorrected, unsigned* pending, unsigned* failed) = nullptr;
  nvmlReturn_t (*nvlink_errors)(nvmlDevice_t, unsigned link, int counter, unsigned long long* errors) = nullptr;
  nvmlReturn_t (*throttle_reasons)(nvmlDevice_t, unsigned long long* reasons) = nullptr;

  bool has_mig() const { return mig_mode && max_mig_devices && mig_handle && gpu_instance_id && compute_instance_id && attributes; }
  bool has_clocks() const { return memory_clocks && graphics_clocks && application_clock && set_application_clocks; }
};

}  // namespace muster::os::nvml
