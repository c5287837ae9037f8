#include "slurmctld/daemon/mail_text.h"

#include <sys/wait.h>

#include <algorithm>

#include "base/plain_text.h"
#include "model/mail.h"

namespace muster::slurmctld {
namespace {

std::string_view type_text(uint16_t what) {
  switch (what) {
    case kMailBegin: return "Began";
    case kMailEnd: return "Ended";
    case kMailFail: return "Failed";
    case kMailRequeue: return "Requeued";
    case kMailInvalidDepend: return "Invalid dependency";
    case kMailStageOut: return "Staged Out";
    case kMailTimeLimit: return "Reached time limit";
    case kMailTimeLimit90: return "Reached 90% of time limit";
    case kMailTimeLimit80: return "Reached 80% of time limit";
    case kMailTimeLimit50: return "Reached 50% of time limit";
    default: return "unknown";
  }
}

Duration queued_time(const Job& j) { return std::max(j.started - j.eligible, Duration::zero()); }

Duration run_time(const Job& j, Time now) {
  if (j.started == kTimeUnset) return Duration::zero();
  Time end = j.finished() ? j.ended : now;
  return std::max(end - j.started - j.run->suspended_total, Duration::zero());
}

bool at_the_end(uint16_t what) { return what & (kMailEnd | kMailFail); }

std::string name_in_subject(const SendMail& m) {
  std::string own = std::to_string(m.job.id.value), array = std::to_string(m.job.array_job_id.value);
  if (m.array) return "Array Summary Job_id=" + array + "_* (" + array + ")";
  if (m.job.array_task != kNoArrayTask) return "Array Task Job_id=" + array + "_" + std::to_string(m.job.array_task) + " (" + own + ")";
  return "Job_id=" + own;
}

// ", Mixed, ExitCode [0-2]": how an array ended.
std::string array_end(const ArrayGroup& g) {
  std::string state = g.ended_bad == 0 ? "COMPLETED" : g.ended_ok == 0 ? "FAILED" : "Mixed";
  return ", " + state + ", ExitCode [" + std::to_string(g.lowest_exit) + "-" + std::to_string(g.highest_exit) + "]";
}

std::string job_end(const Job& j) {
  std::string out = ", " + std::string(job_state_name(j.state));
  if (WIFEXITED(j.exit_status)) out += ", ExitCode " + std::to_string(WEXITSTATUS(j.exit_status));
  return out;
}

void add_end(const SendMail& m, Variables& v) {
  const Job& j = m.job;
  const bool signaled = WIFSIGNALED(j.exit_status);
  add_exit(j, v);
  if (m.array) v.set("SLURM_JOB_EXIT_CODE_MIN", m.group.lowest_exit);
  if (m.array) v.set("SLURM_JOB_EXIT_CODE_MAX", m.group.highest_exit);
  else if (signaled) v.set("SLURM_JOB_TERM_SIGNAL_MAX", static_cast<uint64_t>(WTERMSIG(j.exit_status)));
  else v.set("SLURM_JOB_EXIT_CODE_MAX", static_cast<uint64_t>(WEXITSTATUS(j.exit_status)));
}

}  // namespace

std::string mail_subject(const SendMail& m, Time now) {
  std::string out = "Slurm " + name_in_subject(m) + " Name=" + plain(m.job.name()) + " " + std::string(type_text(m.what));
  if (m.array) return at_the_end(m.what) ? out + array_end(m.group) : out;
  if (m.what == kMailBegin) return out + ", Queued time " + format_span_full(queued_time(m.job));
  if (m.what == kMailInvalidDepend) return out;
  out += ", Run time " + format_span_full(run_time(m.job, now));
  return at_the_end(m.what) ? out + job_end(m.job) : out;
}

std::vector<std::string> mail_environment(const SendMail& m, const JobNames& names, Time now) {
  const Job& j = m.job;
  Variables v;
  add_job(j, names, v);
  v.set("SLURM_JOB_STATE", job_state_name(j.state));
  v.set("SLURM_JOB_MAIL_TYPE", type_text(m.what));
  if (m.what == kMailBegin && !m.array) v.set("SLURM_JOB_QUEUED_TIME", format_span_full(queued_time(j)));
  if (m.what != kMailBegin && m.what != kMailInvalidDepend) v.set("SLURM_JOB_RUN_TIME", format_span_full(run_time(j, now)));
  if (at_the_end(m.what)) add_end(m, v);
  return v.take();
}

}  // namespace muster::slurmctld
