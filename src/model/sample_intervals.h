// The text of --acctg-freq and JobAcctGatherFrequency: how often what tasks use is looked at. srun(1) --acctg-freq, slurm.conf(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/parsed.h"
#include "base/result.h"

namespace muster {

// "30" or "task=30,energy=0,network=10,filesystem=10", in any letter case. Seconds; 0 turns the kind off; not set: not named.
struct SampleIntervals {
  std::optional<uint32_t> task, energy, network, filesystem;

  // Errors: kInvalidArgument.
  static Result<SampleIntervals> parse(std::string_view text);
  bool operator==(const SampleIntervals&) const = default;
};
using SampleIntervalsText = Parsed<SampleIntervals>;

}  // namespace muster
