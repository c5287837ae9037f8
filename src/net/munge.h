// Munge: proving the identity of both ends on plain TCP with AuthType=auth/munge, without handling the sockets itself.
//
//   client                                server
//   hello: nonce C              →
//                               ←         proof: nonce S, credential over "server" C S
//   claim: credential over "client" S C →
//                               ←         welcome (or a refusal with its reason, at any point)
//
// Each credential covers both nonces, so a captured one is worth nothing on another connection, and the server proves itself first: a
// claim is only sent to a process of root or of a trusted uid. That takes two round trips. What this does not protect: the connection
// itself is neither encrypted nor bound to the credentials, so an attacker who can alter packets on the way can take it over, as with
// any use of munge over TCP. auth/slurm (net/tls.h) has no such gap.
#pragma once

#include <memory>

#include "net/handshake.h"

namespace muster::net {

Result<std::shared_ptr<Prover>> make_munge_prover(const Security& security);

// "MUSTER" and two bytes: version and kind of message.
inline constexpr std::string_view kMungeMagic = "MUSTER";

// A refusal in the form of the munge dialogue, for a client that speaks munge to a server that does not.
std::string munge_refusal(std::string_view reason);

}  // namespace muster::net
