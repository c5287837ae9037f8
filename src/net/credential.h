// Credentials that pass through untrusted hands: the controller signs what a step may have, the user's srun carries it, the nodes check
// it.
//
// With auth/slurm: an Ed25519 signature of the cluster's authority (net/authority.h) over a label and the content, which nodes can check and
// not make. slurmctld alone has the private half (Security::authority_secret); who checks has the public one in its identity. With auth/munge:
// a munge credential of the controller over a digest of both, which every node's munged can read; munge says who made it, and only root and the
// trusted uids count. It may be old and may have been read before: the content itself says how long it holds, and for what (model/step_rpc.h,
// StepCredential). Cost: about 50 µs to sign and 120 µs to check, a round trip to munged (0.1 ms) with munge; the first call opens libcrypto.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/channel.h"

namespace muster::net {

// Errors: kUnsupported (libcrypto or libmunge is missing), kInvalidArgument (no authority to sign with), kAuthFailed (munged).
Result<std::string> sign_credential(const Security& security, std::string_view content);

// Returns the content. Errors: kAuthFailed for anything that slurmctld did not sign: altered text, another authority, a munge user who is no daemon, the other AuthType.
Result<std::string> verify_credential(const Security& security, std::string_view text);

// ---- warrants: a daemon lets the holder of a key sign in its place, for what the warrant says (steps/warrant.h). Ed25519. A key is
// its 32 raw bytes. A warrant, or a credential made by one, is never accepted as a daemon's credential, nor the other way round.
Result<std::string> new_private_key();
Result<std::string> public_key(std::string_view private_key);

Result<std::string> sign_warrant(const Security& security, std::string_view content);
// Returns the content of a warrant that a daemon of this cluster signed. Errors: as for verify_credential.
Result<std::string> verify_warrant(const Security& security, std::string_view text);

// Makes a credential by the holder of a warrant's key; it contains the warrant. by_warrant takes it apart; its parts have to be checked
// in the order given here, because the public key is in the warrant.
Result<std::string> sign_by_warrant(std::string_view private_key, std::string_view warrant, std::string_view content);
struct ByWarrant {
  std::string_view warrant, signature, content;  // of the text
};
// nullopt if the text is not such a credential.
std::optional<ByWarrant> by_warrant(std::string_view text);
// Checks that the signature is over the content and this warrant. Error: kAuthFailed.
Result<> check_signature(const ByWarrant& credential, std::string_view public_key);

// SHA-256 as hexadecimal text: the name that the controller's store gives to a content.
Result<std::string> content_hash(std::string_view content);

// `bytes` unpredictable bytes as hexadecimal text, for per-step keys.
Result<std::string> random_key(size_t bytes = 16);

}  // namespace muster::net
