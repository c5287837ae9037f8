#include "os/private_directory.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/error.h"
#include "os/files.h"

namespace muster::os {

Result<> make_private_directory(const std::string& path, const std::optional<Credentials>& who) {
  MUSTER_TRY_VOID(remove_private_directory(path));
  if (::mkdir(path.c_str(), 0700) < 0) return fail_errno(path);
  if (who && ::lchown(path.c_str(), who->uid.value, who->gid.value) < 0) return fail_errno(path);
  return {};
}

Result<std::string> make_fresh_directory(const std::string& prefix, const std::optional<Credentials>& who) {
  std::string path = prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(prefix);
  if (who && ::lchown(path.c_str(), who->uid.value, who->gid.value) < 0) {
    const auto failed = fail_errno(path);
    ::rmdir(path.c_str());
    return failed;
  }
  return path;
}

Result<> remove_private_directory(const std::string& path) {
  struct stat st;
  if (::lstat(path.c_str(), &st) < 0) return errno == ENOENT ? Result<>() : fail_errno(path);
  {
    std::optional<Credentials> owner;
    if (::geteuid() == 0 && st.st_uid != 0) owner = Credentials{Uid(st.st_uid), Gid(st.st_gid), {}};
    MUSTER_TRY(as, ActAs::user(owner));
    // The directory itself may be left: the one above it is not the owner's.
    static_cast<void>(remove_tree(path));
  }
  if (::rmdir(path.c_str()) < 0 && errno != ENOENT) return fail_errno(path);
  return {};
}

}  // namespace muster::os
