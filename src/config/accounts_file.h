// The flat file of `sacctmgr dump` and `sacctmgr load`: QOS, accounts, users, their shares and limits on one cluster, as text and as values.
// sacctmgr(1), FLAT FILE DUMP AND LOAD. Pure.
//
//   QOS - 'high':Priority=100:Preempt='normal':GrpTRES='gres/gpu:h100=64'
//   Cluster - 'tux':Fairshare=1:QOS='high,normal'
//   Parent - 'root'
//   Account - 'physics':Description='all of it':Fairshare=30:GrpTRES=cpu=256
//   Parent - 'physics'
//   User - 'alice':DefaultAccount='physics':Coordinator='physics':Fairshare=2:QOS='+high'
//
// Titles and options in any case of letters and in any order; values may stand in quotes, and must where they hold a colon; a line that
// begins with # is a comment. Names other than those of users are in lower case afterwards. A parent stands before its children.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/accounts.h"

namespace muster::config {

// What one line says. In `set`, what the line leaves out is absent: sacctmgr load leaves that as it is.
struct AccountsEntry {
  uint32_t line = 0;
  std::string name;
  EntityChange set;
};
struct AccountEntry : AccountsEntry {
  std::string parent;  // empty: the line is that of the root account
};
struct UserEntry : AccountsEntry {
  std::string account, partition;           // partition empty: all
  std::vector<std::string> coordinator_of;  // accounts
  std::vector<std::string> wckeys;
};
struct AccountsFile {
  AccountsEntry cluster;  // name empty: the file has no such line. `set` is what the whole cluster begins with
  std::vector<AccountsEntry> qos;
  std::vector<AccountEntry> accounts;  // in the order of the file: parents first
  std::vector<UserEntry> users;        // in the order of the file; a user in several accounts has several
};

inline constexpr size_t kMostAccountsLines = 100'000, kMostAccountsLineBytes = 64 << 10;

// Reads the text, whole or not at all. kInvalidReq: "line 12: …" names line, option, value and rule. Bounded by the numbers above.
// Cost: O(bytes + lines × log lines).
Result<AccountsFile> read_accounts_file(std::string_view text);

// The file of one cluster: all QOS, and the accounts and users of its associations, which come in the order of their tree, as set on each
// (QueryEntities.raw). Reading it gives the same values, and writing those the same text. Comments and usage have no place
// in such a file. A control character becomes a blank; of a text with both kinds of quotes the single ones become `, as Slurm
// has it. Cost: O(records × log records).
std::string write_accounts_file(const std::string& cluster, const rpc::Entities& what);

}  // namespace muster::config
