// Which NVLink fabric the NVIDIA cards of this machine belong to (model/gpu_fabric.h). A card registers with its fabric some time after the
// driver has started; until then, and where the fabric has no cluster (a board with NVSwitches of its own), it is of none.
#pragma once

#include <span>
#include <string>

#include "model/gpu_fabric.h"
#include "os/node/nvml_library.h"

namespace muster::os {

struct NvmlCard {
  nvmlDevice_t handle{};
  std::string name;  // for `note`: "GPU 0000:3b:00.0"
};
struct FabricFound {
  GpuFabric fabric;  // of all the cards; not known if one is of another or of none
  std::string note;  // why not, where some card has to do with a fabric; for the log
};
FabricFound find_fabric(const Nvml& nvml, std::span<const NvmlCard> cards);

}  // namespace muster::os
