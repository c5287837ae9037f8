// The cluster's authority (docs/adr/0019): an Ed25519 key of slurmctld, whose public half everybody may know. It issues X.509 certificates to
// nodes and login hosts; what it signs besides is in credential.h. And tokens: 32 random bytes with the authority's public key, as one word of
// text. A token is a pre-shared key for one purpose, so it is never said to anybody: both ends prove that they know it (tls.h).
//
// Keys are their 32 raw bytes, certificates DER. OpenSSL makes and checks all of it; libcrypto is opened at run time.
// Errors: kUnsupported (no library), kInvalidArgument, kAuthFailed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "model/subject.h"

namespace muster::net {

// A certificate holds this much earlier than it was issued: clocks differ.
inline constexpr Duration kClockSlack = minutes(10);

// `issued`: whole seconds count. The subject must be one that Subject::text() has a text for. `has_key`: it has proved the cluster key, too, which
// hosts that have no key cannot see otherwise.
Result<std::string> issue_certificate(std::string_view authority_secret, const Subject& subject, std::string_view public_key, Time issued,
                                      Time expires, bool has_key = false);

struct CertificateFacts {
  Subject subject;
  std::string public_key;
  Time issued{}, expires{};
  bool has_key = false;
};
// Checks nothing but that it is a certificate of our kind.
Result<CertificateFacts> read_certificate(std::string_view certificate);
// What it says, if `authority` has signed it and it holds at `now`. kAuthFailed says what is wrong.
Result<CertificateFacts> verify_certificate(std::string_view certificate, std::string_view authority, Time now);

struct Token {
  std::string secret, authority;  // 32 bytes each
};
Result<Token> new_token(std::string_view authority);
std::string token_text(const Token& token);
Result<Token> parse_token(std::string_view text);  // kInvalidArgument

// What both ends derive from a token's secret: the name by which it is offered, and the key. Neither gives the secret away.
struct TokenProof {
  std::string name, key;
};
Result<TokenProof> token_proof(std::string_view secret);

}  // namespace muster::net
