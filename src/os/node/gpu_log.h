// Errors of GPUs that their drivers write into the kernel's log, also of a card that answers nobody any more: XIDs of NVIDIA's, and of amdgpu, i915
// and xe the messages of a table. The record "6,812,90113,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=…" of /dev/kmsg, or "3,813,90114,-;amdgpu
// 0000:c3:00.0: amdgpu: GPU reset begin!", says which card and which error; which device file the card has say /proc/driver/nvidia/gpus and
// /sys/bus/pci/devices. Records that programs wrote are no word of a driver's. Cost: one read of the log, 0.5-5 ms.
#pragma once

#include <string>
#include <string_view>

#include "model/gpu_readings.h"

namespace muster::os {

// Into `out`: `logged` and log_end, of the log and the cards below `root` ("" but in tests). A log that cannot be read says nothing.
void read_gpu_log(const std::string& root, GpuReadings& out);

}  // namespace muster::os
