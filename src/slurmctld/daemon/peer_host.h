// The host of a peer's address, which net/channel.h writes with the port.
#pragma once

#include <string>
#include <string_view>

namespace muster::slurmctld {

// "10.1.2.3" for "10.1.2.3:41234" and for "[::ffff:10.1.2.3]:41234", as a listener for both kinds of addresses has it; "::1" for "[::1]:41234";
// "unix" for "unix".
inline std::string host_of_peer(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  constexpr std::string_view kMapped = "::ffff:";
  return host.starts_with(kMapped) && host.find('.') != host.npos ? host.substr(kMapped.size()) : host;
}

}  // namespace muster::slurmctld
