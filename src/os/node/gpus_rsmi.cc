// AutoDetect=rsmi: AMD GPUs through ROCm SMI.
#include <algorithm>
#include <cstdio>

#include "os/node/gpus.h"
#include "os/node/rocm_smi_api.h"
#include "os/node/shared_library.h"

namespace muster::os {
namespace {

struct Card {
  uint32_t index = 0;  // of the library
  GpuDevice device;
};

std::string text_of(const rsmi::Api& a, rsmi::Status s) {
  const char* t = nullptr;
  if (a.status_string && a.status_string(s, &t) == rsmi::kSuccess && t) return t;
  return "ROCm SMI error " + std::to_string(s);
}

// Empty on success, else what is wrong with the card.
std::string read_card(const rsmi::Api& api, const CpuMap& cpus, const GpuDiscovery& options, Card& card) {
  std::string where = "GPU " + std::to_string(card.index);
  uint64_t id = 0;
  if (auto s = api.pci_id(card.index, &id); s != rsmi::kSuccess) return where + ": " + text_of(api, s);
  char bus[32];
  std::snprintf(bus, sizeof bus, "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32 & 0xffff), static_cast<unsigned>(id >> 8 & 0xff),
                static_cast<unsigned>(id >> 3 & 0x1f), static_cast<unsigned>(id & 7));
  GpuDevice& device = card.device;
  device.pci_bus_id = bus;
  where = "GPU " + device.pci_bus_id;
  char name[256] = {};
  if (auto s = api.name(card.index, name, sizeof name - 1); s != rsmi::kSuccess) return where + ": " + text_of(api, s);
  device.type = gpu_type_name(name);
  if (auto s = api.render_minor(card.index, &device.minor); s != rsmi::kSuccess) return where + ": " + text_of(api, s);
  device.files = {options.root + "/dev/dri/renderD" + std::to_string(device.minor)};
  uint64_t unique = 0;
  if (api.unique_id && api.unique_id(card.index, &unique) == rsmi::kSuccess) {
    char uuid[32];
    std::snprintf(uuid, sizeof uuid, "GPU-%016llx", static_cast<unsigned long long>(unique));
    device.uuid = uuid;
  }
  device.cores = cores_near(device.pci_bus_id, cpus, options.root);
  return "";
}

void count_links(const rsmi::Api& a, std::vector<Card>& cards) {
  if (!a.link_type || cards.size() < 2) return;
  for (Card& from : cards)
    for (const Card& to : cards) {
      uint64_t hops = 0;
      int type = 0;
      int32_t links = -1;
      if (from.index != to.index) links = a.link_type(from.index, to.index, &hops, &type) == rsmi::kSuccess && type == rsmi::kLinkXgmi;
      from.device.links.push_back(links);
    }
}

}  // namespace

Result<GpuInventory> discover_gpus_rsmi(const CpuMap& cpus, const GpuDiscovery& options) {
  MUSTER_TRY(library, SharedLibrary::open(options.library, "AutoDetect=rsmi"));
  rsmi::Api api;
  library.need(api.init, "rsmi_init");
  library.need(api.shut_down, "rsmi_shut_down");
  library.need(api.count, "rsmi_num_monitor_devices");
  library.need(api.pci_id, "rsmi_dev_pci_id_get");
  library.need(api.name, "rsmi_dev_name_get");
  library.need(api.render_minor, "rsmi_dev_drm_render_minor_get");
  library.find(api.status_string, "rsmi_status_string");
  library.find(api.unique_id, "rsmi_dev_unique_id_get");
  library.find(api.link_type, "rsmi_topo_get_link_type");
  MUSTER_TRY_VOID(library.complete());
  if (auto s = api.init(0); s != rsmi::kSuccess) return fail(Errc::kIo, "AutoDetect=rsmi: " + text_of(api, s));
  GpuInventory out;
  std::vector<Card> cards;
  uint32_t count = 0;
  auto counted = api.count(&count);
  for (uint32_t i = 0; counted == rsmi::kSuccess && i < std::min(count, 1024u); ++i) {
    Card c;
    c.index = i;
    const std::string fault = read_card(api, cpus, options, c);
    if (fault.empty()) cards.push_back(std::move(c));
    else out.faults.push_back(fault);
  }
  std::ranges::sort(cards, {}, [](const Card& c) { return c.device.pci_bus_id; });
  count_links(api, cards);
  api.shut_down();
  if (counted != rsmi::kSuccess) return fail(Errc::kIo, "AutoDetect=rsmi: " + text_of(api, counted));
  for (Card& c : cards) out.devices.push_back(std::move(c.device));
  return out;
}

}  // namespace muster::os
