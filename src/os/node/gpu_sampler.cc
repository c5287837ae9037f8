#include "os/node/gpu_sampler.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace muster::os {
namespace {

constexpr unsigned kMostOnACard = 1024, kMostFaults = 32;
constexpr unsigned long long kNotKnown = ~0ull;

// Adds a process; one too many is left out.
GpuSamples::Process* entry(std::map<int32_t, GpuSamples::Process>& to, unsigned pid) {
  if (pid == 0 || pid > static_cast<unsigned>(INT32_MAX)) return nullptr;
  const auto number = static_cast<int32_t>(pid);
  auto at = to.find(number);
  if (at == to.end()) {
    if (to.size() == GpuSamples::kMostProcesses) return nullptr;
    at = to.emplace(number, GpuSamples::Process{number, 0, 0}).first;
  }
  return &at->second;
}

}  // namespace

Result<GpuSampler> GpuSampler::open(const std::string& library) {
  MUSTER_TRY(nvml, Nvml::load(library, "use of GPUs"));
  GpuSampler out(std::move(nvml));
  out.find_cards();
  return out;
}

void GpuSampler::fault(const Card& card, const std::string& text) {
  std::string line = card.name + ": " + text;
  if (faults_.size() < kMostFaults && std::ranges::find(faults_, line) == faults_.end()) faults_.push_back(std::move(line));
}

// A card that does not answer is left out.
void GpuSampler::find_cards() {
  unsigned count = 0;
  nvml_->api.count(&count);
  for (unsigned i = 0; i < std::min<unsigned>(count, GpuSamples::kMostCards); ++i) {
    Card card;
    unsigned minor = 0, mig = 0, pending = 0;
    if (nvml_->api.handle_by_index(i, &card.handle) != nvml::kSuccess) continue;
    if (nvml_->api.minor_number(card.handle, &minor) != nvml::kSuccess) continue;
    card.minor = minor;
    card.name = "/dev/nvidia" + std::to_string(minor);
    card.mig = nvml_->api.mig_mode && nvml_->api.mig_mode(card.handle, &mig, &pending) == nvml::kSuccess && mig;
    nvmlMemory_t memory{};
    if (nvml_->api.memory && nvml_->api.memory(card.handle, &memory) == nvml::kSuccess) card.memory_bytes = memory.total;
    cards_.push_back(std::move(card));
  }
}

void GpuSampler::ask_memory(Card& card, Processes& to) {
  if (!nvml_->api.compute_processes) return fault(card, "this driver does not tell which processes it runs");
  std::vector<nvmlProcessInfo_t> found(kMostOnACard);
  unsigned count = kMostOnACard;
  const nvmlReturn_t answer = nvml_->api.compute_processes(card.handle, &count, found.data());
  if (answer == nvml::kTooSmall)
    return fault(card, "it runs more than " + std::to_string(kMostOnACard) + " processes, which is too many to look at");
  if (answer != nvml::kSuccess) return fault(card, "processes: " + nvml_->text(answer));
  if (count > kMostOnACard) fault(card, "the driver tells of more processes than it was asked for");
  found.resize(std::min(count, kMostOnACard));
  for (const nvmlProcessInfo_t& p : found) {
    GpuSamples::Process* process = entry(to, p.pid);
    if (!process || p.usedGpuMemory == kNotKnown) continue;
    if (card.memory_bytes && p.usedGpuMemory > card.memory_bytes) fault(card, "a process is said to hold more memory than there is");
    else process->memory += std::min<unsigned long long>(p.usedGpuMemory, 1ull << 48);
  }
}

// The driver keeps samples of the last second or so; those that were seen do not count again.
void GpuSampler::ask_utilization(Card& card, Processes& to) {
  if (!nvml_->api.process_utilization) return;
  std::vector<nvmlProcessUtilizationSample_t> found(kMostOnACard);
  unsigned count = kMostOnACard;
  const nvmlReturn_t answer = nvml_->api.process_utilization(card.handle, found.data(), &count, card.utilization_seen);
  if (answer == nvml::kNotFound || answer == nvml::kNotSupported) return;  // nobody was at work
  if (answer != nvml::kSuccess) return fault(card, "utilization: " + nvml_->text(answer));
  found.resize(std::min(count, kMostOnACard));
  std::map<unsigned, std::pair<uint64_t, uint64_t>> sums;  // by process: percent, samples
  for (const nvmlProcessUtilizationSample_t& s : found) {
    if (s.timeStamp <= card.utilization_seen && card.utilization_seen) continue;
    auto& [percent, samples] = sums[s.pid];
    percent += std::min(s.smUtil, 100u);
    ++samples;
  }
  for (const nvmlProcessUtilizationSample_t& s : found) card.utilization_seen = std::max(card.utilization_seen, s.timeStamp);
  for (const auto& [pid, sum] : sums)
    if (GpuSamples::Process* process = entry(to, pid)) process->util += sum.first / sum.second;
}

void GpuSampler::ask_power(Card& card, Duration now, GpuSamples& to) {
  unsigned milliwatts = 0;
  if (!nvml_->api.power || nvml_->api.power(card.handle, &milliwatts) != nvml::kSuccess) return;
  unsigned long long millijoules = 0;
  if (nvml_->api.total_energy && nvml_->api.total_energy(card.handle, &millijoules) == nvml::kSuccess) {
    card.millijoules = millijoules;
  } else if (card.counted > Duration{} && now > card.counted) {
    const auto passed = static_cast<double>((now - card.counted).count()) / 1e6;
    card.millijoules += static_cast<uint64_t>((static_cast<double>(card.milliwatts) + milliwatts) / 2 * passed);
  }
  card.counted = now;
  card.milliwatts = milliwatts;
  to.cards.push_back({card.minor, card.milliwatts, card.millijoules});
}

GpuSamples GpuSampler::sample(Duration now) {
  GpuSamples out;
  out.taken = now;
  Processes processes;
  for (Card& card : cards_) {
    ask_power(card, now, out);
    if (card.mig) continue;
    ask_memory(card, processes);
    ask_utilization(card, processes);
  }
  for (auto& [pid, process] : processes) {
    process.util = std::min(process.util, GpuSamples::kMostUtil);
    out.processes.push_back(process);
  }
  out.faults = faults_;
  return out;
}

int watch_gpus(const std::string& library, const std::string& file, Duration every) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto put = [&](GpuSamples samples) {
    samples.every = every;
    return write_gpu_samples(file, samples).has_value();
  };
  auto sampler = GpuSampler::open(library);
  if (!sampler) {
    GpuSamples none;
    none.taken = boot_clock();
    none.faults.emplace_back(sampler.error().message());
    put(std::move(none));
    return 1;
  }
  pollfd end{0, POLLIN, 0};
  do {
    if (!put(sampler->sample(boot_clock()))) return 1;
  } while (::poll(&end, 1, static_cast<int>(every / milliseconds(1))) == 0);
  return 0;
}

int gpu_watch_main(int argc, char** argv) {
  const auto every = argc == 5 ? parse_number<int64_t>(argv[4], 100, 86'400'000) : std::nullopt;
  if (!every) return 2;
  return watch_gpus(argv[2], argv[3], milliseconds(*every));
}

}  // namespace muster::os
