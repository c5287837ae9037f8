#include "slurmstepd/plugins/as_user.h"

#include <grp.h>
#include <unistd.h>

#include "os/error.h"

namespace muster::slurmstepd {
namespace {

Result<> become(Uid uid, Gid gid, const std::vector<uint32_t>& groups) {
  if (::setgroups(groups.size(), groups.data()) < 0) return os::fail_errno("setgroups");
  if (::setegid(gid.value) < 0) return os::fail_errno("setegid " + std::to_string(gid.value));
  if (::seteuid(uid.value) < 0) return os::fail_errno("seteuid " + std::to_string(uid.value));
  return {};
}

}  // namespace

Result<> as_user(Uid uid, Gid gid, const std::vector<uint32_t>& groups, const std::function<Result<>()>& what) {
  if (::geteuid() != 0) return what();
  const gid_t our_gid = ::getegid();
  std::vector<gid_t> ours(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  if (::getgroups(static_cast<int>(ours.size()), ours.data()) < 0) return os::fail_errno("getgroups");
  Result<> out = become(uid, gid, groups);
  if (out) out = what();
  if (::seteuid(0) < 0 || ::setegid(our_gid) < 0 || ::setgroups(ours.size(), ours.data()) < 0) ::_exit(1);
  return out;
}

}  // namespace muster::slurmstepd
