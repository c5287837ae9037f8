// The generic resources of this node: what AutoDetect finds, brought together with the configuration (slurmd/core/gres_reconcile.h
// decides). gres.conf(5), slurmd(8) -G.
//
// For tests and odd installations the environment of slurmd may name the vendor libraries (MUSTER_NVML_LIBRARY, MUSTER_ROCM_SMI_LIBRARY,
// MUSTER_LEVEL_ZERO_LIBRARY) and a directory to put before /proc, /sys and /dev (MUSTER_DEVICE_ROOT).
#pragma once

#include "config/gres_conf.h"
#include "os/node/gpus.h"
#include "slurmd/daemon/setup.h"

namespace muster::slurmd {

struct DiscoveredGpus {
  os::GpuInventory inventory;
  uint32_t vendor_flags = 0;  // config::GresFlag for the environment
  bool by_nvml = false;
};
// kUnsupported for mechanisms that do not exist here.
Result<DiscoveredGpus> discover_gpus(config::AutoDetect how, const CpuMap& cpus);
// Fills hardware.gres and .fabric, the GPUs' UUIDs and notes. `detect`: GPUs are looked for even where gres.conf does not say so (slurmd -Z).
Result<> find_gres(Setup& setup, bool detect = false);
std::string nvml_library();          // for dlopen
std::string device_root();           // put before /proc, /sys and /dev; ""
std::string powercap();              // where the kernel counts the energy of processors
int print_gres(const Setup& setup);  // slurmd -G

}  // namespace muster::slurmd
