#include "slurmd/core/device_environment.h"

#include <algorithm>

#include "config/gres_conf.h"

namespace muster::slurmd {
namespace {

using namespace config;

struct Vendor {
  const char* variable;
  uint32_t flag;
  bool takes_uuid;
};
constexpr Vendor kVendors[] = {{"CUDA_VISIBLE_DEVICES", kGresEnvNvidia, true},
                               {"ROCR_VISIBLE_DEVICES", kGresEnvAmd, true},
                               {"ZE_AFFINITY_MASK", kGresEnvIntel, false},
                               {"GPU_DEVICE_ORDINAL", kGresEnvOpencl, false}};
constexpr uint32_t kEveryVendor = kGresEnvNvidia | kGresEnvAmd | kGresEnvIntel | kGresEnvOpencl;

// The flags of the node's lines for these GPUs; where they have none for the environment, those of all vendors.
uint32_t flags_for(const std::vector<GresDevices>& node, const Bitmap& gpus) {
  uint32_t flags = 0;
  for (const GresDevices& d : node) {
    if (d.name != "gpu") continue;
    for (uint64_t i = d.first_index; i < d.first_index + d.count; ++i)
      if (gpus.test(i)) flags |= d.flags;
  }
  return flags & (kEveryVendor | kGresNoEnv) ? flags : flags | kEveryVendor;
}

const GresShare* share_of(const std::vector<GresShare>& share, std::string_view name) {
  for (const GresShare& g : share)
    if (g.name == name && (g.count > 0 || g.devices.any())) return &g;
  return nullptr;
}

// The part of a GPU's MPS units that the share holds, in hundredths; with several GPUs the smallest part. 0: not known.
uint64_t mps_percentage(const std::vector<GresDevices>& node, const GresShare& mps) {
  uint64_t least = 0;
  for (const GresDevices& d : node) {
    if (d.name != mps.name || !d.shared || d.count == 0) continue;
    const uint64_t part = std::min<uint64_t>(100, mps.shares_on(d.first_index) * 100 / d.count);
    if (part && (!least || part < least)) least = part;
  }
  return least;
}

void add(std::vector<std::string>& out, std::string_view name, std::string_view value) {
  out.push_back(std::string(name) + "=" + std::string(value));
}

}  // namespace

Bitmap gpus_of(const std::vector<GresShare>& share) {
  Bitmap out;
  for (const GresShare& g : share)
    if (g.name == "gpu" || is_shared_gres(g.name)) out |= g.devices;  // shares are numbered by their GPU
  return out;
}

std::vector<std::string> bound_environment(const NodeContext& node, const Bitmap& held, const Bitmap& bound) {
  std::vector<std::string> out;
  const uint32_t flags = flags_for(node.gres, bound);
  if (flags & kGresNoEnv) return out;
  std::string numbers, uuids;
  bool all_uuids = true, mig = false;
  size_t place = 0;
  held.for_each([&](size_t gpu) {
    const size_t number = node.devices_constrained ? place : gpu;
    ++place;
    if (!bound.test(gpu)) return;
    const std::string uuid = gpu < node.gpu_uuids.size() ? node.gpu_uuids[gpu] : "";
    all_uuids = all_uuids && !uuid.empty();
    mig = mig || uuid.starts_with("MIG-");
    numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
    uuids += (uuids.empty() ? "" : ",") + uuid;
  });
  const bool by_uuid = all_uuids && (mig || flags & kGresEnvUuid);
  for (const Vendor& v : kVendors)
    if (flags & v.flag) add(out, v.variable, by_uuid && v.takes_uuid ? uuids : numbers);
  return out;
}

std::vector<std::string> device_environment(const NodeContext& node, const std::vector<GresShare>& share, std::string_view list_name) {
  std::vector<std::string> out;
  const Bitmap gpus = gpus_of(share);
  if (gpus.any()) out = bound_environment(node, gpus, gpus);
  if (const GresShare* gpu = share_of(share, "gpu"); gpu && gpu->devices.any()) {
    Bitmap own;
    for (const GresShare& g : share)
      if (g.name == "gpu") own |= g.devices;
    std::string list;
    own.for_each([&](size_t i) { list += (list.empty() ? "" : ",") + std::to_string(i); });
    if (!list_name.empty()) add(out, list_name, list);
    add(out, "SLURM_GPUS_ON_NODE", std::to_string(own.count()));
  }
  if (const GresShare* shard = share_of(share, "shard")) add(out, "SLURM_SHARDS_ON_NODE", std::to_string(shard->count));
  if (const GresShare* mps = share_of(share, "mps")) {
    add(out, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    if (uint64_t p = mps_percentage(node.gres, *mps)) add(out, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", std::to_string(p));
  }
  return out;
}

void drop_device_variables(std::vector<std::string>& environment) {
  std::erase_if(environment, [](const std::string& e) {
    return std::ranges::any_of(kVendors, [&](const Vendor& v) { return e.starts_with(std::string(v.variable) + "="); });
  });
}

}  // namespace muster::slurmd
