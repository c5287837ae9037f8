// Which GPUs this machine has: gres.conf AutoDetect=nvml (NVIDIA's library, opened at run time; MIG and NVLink known), nvidia (the driver's
// files; neither), rsmi (AMD's ROCm SMI library; xGMI links known) and oneapi (Intel's Level Zero). AWS (nrt) is not there. The order of
// AutoDetect=full is the caller's. gres.conf(5), gres guide.
//
// Devices are numbered by PCI bus address, smallest first, which need not be the order of the /dev/nvidiaX
// minors; MIG instances take the numbers of their GPU's place. A GPU that does not answer is told in `faults`
// and left out, so that one dead card takes itself out of service and not the node. Cost: loading NVML and
// asking 8 GPUs takes 0.1-2 s on real drivers; done once per start of slurmd.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/gpu_fabric.h"
#include "model/resources.h"
#include "os/node/hardware.h"

namespace muster::os {

struct GpuDevice {
  std::string type;                // "nvidia_h100_80gb_hbm3", MIG: "nvidia_a100-sxm4-40gb_3g.20gb"
  std::string uuid;                // "GPU-…" or "MIG-…": env_uuid, and how a card is known over restarts
  std::string pci_bus_id;          // "0000:1b:00.0" of the card
  uint32_t minor = 0;              // X of /dev/nvidiaX
  std::vector<std::string> files;  // all of them are needed to use the device (MIG: card and two capabilities)
  Bitmap cores;                    // model core numbers; empty = not known or all
  std::vector<int32_t> links;      // NVLinks to each device by index, -1 = itself; empty = not known
  bool mig = false;
};

struct GpuInventory {
  std::vector<GpuDevice> devices;   // by index
  std::vector<std::string> faults;  // "GPU 0000:3b:00.0: GPU is lost": for the log and the node's reason
  std::string driver_version;
  GpuFabric fabric;         // NVML: the NVLink fabric that all cards which answer are of
  std::string fabric_note;  // why it is not known, where there is one; for the log
};

inline constexpr char kNvmlLibrary[] = "libnvidia-ml.so.1", kRocmSmiLibrary[] = "librocm_smi64.so",
                      kLevelZeroLibrary[] = "libze_loader.so.1";
struct GpuDiscovery {
  std::string library;  // for dlopen; not used by discover_gpus_nvidia
  std::string root;     // put before /proc, /sys and /dev (tests)
};
// A library that is not there is kNotFound; one that is and fails is kIo or kUnsupported, with its own words.
Result<GpuInventory> discover_gpus_nvml(const CpuMap& cpus, const GpuDiscovery& options);
Result<GpuInventory> discover_gpus_nvidia(const CpuMap& cpus, const GpuDiscovery& options);
Result<GpuInventory> discover_gpus_rsmi(const CpuMap& cpus, const GpuDiscovery& options);
Result<GpuInventory> discover_gpus_oneapi(const CpuMap& cpus, const GpuDiscovery& options);

// Entries for registration under the name "gpu": one per device, but neighbours with the same type and cores and no links share one.
std::vector<GresDevices> to_gres(const GpuInventory& inventory);
// Shared by the vendors' mechanisms: the cores near a PCI device.
Bitmap cores_near(const std::string& pci_bus_id, const CpuMap& cpus, const std::string& root);
// Lower case, spaces to underscores: "NVIDIA H100 80GB HBM3" → "nvidia_h100_80gb_hbm3".
std::string gpu_type_name(std::string_view product);

}  // namespace muster::os
