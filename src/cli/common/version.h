// The version that commands report. Tools parse "slurm 26.05.": the part before our own name never changes its form.
#pragma once

#include <string_view>

namespace muster::cli {

inline constexpr std::string_view kSlurmVersion = "26.05.3";
inline constexpr std::string_view kVersionText = "slurm 26.05.3";

}  // namespace muster::cli
