// On whose behalf somebody asks, as far as he may: judged before the user database is asked about anybody, so that nobody makes the
// controller look up others. O(1): nobody has these rights by accounting.
#pragma once

#include "model/rpc.h"
#include "slurmctld/core/rights.h"

namespace muster::slurmctld {

// Whether the caller's number says all: who has every right needs no name, and is served while the user database is away.
bool served_unnamed(const Settings& settings, const Caller& who);

// kUserIdMissing: the caller may not submit jobs of that user.
Result<> may_submit_for(const Settings& settings, const Caller& who, Uid user);
// About whom to ask: the user that the job is to be of, or the caller, where he may not submit for others.
Uid user_to_look_up(const Settings& settings, const Caller& who, const AskedRequest& asked);
// --gid: whether a job may have a group that its user is not in.
bool may_use_any_group(const Settings& settings, const Caller& who);

// scontrol update --uid: whose rights a change of jobs is judged by.
Uid updating_user(const Settings& settings, const Caller& who, const rpc::UpdateJob& request);

}  // namespace muster::slurmctld
