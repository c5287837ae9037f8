#include "slurmd/daemon/local_users.h"

namespace muster::slurmd {
namespace {

constexpr Duration kOfUse = seconds(10);  // an answer that goes sooner might be gone when the launch looks at it

}  // namespace

Result<> LocalUsers::ask_database(os::UserDirectory& directory, Uid uid, Gid gid) {
  const auto who = directory.credentials(uid);
  if (!who && who.error().code != Errc::kNotFound) return std::unexpected(who.error());
  for (Gid group : {gid, who ? who->gid : gid}) (void)directory.group_name(group);
  return {};
}

Result<os::UserDirectory*> LocalUsers::with(Uid uid, Gid gid) {
  if (directory_->keeps(uid, gid, kOfUse)) return directory_.get();
  auto outcome = std::make_shared<Result<>>();
  if (!calls_.run([directory = directory_, ask = ask_, outcome, uid, gid] { *outcome = ask(*directory, uid, gid); }))
    return fail(Errc::kConfig, "the user database of this host does not answer about uid " + std::to_string(uid.value));
  if (!*outcome) return fail(Errc::kConfig, "the user database of this host fails: " + std::string(outcome->error().message()));
  return directory_.get();
}

}  // namespace muster::slurmd
