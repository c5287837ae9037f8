// XIDs: errors of NVIDIA's cards that their driver writes into the kernel's log, also of a card that has left the bus and answers no library.
// The record "6,812,90113,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=…" of /dev/kmsg says which card and which error; which /dev/nvidiaX that is
// says /proc/driver/nvidia/gpus. Records that programs wrote are no word of the driver's. Cost: one read of the log, 0.5-5 ms.
#pragma once

#include <string>
#include <string_view>

#include "model/gpu_readings.h"

namespace muster::os {

// Into `out`: xids and log_end, of the log and the cards below `root` ("" but in tests). A log that cannot be read says nothing.
void read_gpu_xids(const std::string& root, GpuReadings& out);

}  // namespace muster::os
