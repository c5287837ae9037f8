// Tokens and certificates (docs/adr/0019): a token lets a host in, a certificate of its own lets it stay. What `muster token` asks, what a host
// asks for its certificate, and what slurmctld tells its nodes of both. Certificates are DER, keys the 32 raw bytes of Ed25519.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/job_request.h"
#include "model/join_rpc.h"

namespace muster::rpc {

inline constexpr size_t kKeyBytes = 32;            // of an Ed25519 key
inline constexpr size_t kMostCertificate = 2048;   // bytes
inline constexpr uint32_t kMostTokens = 1024;      // at a time
inline constexpr uint32_t kMostTokenUses = 65536;  // of one
inline constexpr uint32_t kMostTokenSeconds = 31 * 24 * 3600;

enum class TokenRole : uint8_t { kNode, kLogin };

struct CreateToken {
  TokenRole role = TokenRole::kNode;
  NodeList hosts;        // who may join by it
  uint32_t seconds = 0;  // how long it is good
  uint32_t uses = 1;     // how often
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "role", self.role);
    field(2, "hosts", self.hosts);
    field(3, "seconds", self.seconds);
    field(4, "uses", self.uses);
  }
};
struct TokenCreated {
  uint32_t id = 0;
  std::string token;  // said once: slurmctld does not keep it
  Time expires{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "token", self.token);
    field(3, "expires", self.expires);
  }
};

struct TokenUse {
  std::string host, address;  // who got a certificate, and from where it asked
  Time time{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "host", self.host);
    field(2, "address", self.address);
    field(3, "time", self.time);
  }
};
struct TokenRow {
  uint32_t id = 0;
  TokenRole role = TokenRole::kNode;
  NodeList hosts;
  Time created{}, expires{}, revoked{};  // revoked: unset, it is not
  uint32_t uses = 1;
  std::vector<TokenUse> used;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "role", self.role);
    field(3, "hosts", self.hosts);
    field(4, "created", self.created);
    field(5, "expires", self.expires);
    field(6, "revoked", self.revoked);
    field(7, "uses", self.uses);
    field(8, "used", self.used);
  }
};
struct QueryTokens {
  template <class S, class V>
  static void describe(S&, V&&) {}
};
struct TokenRows {
  std::vector<TokenRow> tokens;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "tokens", self.tokens);
  }
};

struct RevokeToken {   // one of them
  uint32_t token = 0;  // it, and the certificates of the hosts that joined by it; 0: none
  std::string node, login;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "token", self.token);
    field(2, "node", self.node);
    field(3, "login", self.login);
  }
};
struct TokenRevoked {
  std::vector<std::string> subjects;  // whose certificates are refused from now on: "node:n1"
  std::vector<uint32_t> known;        // tokens that such a host has joined by and that still let others in: it may know them
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "subjects", self.subjects);
    field(2, "known", self.known);
  }
};

// What is revoked: certificates of this subject that were issued up to that time.
struct Revocation {
  std::string subject;
  Time issued_until{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "subject", self.subject);
    field(2, "issued_until", self.issued_until);
  }
};

struct AskCertificate {
  TokenRole role = TokenRole::kNode;
  std::string name;        // of the node or the login host; "" with `future`
  std::string public_key;  // whose private half the asker has made, and keeps
  // slurmd -F: by a token for one of the FUTURE nodes that it names, whichever fits this machine. The certificate says which. It is then the
  // node's own, and the machine joins with it (JoinNode) as that node and no other.
  std::optional<JoinNode> future;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "role", self.role);
    field(2, "name", self.name);
    field(3, "public_key", self.public_key);
    field(4, "future", self.future);
  }
};
struct CertificateIssued {
  std::string certificate, authority;
  std::vector<Revocation> revoked;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "certificate", self.certificate);
    field(2, "authority", self.authority);
    field(3, "revoked", self.revoked);
  }
};

// slurmctld → slurmd, a notice: in each session before the first order, and whenever something is revoked.
struct ClusterTrust {
  static constexpr uint16_t kNumber = 302;
  std::string authority;  // the public key that signs step credentials, warrants and certificates
  std::vector<Revocation> revoked;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "authority", self.authority);
    field(2, "revoked", self.revoked);
  }
};

}  // namespace muster::rpc
