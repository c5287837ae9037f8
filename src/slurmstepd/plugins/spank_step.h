// SPANK in a step: plugin/spank/stack.h in remote context, with what slurmd says of the step in StepdLaunch::spank.
#pragma once

#include "slurmstepd/step_plugins.h"

namespace muster::slurmstepd {

Result<std::unique_ptr<StepPlugins>> make_spank(const step_rpc::StepdLaunch& launch, PluginWords words);

}  // namespace muster::slurmstepd
