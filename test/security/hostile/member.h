// What somebody can do who has the credential that a node got with a token (FILE.credential): everything that the node can, and a bit more.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client.h"

namespace muster::hostile {

struct Stolen {
  std::string authority, certificate, private_key, token_name;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "authority", self.authority);
    field(2, "certificate", self.certificate);
    field(3, "private_key", self.private_key);
    field(4, "token_name", self.token_name);
  }
};

// Sends a request to HOST:PORT as the credential's owner; `expected`: whom it wants to find there ("controller", "node:n2").
Result<net::Frame> ask_as(const std::string& file, const std::string& address, const std::string& expected, uint16_t message,
                          const std::string& payload, const std::function<void(std::string_view)>& part);
// Registers as a node, and says "registered" once slurmctld has taken it; then "closed" when the connection ends within the seconds given.
// `boot_id`: of the machine; the session's number lies so many days ahead.
int register_as(const std::string& file, const std::string& address, const std::string& node, int seconds, const std::string& boot_id,
                int days_ahead);
// Says something of a node's health ("fault", "passed" or "failed", of the test of that time) on a connection that has registered as `node`; "":
// on one that has registered as nobody. 0: the connection was still good seconds later.
int report_as(const std::string& file, const std::string& address, const std::string& node, std::string_view what, int64_t since);
// The same report as a frame, for whoever has a socket.
std::string health_report(std::string_view what, int64_t since, uint64_t session, uint64_t sequence);
// Asks something harmless on one connection, and again after the seconds given: "answered" or why not, a line each.
int linger(const std::string& file, const std::string& address, const std::string& expected, int seconds);
// A credential of somebody else, signed with the stolen key.
int forge(const std::string& file, const std::string& out, const std::string& subject);

// A credential as slurmctld would have issued it so many hours ago, with its own key: for tests of what becomes of an old one.
int mint(const std::string& authority_file, const std::string& out, const std::string& subject, double hours_ago);

}  // namespace muster::hostile
