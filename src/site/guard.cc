#include "site/guard.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/error.h"

namespace muster::site {
namespace {

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

bool ours(uid_t owner, std::optional<Uid> slurm_user) {
  return !slurm_user || owner == 0 || owner == ::geteuid() || owner == slurm_user->value;
}

struct Rule {
  mode_t forbidden;    // bits that may not be set
  const char* wanted;  // how the mode should be
  const char* mend;    // argument of chmod
};
constexpr Rule kNobodyElseChangesIt = {022, "mode 0755 or less", "755"};

Result<> check(const std::string& path, const std::string& what, std::optional<Uid> slurm_user, const Rule& rule) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) {
    if (errno == ENOENT) return {};
    return os::fail_errno(path);
  }
  if (!ours(st.st_uid, slurm_user))
    return fail(Errc::kAccessDenied,
                path + ": belongs to uid " + std::to_string(st.st_uid) + "; " + what + " has to belong to SlurmUser or root",
                "chown it to SlurmUser, after a look at what is in it");
  const mode_t wrong = st.st_mode & rule.forbidden;
  if (!wrong) return {};
  const std::string may = wrong & 022 ? "change" : "read";
  return fail(Errc::kAccessDenied, path + ": mode " + octal(st.st_mode) + " lets others " + may + " it; " + what + " wants " + rule.wanted,
              std::string("chmod ") + rule.mend + " " + path);
}

}  // namespace

Result<> check_secret(const std::string& path, const std::string& what, std::optional<Uid> slurm_user) {
  return check(path, what, slurm_user, {077, "mode 0600 or 0400", "600"});
}

Result<> check_secret_of_group(const std::string& path, const std::string& what, Uid slurm_user) {
  return check(path, what, slurm_user, {037, "mode 0600 or 0640", "600"});
}

Result<> check_folder(const std::string& path, const std::string& what, Uid slurm_user) {
  return check(path, what, slurm_user, kNobodyElseChangesIt);
}

Result<> check_program(const std::string& path, const std::string& what, Uid slurm_user) {
  return check(path, what, slurm_user, kNobodyElseChangesIt);
}

}  // namespace muster::site
