// The variables of a login shell of the job's user, for --get-user-env and the forms of --export that imply it. sbatch(1).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/process.h"

namespace muster::slurmstepd {

// Runs the user's shell as a login shell and adds what it exports to `environment`, where that has no such variable yet.
// Blocks until the shell ends, at most ten seconds. `who`: whom to become; unset: we are the user.
struct LoginUser {
  std::string name, home, shell;
};
Result<> add_login_environment(std::vector<std::string>& environment, const LoginUser& user, const std::optional<os::Credentials>& who);

// What `env -0` printed after a line that marks its beginning; variables of the shell itself left out. Pure.
std::vector<std::string> parse_login_environment(std::string_view output, std::string_view mark);

}  // namespace muster::slurmstepd
