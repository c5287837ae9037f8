#include "sched/reserve/access.h"

#include <algorithm>

#include "model/account_directory.h"
#include "model/ledger.h"

namespace muster::sched {
namespace {

bool lists_account(const Cluster& cluster, const AccessNames& accounts, const std::string& account) {
  if (accounts.lists(account)) return true;
  if (!cluster.directory || account.empty()) return false;
  const AccountDirectory::Account* known = cluster.directory->accounts.find(account);
  if (!known || !known->association) return false;
  for (uint32_t id : line_of(cluster.directory.get(), known->association))
    if (const AssociationRecord* above = cluster.directory->associations.find(id))
      if (accounts.lists(above->account)) return true;
  return false;
}

bool admits_account(const Cluster& cluster, const AccessNames& accounts, const std::string& account) {
  return accounts.empty() || lists_account(cluster, accounts, account) != accounts.denied;
}

bool admits_user(const Reservation& r, std::string_view user) {
  if (!r.groups.empty() && std::ranges::find(r.group_members, user) == r.group_members.end()) return false;
  return r.users.admits(user);
}

}  // namespace

bool uses_any_reservation(const Params& params, Uid user) { return user == Uid{0} || user == params.slurm_user; }

std::string_view kept_out_by(const Cluster& cluster, const Reservation& r, const RequestBody& request, std::string_view partition) {
  if (!r.users.admits(request.user_name)) return "Users";
  if (!admits_user(r, request.user_name)) return "Groups";
  if (!admits_account(cluster, r.accounts, request.account)) return "Accounts";
  if (!r.qos.admits(request.qos)) return "QOS";
  if (!r.partitions.admits(partition)) return "AllowedPartitions";
  return {};
}

bool is_for_user(const Cluster& cluster, const Reservation& r, std::string_view user, const std::vector<std::string>& accounts) {
  if (!admits_user(r, user)) return false;
  if (r.accounts.empty()) return true;
  return std::ranges::any_of(accounts, [&](const std::string& a) { return admits_account(cluster, r.accounts, a); });
}

}  // namespace muster::sched
