#include "slurmd/daemon/gres_setup.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "os/node/energy_meter.h"
#include "slurmd/core/gres_reconcile.h"

namespace muster::slurmd {
namespace {

using enum config::AutoDetect;

std::string variable_or(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

// The mechanisms in the order in which AutoDetect=full tries them.
struct Mechanism {
  config::AutoDetect how;
  Result<os::GpuInventory> (*discover)(const CpuMap&, const os::GpuDiscovery&);
  const char *library, *variable;
  uint32_t flags;
};
constexpr char kNvmlVariable[] = "MUSTER_NVML_LIBRARY";
constexpr Mechanism kMechanisms[] = {
    {kNvml, os::discover_gpus_nvml, os::kNvmlLibrary, kNvmlVariable, kGresEnvNvidia},
    {kNvidia, os::discover_gpus_nvidia, "", "", kGresEnvNvidia},
    {kRsmi, os::discover_gpus_rsmi, os::kRocmSmiLibrary, "MUSTER_ROCM_SMI_LIBRARY", kGresEnvAmd},
    {kOneapi, os::discover_gpus_oneapi, os::kLevelZeroLibrary, "MUSTER_LEVEL_ZERO_LIBRARY", kGresEnvIntel},
};

Result<DiscoveredGpus> run(const Mechanism& m, const CpuMap& cpus) {
  os::GpuDiscovery options;
  options.library = variable_or(m.variable, m.library);
  options.root = variable_or("MUSTER_DEVICE_ROOT", "");
  MUSTER_TRY(found, m.discover(cpus, options));
  return DiscoveredGpus{std::move(found), m.flags, m.how == kNvml};
}

// Tries them until one finds a device, or a device that is broken. A library that is there but fails is reported only when no other finds
// anything either.
DiscoveredGpus run_all(const CpuMap& cpus) {
  DiscoveredGpus none;
  for (const Mechanism& m : kMechanisms) {
    auto found = run(m, cpus);
    if (found && !(found->inventory.devices.empty() && found->inventory.faults.empty())) return std::move(*found);
    if (!found && found.error().code != Errc::kNotFound) none.inventory.faults.emplace_back(found.error().message());
  }
  return none;
}

}  // namespace

std::string device_root() { return variable_or("MUSTER_DEVICE_ROOT", ""); }
std::string powercap() { return device_root() + os::kPowercap; }
std::string nvml_library() { return variable_or(kNvmlVariable, os::kNvmlLibrary); }

Result<DiscoveredGpus> discover_gpus(config::AutoDetect how, const CpuMap& cpus) {
  if (how == kFull) return run_all(cpus);
  for (const Mechanism& m : kMechanisms)
    if (m.how == how) return run(m, cpus);
  return fail(Errc::kUnsupported, "AutoDetect=" + std::string(config::autodetect_name(how)) + " is not supported",
              "known here: nvml, nvidia, rsmi, oneapi, full, off");
}

Result<> find_gres(Setup& setup, bool detect) {
  std::vector<GresDevices> configured = config::devices_of(setup.loaded->gres, setup.config(), setup.node_index);
  config::AutoDetect how = config::autodetect_of(setup.loaded->gres, setup.node_index);
  if (how == kUnset && detect) how = kFull;
  if (how == kUnset || how == kOff) {
    setup.hardware.gres = std::move(configured);
    return {};
  }
  MUSTER_TRY(found, discover_gpus(how, setup.cpus));
  std::vector<FoundDevice> devices;
  for (os::GpuDevice& d : found.inventory.devices) devices.push_back({d.type, d.files, d.cores, d.links, d.uuid});
  Reconciled r = reconcile_gpus(configured, devices, found.vendor_flags);
  for (const auto* texts : {&found.inventory.faults, &r.problems}) setup.notes.insert(setup.notes.end(), texts->begin(), texts->end());
  setup.hardware.gres = std::move(r.devices);
  if (!found.inventory.fabric_note.empty()) setup.notes.push_back(std::move(found.inventory.fabric_note));
  setup.hardware.fabric = found.inventory.fabric;
  setup.asks_nvml = found.by_nvml;
  setup.context.gpu_uuids = std::move(r.uuids);
  return {};
}

int print_gres(const Setup& setup) {
  for (const std::string& note : setup.notes) std::fprintf(stderr, "slurmd: warning: %s\n", note.c_str());
  for (const GresDevices& g : setup.hardware.gres) {
    std::string line =
        "slurmd: Gres Name=" + g.name + " Type=" + (g.type.empty() ? "(null)" : g.type) + " Count=" + std::to_string(g.count);
    if (!g.files.empty()) line += " File=" + join(g.files, ",");
    if (g.cores.any()) line += " Cores=" + g.cores.to_ranges();
    if (!g.links.empty()) {
      std::vector<std::string> links;
      for (int32_t n : g.links) links.push_back(std::to_string(n));
      line += " Links=" + join(links, ",");
    }
    std::printf("%s\n", line.c_str());
  }
  if (setup.hardware.fabric.known()) std::printf("slurmd: NVLink fabric %s\n", setup.hardware.fabric.text().c_str());
  return 0;
}

}  // namespace muster::slurmd
