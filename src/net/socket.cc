#include "net/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace muster::net {
namespace {

constexpr int kBacklog = 4096;  // a cluster's nodes come back at once; the kernel bounds it by somaxconn

bool somebody_listens(const Address& a) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd && (connect(fd.get(), a.get(), a.size) == 0 || errno == EAGAIN);
}

Error unix_error(const std::string& path, const std::string& what) { return Error(Errc::kIo, "socket " + path + ": " + what); }

}  // namespace

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string system_text(int error_number) {
  char buffer[256];
  return strerror_r(error_number, buffer, sizeof buffer);
}

Result<Address> unix_address(const std::string& path) {
  Address a;
  auto* un = reinterpret_cast<sockaddr_un*>(&a.storage);
  if (path.empty()) return fail(Errc::kInvalidArgument, "a socket path must not be empty");
  if (path.size() >= sizeof un->sun_path)
    return fail(Errc::kPathnameTooLong, "socket path of " + std::to_string(path.size()) + " bytes is longer than the limit of " +
                                            std::to_string(sizeof un->sun_path - 1) + ": " + path);
  un->sun_family = AF_UNIX;
  memcpy(un->sun_path, path.c_str(), path.size() + 1);
  a.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return a;
}

std::vector<Address> numeric_addresses(const std::string& host, uint16_t port) {
  Address address;
  auto* in = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* in6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &in->sin_addr) == 1) {
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    address.size = sizeof *in;
    return {address};
  }
  if (inet_pton(AF_INET6, host.c_str(), &in6->sin6_addr) == 1) {
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    address.size = sizeof *in6;
    return {address};
  }
  return {};
}

Result<std::vector<Address>> resolve(const std::string& host, uint16_t port) {
  std::vector<Address> out = numeric_addresses(host, port);
  if (!out.empty()) return out;
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  int rc = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (rc != 0) return fail(Errc::kConnectFailed, "", "host " + host + ": " + (rc == EAI_SYSTEM ? system_text(errno) : gai_strerror(rc)));
  for (addrinfo* i = list; i; i = i->ai_next) {
    Address a;
    if (i->ai_addrlen > sizeof a.storage) continue;
    memcpy(&a.storage, i->ai_addr, i->ai_addrlen);
    a.size = i->ai_addrlen;
    if (i->ai_family == AF_INET) reinterpret_cast<sockaddr_in*>(&a.storage)->sin_port = htons(port);
    if (i->ai_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&a.storage)->sin6_port = htons(port);
    out.push_back(a);
  }
  freeaddrinfo(list);
  return out;
}

std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(in6.sin6_port));
  }
  return "unix";
}

std::string address_key(const sockaddr_storage& a) {
  if (a.ss_family == AF_INET) return std::string(reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in&>(a).sin_addr), 4);
  if (a.ss_family != AF_INET6) return "";
  const auto& in6 = reinterpret_cast<const sockaddr_in6&>(a).sin6_addr;
  const char* bytes = reinterpret_cast<const char*>(&in6);
  return IN6_IS_ADDR_V4MAPPED(&in6) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
}

std::string remote_address_text(int fd) {
  sockaddr_storage a{};
  socklen_t n = sizeof a;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&a), &n) != 0) return "unknown";
  return address_text(a);
}

Result<Peer> unix_peer(int fd) {
  ucred c{};
  socklen_t n = sizeof c;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0)
    return fail(Errc::kAuthFailed, "credentials of a local peer: " + system_text(errno));
  return Peer{Trust::kLocalUser, Uid(c.uid), Gid(c.gid), c.pid, "unix"};
}

// The mode usually lets everybody connect, because the socket itself tells who a caller is. It is set by the bind and not afterwards:
// root may bind in a directory of another user, who could put a link in the place of a name that is used a second time.
bool bind_with_mode(int fd, const Address& address, mode_t mode) {
  if (fchmod(fd, mode) != 0) return false;  // of this the kernel takes the umask
  const mode_t mask = umask(0);
  const bool bound = bind(fd, address.get(), address.size) == 0;
  const int error = errno;
  umask(mask);
  errno = error;
  return bound;
}

// The socket is bound under a temporary name and renamed: a client never meets a socket that nobody listens at.
Result<UniqueFd> bind_unix(const std::string& path, mode_t mode) {
  MUSTER_TRY(final_address, unix_address(path));
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0) {
    if (!S_ISSOCK(st.st_mode)) return std::unexpected(unix_error(path, "a file that is not a socket has this name"));
    if (somebody_listens(final_address)) return std::unexpected(unix_error(path, "another process listens here"));
  }
  std::string temporary = path;
  temporary.back() = temporary.back() == '~' ? '_' : '~';  // same length: the limit of sun_path holds for both
  MUSTER_TRY(address, unix_address(temporary));
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(unix_error(path, system_text(errno)));
  if (lstat(temporary.c_str(), &st) == 0 && S_ISSOCK(st.st_mode)) unlink(temporary.c_str());
  if (!bind_with_mode(fd.get(), address, mode)) return std::unexpected(unix_error(path, system_text(errno)));
  if (listen(fd.get(), kBacklog) != 0 || rename(temporary.c_str(), path.c_str()) != 0) {
    Error e = unix_error(path, system_text(errno));
    unlink(temporary.c_str());
    return std::unexpected(std::move(e));
  }
  return fd;
}

Result<UniqueFd> bind_tcp(const std::string& address, uint16_t port) {
  bool any = address.empty() || address == "*";
  std::vector<Address> where = numeric_addresses(any ? "::" : address, port);
  if (where.empty()) {
    MUSTER_TRY(found, resolve(address, port));
    where = std::move(found);
  }
  if (any) where.push_back(numeric_addresses("0.0.0.0", port).front());  // a host without IPv6
  std::string why = "no address";
  for (const Address& a : where) {
    UniqueFd fd(socket(a.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int on = 1, only_six = !any;
    if (fd) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd && a.storage.ss_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_six, sizeof only_six);
    if (fd && bind(fd.get(), a.get(), a.size) == 0 && listen(fd.get(), kBacklog) == 0) return fd;
    why = system_text(errno);
  }
  return fail(Errc::kIo, "listen on " + (any ? "*" : address) + ":" + std::to_string(port) + ": " + why);
}

void tune_tcp(int fd) {
  int on = 1, idle = 30, interval = 10, count = 3;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

}  // namespace muster::net
