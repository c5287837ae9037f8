#include "config/use_gathering.h"

#include <algorithm>

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

constexpr uint32_t kMostNodeSeconds = 86'400;

struct Missing {
  std::string_view type, why;
};
constexpr Missing kMissing[] = {
    {"acct_gather_energy/ipmi", "needs FreeIPMI, which this build does not use"},
    {"acct_gather_energy/pm_counters", "reads counters of Cray systems, which are not known here"},
    {"acct_gather_energy/xcc", "needs FreeIPMI, which this build does not use"},
};

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::any_of(words, [&](const std::string& w) { return iequals(w, word); });
}

}  // namespace

EnergySource energy_source(std::string_view type) {
  if (iequals(type, "acct_gather_energy/rapl")) return EnergySource::kRapl;
  if (iequals(type, "acct_gather_energy/gpu")) return EnergySource::kGpu;
  return EnergySource::kNone;
}

UseGathering use_gathering(const Config& config) {
  UseGathering out;
  if (config.gathers_use() && !holds(config.job_acct_gather_params, "DisableGPUAcct")) {
    out.gpu_util = holds(config.accounting_storage_tres, "gres/gpuutil");
    out.gpu_memory = holds(config.accounting_storage_tres, "gres/gpumem");
  }
  if (const ConfigValue* type = config.find_value("AcctGatherEnergyType")) out.energy = energy_source(type->text);
  if (const ConfigValue* every = config.find_value("AcctGatherNodeFreq"); every && out.energy != EnergySource::kNone)
    out.node_seconds = std::min(parse_number<uint32_t>(every->text).value_or(0), kMostNodeSeconds);
  return out;
}

void check_use_gathering(const Config& config, Findings& findings) {
  const ConfigValue* type = config.find_value("AcctGatherEnergyType");
  const ConfigValue* every = config.find_value("AcctGatherNodeFreq");
  if (every && every->given && use_gathering(config).energy == EnergySource::kNone)
    findings.notice(every->pos, "AcctGatherNodeFreq", "nothing is sampled, since no energy is gathered",
                    "AcctGatherEnergyType=acct_gather_energy/rapl gathers that of processors");
  for (const Missing& missing : kMissing)
    if (type && iequals(type->text, missing.type))
      findings.notice(type->pos, "AcctGatherEnergyType", type->text + " " + std::string(missing.why) + "; no energy is gathered",
                      "there are acct_gather_energy/rapl and acct_gather_energy/gpu");
}

}  // namespace muster::config
