#include "os/node/nvml_fabric.h"

namespace muster::os {
namespace {

uint64_t eight_bytes(const unsigned char* at) {
  uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out = out << 8 | at[i];
  return out;
}

FabricFound fabric_of(const Nvml& nvml, const NvmlCard& card) {
  nvmlGpuFabricInfoV_t info{.version = nvml::kFabricInfoVersion};
  if (!nvml.api.fabric_info || nvml.api.fabric_info(card.handle, &info) != nvml::kSuccess) return {};
  if (info.state == nvml::kFabricNotStarted || info.state == nvml::kFabricInProgress)
    return {{}, card.name + " has not registered with its NVLink fabric yet: slurmd tells of it when it starts again"};
  if (info.state != nvml::kFabricCompleted) return {};
  if (info.status != nvml::kSuccess) return {{}, card.name + " could not register with its NVLink fabric: " + nvml.text(info.status)};
  const GpuFabric fabric{eight_bytes(info.clusterUuid), eight_bytes(info.clusterUuid + 8), info.cliqueId};
  return {fabric.known() ? fabric : GpuFabric{}, ""};
}

std::string words(const GpuFabric& fabric) { return fabric.known() ? fabric.text() : "none"; }

}  // namespace

FabricFound find_fabric(const Nvml& nvml, std::span<const NvmlCard> cards) {
  FabricFound first;
  for (const NvmlCard& card : cards) {
    FabricFound found = fabric_of(nvml, card);
    if (!found.note.empty()) return {{}, std::move(found.note)};
    if (&card == &cards.front()) first = std::move(found);
    else if (found.fabric != first.fabric)
      return {{},
              "the GPUs are not of one NVLink fabric: " + cards.front().name + " is of " + words(first.fabric) + ", " + card.name + " of " +
                  words(found.fabric)};
  }
  return first;
}

}  // namespace muster::os
