#include "site/run_as.h"

#include <grp.h>
#include <unistd.h>

#include "os/users.h"

namespace muster::site {

Result<> become_user(const std::string& name) {
  if (::geteuid() != 0 || name == "root") return {};
  MUSTER_TRY(user, os::find_user(name));
  if (user.uid.value == 0) return {};
  if (::initgroups(user.name.c_str(), user.gid.value) != 0 || ::setgid(user.gid.value) != 0 || ::setuid(user.uid.value) != 0)
    return fail(Errc::kError, "cannot become SlurmUser=" + name);
  return {};
}

}  // namespace muster::site
