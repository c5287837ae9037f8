// The variables of a login shell of the job's user, for --get-user-env and the forms of --export that imply it. sbatch(1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/process.h"
#include "slurmstepd/user_programs.h"

namespace muster::slurmstepd {

struct LoginUser {
  std::string name, home, shell;
};
// Runs the user's shell as a login shell, from the loop, and gives what it exports within twenty seconds. `as`: which user to become, with
// which groups and limits.
void login_environment(UserPrograms& programs, const LoginUser& user, const os::SpawnSpec& as,
                       std::function<void(Result<std::vector<std::string>>)> done);
// Adds the variables of `found` whose names `environment` does not have.
void add_missing(std::vector<std::string>& environment, std::vector<std::string> found);

// The variables that `env -0` printed after a line that marks its beginning, without those of the shell itself. Pure.
std::vector<std::string> parse_login_environment(std::string_view output, std::string_view mark);

}  // namespace muster::slurmstepd
