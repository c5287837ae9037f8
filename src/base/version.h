// The version that commands and daemons print. Tools parse "slurm 26.05."; the compatibility level is stated so.
#pragma once

namespace muster {

inline constexpr char kVersion[] = "26.05.3";
inline constexpr char kVersionLine[] = "slurm 26.05.3";

}  // namespace muster
