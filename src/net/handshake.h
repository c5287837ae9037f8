// Handshake: how the two ends of a TCP connection prove who they are, without sockets: bytes in, bytes out.
// The same code serves Channel (non-blocking) and Client (blocking). Internal to net/.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/connection.h"

namespace muster::net {

class Handshake {
 public:
  virtual ~Handshake() = default;
  // Takes bytes from the wire and appends to `out` what must be sent, even when it fails (alerts, refusals). Returns true once the peer
  // is proved. Errors: kAuthFailed, kProtocolVersion, kUnsupported.
  virtual Result<bool> advance(std::string_view in, std::string& out) = 0;
  // To be called after advance() returned true: fills in peer.trust/uid/gid, the TLS session and the bytes that came after the handshake.
  virtual void complete(Established& e) = 0;
};

// A Security prepared once for many connections (key derivation, libraries opened).
class Prover {
 public:
  virtual ~Prover() = default;
  virtual std::unique_ptr<Handshake> client() = 0;
  virtual std::unique_ptr<Handshake> server() = 0;
};

// Errors: kInvalidArgument (key too short), kUnsupported (library missing).
Result<std::shared_ptr<Prover>> make_prover(const Security& security);

// What the first bytes of an accepted connection are.
enum class Opening : uint8_t { kNeedMore, kTls, kMunge, kHttp, kUnknown };
Opening classify_opening(std::string_view first_bytes);

}  // namespace muster::net
