#include "slurmd/core/task_nice.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace muster::slurmd {

std::optional<int> task_nice(unsigned mode, const std::vector<std::string>& environment, int own, bool is_root) {
  constexpr std::string_view kName = "SLURM_PRIO_PROCESS=";
  if (mode == 0) return {};
  auto at = std::ranges::find_if(environment, [&](const std::string& e) { return e.starts_with(kName); });
  std::optional<int> asked;
  if (at != environment.end()) asked = parse_number<int>(std::string_view(*at).substr(kName.size()), -20, 19);
  if (!asked && mode != 2) return {};
  const int lowest = mode == 2 ? own + 1 : is_root ? -20 : own;
  return std::clamp(asked.value_or(own), std::min(lowest, 19), 19);
}

}  // namespace muster::slurmd
