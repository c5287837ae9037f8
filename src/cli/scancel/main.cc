// scancel: one request that signals or ends jobs, and the errors of the jobs for which that failed. scancel(1).
#include <algorithm>

#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/scancel/confirm.h"
#include "cli/scancel/plan.h"

namespace muster::cli {
namespace {

int tell(const rpc::SignalJobsAnswer& answer, const ScancelOptions& o, const os::CliLog& log) {
  int code = 0;
  for (const rpc::PerJobError& e : answer.errors) {
    std::string line = error_line(e, o.quiet);
    if (line.empty()) continue;
    log.write(os::LogLevel::kError, line);
    // A job that is over already is what the user wanted.
    if (e.code != errc_number(Errc::kAlreadyDone)) code = 1;
  }
  return code;
}

// Asks for --interactive. False: nothing was confirmed, or the controller did not answer; `code` says which.
bool confirmed(Session& session, rpc::SignalJobs& request, const ScancelOptions& options, const os::CliLog& log, int& code) {
  Result<std::vector<rpc::JobSelector>> missing = confirm_each(session, request);
  if (!missing) {
    report(log, missing.error());
    code = 1;
    return false;
  }
  for (const rpc::JobSelector& s : *missing) {
    const std::string line = error_line({selector_text(s), errc_number(Errc::kInvalidJobId), {}}, options.quiet);
    if (line.empty()) continue;
    log.write(os::LogLevel::kError, line);
    code = 1;
  }
  return !request.filter.jobs.empty();
}

// With -v, prints each job and step that is about to be signaled. The names of jobs that a filter means are asked for first.
void say_targets(Session& session, const rpc::SignalJobs& request, const ScancelOptions& options, const os::CliLog& log) {
  if (!log.enabled(os::LogLevel::kVerbose)) return;
  if (log.enabled(os::LogLevel::kDebug2))
    for (const std::string& line : settings_lines(options, request)) log.info("{}", line);
  const std::string filters = filters_text(options);
  if (filters.empty()) {
    for (const rpc::JobSelector& job : request.filter.jobs) log.verbose("{}", action_line(request, job));
    return;
  }
  Result<std::vector<Candidate>> jobs = candidates(session, request);
  if (!jobs) return;
  if (jobs->empty()) log.error("No active jobs match ALL job filters, including: {}", filters);
  for (const Candidate& c : *jobs) log.verbose("{}", action_line(request, c.job));
}

int run(int argc, char** argv) {
  os::CliLog log("scancel");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<ScancelOptions> parse = parse_scancel(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kScancel, parse.messages, 1)) return *code;
  const ScancelOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  Result<rpc::SignalJobs> request = plan_cancel(options, parse.operands);
  if (!request) {
    report(log, request.error());
    return 1;
  }
  std::optional<Session> session = find_session(Patience::kMessageTimeout, options.clusters, log);
  if (!session) return 1;
  int code = 0;
  if (options.interactive && !confirmed(*session, *request, options, log, code)) return code;
  say_targets(*session, *request, options, log);
  Result<rpc::SignalJobsAnswer> answer = session->call(*request);
  if (!answer) {
    report(log, answer.error());
    return 1;
  }
  return std::max(code, tell(*answer, options, log));
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
