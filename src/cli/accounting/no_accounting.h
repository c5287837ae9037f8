// What the accounting commands answer where jobs are not recorded in a database (no AccountingStorageType of slurmdbd): the
// sentences, also for sacct and sacctmgr, and the way of those that know no other answer yet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/command.h"

namespace muster::cli {

// Tools ask these first: sacct, sstat.
inline constexpr std::string_view kStorageDisabled = "Slurm accounting storage is disabled";
// sacctmgr, sreport.
inline constexpr std::string_view kNoDatabase =
    "You are not running a supported accounting_storage plugin\nOnly 'accounting_storage/slurmdbd' is "
    "supported.";

// -V, -h and --usage need nothing; the exit code, or nullopt to go on. `purpose` is what the command is for.
std::optional<int> answered_offline(std::string_view program, std::string_view usage, const std::vector<std::string>& arguments);

// The lines on stderr, exit code 1.
int refuse(std::string_view lines);
// The same for a command that has nothing to say yet where there is a database either: `yet` is told there.
int refuse_yet(std::string_view without_database, std::string_view yet);

}  // namespace muster::cli
