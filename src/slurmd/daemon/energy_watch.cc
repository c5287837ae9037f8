#include "slurmd/daemon/energy_watch.h"

#include "os/node/gpu_samples.h"

namespace muster::slurmd {
namespace {

constexpr Duration kPatience = minutes(1);  // GPUs are first asked when we begin

}  // namespace

void EnergyWatch::start(const config::UseGathering& how, std::function<void()> first) {
  how_ = how;
  first_ = std::move(first);
  began_ = net::Loop::monotonic();
  if (how_.node_seconds == 0) return;
  if (how_.energy == config::EnergySource::kRapl) {
    auto rapl = os::Rapl::open(powercap_);
    if (rapl) rapl_ = std::move(*rapl);
    else log_.error("AcctGatherEnergyType: {}", rapl.error().message());
  }
  sample();
}

// None where nothing can be counted.
std::optional<uint64_t> EnergyWatch::joules() {
  if (how_.energy == config::EnergySource::kRapl) return rapl_ ? std::optional(rapl_->read() / 1'000'000) : std::nullopt;
  auto samples = os::read_gpu_samples(gpu_samples_);
  if (!samples || samples->cards.empty()) return std::nullopt;
  for (const os::GpuSamples::Card& card : samples->cards) gpus_.see(std::to_string(card.minor), card.millijoules, 0);
  return gpus_.sum() / 1000;
}

void EnergyWatch::sample() {
  timer_ = loop_.after(seconds(how_.node_seconds), [this] { sample(); });
  const std::optional<uint64_t> now = joules();
  if (!now) {
    const bool no_counter = how_.energy == config::EnergySource::kRapl || net::Loop::monotonic() - began_ > kPatience;
    if (!meter_.any() && no_counter && !std::exchange(last_, NodeEnergy{})) {
      if (how_.energy == config::EnergySource::kGpu) log_.error("AcctGatherEnergyType: no GPU of this node tells what it takes");
      first_();
    }
    return;
  }
  const bool measured = meter_.measured();
  meter_.sample(net::Loop::monotonic(), *now);
  if (!meter_.measured()) return;
  last_ = NodeEnergy{true, meter_.watts_now(), meter_.watts_average(), meter_.joules(), meter_.joules_before(), net::Loop::now()};
  if (!measured) first_();
}

}  // namespace muster::slurmd
