#include "os/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "os/error.h"
#include "os/fd.h"

namespace muster::os {

std::string take_notify_socket() {
  const char* given = std::getenv("NOTIFY_SOCKET");
  std::string path = given ? given : "";
  ::unsetenv("NOTIFY_SOCKET");
  return path;
}

Result<> tell_ready(const std::string& path) {
  if (path.empty()) return {};
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
    return fail(Errc::kInvalidArgument, "NOTIFY_SOCKET=" + path + " is not the address of a unix socket");
  path.copy(to.sun_path, path.size());
  if (path[0] == '@') to.sun_path[0] = '\0';  // of the abstract namespace
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("socket");
  constexpr char kReady[] = "READY=1";
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (::sendto(fd.get(), kReady, strlen(kReady), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size) < 0)
    return fail_errno("NOTIFY_SOCKET=" + path);
  return {};
}

bool systemd_runs() { return ::access("/run/systemd/system", F_OK) == 0; }

}  // namespace muster::os
