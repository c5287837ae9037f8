// Asks for the health of the node's cards: NVIDIA's library for uncorrectable ECC errors, rows and pages of memory that wait to be taken out or
// could not be, the state and errors of NVLinks, and why clocks are lowered; the kernel's files for AMD's and Intel's cards (os/node/gpu_sysfs.h);
// the kernel's log for the errors of all (os/node/gpu_log.h). Runs in a process of its own (`slurmd gpu-health`), since a call may hang for as
// long as the driver likes.
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
// The cards that these devices are, or are parts of, each once.
std::vector<GpuId> cards_of(const std::vector<GresDevices>& devices);
// `PROGRAM gpu-health LIBRARY ROOT` prints the readings. LIBRARY: NVIDIA's; "": it is not asked. ROOT: before /dev, /proc and /sys; "" but in
// tests. The exit status.
int gpu_health_main(int argc, char** argv);

}  // namespace muster::os
