// What sbatch, salloc and srun add to the options of a job from where they run: user, working directory, limits, umask, host. Reads the
// process and the user database; asks nobody else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/client_conf.h"
#include "cli/common/options.h"

namespace muster::cli {

// Fills uid, gid, work_dir, umask, limits and submit_line of options.request, and expands --nodefile. The controller fills in the user's
// name: it looks the number up once, not for every job. Errors: unknown --uid or --gid, another user's --uid without being root, an
// unreadable file of nodes, a --propagate name that is no limit, --clusters that is not this one, more names in --nodelist than --nodes
// allows.
Result<> complete_request(JobOptions& options, const ClientConf& conf, std::string_view program, std::span<const std::string> arguments);

// The names in a file of nodes, which stand between '\n' or ','.
Result<std::string> read_node_file(const std::string& path);

}  // namespace muster::cli
