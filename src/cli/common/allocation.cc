#include "cli/common/allocation.h"

#include "cli/common/command.h"

namespace muster::cli {

void give_back(Session& session, JobId job, int32_t wait_status, const os::CliLog& log) {
  rpc::FinishAllocation done;
  done.job = job;
  done.exit_status = wait_status;
  Result<rpc::Empty> answer = session.call_again(done);
  // The time limit or scancel may have ended the job first.
  if (!answer && answer.error().code != Errc::kAlreadyDone && answer.error().code != Errc::kInvalidJobId)
    report(log, answer.error(), "Unable to give back job allocation " + std::to_string(job.value) + ": ");
}

void cancel(const ClientConf& conf, JobId job) {
  Session session(conf, Patience::kMessageTimeout);
  rpc::SignalJobs request;
  request.filter.jobs.emplace_back().job = job;
  static_cast<void>(session.call_again(request));
}

void cancel_unanswered(const ClientConf& conf, JobId job, const Error& error) {
  if (Session::is_connection_error(error)) cancel(conf, job);
}

namespace {

struct Notice {
  Reason reason;
  Errc text;
};
constexpr Notice kNotices[] = {
    {Reason::kPartitionDown, Errc::kPartitionDown},
    {Reason::kPartitionInactive, Errc::kPartitionNotAvailable},
    {Reason::kPartitionNodeLimit, Errc::kRequestedPartConfigUnavailable},
    {Reason::kPartitionTimeLimit, Errc::kRequestedPartConfigUnavailable},
    {Reason::kPartitionConfig, Errc::kRequestedPartConfigUnavailable},
    {Reason::kReqNodeNotAvail, Errc::kNodeNotAvailable},
    {Reason::kJobHeldUser, Errc::kJobHeld},
    {Reason::kJobHeldAdmin, Errc::kJobHeld},
};

}  // namespace

std::string notice_of(const ClientConf& conf, JobId job) {
  Session session(conf, Patience::kNone);
  rpc::QueryJobs query;
  query.filter.jobs.emplace_back().job = job;
  query.show_all = true;
  query.parts = kRowVerdict;
  Reason reason = Reason::kNone;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs) reason = row.reason;
    return {};
  };
  if (!session.stream(query, on_part)) return {};
  for (const Notice& n : kNotices)
    if (n.reason == reason) return std::string(errc_text(n.text));
  return {};
}

}  // namespace muster::cli
