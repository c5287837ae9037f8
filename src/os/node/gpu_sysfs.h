// Health of AMD's and Intel's cards by the files of the kernel (amdgpu, i915, xe), without any library of the vendors: /sys/class/drm/renderDX/device and
// what is below it. A table for each vendor says which files are read; docs/gpu.md, Health, has it for readers. A file that is not there tells
// nothing. Runs in the process that asks for the health of GPUs (os/node/gpu_health.h), since a read of such a file may hang in the driver.
// Cost: some 30 small files a card.
#pragma once

#include <optional>
#include <string>

#include "model/gpu_readings.h"

namespace muster::os {

// Into `out`: the cards of these vendors below `root` ("" but in tests), but for those of no driver that is known here.
void read_gpu_sysfs(const std::string& root, GpuReadings& out);
// The render device of a PCI device ("0000:c3:00.0").
std::optional<GpuId> render_card_at(const std::string& root, const std::string& address);

}  // namespace muster::os
