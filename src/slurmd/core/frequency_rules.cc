#include "slurmd/core/frequency_rules.h"

#include <algorithm>

#include "base/text.h"

namespace muster::slurmd {

FrequencyOrder frequency_order(const CpuFrequencyText& asked, const FrequencyRules& rules) {
  if (asked.empty()) return {rules.confined ? to_lower(rules.default_governor) : std::string(), {}};
  auto refused = [&](const std::string& why) { return FrequencyOrder{{}, "slurmstepd: error: --cpu-freq=" + asked.text() + ": " + why}; };
  Result<CpuFrequencyWish> wish = asked.parsed();
  if (!wish) return refused("no frequency or governor");
  if (!rules.confined) return refused("tasks are not confined to their CPUs here (TaskPlugin), so no frequency is set");
  bool allowed =
      wish->governor.empty() || std::ranges::any_of(rules.governors, [&](const std::string& g) { return iequals(g, wish->governor); });
  if (!allowed) return refused("the governor is not one of CpuFreqGovernors=" + join(rules.governors, ","));
  if (wish->high.empty()) return {cpu_frequency_text(*wish), {}};
  if (wish->governor.empty()) wish->governor = to_lower(rules.default_governor);
  if (wish->governor.empty()) return refused("a range needs a governor, or CpuFreqDef");
  if (wish->governor == "userspace") return refused("the governor userspace takes one frequency, not a range");
  return {cpu_frequency_text(*wish), {}};
}

}  // namespace muster::slurmd
