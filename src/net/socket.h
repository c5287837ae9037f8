// Sockets as net/ uses them: close-on-exec, with clear errors. No event loop here; Channel and Client share
// this.
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

// "No such file or directory" for ENOENT and so on.
std::string system_text(int error_number);

// Fails with kPathnameTooLong, naming the limit, where sun_path cannot hold `path`.
Result<Address> unix_address(const std::string& path);
// Numeric addresses only; nullopt-like empty result when `host` is a name that must be looked up.
std::vector<Address> numeric_addresses(const std::string& host, uint16_t port);
// May block in the resolver. kConnectFailed when the name is unknown.
Result<std::vector<Address>> resolve(const std::string& host, uint16_t port);
// "127.0.0.1:41234", "[::1]:41234", "unix".
std::string address_text(const sockaddr_storage& a);
std::string remote_address_text(int fd);

// The kernel's word on who is at the other end of a unix socket.
Result<Peer> unix_peer(int fd);

// Whose a connection over TCP is, while nothing else is known: the IPv4 address, or the first half of an IPv6 one, which
// is what a single host is given.
std::string address_key(const sockaddr_storage& a);

// A listening unix socket at `path` that replaces a stale one; kInvalidArgument when somebody
// listens there or something else has the name.
Result<UniqueFd> bind_unix(const std::string& path, mode_t mode = 0666);
// An empty or "*" address listens on all (IPv6 and IPv4 where there is IPv6).
Result<UniqueFd> bind_tcp(const std::string& address, uint16_t port);

// No delay for small frames; a peer that vanished is noticed by keep-alive probes in about a minute.
void tune_tcp(int fd);

}  // namespace muster::net
