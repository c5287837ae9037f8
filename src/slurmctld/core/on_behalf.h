// On whose behalf somebody asks, as far as the caller may. This is judged before the user database is asked about anybody, so that nobody
// can make the controller look up others. O(1): nobody has these rights by accounting.
#pragma once

#include "model/rpc.h"
#include "slurmctld/core/rights.h"

namespace muster::slurmctld {

// Whether the caller's uid is all that has to be known: a caller with every right needs no name, and is served while the user database is
// away.
bool served_unnamed(const Settings& settings, const Caller& who);

// kUserIdMissing: the caller may not submit jobs of that user.
Result<> may_submit_for(const Settings& settings, const Caller& who, Uid user);
// Which user the database is asked about: the one that the job is to belong to, or the caller where the caller may not submit for others.
Uid user_to_look_up(const Settings& settings, const Caller& who, const AskedRequest& asked);
// --gid: whether a job may have a group that its user is not in.
bool may_use_any_group(const Settings& settings, const Caller& who);

// scontrol update --uid: whose rights a change of jobs is judged by.
Uid updating_user(const Settings& settings, const Caller& who, const rpc::UpdateJob& request);

}  // namespace muster::slurmctld
