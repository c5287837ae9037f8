// as_user: the user for a while, in a process of one thread. Unlike os::ActAs the effective ids change, which is what plugins
// look at and what signals and capabilities go by.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace muster::slurmstepd {

// What `what` says, or the error: `what` did not run then, and nothing has changed. Not root: we are the user already. Ends
// the process when it can not be itself again: nothing that follows could be trusted to have the rights it needs.
Result<> as_user(Uid uid, Gid gid, const std::vector<uint32_t>& groups, const std::function<Result<>()>& what);

}  // namespace muster::slurmstepd
