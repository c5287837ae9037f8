#include "cli/srun/allocation.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cli/common/allocation.h"
#include "cli/common/command.h"
#include "cli/common/find_job.h"
#include "cli/common/job_ids.h"

namespace muster::cli {
namespace {

constexpr Duration kFirstPause = milliseconds(5), kLongestPause = milliseconds(500), kTellAfter = milliseconds(100);

// While the job waits: tells the user after a moment, and gives the job up at a signal. Made when the controller says that the job waits.
class Waiting {
 public:
  Waiting(const ClientConf& conf, JobId job, const os::CliLog& log) : conf_(conf), job_(job), log_(log) {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this] { watch(); });
  }
  ~Waiting() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  }
  bool told() const { return told_; }
  // The job has its nodes; nothing is printed while they get ready.
  void granted() { granted_ = true; }

 private:
  void watch() {
    const timespec step{0, std::chrono::nanoseconds(kTellAfter).count()};
    while (!over_) {
      int got = sigtimedwait(&set_, nullptr, &step);
      if (over_) return;
      if (got > 0) give_up();
      if (!told_ && !granted_) tell();
    }
  }
  void tell() {
    told_ = true;
    if (const std::string notice = notice_of(conf_, job_); !notice.empty()) log_.info("{}", notice);
    log_.info("job {} queued and waiting for resources", job_.value);
  }
  [[noreturn]] void give_up() {
    cancel(conf_, job_);
    log_.info("Job allocation {} has been revoked", job_.value);
    log_.info("Force Terminated JobId={}", job_.value);
    _exit(1);
  }

  const ClientConf& conf_;
  JobId job_;
  const os::CliLog& log_;
  sigset_t set_;
  std::atomic<bool> over_ = false, told_ = false, granted_ = false;
  std::thread thread_;
};

std::string host_name() {
  char buffer[256] = {};
  ::gethostname(buffer, sizeof buffer - 1);
  return buffer;
}

}  // namespace

namespace {

// Asks, and waits with the user for the nodes; the error was reported.
template <class Ask>
auto allocate(Session& session, const Ask& ask, const os::CliLog& log) -> std::optional<wire::AnswerTo<Ask>> {
  std::unique_ptr<Waiting> waiting;
  JobId job{};
  auto on_part = [&](rpc::AllocationPending&& part) -> Result<> {
    job = part.job;
    if (!waiting) waiting = std::make_unique<Waiting>(session.conf(), part.job, log);
    if (!part.nodes.empty()) waiting->granted();
    return {};
  };
  auto answer = session.stream(ask, on_part, net::kNoTimeout);
  bool told = waiting && waiting->told();
  waiting.reset();
  if (!answer) {
    report_refusal(log, answer.error(), "Unable to allocate resources: ");
    if (job.value) cancel_unanswered(session.conf(), job, answer.error());
    return std::nullopt;
  }
  if (told) log.info("job {} has been allocated resources", job.value);
  return std::move(*answer);
}

}  // namespace

std::optional<rpc::Allocated> allocate_own(Session& session, const AskedRequest& request, const os::CliLog& log) {
  rpc::Allocate ask;
  ask.request = request;
  ask.attends = session.conf().inactive_limit_seconds > 0;
  return allocate(session, ask, log);
}

std::optional<rpc::HetAllocated> allocate_together(Session& session, std::vector<AskedRequest> components, const os::CliLog& log) {
  rpc::AllocateHetJob ask;
  ask.components = std::move(components);
  ask.attends = session.conf().inactive_limit_seconds > 0;
  return allocate(session, ask, log);
}

std::optional<rpc::Allocated> attach(Session& session, const rpc::JobSelector& job, const os::CliLog& log) {
  rpc::AttachAllocation ask;
  Result<JobId> id = find_job(session, job);
  Result<rpc::Allocated> answer;
  if (id) {
    ask.job = *id;
    answer = session.call_again(ask);
  } else {
    answer = std::unexpected(id.error());
  }
  if (answer) return std::move(*answer);
  const std::string name = selector_text(job);
  report(log, answer.error(), "Unable to confirm allocation for job " + name + ": ");
  const Errc code = answer.error().code;
  if (code == Errc::kInvalidJobId || code == Errc::kAlreadyDone || code == Errc::kJobPending)
    log.info("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", name);
  return std::nullopt;
}

int test_only(Session& session, const AskedRequest& request, const os::CliLog& log) {
  rpc::WillRun ask;
  ask.request = request;
  ask.kind = JobKind::kAllocation;
  Result<rpc::WillRunAnswer> a = session.call(ask);
  if (!a) {
    report_refusal(log, a.error(), "allocation failure: ");
    return 1;
  }
  log.info("Job {} to start at {} using {} processors on nodes {} in partition {}", a->job.value, format_time(a->start), a->cpus,
           a->node_list, a->partition);
  return 0;
}

int test_only(Session& session, const rpc::JobSelector& job, const os::CliLog& log) {
  rpc::ExplainJob ask;
  ask.job = job;
  Result<JobExplanation> a = session.call(ask);
  if (a && a->job.state != JobState::kPending) a = fail(Errc::kAlreadyDone);
  if (a && a->expected_start == Time{})
    a = fail(Errc::kNodesBusy, {}, "when it will start is not within sight; muster explain " + selector_text(job) + " says why");
  if (!a) {
    report_refusal(log, a.error(), "allocation failure: ");
    return 1;
  }
  const std::string where = a->expected_nodes.empty() ? std::string() : " on nodes " + a->expected_nodes;
  log.info("Job {} to start at {}{} in partition {}", selector_text(job), format_time(a->expected_start), where, a->job.partition);
  return 0;
}

Result<rpc::StepCreated> await_step(Session& session, JobId job, StepId step) {
  rpc::CreateStep ask;
  ask.job = job;
  ask.waiting_step = step.value;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<rpc::StepCreated> placed = session.call(ask);
    if (placed) return placed;
    const Errc code = placed.error().code;
    const bool again =
        code == Errc::kNodesBusy || code == Errc::kPortsBusy || code == Errc::kJobSuspended || Session::is_connection_error(placed.error());
    if (!again) return placed;
    ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

namespace {

// The request without what only the nodes need to run tasks: the controller needs the shape, the name and the command.
StepRequest for_controller(const StepRequest& request) {
  StepRequest out = request;
  out.environment.clear();
  out.multi_prog_text.clear();
  return out;
}

}  // namespace

bool is_busy(const Error& e) { return e.code == Errc::kNodesBusy || e.code == Errc::kPrologRunning || e.code == Errc::kPortsBusy; }

std::optional<rpc::HetStepCreated> create_together(Session& session, rpc::CreateHetStep ask, const os::CliLog& log) {
  const StepRequest& first = ask.components.front().request;
  const std::string job = std::to_string(ask.components.front().job.value);
  const bool immediate = first.immediate;
  for (rpc::CreateStep& c : ask.components) {
    c.request = for_controller(c.request);
    c.srun_host = host_name();
    c.srun_pid = static_cast<uint32_t>(::getpid());
  }
  bool told = false;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<rpc::HetStepCreated> steps = session.call_again(ask);
    if (steps) return std::move(*steps);
    if (!is_busy(steps.error()) || immediate) {
      report(log, steps.error(), "Unable to create step for job " + job + ": ");
      return std::nullopt;
    }
    if (!told) log.info("Job {} step creation temporarily disabled, retrying ({})", job, steps.error().message());
    told = true;
    ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

std::optional<rpc::StepCreated> step_without_job(Session& session, const StepRequest& request, const os::CliLog& log) {
  Result<rpc::StepCreated> step = session.call_again(rpc::RunWithoutJob{for_controller(request)});
  if (step) return std::move(*step);
  report(log, step.error(), "Unable to run without an allocation: ");
  return std::nullopt;
}

std::optional<rpc::StepCreated> create_step(Session& session, JobId job, const StepRequest& request, bool queue, const os::CliLog& log) {
  rpc::CreateStep ask;
  ask.job = job;
  ask.queue = queue;
  ask.request = for_controller(request);
  ask.srun_host = host_name();
  ask.srun_pid = static_cast<uint32_t>(::getpid());
  Time give_up = request.immediate_seconds
                     ? std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) + seconds(request.immediate_seconds)
                     : kTimeInfinite;
  bool told = false;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<rpc::StepCreated> step = session.call_again(ask);
    if (step) {
      if (told) log.info("Step created for StepId={}.{}", step->job.value, step->step.value);
      return std::move(*step);
    }
    const bool busy = is_busy(step.error());
    bool late = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()) >= give_up;
    if (!busy || late || (request.immediate && !request.immediate_seconds)) {
      report(log, step.error(), "Unable to create step for job " + std::to_string(job.value) + ": ");
      return std::nullopt;
    }
    if (!told) log.info("Job {} step creation temporarily disabled, retrying ({})", job.value, step.error().message());
    told = true;
    ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

}  // namespace muster::cli
