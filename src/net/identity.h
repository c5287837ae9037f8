// Identity: what a daemon shows besides the cluster key, and whom it believes by certificate (docs/adr/0019). One for all connections of the
// daemon; only the thread of its loop touches it, and a change counts for the next handshake.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/subject.h"

namespace muster::net {

struct Identity {
  std::string authority;                      // the public key (32 bytes) whose certificates are believed; "": nobody's yet
  std::string certificate;                    // our own, DER; "": none yet
  std::string private_key;                    // of it, 32 bytes
  std::map<std::string, int64_t> revoked;     // by subject: certificates issued up to this second are refused
  std::map<std::string, std::string> tokens;  // slurmctld's: the keys of tokens that are good, by their names (net/authority.h)
  std::string token_name, token_key;          // of one who joins by a token, which is what it proves itself with
  uint64_t changes = 0;                       // counted up with each change of authority, certificate or private_key

  bool has_certificate() const { return !authority.empty() && !certificate.empty(); }
  bool refuses(const Subject& subject, int64_t issued) const {
    const auto at = revoked.find(subject.text());
    return at != revoked.end() && issued <= at->second;
  }
};

}  // namespace muster::net
