// AutoDetect=oneapi: Intel GPUs through Level Zero, with its system management part (sysman).
#include <stdlib.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "os/node/cgroup_backend.h"
#include "os/node/gpus.h"
#include "os/node/level_zero_api.h"
#include "os/node/shared_library.h"

namespace muster::os {
namespace {

using namespace level_zero;

std::string code_text(Status s) {
  char text[48];
  std::snprintf(text, sizeof text, "Level Zero error 0x%x", s);
  return text;
}

// Two calls, as Level Zero wants it: how many, then which.
template <class Handle, class Ask>
std::vector<Handle> handles(Ask&& ask, Status& status) {
  uint32_t count = 0;
  if ((status = ask(&count, nullptr)) != kSuccess) return {};
  std::vector<Handle> out(std::min(count, 1024u));
  count = static_cast<uint32_t>(out.size());
  if (count > 0 && (status = ask(&count, out.data())) != kSuccess) return {};
  return out;
}

std::string uuid_text(const uint8_t (&bytes)[16]) {
  std::string out = "GPU-";
  for (uint8_t b : bytes) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x", b);
    out += two;
  }
  return out;
}

// "/dev/dri/renderD129" of a PCI device, by the kernel's files.
std::string render_file(const std::string& bus, const std::string& root) {
  for (const std::string& name : subdirectories(root + "/sys/bus/pci/devices/" + bus + "/drm"))
    if (name.starts_with("renderD")) return root + "/dev/dri/" + name;
  return "";
}

// Empty on success. `gpu` false: no GPU.
std::string read_device(const Api& api, Device handle, const CpuMap& cpus, const GpuDiscovery& options, GpuDevice& device, bool& gpu) {
  DeviceProperties properties;
  if (Status s = api.properties(handle, &properties); s != kSuccess) return "GPU: " + code_text(s);
  gpu = properties.type == kDeviceTypeGpu;
  if (!gpu) return "";
  PciProperties pci;
  properties.name[sizeof properties.name - 1] = 0;
  device.type = gpu_type_name(properties.name);
  if (Status s = api.pci(handle, &pci); s != kSuccess) return "GPU " + device.type + ": " + code_text(s);
  char bus[32];
  std::snprintf(bus, sizeof bus, "%04x:%02x:%02x.%x", pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0x1f, pci.function & 7);
  device.pci_bus_id = bus;
  device.uuid = uuid_text(properties.uuid);
  const std::string file = render_file(bus, options.root);
  if (file.empty()) return "GPU " + device.pci_bus_id + ": the kernel tells no render device for it";
  device.files = {file};
  device.minor = parse_number<uint32_t>(std::string_view(file).substr(file.rfind('D') + 1)).value_or(0);
  device.cores = cores_near(bus, cpus, options.root);
  return "";
}

}  // namespace

Result<GpuInventory> discover_gpus_oneapi(const CpuMap& cpus, const GpuDiscovery& options) {
  MUSTER_TRY(library, SharedLibrary::open(options.library, "AutoDetect=oneapi"));
  Api api;
  library.need(api.init, "zeInit");
  library.need(api.drivers, "zeDriverGet");
  library.need(api.devices, "zeDeviceGet");
  library.need(api.properties, "zeDeviceGetProperties");
  library.need(api.pci, "zesDevicePciGetProperties");
  MUSTER_TRY_VOID(library.complete());
  setenv("ZES_ENABLE_SYSMAN", "1", 0);  // or the library keeps its management part off
  Status status = api.init(0);
  if (status != kSuccess) return fail(Errc::kIo, "AutoDetect=oneapi: " + code_text(status));
  GpuInventory out;
  auto drivers = handles<Driver>([&](uint32_t* n, Driver* d) { return api.drivers(n, d); }, status);
  if (status != kSuccess) return fail(Errc::kIo, "AutoDetect=oneapi: " + code_text(status));
  for (Driver driver : drivers) {
    auto devices = handles<Device>([&](uint32_t* n, Device* d) { return api.devices(driver, n, d); }, status);
    if (status != kSuccess) out.faults.push_back("AutoDetect=oneapi: " + code_text(status));
    for (Device h : devices) {
      GpuDevice d;
      bool gpu = true;
      const std::string fault = read_device(api, h, cpus, options, d, gpu);
      if (!fault.empty()) out.faults.push_back(fault);
      else if (gpu) out.devices.push_back(std::move(d));
    }
  }
  std::ranges::sort(out.devices, {}, &GpuDevice::pci_bus_id);
  return out;
}

}  // namespace muster::os
