// What sacctmgr show config tells of slurmdbd: a line KEY=VALUE each, never a password. sacctmgr(1).
#pragma once

#include <string>

#include "base/ids.h"
#include "slurmdbd/core/settings.h"

namespace muster::slurmdbd {

std::string settings_text(const Settings& settings, Uid slurm_user);

}  // namespace muster::slurmdbd
