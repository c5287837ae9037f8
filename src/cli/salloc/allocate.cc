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

std::vector<rpc::Allocated> all_of(rpc::Allocated&& one) {
  std::vector<rpc::Allocated> out;
  out.push_back(std::move(one));
  return out;
}
std::vector<rpc::Allocated> all_of(rpc::HetAllocated&& all) { return std::move(all.components); }

template <class Ask>
std::optional<std::vector<rpc::Allocated>> ask_for(Session& session, const Ask& ask, const os::CliLog& log, Pending& pending) {
  auto on_part = [&](rpc::AllocationPending&& part) -> Result<> {
    pending.job = part.job.value;
    if (part.nodes.empty()) return {};
    say_granted(log, pending);
    log.write(os::LogLevel::kInfo, "Waiting for resource configuration");
    return {};
  };
  auto answer = session.stream(ask, on_part, net::kNoTimeout);
  if (!answer) {
    {
      const std::scoped_lock lock(pending.telling);         // a thread that gave the job up tells the user and ends the program
      bool busy = answer.error().code == Errc::kNodesBusy;  // --immediate
      report_refusal(log, answer.error(), busy ? "Unable to allocate resources: " : "Job submit/allocate failed: ");
    }
    if (pending.job) cancel_unanswered(session.conf(), JobId{pending.job}, answer.error());
    return std::nullopt;
  }
  std::vector<rpc::Allocated> all = all_of(std::move(*answer));
  pending.job = all.front().job.id.value;
  if (pending.granted) log.write(os::LogLevel::kInfo, "Nodes " + all.front().job.node_list + " are ready for job");
  else say_granted(log, pending);
  return all;
}

}  // namespace

std::optional<std::vector<rpc::Allocated>> allocate(Session& session, const std::vector<AskedRequest>& components, bool stays,
                                                    const os::CliLog& log, Pending& pending) {
  const bool attends = stays && session.conf().inactive_limit_seconds > 0;
  if (components.size() > 1) {
    rpc::AllocateHetJob together;
    together.components = components;
    together.attends = attends;
    return ask_for(session, together, log, pending);
  }
  rpc::Allocate ask;
  ask.request = components.front();
  ask.attends = attends;
  return ask_for(session, ask, log, pending);
}

void relinquish(const ClientConf& conf, JobId job, int wait_status, const os::CliLog& log) {
  log.write(os::LogLevel::kInfo, "Relinquishing job allocation " + std::to_string(job.value));
  Session session(conf, Patience::kMessageTimeout);
  give_back(session, job, wait_status, log);
}

}  // namespace muster::cli
