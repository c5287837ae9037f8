#include "cli/salloc/allocate.h"

#include "cli/common/command.h"

namespace muster::cli {

std::optional<rpc::Allocated> allocate(Session& session, const JobRequest& request, const os::CliLog& log,
                                       Pending& pending) {
  rpc::Allocate ask;
  ask.request = request;
  auto on_part = [&](rpc::AllocationPending&& part) -> Result<> {
    pending.job = part.job.value;
    return {};
  };
  Result<rpc::Allocated> answer = session.stream(ask, on_part, net::kNoTimeout);
  if (!answer) {
    bool busy = answer.error().code == Errc::kNodesBusy;   // --immediate
    report_refusal(log, answer.error(), busy ? "Unable to allocate resources: " : "Job submit/allocate failed: ");
    return std::nullopt;
  }
  pending.job = answer->job.id.value;
  std::string id = std::to_string(answer->job.id.value);
  if (pending.told_waiting) log.write(os::LogLevel::kInfo, "job " + id + " has been allocated resources");
  log.write(os::LogLevel::kInfo, "Granted job allocation " + id);
  return std::move(*answer);
}

void give_back(const ClientConf& conf, JobId job, int exit_status, const os::CliLog& log) {
  log.write(os::LogLevel::kInfo, "Relinquishing job allocation " + std::to_string(job.value));
  Session session(conf, Patience::kMessageTimeout);
  rpc::FinishAllocation done;
  done.job = job;
  done.exit_status = exit_status;
  Result<rpc::Empty> answer = session.call_again(done);
  // The time limit or scancel may have been faster.
  if (!answer && answer.error().code != Errc::kAlreadyDone && answer.error().code != Errc::kInvalidJobId)
    report(log, answer.error(), "Unable to give back job allocation " + std::to_string(job.value) + ": ");
}

void cancel(const ClientConf& conf, JobId job) {
  Session session(conf, Patience::kMessageTimeout);
  rpc::SignalJobs request;
  rpc::JobSelector s;
  s.job = job;
  request.filter.jobs.push_back(s);
  static_cast<void>(session.call_again(request));
}

}  // namespace muster::cli
