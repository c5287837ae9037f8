// Credentials that pass through untrusted hands: the controller signs what a step may have, the user's srun
// carries it, the nodes check it.
//
// With the cluster key (auth/slurm): HMAC-SHA256 by the key over a label and the content. With auth/munge: a munge
// credential of the controller over a digest of both, which every node's munged can read; munge says who made it, and
// only root and the trusted uids count. It may be old and may have been read before: how long it holds, and for what,
// the content says (model/step_rpc.h, StepCredential). Cost: about 2 µs with the key, a round trip to munged (0.1 ms)
// with munge; the first call opens libcrypto.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/channel.h"

namespace muster::net {

// Errors: kUnsupported (libcrypto or libmunge is missing), kInvalidArgument (key too short), kAuthFailed (munged).
Result<std::string> sign_credential(const Security& security, std::string_view content);

// The content. Errors: kAuthFailed for anything that a daemon of this cluster did not sign: altered, of another key than
// `key` and `other_keys`, of a munge user who is no daemon, of the other AuthType.
Result<std::string> verify_credential(const Security& security, std::string_view text);

// `bytes` unpredictable bytes as hexadecimal text, for per-step keys.
Result<std::string> random_key(size_t bytes = 16);

}  // namespace muster::net
