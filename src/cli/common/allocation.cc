#include "cli/common/allocation.h"

#include "cli/common/command.h"

namespace muster::cli {

void give_back(Session& session, JobId job, int32_t wait_status, const os::CliLog& log) {
  rpc::FinishAllocation done;
  done.job = job;
  done.exit_status = wait_status;
  Result<rpc::Empty> answer = session.call_again(done);
  // The time limit or scancel may have been faster.
  if (!answer && answer.error().code != Errc::kAlreadyDone && answer.error().code != Errc::kInvalidJobId)
    report(log, answer.error(), "Unable to give back job allocation " + std::to_string(job.value) + ": ");
}

void cancel(const ClientConf& conf, JobId job) {
  Session session(conf, Patience::kMessageTimeout);
  rpc::SignalJobs request;
  request.filter.jobs.emplace_back().job = job;
  static_cast<void>(session.call_again(request));
}

}  // namespace muster::cli
