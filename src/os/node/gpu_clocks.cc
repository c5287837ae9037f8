#include "os/node/gpu_clocks.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/clock_choice.h"
#include "os/node/nvml_library.h"

namespace muster::os {
namespace {

constexpr char kWhat[] = "--gpu-freq";

struct Clocks {
  unsigned memory = 0, graphics = 0;
};

class Cards {
 public:
  static Result<Cards> open(const std::string& library) {
    MUSTER_TRY(nvml, Nvml::load(library, kWhat));
    if (!nvml->api.has_clocks()) return fail(Errc::kUnsupported, std::string(kWhat) + ": " + library + " does not set clocks");
    Cards out(std::move(nvml));
    out.number();
    return out;
  }

  // The empty text on success, else what is wrong.
  std::string set(const std::string& file, const GpuFrequencyWish& wish, Clocks& now) const {
    constexpr std::string_view kPrefix = "/dev/nvidia";
    const size_t at = file.rfind(kPrefix);
    const auto minor = at == file.npos ? std::nullopt : parse_number<unsigned>(std::string_view(file).substr(at + kPrefix.size()));
    auto card = minor ? by_minor_.find(*minor) : by_minor_.end();
    if (card == by_minor_.end()) return "no card that NVIDIA's library knows";
    const nvmlDevice_t handle = card->second;
    unsigned mig = 0, pending = 0;
    if (nvml_->api.mig_mode && nvml_->api.mig_mode(handle, &mig, &pending) == nvml::kSuccess && mig)
      return "MIG instances share the clocks of their card";
    now = {current(handle, nvml::kMemoryClock), current(handle, nvml::kGraphicsClock)};
    if (wish.gpu.empty() && wish.memory.empty()) return "";
    const Clocks want = clocks_for(handle, wish, now);
    if (!want.memory || !want.graphics) return "the card offers no clocks to choose from";
    const nvmlReturn_t r = nvml_->api.set_application_clocks(handle, want.memory, want.graphics);
    if (r != nvml::kSuccess) return nvml_->text(r);
    now = {current(handle, nvml::kMemoryClock), current(handle, nvml::kGraphicsClock)};
    return "";
  }

 private:
  explicit Cards(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}

  // A card that does not answer is left out.
  void number() {
    unsigned count = 0;
    nvml_->api.count(&count);
    for (unsigned i = 0; i < count; ++i) {
      nvmlDevice_t h{};
      unsigned minor = 0;
      if (nvml_->api.handle_by_index(i, &h) == nvml::kSuccess && nvml_->api.minor_number(h, &minor) == nvml::kSuccess) by_minor_[minor] = h;
    }
  }

  unsigned current(nvmlDevice_t h, int kind) const {
    unsigned clock = 0;
    return nvml_->api.application_clock(h, kind, &clock) == nvml::kSuccess ? clock : 0;
  }

  template <class Ask>
  static std::vector<uint32_t> listed(Ask&& ask) {
    std::vector<uint32_t> out(nvml::kMaxClocks);
    unsigned count = nvml::kMaxClocks;
    if (ask(&count, out.data()) != nvml::kSuccess) count = 0;
    out.resize(std::min(count, nvml::kMaxClocks));
    return out;
  }

  // Which graphics clocks a card has depends on its memory clock. A clock that is not asked for stays, or comes as near as it can.
  Clocks clocks_for(nvmlDevice_t h, const GpuFrequencyWish& wish, const Clocks& now) const {
    auto or_now = [](const std::string& asked, unsigned clock) { return !asked.empty() ? asked : clock ? std::to_string(clock) : "high"; };
    Clocks out;
    out.memory =
        choose_clock(or_now(wish.memory, now.memory), listed([&](unsigned* n, unsigned* c) { return nvml_->api.memory_clocks(h, n, c); }));
    out.graphics = choose_clock(or_now(wish.gpu, now.graphics),
                                listed([&](unsigned* n, unsigned* c) { return nvml_->api.graphics_clocks(h, out.memory, n, c); }));
    return out;
  }

  std::unique_ptr<Nvml> nvml_;
  std::map<unsigned, nvmlDevice_t> by_minor_;
};

}  // namespace

Result<GpuClocksSet> set_gpu_clocks(const GpuFrequencyWish& wish, const std::vector<std::string>& files, const std::string& library) {
  MUSTER_TRY(cards, Cards::open(library));
  GpuClocksSet out;
  for (const std::string& file : files) {
    Clocks now;
    if (std::string why = cards.set(file, wish, now); !why.empty()) {
      out.faults.push_back(file + ": " + why);
      continue;
    }
    if (!wish.gpu.empty() || !wish.memory.empty()) out.changed.push_back(file);
    out.told.push_back(file + ": graphics " + std::to_string(now.graphics) + " MHz, memory " + std::to_string(now.memory) + " MHz");
  }
  return out;
}

Result<std::vector<std::string>> reset_gpu_clocks(const std::vector<std::string>& files, const std::string& library) {
  MUSTER_TRY(done, set_gpu_clocks({"high", "high", false}, files, library));
  return std::move(done.faults);
}

}  // namespace muster::os
