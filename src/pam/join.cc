#include "pam/join.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

#include "os/fd.h"
#include "os/namespace_names.h"

namespace muster::pam {
namespace {

bool enter(const std::string& file, int kind) {
  const os::Fd space(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return space && ::setns(space.get(), kind) == 0;
}

// One that the job may not have.
bool enter_if_any(const std::string& file, int kind) { return enter(file, kind) || errno == ENOENT; }

// That of users last: it takes the right to enter the others.
bool enter_all(const std::string& file) {
  const std::string processes = file + os::kPidEnd, users = file + os::kUserEnd;
  const os::Fd of_users(::open(users.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));  // before the folder is out of sight
  if (!of_users && errno != ENOENT) return false;
  if (!enter_if_any(processes, CLONE_NEWPID) || !enter(file, CLONE_NEWNS)) return false;
  return !of_users || ::setns(of_users.get(), CLONE_NEWUSER) == 0;
}

}  // namespace

void join_namespace(Result<rpc::ProcessAdopted>& answer) {
  if (!answer || answer->outcome != rpc::Adoption::kDone || answer->text.empty()) return;
  if (enter_all(answer->text)) return;
  const std::string why = std::strerror(errno);
  answer->outcome = rpc::Adoption::kFailed;
  answer->text += ": " + why;
}

}  // namespace muster::pam
