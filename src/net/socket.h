// Sockets as net/ uses them: close-on-exec, with clear errors. No event loop here; Channel and Client share this code.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/channel.h"
#include "net/unique_fd.h"

namespace muster::net {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// The system's text for an errno: "No such file or directory" for ENOENT and so on.
std::string system_text(int error_number);

// Fails with kPathnameTooLong, naming the limit, where sun_path cannot hold `path`.
Result<Address> unix_address(const std::string& path);
// Takes numeric addresses only; empty when `host` is a name that must be looked up.
std::vector<Address> numeric_addresses(const std::string& host, uint16_t port);
// May block in the resolver. kConnectFailed when the name is unknown.
Result<std::vector<Address>> resolve(const std::string& host, uint16_t port);
// "127.0.0.1:41234", "[::1]:41234", "unix".
std::string address_text(const sockaddr_storage& address);
std::string remote_address_text(int fd);

// Who is at the other end of a unix socket, as the kernel knows it.
Result<Peer> unix_peer(int fd);

// Who counts as the peer of a TCP connection while nothing else is known: the IPv4 address, or the first half of an IPv6 address, which
// is what a single host is given.
std::string address_key(const sockaddr_storage& a);

// Binds a listening unix socket at `path`, replacing a stale one; kInvalidArgument when somebody listens there or another kind of file
// has the name.
Result<UniqueFd> bind_unix(const std::string& path, mode_t mode = 0666);
// An empty or "*" address listens on all interfaces (IPv6 and IPv4 where there is IPv6), "::" on those of IPv6 alone.
Result<UniqueFd> bind_tcp(const std::string& address, uint16_t port);

// Sends small frames without delay, and lets keep-alive probes notice a vanished peer in about a minute.
void tune_tcp(int fd);

}  // namespace muster::net
