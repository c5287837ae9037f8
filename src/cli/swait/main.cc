// swait: until a job has no steps that run or wait. swait(1).
#include <stdlib.h>

#include "cli/common/command.h"
#include "cli/common/find_job.h"
#include "cli/common/job_ids.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

constexpr int kTimedOut = 1, kFailed = 2;  // exit codes

// Reads "12", "12_3" or "s4SNKN57XZTE00".
Result<rpc::JobSelector> job_named(const std::string& text) {
  MUSTER_TRY(job, parse_job_selector(text));
  if (job.has_step || !job.array_tasks.empty())
    return fail(Errc::kInvalidReq, "Invalid job id " + text, "one job or one task of an array is waited for: 12, 12_3");
  return job;
}

// One task of an array has the array's number, too, but that number means the array. If the array has only one task, that task is meant.
Result<JobId> job_alone(Session& session, const std::string& name, JobId job) {
  rpc::QueryJobs query;
  query.filter.jobs.emplace_back().job = job;
  query.show_all = true;
  query.parts = kRowStateOnly;
  JobId only = job;
  size_t tasks = 0;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs) {
      only = row.id;
      tasks += row.array_tasks.find_first_of("-,") == std::string::npos ? 1 : 2;
    }
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  if (tasks <= 1) return only;
  return fail(Errc::kInvalidReq, "Job " + name + " is an array of several tasks", "name one of them: " + name + "_TASK");
}

// How long the controller may take; nullopt: the time is up.
std::optional<Duration> left_until(Time deadline) {
  if (deadline == kTimeInfinite) return net::kNoTimeout;
  const Duration left = deadline - os::monotonic_now();
  return left > Duration{} ? std::optional(left) : std::nullopt;
}

int wait_for_steps(Session& session, JobId job, uint32_t timeout_seconds, const os::CliLog& log) {
  const Time deadline = timeout_seconds ? os::monotonic_now() + seconds(timeout_seconds) : kTimeInfinite;
  rpc::WaitSteps ask;
  ask.job = job;
  while (std::optional<Duration> left = left_until(deadline)) {
    Result<rpc::Empty> done = session.call_again(ask, *left);
    if (done) return 0;
    if (done.error().code == Errc::kTimedOut && timeout_seconds) continue;
    report(log, done.error(), "Unable to wait for the steps of job " + std::to_string(job.value) + ": ");
    return kFailed;
  }
  log.info("steps of job {} are still there after {} seconds", job.value, timeout_seconds);
  return kTimedOut;
}

int run(int argc, char** argv) {
  os::CliLog log("swait");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SwaitOptions> parse = parse_swait(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kSwait, parse.messages, kFailed)) return *code;
  const SwaitOptions& options = parse.options;
  if (options.quiet) log.set_level(os::LogLevel::kError);
  set_verbosity(log, options.verbose);
  const std::string name = parse.operands.empty() ? options.job_in_environment : parse.operands[0];
  if (name.empty()) {
    report(log, Error(Errc::kInvalidReq, "No job id was given", "name one, or call swait inside a job"));
    return kFailed;
  }
  Result<rpc::JobSelector> named = job_named(name);
  std::optional<Session> session = named ? find_session(Patience::kMessageTimeout, {}, log) : std::nullopt;
  if (!named) report(log, named.error());
  if (!session) return kFailed;
  Result<JobId> job = find_job(*session, *named);
  const char* own = ::getenv("SLURM_JOB_ID");  // of a task, it may be the number of its array, too
  const bool may_be_an_array = named->array_task == kNoArrayTask && !named->sluid && !(own && name == own);
  if (job && may_be_an_array) job = job_alone(*session, name, *job);
  if (!job) {
    report(log, job.error(), "Unable to wait for the steps of job " + name + ": ");
    return kFailed;
  }
  log.verbose("waiting for the steps of job {}", job->value);
  return wait_for_steps(*session, *job, options.timeout_seconds, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
