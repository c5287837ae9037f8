#include "os/node/gpu_health.h"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "os/node/gpu_log.h"
#include "os/node/gpu_sysfs.h"
#include "os/node/nvml_library.h"

namespace muster::os {
namespace {

void read_memory(const Nvml& nvml, nvmlDevice_t card, GpuReading& out) {
  const nvml::Api& api = nvml.api;
  unsigned long long errors = 0;
  const auto ecc = [&](int counter) -> std::optional<uint64_t> {
    if (!api.ecc_errors || api.ecc_errors(card, nvml::kUncorrectedErrors, counter, &errors) != nvml::kSuccess) return std::nullopt;
    return errors;
  };
  out.ecc = ecc(nvml::kVolatileErrors);
  out.ecc_lifetime = ecc(nvml::kAggregateErrors);
  int waits = 0;
  if (api.retirement_pending && api.retirement_pending(card, &waits) == nvml::kSuccess) out.retirement_pending = waits != 0;
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (!api.remapped_rows || api.remapped_rows(card, &corrected, &uncorrected, &pending, &failed) != nvml::kSuccess) return;
  out.remap_pending = pending != 0;
  out.remap_failed = failed != 0;
}

void read_links(const Nvml& nvml, nvmlDevice_t card, GpuReading& out) {
  const nvml::Api& api = nvml.api;
  if (!api.nvlink_state) return;
  for (unsigned number = 0; number < nvml::kMaxLinks; ++number) {
    unsigned active = 0;
    if (api.nvlink_state(card, number, &active) != nvml::kSuccess) continue;
    GpuLink& link = out.links.emplace_back(GpuLink{number, active != 0, 0});
    for (int counter = 0; api.nvlink_errors && counter < nvml::kLinkErrorCounters; ++counter) {
      unsigned long long errors = 0;
      if (api.nvlink_errors(card, number, counter, &errors) == nvml::kSuccess) link.errors += errors;
    }
  }
}

// A card that is lost has no minor number any more: its place in the driver's order stands for it.
GpuReading read_card(const Nvml& nvml, unsigned index) {
  GpuReading out;
  out.card.minor = index;
  nvmlDevice_t card{};
  unsigned minor = 0;
  nvmlReturn_t answer = nvml.api.handle_by_index(index, &card);
  if (answer == nvml::kSuccess) answer = nvml.api.minor_number(card, &minor);
  if (answer != nvml::kSuccess) {
    out.lost = nvml.text(answer);
    return out;
  }
  out.card.minor = minor;
  read_memory(nvml, card, out);
  read_links(nvml, card, out);
  unsigned long long why = 0;
  if (nvml.api.throttle_reasons && nvml.api.throttle_reasons(card, &why) == nvml::kSuccess) out.throttled = why;
  return out;
}

}  // namespace

GpuReadings read_gpu_health(const std::string& library) {
  GpuReadings out;
  auto nvml = Nvml::load(library, "health of GPUs");
  if (!nvml) {
    out.fault = nvml.error().message();
    return out;
  }
  unsigned count = 0;
  if (const nvmlReturn_t answer = (*nvml)->api.count(&count); answer != nvml::kSuccess) {
    out.fault = (*nvml)->text(answer);
    return out;
  }
  std::vector<GpuReading> lost;
  for (unsigned i = 0; i < std::min<unsigned>(count, GpuReadings::kMostCards); ++i) {
    GpuReading card = read_card(**nvml, i);
    (card.lost.empty() ? out.cards : lost).push_back(std::move(card));
  }
  // The place of a lost card may be the minor number of another one: those that are there stand for themselves.
  for (GpuReading& card : lost)
    if (std::ranges::find(out.cards, card.card, &GpuReading::card) == out.cards.end()) out.cards.push_back(std::move(card));
  return out;
}

Result<GpuReadings> gpu_health_from(std::string_view printed) { return GpuReadings::parse(printed); }

std::vector<GpuId> cards_of(const std::vector<GresDevices>& devices) {
  std::set<GpuId> out;
  for (const GresDevices& device : devices)
    for (const std::string& file : device.files)
      if (const auto card = GpuId::of_file(file)) out.insert(*card);
  return {out.begin(), out.end()};
}

int gpu_health_main(int argc, char** argv) {
  if (argc != 4) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string library = argv[2], root = argv[3];
  GpuReadings readings = library.empty() ? GpuReadings() : read_gpu_health(library);
  read_gpu_sysfs(root, readings);
  read_gpu_log(root, readings);
  const std::string text = readings.text();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace muster::os
