// The text of --network: what a job or step asks of the interconnect. Which words mean something depends on SwitchType, which whoever
// decides about the request knows; of the words only those of switch/nvidia_imex are known here. sbatch(1) --network.
#pragma once

#include <string>
#include <string_view>

#include "base/parsed.h"
#include "base/result.h"

namespace muster {

// "unique-channel-per-segment", in any letter case, and other words, with commas between them.
struct NetworkWish {
  bool channel_per_segment = false;
  std::string other;  // the first word that is none of these; "": there is none

  static Result<NetworkWish> parse(std::string_view text);  // any text will do
  bool operator==(const NetworkWish&) const = default;
};
using NetworkText = Parsed<NetworkWish>;

}  // namespace muster
