#include "pam/verdict.h"

namespace muster::pam {
namespace {

constexpr const char* kDenied = "Access denied by pam_slurm_adopt: ";

Judged act(Action action, const std::string& to_user, std::string to_log, int level) {
  Judged out{Verdict::kDeny, {}, std::move(to_log), level};
  if (action == Action::kAllow) out.verdict = Verdict::kSuccess;
  else if (action == Action::kIgnore) out.verdict = Verdict::kIgnore;
  else out.to_user = kDenied + to_user;
  out.to_log += action == Action::kAllow ? ": let in without a job" : action == Action::kIgnore ? ": left to the next module" : ": denied";
  return out;
}

}  // namespace

Judged judge(const Options& options, const std::string& user, const Result<rpc::ProcessAdopted>& answer) {
  if (!answer)
    return act(options.generic_failure, "the node's slurmd cannot be asked", "slurmd: " + std::string(answer.error().message()), 2);
  const std::string job = "job " + std::to_string(answer->job.value);
  switch (answer->outcome) {
    case rpc::Adoption::kDone: return {Verdict::kSuccess, {}, "process of " + user + " is in " + job, 3};
    case rpc::Adoption::kNoJobs: return act(options.no_jobs, "you have no active jobs on this node", user + " has no jobs here", 3);
    case rpc::Adoption::kSeveralJobs:
      return act(options.unknown, "you have several jobs on this node, and this login cannot be told to be of one of them",
                 user + " has several jobs here", 3);
    case rpc::Adoption::kFailed: break;
  }
  return act(options.adopt_failure, "this login cannot be made part of " + job, user + " is not in " + job + ": " + answer->text, 2);
}

}  // namespace muster::pam
