#include "slurmdbd/core/usage_rights.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace muster::slurmdbd {
namespace {

// Whether one of the coordinator's accounts stands at or above this association.
bool is_coordinated(const Directory& d, const AssociationRecord* a, const std::string& user, const std::vector<std::string>& accounts) {
  for (size_t depth = 0; a && depth <= d.associations.size(); ++depth) {
    if (std::ranges::find(accounts, a->account) != accounts.end()) return true;
    const AccountRecord* record = find_live(d.accounts, a->account);
    const bool users_are = record && std::ranges::find(record->flags, "UsersAreCoords") != record->flags.end();
    if (users_are && d.association(a->cluster, a->account, user)) return true;
    const auto up = d.associations.find(a->parent_id);
    a = up == d.associations.end() ? nullptr : &up->second;
  }
  return false;
}

std::string default_qos(const Directory& d, const AssociationRecord* a) {
  while (a && a->default_qos.empty()) {
    const auto up = d.associations.find(a->parent_id);
    a = up == d.associations.end() ? nullptr : &up->second;
  }
  return a ? a->default_qos : "normal";
}

}  // namespace

UsageAudience usage_audience(const Directory& d, const Settings& settings, const std::string& user, bool sees_all) {
  UsageAudience out;
  out.all = sees_all || !settings.private_usage;
  out.user = user;
  const UserRecord* record = find_live(d.users, user);
  if (out.all || !record || !settings.coordinators) return out;
  std::set<std::string> accounts;
  for (const auto& [id, a] : d.associations)
    if (!a.deleted && a.user.empty() && is_coordinated(d, &a, user, record->coordinator_of)) accounts.insert(a.account);
  out.accounts.assign(accounts.begin(), accounts.end());
  return out;
}

std::vector<UsageKey> holders_of(const Directory& directory, const std::string& cluster, const ReservationRecord& reservation) {
  std::vector<UsageKey> out;
  auto add = [&](const std::string& account, const std::string& user, const AssociationRecord* a) {
    UsageKey key;
    key.account = account;
    key.user = user;
    key.qos = default_qos(directory, a);
    out.push_back(std::move(key));
  };
  for (std::string_view name : split(reservation.accounts, ','))
    if (!name.starts_with('-')) add(to_lower(name), "", directory.association(cluster, to_lower(name)));
  for (std::string_view name : split(reservation.users, ',')) {
    if (name.starts_with('-')) continue;
    for (const auto& [id, a] : directory.associations)
      if (!a.deleted && a.is_default && a.cluster == cluster && a.user == name) {
        add(a.account, a.user, &a);
        break;
      }
  }
  return out;
}

}  // namespace muster::slurmdbd
