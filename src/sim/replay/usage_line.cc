#include "sim/replay/usage_line.h"

#include <algorithm>

namespace muster::sim::replay {
namespace {

double seconds_in(Duration d) { return static_cast<double>(d.count()) / 1e6; }

}  // namespace

void UsageLine::advance(Time now) {
  while (now_ < now) {
    const auto span = static_cast<size_t>((now_ - begin_) / width_);
    if (seconds_.size() <= span) seconds_.resize(span + 1);
    const Time end = std::min(now, begin_ + width_ * static_cast<int64_t>(span + 1));
    for (size_t i = 0; i < kAmounts; ++i) seconds_[span][i] += level_[i] * seconds_in(end - now_);
    now_ = end;
  }
}

std::vector<Amounts> UsageLine::averages() const {
  std::vector<Amounts> out = seconds_;
  for (size_t i = 0; i < out.size(); ++i) {
    const Time from = begin_ + width_ * static_cast<int64_t>(i);
    const double length = seconds_in(std::min(now_ - from, width_));
    for (double& a : out[i]) a = length > 0 ? a / length : 0;
  }
  return out;
}

Amounts UsageLine::average(Time from, Time to) const {
  Amounts out{};
  double length = 0;
  to = std::min(to, now_);
  for (size_t i = 0; i < seconds_.size(); ++i) {
    const Time begin = begin_ + width_ * static_cast<int64_t>(i), end = std::min(begin + width_, now_);
    const Duration shared = std::min(end, to) - std::max(begin, from);
    if (shared <= Duration() || end <= begin) continue;
    const double part = seconds_in(shared) / seconds_in(end - begin);
    length += seconds_in(shared);
    for (size_t a = 0; a < kAmounts; ++a) out[a] += seconds_[i][a] * part;
  }
  for (double& a : out) a = length > 0 ? a / length : 0;
  return out;
}

}  // namespace muster::sim::replay
