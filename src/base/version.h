// The version that commands and daemons print. Tools parse "slurm 26.05.", so this compatibility level is stated in that form.
#pragma once

namespace muster {

inline constexpr char kVersion[] = "26.05.3";
inline constexpr char kVersionLine[] = "slurm 26.05.3";

}  // namespace muster
