// The answers of the accounting commands where no database records jobs (AccountingStorageType is not slurmdbd's): the sentences, which
// sacct, sacctmgr and sreport use, too, and functions for sstat, which has no other answer yet.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/command.h"

namespace muster::cli {

// The sentence of sacct and sstat. Tools look for it first.
inline constexpr std::string_view kStorageDisabled = "Slurm accounting storage is disabled";
// The sentence of sacctmgr and sreport.
inline constexpr std::string_view kNoDatabase =
    "You are not running a supported accounting_storage plugin\nOnly 'accounting_storage/slurmdbd' is "
    "supported.";

// Answers -V, -h and --usage, which need no configuration. Gives the exit code, or nullopt to go on. `purpose` is what the command is for.
std::optional<int> answered_offline(std::string_view program, std::string_view usage, const std::vector<std::string>& arguments);

// Prints the lines on stderr; exit code 1.
int refuse(std::string_view lines);

}  // namespace muster::cli
