#include "sim/check_layers.h"

#include <algorithm>
#include <map>

namespace muster::sim {
namespace {

uint64_t held(const Job& job, const std::string& pool) {
  const auto it = std::ranges::find(job.allocation->licenses, pool, &LicenseShare::name);
  return it == job.allocation->licenses.end() ? 0 : it->count;
}

// What it holds of one resource, against what it asked for.
std::string wrong_share(const Job& job, const Hres& hres, uint64_t asked) {
  Bitmap nodes;
  for (const NodeShare& s : job.allocation->nodes) nodes.set(s.node.value);
  size_t drawn = 0;
  for (const HresLayer& layer : hres.layers) {
    const uint64_t has = held(job, layer.name);
    const size_t common = layer.nodes.count_and(nodes);
    if (hres.mode == HresMode::kOne) {
      drawn += has > 0;
      if (has != 0 && has != asked) return "has " + std::to_string(has) + " of " + layer.name + ", asked for " + std::to_string(asked);
      continue;
    }
    const uint64_t wanted = hres.mode == HresMode::kSum ? asked * common : common ? asked : 0;
    if (has != wanted) return "has " + std::to_string(has) + " of " + layer.name + ", not " + std::to_string(wanted);
  }
  return hres.mode == HresMode::kOne && drawn != 1 ? "draws from " + std::to_string(drawn) + " layers of " + hres.name : "";
}

}  // namespace

void check_layers(const Cluster& cluster, const Hierarchies& all, const std::function<void(const std::string&)>& complain) {
  std::map<std::string, uint64_t> sums;
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    if (job.pending() || job.finished() || !job.allocation) return;
    for (const LicenseShare& l : job.allocation->licenses) sums[l.name] += l.count;
    for (const LicenseShare& asked : job.request->licenses->list)
      if (const Hres* hres = all.find(asked.name))
        if (const std::string wrong = wrong_share(job, *hres, asked.count); !wrong.empty())
          complain("job " + std::to_string(job.id.value) + " " + wrong);
  });
  for (const Hres& hres : all.all)
    for (const HresLayer& layer : hres.layers) {
      if (sums[layer.name] > layer.for_jobs())
        complain(layer.name + " gives " + std::to_string(sums[layer.name]) + " of " + std::to_string(layer.for_jobs()));
      if (sums[layer.name] != cluster.license_used(layer.name)) complain(layer.name + " is counted wrong");
    }
}

}  // namespace muster::sim
