// sbatch's request and the lines it prints for the answer. sbatch(1).
#pragma once

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "cli/sbatch/script.h"
#include "os/cli_log.h"

namespace muster::cli {

// Fills in every part of the request that the options left to the command. `environment`: NAME=value of this process.
struct Submission {
  rpc::SubmitJob job;
  std::vector<AskedRequest> more;  // the other components of a heterogeneous job
};
// `components`: the options of each, in order; the script and the environment come from the first.
Result<Submission> make_submission(std::vector<JobOptions> components, Script script, const std::vector<std::string>& operands,
                                   const ClientConf& conf, std::span<const std::string> arguments,
                                   std::span<const std::string> environment);
Result<rpc::SubmitJob> make_submission(JobOptions options, Script script, const std::vector<std::string>& operands, const ClientConf& conf,
                                       std::span<const std::string> arguments, std::span<const std::string> environment);

// Submits, prints, and waits with --wait. Gives the exit code.
int submit(Session& session, const JobOptions& options, const Submission& submission, const os::CliLog& log);

// The exit code of a command that waited for the job: its own code, 1 when a signal ended it or it never ran.
int exit_code_of(const rpc::JobResult& result);
// A line such as "Job 12 to start at 2026-01-31T12:00:00 using 8 processors on nodes n[1-2] in partition gpu".
std::string will_run_text(const rpc::WillRunAnswer& a);
// Takes what one component would get into what all would.
void add_component(const rpc::WillRunAnswer& one, rpc::WillRunAnswer& all);

}  // namespace muster::cli
