#include "model/account_directory.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "model/entity_flags.h"

namespace muster {

bool has_flag(const QosRecord& qos, std::string_view flag) {
  return std::ranges::any_of(qos.flags, [&](const std::string& f) { return iequals(f, flag); });
}
namespace {

auto place_of(const AssociationRecord& a) { return std::tuple(std::string_view(a.account), std::string_view(a.partition), a.id); }

// Puts records into parts, filling one after the other.
class Parts {
 public:
  template <class T>
  void add(std::vector<T> AccountChanges::*list, const T& record) {
    if (parts_.empty() || in_last_ == kMostChanges) {
      parts_.emplace_back();
      in_last_ = 0;
    }
    (parts_.back().*list).push_back(record);
    ++in_last_;
  }
  std::vector<AccountChanges> take() { return std::move(parts_); }

 private:
  std::vector<AccountChanges> parts_;
  size_t in_last_ = 0;
};

// Compares named records: adds to `out` those fetched that are new or differ from the known ones, and the names of those known that
// were not fetched.
template <class Record, class Table, class RecordOf>
void compare(Parts& out, const Table& known, const std::vector<Record>& fetched, RecordOf record_of,
             std::vector<Record> AccountChanges::*changed, std::vector<std::string> AccountChanges::*removed) {
  std::set<std::string_view> there;
  for (const Record& r : fetched) {
    there.insert(r.name);
    auto* before = known.find(r.name);
    if (!before || !(record_of(*before) == r)) out.add(changed, r);
  }
  known.for_each([&](const std::string& name, const auto& entry) {
    if (!record_of(entry).name.empty() && !there.contains(name)) out.add(removed, name);
  });
}

void compare_associations(Parts& out, const AccountDirectory& known, const std::vector<AssociationRecord>& fetched) {
  std::set<uint32_t> there;
  for (const AssociationRecord& a : fetched) {
    there.insert(a.id);
    const AssociationRecord* before = known.associations.find(a.id);
    if (!before || !(*before == a)) out.add(&AccountChanges::associations, a);
  }
  known.associations.for_each([&](uint32_t id, const AssociationRecord&) {
    if (!there.contains(id)) out.add(&AccountChanges::removed_associations, id);
  });
}

// The licences of the one cluster that the records were fetched for.
std::vector<RemoteLicense> licenses_of(const std::vector<ResourceRecord>& resources) {
  std::vector<RemoteLicense> out;
  for (const ResourceRecord& r : resources) {
    if (r.deleted || r.clusters.empty()) continue;
    RemoteLicense l;
    l.name = r.name + "@" + r.server;
    l.total = r.usable_by(r.clusters.front().cluster);
    l.elsewhere = r.count - std::min(r.count, l.total);
    l.last_consumed = r.last_consumed;
    l.updated = r.modified;
    out.push_back(std::move(l));
  }
  return out;
}

// By user. A user's keys are in one record, so that one that is taken away needs no event of its own kind.
std::vector<UserWckeys> wckeys_of(const std::vector<WckeyRecord>& records) {
  std::map<std::string, std::set<std::string>> by_user;
  for (const WckeyRecord& r : records)
    if (!r.deleted) by_user[r.user].insert(r.name);
  std::vector<UserWckeys> out;
  for (const auto& [user, names] : by_user) out.push_back({user, {names.begin(), names.end()}});
  return out;
}

// What is known of a licence without its deficit, which is the controller's own.
constexpr auto kAsFetched = [](RemoteLicense l) {
  l.deficit = 0;
  return l;
};

constexpr auto kItself = [](const auto& r) -> const auto& { return r; };
constexpr auto kRecord = [](const auto& entry) -> const auto& { return entry.record; };

}  // namespace

void AccountDirectory::learn(const AccountChanges& changes) {
  for (uint32_t id : changes.removed_associations) remove_association(id);
  for (const std::string& name : changes.removed_qos) qos.erase(name);
  for (const std::string& name : changes.removed_users) {
    const User* user = users.find(name);
    if (user && user->associations.empty()) users.erase(name);
    else if (user) users.edit(name).record = {};
  }
  for (const std::string& name : changes.removed_accounts) {
    const Account* account = accounts.find(name);
    if (account && !account->association) accounts.erase(name);
    else if (account) accounts.edit(name).record = {};
  }
  for (const std::string& name : changes.removed_licenses) licenses.erase(name);
  for (const std::string& user : changes.removed_wckeys) wckeys.erase(user);
  for (const UserWckeys& w : changes.wckeys) wckeys.edit(w.name) = w;
  for (const RemoteLicense& l : changes.licenses) licenses.edit(l.name) = l;
  for (const AssociationRecord& a : changes.associations) put(a);
  for (const QosRecord& q : changes.qos) qos.edit(q.name) = q;
  for (const UserRecord& u : changes.users) users.edit(u.name).record = u;
  for (const AccountRecord& a : changes.accounts) accounts.edit(a.name).record = a;
}

void AccountDirectory::put(const AssociationRecord& a) {
  remove_association(a.id);
  if (a.user.empty()) {
    accounts.edit(a.account).association = a.id;
  } else {
    std::vector<uint32_t>& own = users.edit(a.user).associations;
    auto before = [&](uint32_t id, const AssociationRecord& record) { return place_of(associations.at(id)) < place_of(record); };
    own.insert(std::lower_bound(own.begin(), own.end(), a, before), a.id);
  }
  associations.set(a.id, a);
}

void AccountDirectory::remove_association(uint32_t id) {
  const AssociationRecord* association = associations.find(id);
  if (!association) return;
  if (association->user.empty()) {
    Account& account = accounts.edit(association->account);
    if (account.association == id) account.association = 0;
    if (!account.association && account.record.name.empty()) accounts.erase(association->account);
  } else {
    User& user = users.edit(association->user);
    std::erase(user.associations, id);
    if (user.associations.empty() && user.record.name.empty()) users.erase(association->user);
  }
  associations.erase(id);
}

const AccountDirectory::User* AccountDirectory::find_user(std::string_view name) const {
  const User* user = users.find(name);
  return user ? user : users.find(to_lower(name));
}

const AssociationRecord* AccountDirectory::association(std::string_view name, std::string_view account, std::string_view partition) const {
  const User* user = find_user(name);
  if (!user) return nullptr;
  auto find = [&](std::string_view wanted) -> const AssociationRecord* {
    const auto key = std::tuple(account, wanted, uint32_t{0});
    auto at = std::ranges::lower_bound(user->associations, key, {}, [&](uint32_t id) { return place_of(associations.at(id)); });
    if (at == user->associations.end()) return nullptr;
    const AssociationRecord& a = associations.at(*at);
    return a.account == account && a.partition == wanted ? &a : nullptr;
  };
  const AssociationRecord* own = partition.empty() ? nullptr : find(partition);
  return own ? own : find("");
}

const AssociationRecord* AccountDirectory::default_association(std::string_view name, std::string_view partition) const {
  const User* user = find_user(name);
  return user && !user->record.default_account.empty() ? association(name, user->record.default_account, partition) : nullptr;
}

const std::string& AccountDirectory::default_account(std::string_view name) const {
  static const std::string kNone;
  const User* user = find_user(name);
  return user ? user->record.default_account : kNone;
}

std::vector<std::string> AccountDirectory::accounts_of(std::string_view name) const {
  std::vector<std::string> out;
  const User* user = find_user(name);
  for (uint32_t id : user ? user->associations : std::vector<uint32_t>())
    if (const std::string& account = associations.at(id).account; out.empty() || out.back() != account) out.push_back(account);
  return out;
}

const std::string& AccountDirectory::default_wckey(std::string_view name) const {
  static const std::string kNone;
  const User* user = find_user(name);
  return user ? user->record.default_wckey : kNone;
}

const std::vector<std::string>& AccountDirectory::wckeys_of(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const UserWckeys* own = wckeys.find(name);
  if (!own) own = wckeys.find(to_lower(name));
  return own ? own->wckeys : kNone;
}

AdminLevel AccountDirectory::level_of(std::string_view name) const {
  const User* user = find_user(name);
  return user ? user->record.admin_level : AdminLevel::kNone;
}

bool AccountDirectory::coordinates(std::string_view name, std::string_view account) const {
  const User* user = find_user(name);
  auto is_in = [&](const User& u, std::string_view of) {  // in whatever partition
    return std::ranges::any_of(u.associations, [&](uint32_t id) { return associations.at(id).account == of; });
  };
  const Account* at = user ? accounts.find(account) : nullptr;
  for (size_t steps = 0; at && steps <= accounts.size(); ++steps) {
    const std::string& here = at->record.name;
    const bool all_users = std::ranges::find(at->record.flags, kUsersAreCoords) != at->record.flags.end();
    if (!here.empty() &&
        (std::ranges::find(user->record.coordinator_of, here) != user->record.coordinator_of.end() || (all_users && is_in(*user, here))))
      return true;
    const AssociationRecord* own = at->association ? associations.find(at->association) : nullptr;
    const AssociationRecord* above = own ? associations.find(own->parent_id) : nullptr;
    at = above ? accounts.find(above->account) : nullptr;
  }
  return false;
}

std::vector<AccountChanges> changes_to(const AccountDirectory* known, const rpc::Entities& fetched) {
  const AccountDirectory none;
  const AccountDirectory& before = known ? *known : none;
  Parts out;
  compare_associations(out, before, fetched.associations);
  compare(out, before.qos, fetched.qos, kItself, &AccountChanges::qos, &AccountChanges::removed_qos);
  compare(out, before.users, fetched.users, kRecord, &AccountChanges::users, &AccountChanges::removed_users);
  compare(out, before.accounts, fetched.accounts, kRecord, &AccountChanges::accounts, &AccountChanges::removed_accounts);
  compare(out, before.licenses, licenses_of(fetched.resources), kAsFetched, &AccountChanges::licenses, &AccountChanges::removed_licenses);
  compare(out, before.wckeys, wckeys_of(fetched.wckeys), kItself, &AccountChanges::wckeys, &AccountChanges::removed_wckeys);
  std::vector<AccountChanges> parts = out.take();
  if (!known && parts.empty()) parts.emplace_back();
  return parts;
}

std::vector<AccountChanges> contents_of(const AccountDirectory& directory) {
  Parts out;
  directory.associations.for_each([&](uint32_t, const AssociationRecord& a) { out.add(&AccountChanges::associations, a); });
  directory.qos.for_each([&](const std::string&, const QosRecord& q) { out.add(&AccountChanges::qos, q); });
  directory.users.for_each([&](const std::string&, const AccountDirectory::User& u) {
    if (!u.record.name.empty()) out.add(&AccountChanges::users, u.record);
  });
  directory.accounts.for_each([&](const std::string&, const AccountDirectory::Account& a) {
    if (!a.record.name.empty()) out.add(&AccountChanges::accounts, a.record);
  });
  directory.licenses.for_each([&](const std::string&, const RemoteLicense& l) { out.add(&AccountChanges::licenses, l); });
  directory.wckeys.for_each([&](const std::string&, const UserWckeys& w) { out.add(&AccountChanges::wckeys, w); });
  return out.take();
}

}  // namespace muster
