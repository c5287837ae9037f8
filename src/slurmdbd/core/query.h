// Answers the questions of sacctmgr from a Directory. Pure. Transactions are not in it: sql/storage.h has them.
#pragma once

#include "model/accounts.h"
#include "slurmdbd/core/directory.h"

namespace muster::slurmdbd {

// Whom the answer is for: users other than operators see only what PrivateData leaves them. slurmdbd.conf(5).
struct Audience {
  RecordAudience who;
  bool private_users = false;     // others' associations but in accounts that he coordinates, and other users at all, are hidden
  bool private_accounts = false;  // accounts are hidden but his own and those that he coordinates
};

rpc::Entities query(const Directory& directory, const rpc::QueryEntities& question, const Audience& audience);
bool matches(const TransactionRecord& t, const EntityFilter& filter);
// A transaction names accounts and users: where either is private it is for whoever made it.
bool sees(const Audience& audience, const TransactionRecord& t);

}  // namespace muster::slurmdbd
