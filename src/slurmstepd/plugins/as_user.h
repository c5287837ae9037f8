// as_user: becomes the user for a while, in a process of one thread. Unlike with os::ActAs the effective ids change, which is what plugins
// look at and what signals and capabilities go by.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace muster::slurmstepd {

// Runs `what` as the user and returns its result; an error if that cannot be: then `what` did not run and nothing has changed. A process
// that is not root is taken to be the user already. Ends the process when it cannot go back to being root: nothing that follows could be
// trusted to have the rights it needs.
Result<> as_user(Uid uid, Gid gid, const std::vector<uint32_t>& groups, const std::function<Result<>()>& what);

}  // namespace muster::slurmstepd
