// Asks NVIDIA's library for the health of the node's cards: uncorrectable ECC errors, rows and pages of memory that wait to be taken out or could
// not be, the state and errors of NVLinks, and why clocks are lowered; and the kernel's log for XIDs (os/node/gpu_xids.h). Runs in a process of its own (`slurmd gpu-health`), since a call may hang
// for as long as the driver likes.
// Cost: 1-50 ms a card on real drivers.
#pragma once

#include <string>

#include "model/gpu_readings.h"
#include "model/resources.h"

namespace muster::os {

// A library that is not there or does not start is GpuReadings::fault.
GpuReadings read_gpu_health(const std::string& library);
// What that process printed.
Result<GpuReadings> gpu_health_from(std::string_view printed);
// X of the files /dev/nvidiaX among these devices, each once.
std::vector<uint32_t> nvidia_minors(const std::vector<GresDevices>& devices);
// `PROGRAM gpu-health LIBRARY` prints the readings. The exit status.
int gpu_health_main(int argc, char** argv);

}  // namespace muster::os
