// Asks the slurmd of this host to put our own process into a job. Without a loop or threads, for use inside of other people's programs: it
// blocks for kPatience at the most, raises no signal, leaves no descriptor open, and believes nobody but root.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "model/step_rpc.h"

namespace muster::pam {

inline constexpr Duration kPatience = seconds(10);

// `socket`: slurmd's, for commands of this host. `server`: whose slurmd has to be, root's. Errors: kConnectFailed, kTimedOut, kFrameMalformed,
// and whatever slurmd answers.
Result<rpc::ProcessAdopted> ask(const std::string& socket, const rpc::AdoptProcess& what, Duration patience = kPatience, uid_t server = 0);

}  // namespace muster::pam
