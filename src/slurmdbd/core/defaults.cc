#include "slurmdbd/core/defaults.h"

#include <algorithm>
#include <unordered_map>

namespace muster::slurmdbd {

// slurmdbd.conf(5) TrackWCKey: a job of a cluster that does not track them is of its user's default one.
static void fill_wckeys(const Directory& directory, rpc::StoreRecords& records) {
  for (JobRecord& r : records.jobs) {
    if (!r.wckey.empty()) continue;
    const UserRecord* user = find_live(directory.users, r.user);
    if (!user || user->default_wckey.empty()) continue;
    r.wckey = user->default_wckey;
    r.wckey_is_default = true;
  }
}

void fill_defaults(const Directory& directory, bool wckeys, rpc::StoreRecords& records) {
  if (wckeys) fill_wckeys(directory, records);
  auto open = [](const JobRecord& r) { return r.account.empty() || r.qos.empty(); };
  if (std::ranges::none_of(records.jobs, open)) return;
  std::unordered_map<std::string, const AssociationRecord*> defaults;
  for (const auto& [id, a] : directory.associations)
    if (!a.deleted && a.is_default && a.cluster == records.cluster) defaults.emplace(a.user, &a);
  for (JobRecord& r : records.jobs) {
    auto at = defaults.find(r.user);
    if (!open(r) || at == defaults.end()) continue;
    if (r.account.empty()) r.account = at->second->account;
    if (r.qos.empty()) r.qos = directory.default_qos(at->second, "normal");
  }
}

}  // namespace muster::slurmdbd
