// Accounts, users, QOS and their shares and limits for a replay: from a flat file as `sacctmgr dump` writes it, or made from the names of a trace.
//
//   Cluster - 'name'
//   QOS - 'high':Priority=100:Preempt='low':GrpTRES=gres/gpu=64
//   Parent - 'root'
//   Account - 'physics':Fairshare=30:GrpTRES=gres/gpu=256
//   Parent - 'physics'
//   User - 'alice':DefaultAccount='physics':Fairshare=2
//
// Titles and keys in any case of letters; values may stand in quotes; # begins a comment line. An option that a replay has no use for
// (Description, Organization, Coordinator, AdminLevel, WCKeys …) is skipped, one that means something and cannot be read is an error. Bounded:
// 100,000 lines, 256 bytes for a name. sacctmgr(1), FLAT FILE DUMP AND LOAD. Cost: O(bytes + n log n).
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
