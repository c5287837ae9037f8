#include "os/node/cpu_frequency.h"

#include <algorithm>

#include "base/text.h"
#include "model/clock_choice.h"
#include "os/files.h"

namespace muster::os {
namespace {

uint32_t number_in(const std::string& path) {
  Result<std::string> text = read_line(path);
  return text ? parse_number<uint32_t>(trim(*text)).value_or(0) : 0;
}

CpuFrequencyRange range_of(const std::string& folder) {
  CpuFrequencyRange out;
  out.lowest = number_in(folder + "/cpuinfo_min_freq");
  out.highest = number_in(folder + "/cpuinfo_max_freq");
  if (Result<std::string> list = read_line(folder + "/scaling_available_frequencies"))
    for (std::string_view word : split(*list, ' '))
      if (auto khz = parse_number<uint32_t>(trim(word), 1)) out.steps.push_back(*khz);
  std::ranges::sort(out.steps);
  return out;
}

bool offers(const std::string& folder, std::string_view governor) {
  Result<std::string> list = read_line(folder + "/scaling_available_governors");
  if (!list) return false;
  return std::ranges::any_of(split(*list, ' '), [&](std::string_view word) { return trim(word) == governor; });
}

// The kernel refuses a minimum above the maximum, whichever is written first.
Result<> set_bounds(const std::string& folder, const std::string& least, const std::string& most) {
  if (auto first = write_value(folder + "/scaling_max_freq", most); !first) {
    MUSTER_TRY_VOID(write_value(folder + "/scaling_min_freq", least));
    return write_value(folder + "/scaling_max_freq", most);
  }
  return write_value(folder + "/scaling_min_freq", least);
}

}  // namespace

uint32_t choose_frequency(std::string_view wanted, const CpuFrequencyRange& r) {
  if (wanted == "low") return r.lowest;
  if (wanted == "high" || (wanted == "highm1" && r.steps.size() < 2)) return r.highest;
  if (!r.steps.empty()) return choose_clock(wanted, r.steps);
  if (wanted == "medium") return r.lowest + (r.highest - r.lowest) / 2;
  return std::clamp(parse_number<uint32_t>(wanted).value_or(r.highest), r.lowest, std::max(r.lowest, r.highest));
}

Result<> CpuFrequencyHold::set(const CpuFrequencyWish& wish, const Saved& before) {
  const std::string& folder = before.folder;
  std::string governor = wish.governor;
  // One frequency is held by the governor userspace, or where the driver has none by bounds without room between them.
  if (governor.empty() && !wish.low.empty() && wish.high.empty() && offers(folder, "userspace")) governor = "userspace";
  if (!governor.empty()) {
    if (!offers(folder, governor)) return fail(Errc::kUnsupported, "the governor " + governor + " is not available");
    MUSTER_TRY_VOID(write_value(folder + "/scaling_governor", governor));
  }
  if (wish.low.empty()) return {};
  CpuFrequencyRange range = range_of(folder);
  if (range.highest == 0) return fail(Errc::kUnsupported, "the driver does not say which frequencies there are");
  uint32_t low = choose_frequency(wish.low, range);
  uint32_t high = wish.high.empty() ? low : choose_frequency(wish.high, range);
  if (high < low) return fail(Errc::kInvalidArgument, "the lower frequency is above the upper one");
  MUSTER_TRY_VOID(set_bounds(folder, std::to_string(low), std::to_string(high)));
  if (governor == "userspace") return write_value(folder + "/scaling_setspeed", std::to_string(low));
  return {};
}

CpuFrequencyHold::CpuFrequencyHold(const CpuFrequencyWish& wish, const Bitmap& cpus, std::string root) {
  std::vector<std::string> told;
  cpus.for_each([&](size_t cpu) {
    Saved saved;
    saved.folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq";
    Result<std::string> governor = read_line(saved.folder + "/scaling_governor"), least = read_line(saved.folder + "/scaling_min_freq"),
                        most = read_line(saved.folder + "/scaling_max_freq");
    Result<> done;
    if (!governor || !least || !most) {
      done = fail(Errc::kUnsupported, "this machine does not let its frequency be set");
    } else {
      saved.governor = trim(*governor);
      saved.least = trim(*least);
      saved.most = trim(*most);
      done = set(wish, saved);
      saved_.push_back(std::move(saved));
    }
    if (done) return;
    std::string why(done.error().message());
    if (std::ranges::find(told, why) == told.end()) faults_.push_back("CPU " + std::to_string(cpu) + ": " + why);
    told.push_back(std::move(why));
  });
}

CpuFrequencyHold::~CpuFrequencyHold() {
  for (const Saved& s : saved_) {
    [[maybe_unused]] auto governor = write_value(s.folder + "/scaling_governor", s.governor);
    [[maybe_unused]] auto bounds = set_bounds(s.folder, s.least, s.most);
  }
}

}  // namespace muster::os
