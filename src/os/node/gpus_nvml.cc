#include <algorithm>
#include <memory>

#include "base/text.h"
#include "os/files.h"
#include "os/node/gpus.h"
#include "os/node/nvml_fabric.h"
#include "os/node/nvml_library.h"

namespace muster::os {
namespace {

// "00000000:1B:00.0" → "0000:1b:00.0"
std::string bus_id(const nvmlPciInfo_t& p) {
  char text[32];
  snprintf(text, sizeof text, "%04x:%02x:%02x.0", p.domain, p.bus, p.device);
  return text;
}

struct Card {
  nvmlDevice_t handle{};
  GpuDevice device;
  std::vector<std::string> peers;  // PCI address at the other end of each live NVLink
};

Bitmap cores_of(const Nvml& n, nvmlDevice_t h, const CpuMap& cpus) {
  constexpr unsigned kWords = 128;  // 8192 CPUs
  std::vector<unsigned long> mask(kWords);
  if (!n.api.cpu_affinity || n.api.cpu_affinity(h, kWords, mask.data()) != nvml::kSuccess) return {};
  const Bitmap cores = cpus.cores_of_os(Bitmap::from_words(kWords * 64, mask));
  return cores;
}

std::vector<std::string> peers_of(const Nvml& n, nvmlDevice_t h) {
  std::vector<std::string> out;
  if (!n.api.nvlink_state || !n.api.nvlink_remote) return out;
  for (unsigned link = 0; link < nvml::kMaxLinks; ++link) {
    unsigned active = 0;
    if (n.api.nvlink_state(h, link, &active) != nvml::kSuccess || !active) continue;
    nvmlPciInfo_t remote{};
    if (n.api.nvlink_remote(h, link, &remote) == nvml::kSuccess) out.push_back(bus_id(remote));
  }
  return out;
}

// Empty on success, else what is wrong with the card.
std::string read_card(const Nvml& nvml, unsigned index, const CpuMap& cpus, const GpuDiscovery& options, Card& card) {
  std::string where = "GPU " + std::to_string(index);
  nvmlReturn_t result = nvml.api.handle_by_index(index, &card.handle);
  if (result != nvml::kSuccess) return where + ": " + nvml.text(result);
  nvmlPciInfo_t pci{};
  if ((result = nvml.api.pci_info(card.handle, &pci)) != nvml::kSuccess) return where + ": " + nvml.text(result);
  GpuDevice& device = card.device;
  device.pci_bus_id = bus_id(pci);
  where = "GPU " + device.pci_bus_id;
  char text[nvml::kNameSize] = {};
  if ((result = nvml.api.name(card.handle, text, sizeof text)) != nvml::kSuccess) return where + ": " + nvml.text(result);
  device.type = gpu_type_name(text);
  if ((result = nvml.api.uuid(card.handle, text, sizeof text)) != nvml::kSuccess) return where + ": " + nvml.text(result);
  device.uuid = text;
  if ((result = nvml.api.minor_number(card.handle, &device.minor)) != nvml::kSuccess) return where + ": " + nvml.text(result);
  device.files = {options.root + "/dev/nvidia" + std::to_string(device.minor)};
  device.cores = cores_of(nvml, card.handle, cpus);
  card.peers = peers_of(nvml, card.handle);
  return "";
}

// "/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access" says "DeviceFileMinor: 12".
Result<std::string> capability_file(const GpuDiscovery& o, const std::string& access) {
  MUSTER_TRY(text, read_file(o.root + access, 4096));
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with("DeviceFileMinor:"))
      if (auto minor = parse_number<uint32_t>(trim(line.substr(16))))
        return o.root + "/dev/nvidia-caps/nvidia-cap" + std::to_string(*minor);
  return fail(Errc::kIo, access + ": no DeviceFileMinor");
}

// Profiles as NVIDIA names them: a whole GPU instance "3g.20gb", a part of its compute "1c.3g.20gb".
std::string profile_name(const nvmlDeviceAttributes_t& a) {
  const auto gb = std::to_string((a.memorySizeMB + 1023) / 1024);
  std::string name = std::to_string(a.gpuInstanceSliceCount) + "g." + gb + "gb";
  if (a.computeInstanceSliceCount != a.gpuInstanceSliceCount) name = std::to_string(a.computeInstanceSliceCount) + "c." + name;
  return name;
}

std::string read_mig(const Nvml& nvml, const Card& card, unsigned index, const GpuDiscovery& options, GpuDevice& device, bool& there) {
  nvmlDevice_t handle{};
  nvmlReturn_t result = nvml.api.mig_handle(card.handle, index, &handle);
  there = result == nvml::kSuccess;
  if (result == nvml::kNotFound) return "";
  const std::string where = "GPU " + card.device.pci_bus_id + " MIG " + std::to_string(index) + ": ";
  if (result != nvml::kSuccess) return where + nvml.text(result);
  device = card.device;
  device.mig = true;
  unsigned gi = 0, ci = 0;
  nvmlDeviceAttributes_t attributes{};
  char uuid[nvml::kNameSize] = {};
  if ((result = nvml.api.gpu_instance_id(handle, &gi)) != nvml::kSuccess ||
      (result = nvml.api.compute_instance_id(handle, &ci)) != nvml::kSuccess ||
      (result = nvml.api.attributes(handle, &attributes)) != nvml::kSuccess ||
      (result = nvml.api.uuid(handle, uuid, sizeof uuid)) != nvml::kSuccess)
    return where + nvml.text(result);
  device.uuid = uuid;
  device.type += "_" + profile_name(attributes);
  const std::string base = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(device.minor) + "/mig/gi" + std::to_string(gi);
  for (const std::string& access : {base + "/access", base + "/ci" + std::to_string(ci) + "/access"}) {
    auto file = capability_file(options, access);
    if (!file) return where + std::string(file.error().message());
    device.files.push_back(*file);
  }
  return "";
}

// The devices of a card: itself, or its MIG instances when it is partitioned.
void add_devices(const Nvml& nvml, const Card& card, const GpuDiscovery& options, GpuInventory& out) {
  unsigned current = 0, pending = 0, most = 0;
  const bool mig = nvml.api.has_mig() && nvml.api.mig_mode(card.handle, &current, &pending) == nvml::kSuccess && current == 1;
  if (!mig) {
    out.devices.push_back(card.device);
    return;
  }
  if (nvml.api.max_mig_devices(card.handle, &most) != nvml::kSuccess) most = 0;
  const size_t before = out.devices.size();
  for (unsigned i = 0; i < std::min(most, 64u); ++i) {
    GpuDevice d;
    bool there = false;
    const std::string fault = read_mig(nvml, card, i, options, d, there);
    if (!fault.empty()) {
      out.faults.push_back(fault);
    } else if (there) {
      out.devices.push_back(std::move(d));
    }
  }
  if (out.devices.size() == before) out.faults.push_back("GPU " + card.device.pci_bus_id + ": MIG is on and no usable instance exists");
}

void count_links(const std::vector<Card>& cards, GpuInventory& out) {
  if (std::all_of(cards.begin(), cards.end(), [](const Card& c) { return c.peers.empty(); })) return;
  // A link to a switch (its peer is no GPU) reaches every GPU that has such links; a direct link reaches one.
  auto is_gpu = [&](const std::string& bus) {
    return std::any_of(cards.begin(), cards.end(), [&](const Card& c) { return c.device.pci_bus_id == bus; });
  };
  auto card_of = [&](const GpuDevice& d) -> const Card& {
    return *std::find_if(cards.begin(), cards.end(), [&](const Card& c) { return c.device.pci_bus_id == d.pci_bus_id; });
  };
  for (size_t index = 0; index < out.devices.size(); ++index) {
    const Card& card = card_of(out.devices[index]);
    const auto through_switch = std::count_if(card.peers.begin(), card.peers.end(), [&](const auto& p) { return !is_gpu(p); });
    for (size_t k = 0; k < out.devices.size(); ++k) {
      const Card& b = card_of(out.devices[k]);
      int32_t links = -1;
      if (index != k) {
        const auto b_switch = std::count_if(b.peers.begin(), b.peers.end(), [&](const auto& p) { return !is_gpu(p); });
        links = static_cast<int32_t>(std::count(card.peers.begin(), card.peers.end(), b.device.pci_bus_id) +
                                     std::min(through_switch, b_switch));
        if (out.devices[index].mig || out.devices[k].mig) links = 0;  // instances do not use NVLink
      }
      out.devices[index].links.push_back(links);
    }
  }
}

void add_fabric(const Nvml& nvml, const std::vector<Card>& cards, GpuInventory& out) {
  std::vector<NvmlCard> asked;
  for (const Card& c : cards) asked.push_back({c.handle, "GPU " + c.device.pci_bus_id});
  FabricFound found = find_fabric(nvml, asked);
  out.fabric = found.fabric;
  out.fabric_note = std::move(found.note);
}

}  // namespace

Result<GpuInventory> discover_gpus_nvml(const CpuMap& cpus, const GpuDiscovery& options) {
  MUSTER_TRY(nvml, Nvml::load(options.library, "AutoDetect=nvml"));
  GpuInventory out;
  char version[nvml::kNameSize] = {};
  if (nvml->api.driver_version && nvml->api.driver_version(version, sizeof version) == nvml::kSuccess) out.driver_version = version;
  unsigned count = 0;
  if (nvmlReturn_t r = nvml->api.count(&count); r != nvml::kSuccess) return fail(Errc::kIo, "AutoDetect=nvml: " + nvml->text(r));
  std::vector<Card> cards;
  for (unsigned i = 0; i < std::min(count, 1024u); ++i) {
    Card c;
    const std::string fault = read_card(*nvml, i, cpus, options, c);
    if (fault.empty()) {
      cards.push_back(std::move(c));
    } else {
      out.faults.push_back(fault);
    }
  }
  std::sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) { return a.device.pci_bus_id < b.device.pci_bus_id; });
  for (const Card& c : cards) add_devices(*nvml, c, options, out);
  count_links(cards, out);
  add_fabric(*nvml, cards, out);
  return out;
}

}  // namespace muster::os
