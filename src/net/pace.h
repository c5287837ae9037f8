// Pace: logs a repeated event only once in a while for each key that causes it, with how often it happened meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"

namespace muster::net {

class Pace {
 public:
  explicit Pace(Duration period, size_t most_keys = 1024) : period_(period), most_(most_keys) {}

  // Whether to tell now: the number of times it happened untold since the last time, or nullopt. Beyond `most` keys at a time, the
  // others share one.
  std::optional<uint64_t> tell(std::string_view key, Duration now) {
    auto at = told_.find(std::string(key));
    if (at == told_.end() && told_.size() >= most_) {
      std::erase_if(told_, [&](const auto& t) { return now - t.second.at >= period_; });
      if (told_.size() >= most_) at = told_.try_emplace("", Told{now - period_, 0}).first;
    }
    if (at == told_.end()) {
      told_.emplace(key, Told{now, 0});
      return 0;
    }
    Told& t = at->second;
    if (now - t.at < period_) {
      ++t.untold;
      return std::nullopt;
    }
    const uint64_t untold = t.untold;
    t = {now, 0};
    return untold;
  }

  // ", and 12 more like it since the last such line"
  static std::string more(uint64_t untold) { return untold ? " (and " + std::to_string(untold) + " more since the last such line)" : ""; }

 private:
  struct Told {
    Duration at{};
    uint64_t untold = 0;
  };
  Duration period_;
  size_t most_;
  std::unordered_map<std::string, Told> told_;
};

}  // namespace muster::net
