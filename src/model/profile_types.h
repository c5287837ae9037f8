// The text of --profile and ProfileHDF5Default: of what a time series is recorded for each step. sbatch(1) and srun(1) --profile,
// acct_gather.conf(5) ProfileHDF5Default.
#pragma once

#include <string_view>

#include "base/parsed.h"
#include "base/result.h"

namespace muster {

// "all", "none", or energy, task, network and lustre (also filesystem) with commas, in any letter case. The value of no text is that of
// "none".
struct ProfileTypes {
  bool energy = false, task = false, network = false, filesystem = false;
  bool everything = false;  // "all": whatever is gathered, and no word about what is not

  // Errors: kInvalidArgument.
  static Result<ProfileTypes> parse(std::string_view text);
  bool any() const { return energy || task || network || filesystem; }
  bool operator==(const ProfileTypes&) const = default;
};
using ProfileText = Parsed<ProfileTypes>;

}  // namespace muster
