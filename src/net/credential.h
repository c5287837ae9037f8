// Credentials that pass through untrusted hands: the controller signs what a step may have, the user's srun
// carries it, the nodes check it.
//
// With the cluster key (auth/slurm): HMAC-SHA256 by the key over a label and the content. With auth/munge
// there is no shared key here: the text is unsigned, and whoever verifies must also compare the content's uid
// with the peer's own identity and hold the job's allocation against it; verify_credential says through
// `signed_by_key` which of the two it was. What the content means is the caller's (model/step_rpc.h,
// StepCredential). Cost: about 2 µs, the first call opens libcrypto.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/channel.h"

namespace muster::net {

// Errors: kUnsupported (libcrypto is missing), kInvalidArgument (key too short).
Result<std::string> sign_credential(const Security& security, std::string_view content);

struct VerifiedCredential {
  std::string content;
  bool signed_by_key = false;
};
// Errors: kAuthFailed for anything not signed by the key or one of other_keys (unsigned texts included, with
// a key).
Result<VerifiedCredential> verify_credential(const Security& security, std::string_view text);

// `bytes` unpredictable bytes as hexadecimal text, for per-step keys.
Result<std::string> random_key(size_t bytes = 16);

}  // namespace muster::net
