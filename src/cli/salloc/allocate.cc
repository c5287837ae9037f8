#include "cli/salloc/allocate.h"

#include "cli/common/allocation.h"
#include "cli/common/command.h"

namespace muster::cli {

namespace {

void say_granted(const os::CliLog& log, Pending& pending) {
  const std::scoped_lock lock(pending.telling);
  pending.granted = true;
  const std::string id = std::to_string(pending.job);
  if (pending.told_waiting) log.write(os::LogLevel::kInfo, "job " + id + " has been allocated resources");
  log.write(os::LogLevel::kInfo, "Granted job allocation " + id);
}

}  // namespace

std::optional<rpc::Allocated> allocate(Session& session, const AskedRequest& request, const os::CliLog& log, Pending& pending) {
  rpc::Allocate ask;
  ask.request = request;
  auto on_part = [&](rpc::AllocationPending&& part) -> Result<> {
    pending.job = part.job.value;
    if (part.nodes.empty()) return {};
    say_granted(log, pending);
    log.write(os::LogLevel::kInfo, "Waiting for resource configuration");
    return {};
  };
  Result<rpc::Allocated> answer = session.stream(ask, on_part, net::kNoTimeout);
  if (!answer) {
    {
      const std::scoped_lock lock(pending.telling);         // a thread that gave the job up tells the user and ends the program
      bool busy = answer.error().code == Errc::kNodesBusy;  // --immediate
      report_refusal(log, answer.error(), busy ? "Unable to allocate resources: " : "Job submit/allocate failed: ");
    }
    if (pending.job) cancel_unanswered(session.conf(), JobId{pending.job}, answer.error());
    return std::nullopt;
  }
  pending.job = answer->job.id.value;
  if (pending.granted) log.write(os::LogLevel::kInfo, "Nodes " + answer->job.node_list + " are ready for job");
  else say_granted(log, pending);
  return std::move(*answer);
}

void relinquish(const ClientConf& conf, JobId job, int wait_status, const os::CliLog& log) {
  log.write(os::LogLevel::kInfo, "Relinquishing job allocation " + std::to_string(job.value));
  Session session(conf, Patience::kMessageTimeout);
  give_back(session, job, wait_status, log);
}

}  // namespace muster::cli
