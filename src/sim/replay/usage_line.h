// UsageLine: amounts that change at moments, as averages over equal spans of time. Cost: O(1) a change, and O(spans passed).
#pragma once

#include <array>
#include <vector>

#include "base/time.h"

namespace muster::sim::replay {

enum class Amount : uint8_t { kCpus, kGpus, kNodes, kWaiting, kGpusWaiting };
inline constexpr size_t kAmounts = 5;
using Amounts = std::array<double, kAmounts>;

class UsageLine {
 public:
  UsageLine(Time begin, Duration width) : begin_(begin), width_(width), now_(begin) {}
  void change(Amount what, double by, Time now) {
    advance(now);
    level_[static_cast<size_t>(what)] += by;
  }
  void advance(Time now);  // a time before the last one counts as that
  Time begin() const { return begin_; }
  Duration width() const { return width_; }
  // Averages over [begin + i·width, begin + (i+1)·width); the last span is as long as time has come.
  std::vector<Amounts> averages() const;
  // Average over [from, to], as far as whole spans go; of a span that is cut the average counts.
  Amounts average(Time from, Time to) const;

 private:
  Time begin_;
  Duration width_;
  Time now_;
  Amounts level_{};
  std::vector<Amounts> seconds_;  // amount times seconds, by span
};

}  // namespace muster::sim::replay
