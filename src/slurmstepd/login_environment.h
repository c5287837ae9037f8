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
// Runs the user's shell as a login shell and gives what it exports, from the loop, at most twenty seconds later. `as`: whom to
// become, in which groups and limits.
void login_environment(UserPrograms& programs, const LoginUser& user, const os::SpawnSpec& as,
                       std::function<void(Result<std::vector<std::string>>)> done);
// Those that `environment` has no variable of that name for.
void add_missing(std::vector<std::string>& environment, std::vector<std::string> found);

// What `env -0` printed after a line that marks its beginning; variables of the shell itself left out. Pure.
std::vector<std::string> parse_login_environment(std::string_view output, std::string_view mark);

}  // namespace muster::slurmstepd
