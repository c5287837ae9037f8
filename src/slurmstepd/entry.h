// What both slurmstepd programs do with their arguments: be the step that slurmd sends over descriptor 3, make copies of
// themselves for that (os/fork_server.h), receive a file, or tell the version.
#pragma once

#include "slurmstepd/step_plugins.h"

namespace muster::slurmstepd {

int run_slurmstepd(int argc, char** argv, MakePlugins make_plugins);

}  // namespace muster::slurmstepd
