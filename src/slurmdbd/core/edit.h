// Edits of sacctmgr: from a Directory to the next one, or a refusal. All of a request or nothing. Pure: whether jobs use what is
// to go is asked through the context.
//
// Rights (user_permissions of the manual): root, SlurmUser and administrators may do everything; operators too, but for making
// administrators; coordinators of an account edit users and accounts below it, with no limit above that of what is above.
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
  // Job records, for what is in use. Errors end the edit.
  std::function<Result<std::vector<JobRecord>>(const rpc::JobRecordFilter&)> jobs;
  // Whether there is one, of this user and in this partition ("": any).
  std::function<Result<bool>(const rpc::JobRecordFilter&, const std::string& user, const std::string& partition)> any_job;
};

struct Edited {
  Directory directory;
  Touched touched;  // empty: nothing changes
  rpc::EntitiesEdited answer;
  std::vector<TransactionRecord> transactions;
};

Result<Edited> edit(const Directory& directory, const rpc::EditEntities& request, const EditContext& context);

// The level of a user: root, SlurmUser and daemons are administrators whatever the directory says.
AdminLevel level_of(const Directory& directory, const std::string& user);

// Deleted younger than this and never used: it goes without a trace.
inline constexpr Duration kForgottenWithin = std::chrono::hours(24);

}  // namespace muster::slurmdbd
