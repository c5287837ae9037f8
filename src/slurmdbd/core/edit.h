// Edits of sacctmgr: lead from a Directory to the next one, or to a refusal. A request is done as a whole or not at all. Pure: the
// context is asked whether jobs use what is to be removed.
//
// Rights (user_permissions of the manual): root, SlurmUser and administrators may do everything; operators too, except making
// administrators; coordinators of an account edit users and accounts below it, with no limit above that of the account above.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/accounts.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"

namespace muster::slurmdbd {

struct EditContext {
  const Settings& settings;
  std::string actor;  // user name
  AdminLevel level = AdminLevel::kNone;
  Time now{};
  // Job records, to find out what is in use. Errors end the edit.
  std::function<Result<std::vector<JobRecord>>(const rpc::JobRecordFilter&)> jobs;
  // Whether there is a job record of this user and in this partition ("": any).
  std::function<Result<bool>(const rpc::JobRecordFilter&, const std::string& user, const std::string& partition)> any_job;
};

struct Edited {
  Directory directory;
  Touched touched;  // empty: nothing changes
  rpc::EntitiesEdited answer;
  std::vector<TransactionRecord> transactions;
};

Result<Edited> edit(const Directory& directory, const rpc::EditEntities& request, const EditContext& context);

// The level that the directory gives a user. Root, SlurmUser and daemons are administrators whatever it says; the caller sees to that.
AdminLevel level_of(const Directory& directory, const std::string& user);

// A record deleted within this time of its making, and never used, is removed without a trace.
inline constexpr Duration kForgottenWithin = std::chrono::hours(24);

}  // namespace muster::slurmdbd
