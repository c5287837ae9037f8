// Which GPUs this machine has: gres.conf AutoDetect=nvml (NVIDIA's library, opened at run time; MIG and
// NVLink known) and AutoDetect=nvidia (the driver's files; neither). AMD (rsmi), Intel (oneapi) and AWS (nrt)
// are not there yet: asking for them is a kUnsupported error. gres.conf(5), gres guide.
//
// Devices are numbered by PCI bus address, smallest first, which need not be the order of the /dev/nvidiaX
// minors; MIG instances take the numbers of their GPU's place. A GPU that does not answer is told in `faults`
// and left out, so that one dead card takes itself out of service and not the node. Cost: loading NVML and
// asking 8 GPUs takes 0.1-2 s on real drivers; done once per start of slurmd.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/resources.h"
#include "os/node/hardware.h"

namespace muster::os {

struct GpuDevice {
  std::string type;        // "nvidia_h100_80gb_hbm3", MIG: "nvidia_a100-sxm4-40gb_3g.20gb"
  std::string uuid;        // "GPU-…" or "MIG-…": env_uuid, and how a card is known over restarts
  std::string pci_bus_id;  // "0000:1b:00.0" of the card
  uint32_t minor = 0;      // X of /dev/nvidiaX
  std::vector<std::string>
      files;                   // all of them are needed to use the device (MIG: card and two capabilities)
  Bitmap cores;                // model core numbers; empty = not known or all
  std::vector<int32_t> links;  // NVLinks to each device by index, -1 = itself; empty = not known
  bool mig = false;
};

struct GpuInventory {
  std::vector<GpuDevice> devices;   // by index
  std::vector<std::string> faults;  // "GPU 0000:3b:00.0: GPU is lost": for the log and the node's reason
  std::string driver_version;
};

struct GpuDiscovery {
  std::string library = "libnvidia-ml.so.1";
  std::string root;  // put before /proc, /sys and /dev (tests)
};
Result<GpuInventory> discover_gpus_nvml(const CpuMap& cpus, const GpuDiscovery& options = {});
Result<GpuInventory> discover_gpus_nvidia(const CpuMap& cpus, const GpuDiscovery& options = {});
// AutoDetect=full: the mechanisms in their order until one finds a device. None found: an empty inventory.
Result<GpuInventory> discover_gpus_full(const CpuMap& cpus, const GpuDiscovery& options = {});

// One entry per device for registration, name "gpu"; neighbours of the same type, cores and no links share
// one.
std::vector<GresDevices> to_gres(const GpuInventory& inventory);
// Lower case, spaces to underscores: "NVIDIA H100 80GB HBM3" → "nvidia_h100_80gb_hbm3".
std::string gpu_type_name(std::string_view product);

}  // namespace muster::os
