// Answers the questions of sacctmgr from a Directory. Pure. Transactions are not in it: sql/storage.h has them.
#pragma once

#include "model/accounts.h"
#include "slurmdbd/core/directory.h"

namespace muster::slurmdbd {

// Whom the answer is for: users other than operators see only what PrivateData leaves them.
struct Audience {
  std::string user;
  bool all = true;  // may see everything
  bool private_users = false, private_accounts = false;
};

rpc::Entities query(const Directory& directory, const rpc::QueryEntities& question, const Audience& audience);
bool matches(const TransactionRecord& t, const EntityFilter& filter);

}  // namespace muster::slurmdbd
