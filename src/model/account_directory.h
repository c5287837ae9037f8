// AccountDirectory: the accounts, users, associations and QOS of this cluster as slurmdbd tells the controller about them, with the
// values they inherit, ready to be asked for each submission. A value of persistent tables: a copy is a few pointers, and a reader keeps
// its version. Only the event DirectoryLearned changes it.
//
// Names are in lower case, except those of users where slurmdbd preserves case: a user's name is looked up as it is, then in lower case.
// Cost: a question O(log n), and O(log k) more for a user with k associations; learn O(changes x log n).
#pragma once

#include <string_view>
#include <vector>

#include "base/pdict.h"
#include "base/pmap.h"
#include "model/accounts.h"

namespace muster {

struct AccountDirectory {
  struct User {
    UserRecord record;                   // its name is empty when only associations tell of the user
    std::vector<uint32_t> associations;  // by account and partition; those for all partitions of an account before its others
  };
  struct Account {
    AccountRecord record;
    uint32_t association = 0;  // the account's own; 0: it is not on this cluster
  };
  PersistentMap<AssociationRecord> associations;  // by id
  PersistentDictionary<QosRecord> qos;
  PersistentDictionary<User> users;
  PersistentDictionary<Account> accounts;
  PersistentDictionary<RemoteLicense> licenses;  // by name@server
  PersistentDictionary<UserWckeys> wckeys;       // by user

  void learn(const AccountChanges& changes);

  // The user's association with the account in the partition: one for that partition, else the one for all partitions. Null if neither
  // exists.
  const AssociationRecord* association(std::string_view user, std::string_view account, std::string_view partition) const;
  // The same with the user's default account.
  const AssociationRecord* default_association(std::string_view user, std::string_view partition) const;
  const std::string& default_account(std::string_view user) const;    // "": none
  std::vector<std::string> accounts_of(std::string_view user) const;  // each once
  AdminLevel level_of(std::string_view user) const;
  const std::string& default_wckey(std::string_view user) const;           // "": none
  const std::vector<std::string>& wckeys_of(std::string_view user) const;  // in order
  // Whether the user is a coordinator of the account or of one above it: by name, or because all of that account's users are
  // (UsersAreCoords).
  bool coordinates(std::string_view user, std::string_view account) const;

 private:
  const User* find_user(std::string_view name) const;
  void put(const AssociationRecord& record);
  void remove_association(uint32_t id);
};

// The changes that turn `known` (null: nothing yet) into what `fetched` says, in parts of at most kMostChanges records; empty if
// nothing differs. The first contact gives a part even when that part is empty. Cost: O(n log n).
inline constexpr size_t kMostChanges = 1000;
std::vector<AccountChanges> changes_to(const AccountDirectory* known, const rpc::Entities& fetched);
// The whole directory, in such parts.
std::vector<AccountChanges> contents_of(const AccountDirectory& directory);

}  // namespace muster
