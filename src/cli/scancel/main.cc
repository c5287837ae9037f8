// scancel: one request that signals or ends jobs, and the errors of those it could not. scancel(1).
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
  if (o.verbose) log.info("{} jobs signaled", answer.matched);
  return code;
}

int run(int argc, char** argv) {
  os::CliLog log("scancel");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<ScancelOptions> parse = parse_scancel(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kScancel, parse.messages, 1)) return *code;
  const ScancelOptions& o = parse.options;
  Result<rpc::SignalJobs> request = plan_cancel(o, parse.operands);
  if (!request) {
    report(log, request.error());
    return 1;
  }
  std::optional<Session> session = find_session(Patience::kMessageTimeout, o.clusters, log);
  if (!session) return 1;
  if (o.interactive) {
    Result<bool> any = confirm_each(*session, *request);
    if (!any) {
      report(log, any.error());
      return 1;
    }
    if (!*any) return 0;
  }
  if (o.verbose && !request->signal)
    for (const rpc::JobSelector& job : request->filter.jobs) log.info("Terminating job {}", selector_text(job));
  Result<rpc::SignalJobsAnswer> answer = session->call(*request);
  if (!answer) {
    report(log, answer.error());
    return 1;
  }
  return tell(*answer, o, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
