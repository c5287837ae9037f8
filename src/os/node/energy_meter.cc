#include "os/node/energy_meter.h"

#include <dirent.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/saturating.h"
#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr size_t kMostZones = 256;

std::vector<std::string> zones_below(const std::string& folder) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (const dirent* e = dir ? ::readdir(dir.get()) : nullptr)
    if (std::string_view(e->d_name).starts_with("intel-rapl:") && out.size() < kMostZones) out.emplace_back(e->d_name);
  std::ranges::sort(out);
  return out;
}

std::optional<uint64_t> number_in(const std::string& file) {
  auto line = read_line(file);
  return line ? parse_number<uint64_t>(trim(*line)) : std::nullopt;
}

uint32_t watts(uint64_t joules, Duration passed) {
  const double w = static_cast<double>(joules) * 1e6 / static_cast<double>(passed.count());
  return static_cast<uint32_t>(std::min(w + 0.5, static_cast<double>(std::numeric_limits<int32_t>::max())));
}

}  // namespace

void CounterSum::see(const std::string& counter, uint64_t now, uint64_t range) {
  const auto [at, is_new] = last_.emplace(counter, now);
  if (is_new) return;
  const uint64_t last = std::exchange(at->second, now);
  if (now >= last) sum_ = add_sat(sum_, now - last);
  else sum_ = add_sat(sum_, range > last ? add_sat(range - last, now) : now);
}

Result<Rapl> Rapl::open(const std::string& powercap) {
  Rapl out;
  for (const std::string& name : zones_below(powercap)) {
    const std::string zone = powercap + "/" + name;
    const auto what = read_line(zone + "/name");
    if (!what || !(what->starts_with("package") || what->starts_with("dram"))) continue;
    if (!number_in(zone + "/energy_uj")) continue;
    out.zones_.push_back({zone + "/energy_uj", number_in(zone + "/max_energy_range_uj").value_or(0)});
  }
  if (out.zones_.empty()) return fail(Errc::kNotFound, powercap + " has no energy counter of a processor that can be read");
  out.read();
  return out;
}

uint64_t Rapl::read() {
  for (const Zone& zone : zones_)
    if (auto now = number_in(zone.file)) sum_.see(zone.file, *now, zone.range);
  return sum_.sum();
}

void PowerMeter::sample(Duration now, uint64_t joules) {
  if (samples_++ == 0) {
    first_ = before_ = last_ = joules;
    first_at_ = last_at_ = now;
    return;
  }
  before_ = last_;
  last_ = std::max(last_, joules);
  if (now <= last_at_) return;
  now_ = watts(last_ - before_, now - last_at_);
  average_ = watts(last_ - first_, now - first_at_);
  last_at_ = now;
}

}  // namespace muster::os
