#include "os/node/gpus.h"

#include <dirent.h>
#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "os/node/cgroup_backend.h"

namespace muster::os {

std::string gpu_type_name(std::string_view product) {
  std::string out = to_lower(trim(product));
  for (std::string_view mark : {"(r)", "(tm)"})  // parentheses have a meaning in Gres=
    for (size_t at; (at = out.find(mark)) != out.npos;) out.erase(at, mark.size());
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

Bitmap cores_near(const std::string& bus, const CpuMap& cpus, const std::string& root) {
  Bitmap local;
  auto list = read_line(root + "/sys/bus/pci/devices/" + bus + "/local_cpulist");
  if (!list || !Bitmap::parse_ranges(trim(*list), local)) return {};
  return cpus.cores_of_os(local);
}

namespace {

// "Model: \t\t NVIDIA H100 80GB HBM3" lines of the driver.
std::string field(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') return std::string(trim(line.substr(key.size() + 1)));
  return "";
}

}  // namespace

Result<GpuInventory> discover_gpus_nvidia(const CpuMap& cpus, const GpuDiscovery& options) {
  GpuInventory out;
  const std::string base = options.root + "/proc/driver/nvidia/gpus";
  if (auto version = read_line(options.root + "/sys/module/nvidia/version")) out.driver_version = *version;
  for (const std::string& bus : subdirectories(base)) {  // sorted: the order of PCI addresses
    auto text = read_file(base + "/" + bus + "/information", 1 << 16);
    if (!text) {
      out.faults.push_back("GPU " + bus + ": " + std::string(text.error().message()));
      continue;
    }
    GpuDevice device;
    device.pci_bus_id = bus;
    device.type = gpu_type_name(field(*text, "Model"));
    device.uuid = field(*text, "GPU UUID");
    auto minor = parse_number<uint32_t>(field(*text, "Device Minor"));
    if (device.type.empty() || device.type == "unknown" || !minor) {  // what the driver says of a card it lost
      out.faults.push_back("GPU " + bus + ": the driver does not know its model or device number");
      continue;
    }
    device.minor = *minor;
    device.files = {options.root + "/dev/nvidia" + std::to_string(device.minor)};
    device.cores = cores_near(bus, cpus, options.root);
    out.devices.push_back(std::move(device));
  }
  return out;
}

std::vector<GresDevices> to_gres(const GpuInventory& inventory) {
  std::vector<GresDevices> out;
  for (size_t index = 0; index < inventory.devices.size(); ++index) {
    const GpuDevice& device = inventory.devices[index];
    // Several files are one device: such a device keeps an entry of its own, as does one with links.
    if (!out.empty() && !device.mig && device.links.empty() && out.back().links.empty() && out.back().type == device.type &&
        out.back().cores == device.cores && out.back().files.size() == out.back().count) {
      ++out.back().count;
      out.back().files.push_back(device.files.at(0));
      continue;
    }
    GresDevices g;
    g.name = "gpu";
    g.type = device.type;
    g.count = 1;
    g.first_index = static_cast<uint32_t>(index);
    g.files = device.files;
    g.cores = device.cores;
    g.links = device.links;
    out.push_back(std::move(g));
  }
  return out;
}

}  // namespace muster::os
