/* A stand-in for libze_loader.so.1 in tests: two Data Center GPUs and a device that is no GPU; MUSTER_FAKE_LEVEL_ZERO=broken:
 * no driver. Layouts are those of ze_api.h and zes_api.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t stype;
  void* next;
  uint32_t type, vendorId, deviceId, flags, subdeviceId, coreClockRate;
  uint64_t maxMemAllocSize;
  uint32_t maxHardwareContexts, maxCommandQueuePriority, numThreadsPerEU, physicalEUSimdWidth, numEUsPerSubslice,
      numSubslicesPerSlice, numSlices;
  uint64_t timerResolution;
  uint32_t timestampValidBits, kernelTimestampValidBits;
  uint8_t uuid[16];
  char name[256];
} properties;
typedef struct {
  uint32_t stype;
  void* next;
  uint32_t domain, bus, device, function;
  int32_t gen, width;
  int64_t maxBandwidth;
  uint8_t flags[3];
} pci;

enum { UNINITIALIZED = 0x78000001 };

uint32_t zeInit(uint32_t flags) {
  const char* m = getenv("MUSTER_FAKE_LEVEL_ZERO");
  (void)flags;
  return m && strcmp(m, "broken") == 0 ? UNINITIALIZED : 0;
}
uint32_t zeDriverGet(uint32_t* n, void** d) {
  *n = 1;
  if (d) d[0] = (void*)1;
  return 0;
}
uint32_t zeDeviceGet(void* driver, uint32_t* n, void** d) {
  (void)driver;
  *n = 3;
  if (d)
    for (uintptr_t i = 0; i < 3; ++i) d[i] = (void*)(i + 1);
  return 0;
}
uint32_t zeDeviceGetProperties(void* device, properties* p) {
  uintptr_t i = (uintptr_t)device;
  if (p->stype != 3) return UNINITIALIZED;
  p->type = i == 3 ? 4 : 1;
  memset(p->uuid, 0x10 + (int)i, sizeof p->uuid);
  return snprintf(p->name, sizeof p->name, "Intel(R) Data Center GPU Max 1550") < 0;
}
uint32_t zesDevicePciGetProperties(void* device, pci* p) {
  if (p->stype != 2) return UNINITIALIZED;
  p->domain = p->device = p->function = 0;
  p->bus = 0x40 - 0x10 * (uint32_t)(uintptr_t)device;
  return 0;
}
