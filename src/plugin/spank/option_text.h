// How an option of a plugin travels: "_SLURM_SPANK_OPTION_pyxis_container_image=ubuntu". As a variable it reaches srun from sbatch and
// salloc, in lists it goes to the nodes and, after SPANK_, to prologs and epilogs. Characters of the two names that are neither letters nor
// digits become '_'. The value of an option without one is empty. spank(8). Pure.
#pragma once

#include <string>
#include <string_view>

namespace muster::spank {

inline constexpr std::string_view kOptionPrefix = "_SLURM_SPANK_OPTION_";

std::string option_key(std::string_view plugin, std::string_view option);
// Whether "KEY=value" is an entry of that key.
bool is_entry_of(std::string_view entry, std::string_view key);
std::string_view value_of(std::string_view entry);  // after the first '='

}  // namespace muster::spank
