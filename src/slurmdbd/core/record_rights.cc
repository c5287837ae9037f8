#include "slurmdbd/core/record_rights.h"

#include "base/text.h"

namespace muster::slurmdbd {

RecordAudience record_audience(const Directory& d, const Settings& settings, Uid uid, const std::string& user) {
  RecordAudience out;
  out.all = false;
  out.uid = uid;
  out.user = user;
  if (settings.coordinators) out.accounts = coordinated_accounts(d, user);
  return out;
}

std::vector<UsageKey> holders_of(const Directory& directory, const std::string& cluster, const ReservationRecord& reservation) {
  std::vector<UsageKey> out;
  auto add = [&](const std::string& account, const std::string& user, const AssociationRecord* a) {
    UsageKey key;
    key.account = account;
    key.user = user;
    key.qos = directory.default_qos(a, "normal");
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
