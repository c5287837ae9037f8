// TLS 1.3 with an external pre-shared key (RFC 8446, 4.2.11; RFC 9257), without sockets: bytes in, bytes out.
//
// Both ends derive the same 32 bytes with HKDF-SHA256 from the cluster key; the key exchange stays ephemeral (psk_dhe_ke), so a key that
// leaks later opens no recorded traffic. An end without the key cannot complete the handshake, and each end checks that the key was what
// authenticated it. A token is such a key, too, under a name of its own, which only slurmctld accepts.
//
// Where an end has an identity (net/identity.h) with a certificate, it takes part in handshakes without the key as well: both ends show an
// X.509 certificate that the authority has signed for them, and OpenSSL checks them; a chain has no one between. What remains for us: whether
// the certificate is revoked, and for a client whether it is of whom it called. A client offers its key, if it has one, and its certificate at
// once; the server takes what it knows.
// The PSK identity names the key by a hash, so that several keys can be valid while one
// is replaced. libssl.so.3 is opened when the first context is made, so a program that does not use TLS does not pay for it.
// Errors: kAuthFailed (another key, no key, not TLS), kReceiveFailed (closed, damaged), kUnsupported (no library).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/subject.h"
#include "net/identity.h"

namespace muster::net {

// By what the other end was proved.
struct TlsProof {
  enum class By : uint8_t { kKey, kToken, kCertificate } by = By::kKey;
  Subject subject;       // of the certificate; kToken with the token's name
  Time expires{};        // of the certificate
  bool has_key = false;  // it says that its host has the cluster key, too
};

class TlsSession {
 public:
  virtual ~TlsSession() = default;
  // Goes on as far as the received bytes allow; returns true once both ends have proved who they are.
  virtual Result<bool> handshake() = 0;
  virtual const TlsProof& proof() const = 0;  // after the handshake
  virtual void receive(std::string_view from_wire) = 0;
  // Decrypts into `plain`; returns 0 when more is needed from the wire.
  virtual Result<size_t> read(std::span<char> plain) = 0;
  // Encrypts into pending().
  virtual Result<> write(std::string_view plain) = 0;
  virtual std::string_view pending() = 0;  // bytes to send
  virtual void sent(size_t bytes) = 0;
};

class TlsContext {
 public:
  virtual ~TlsContext() = default;
  virtual std::unique_ptr<TlsSession> client() = 0;
  virtual std::unique_ptr<TlsSession> server() = 0;
};

// A client offers the first key; a server accepts all of them, and the tokens of `identity`. A key of fewer than 16 bytes is refused; none at
// all is good where there is an identity. `expected`: whom a client believes by certificate, as Subject::text() has it; "": nobody. The context
// must outlive its sessions.
Result<std::shared_ptr<TlsContext>> make_tls_context(const std::vector<std::string>& keys,
                                                     std::shared_ptr<const Identity> identity = nullptr, std::string expected = {});

}  // namespace muster::net
