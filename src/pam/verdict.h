// What becomes of a login, by what slurmd says of it and by the module's options. Pure. The pam_slurm_adopt guide.
#pragma once

#include <string>

#include "base/result.h"
#include "model/step_rpc.h"
#include "pam/options.h"

namespace muster::pam {

enum class Verdict : uint8_t { kSuccess, kIgnore, kDeny };  // PAM_SUCCESS, PAM_IGNORE, PAM_PERM_DENIED

struct Judged {
  Verdict verdict = Verdict::kDeny;
  std::string to_user;  // "": nothing
  std::string to_log;
  int level = 3;  // as SlurmdDebug
};
// An error: slurmd could not be asked, or would not answer.
Judged judge(const Options& options, const std::string& user, const Result<rpc::ProcessAdopted>& answer);

}  // namespace muster::pam
