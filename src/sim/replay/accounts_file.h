// Accounts, users, QOS and their shares and limits for a replay: from a flat file of `sacctmgr dump` (config/accounts_file.h), or made from
// the names of a trace. What a replay has no use for (descriptions, coordinators, admin levels, wckeys) is read and left out.
// Cost: O(bytes + n log n).
#pragma once

#include <string_view>

#include "model/accounts.h"
#include "sim/replay/trace.h"

namespace muster::sim::replay {

// What the controller would have from slurmdbd. Errors: "line 12: …".
Result<rpc::Entities> read_accounts(std::string_view text);

// Every account of the trace below root with one share, every user in each account that the trace has it in, every QOS with the priority 0, all of
// which everybody may use. A job without an account is in the account "users".
rpc::Entities accounts_of(const Trace& trace);

inline constexpr const char* kNoAccount = "users";  // where jobs without one belong
inline constexpr const char* kNoUser = "nobody";    // who has jobs without a user

}  // namespace muster::sim::replay
