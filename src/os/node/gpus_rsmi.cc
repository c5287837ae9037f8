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
std::string read_card(const rsmi::Api& a, const CpuMap& cpus, const GpuDiscovery& o, Card& c) {
  std::string where = "GPU " + std::to_string(c.index);
  uint64_t id = 0;
  if (auto s = a.pci_id(c.index, &id); s != rsmi::kSuccess) return where + ": " + text_of(a, s);
  char bus[32];
  std::snprintf(bus, sizeof bus, "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32 & 0xffff), static_cast<unsigned>(id >> 8 & 0xff),
                static_cast<unsigned>(id >> 3 & 0x1f), static_cast<unsigned>(id & 7));
  GpuDevice& d = c.device;
  d.pci_bus_id = bus;
  where = "GPU " + d.pci_bus_id;
  char name[256] = {};
  if (auto s = a.name(c.index, name, sizeof name - 1); s != rsmi::kSuccess) return where + ": " + text_of(a, s);
  d.type = gpu_type_name(name);
  if (auto s = a.render_minor(c.index, &d.minor); s != rsmi::kSuccess) return where + ": " + text_of(a, s);
  d.files = {o.root + "/dev/dri/renderD" + std::to_string(d.minor)};
  uint64_t unique = 0;
  if (a.unique_id && a.unique_id(c.index, &unique) == rsmi::kSuccess) {
    char uuid[32];
    std::snprintf(uuid, sizeof uuid, "GPU-%016llx", static_cast<unsigned long long>(unique));
    d.uuid = uuid;
  }
  d.cores = cores_near(d.pci_bus_id, cpus, o.root);
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

Result<GpuInventory> discover_gpus_rsmi(const CpuMap& cpus, const GpuDiscovery& o) {
  MUSTER_TRY(library, SharedLibrary::open(o.library, "AutoDetect=rsmi"));
  rsmi::Api a;
  library.need(a.init, "rsmi_init");
  library.need(a.shut_down, "rsmi_shut_down");
  library.need(a.count, "rsmi_num_monitor_devices");
  library.need(a.pci_id, "rsmi_dev_pci_id_get");
  library.need(a.name, "rsmi_dev_name_get");
  library.need(a.render_minor, "rsmi_dev_drm_render_minor_get");
  library.find(a.status_string, "rsmi_status_string");
  library.find(a.unique_id, "rsmi_dev_unique_id_get");
  library.find(a.link_type, "rsmi_topo_get_link_type");
  MUSTER_TRY_VOID(library.complete());
  if (auto s = a.init(0); s != rsmi::kSuccess) return fail(Errc::kIo, "AutoDetect=rsmi: " + text_of(a, s));
  GpuInventory out;
  std::vector<Card> cards;
  uint32_t count = 0;
  auto counted = a.count(&count);
  for (uint32_t i = 0; counted == rsmi::kSuccess && i < std::min(count, 1024u); ++i) {
    Card c;
    c.index = i;
    const std::string fault = read_card(a, cpus, o, c);
    if (fault.empty()) cards.push_back(std::move(c));
    else out.faults.push_back(fault);
  }
  std::ranges::sort(cards, {}, [](const Card& c) { return c.device.pci_bus_id; });
  count_links(a, cards);
  a.shut_down();
  if (counted != rsmi::kSuccess) return fail(Errc::kIo, "AutoDetect=rsmi: " + text_of(a, counted));
  for (Card& c : cards) out.devices.push_back(std::move(c.device));
  return out;
}

}  // namespace muster::os
