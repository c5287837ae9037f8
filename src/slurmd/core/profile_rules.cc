#include "slurmd/core/profile_rules.h"

namespace muster::slurmd {
namespace {

// Why what was asked for by name is not recorded.
std::string fault_of(const ProfileTypes& types, const ProfileRules& rules) {
  if (rules.directory.empty()) return "no profiles are recorded here (AcctGatherProfileType)";
  if ((types.task || types.energy) && !rules.gathers) return "nothing is gathered here (JobAcctGatherType)";
  if (types.everything) return {};
  std::string out;
  const auto add = [&](const char* why) { (out += out.empty() ? "" : "; ") += why; };
  if (types.task && rules.task_seconds == 0) add("tasks are not sampled (--acctg-freq=task=SECONDS)");
  if (types.energy && !rules.measures_energy) add("energy is not measured here (AcctGatherEnergyType)");
  else if (types.energy && rules.energy_seconds == 0) add("energy is not sampled (--acctg-freq=energy=SECONDS)");
  if (types.network) add("use of networks is not gathered");
  if (types.filesystem) add("use of file systems is not gathered");
  return out;
}

}  // namespace

ProfileOrder profile_order(const ProfileText& asked, const ProfileRules& rules) {
  ProfileOrder out;
  const ProfileTypes types = asked.empty() ? rules.defaults : asked.value();
  if (!types.any()) return out;
  if (const std::string fault = asked.empty() ? std::string() : fault_of(types, rules); !fault.empty())
    out.note = "slurmstepd: error: --profile=" + asked.text() + ": " + fault;
  if (rules.directory.empty() || !rules.gathers) return out;
  step_rpc::StepProfile profile;
  profile.directory = rules.directory;
  profile.task = types.task && rules.task_seconds > 0;
  profile.energy = types.energy && rules.measures_energy && rules.energy_seconds > 0;
  profile.energy_seconds = rules.energy_seconds;
  if (profile.task || profile.energy) out.profile = std::move(profile);
  return out;
}

}  // namespace muster::slurmd
