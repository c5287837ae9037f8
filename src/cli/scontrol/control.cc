// What acts on jobs and daemons without changing a setting: hold, release, requeue, suspend …, reconfigure,
// shutdown, wait_job, write batch_script.
#include <sys/stat.h>

#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/scontrol/context.h"
#include "os/files.h"

namespace muster::cli {
namespace {

std::string_view verb(rpc::JobAction a) {
  return a == rpc::JobAction::kSuspend || a == rpc::JobAction::kResume        ? "slurm_suspend"
         : a == rpc::JobAction::kRequeue || a == rpc::JobAction::kRequeueHold ? "slurm_requeue"
         : a == rpc::JobAction::kTop                                          ? "slurm_top_job"
                                                                              : "slurm_update";
}

// Words to selectors and names; false after a complaint.
bool read_jobs(Context& c, Words words, rpc::ControlJobs& request) {
  for (const std::string& word : words) {
    if (istarts_with(word, "jobname=") || istarts_with(word, "name=")) {
      request.names.push_back(word.substr(word.find('=') + 1));
      continue;
    }
    if (iequals(word, "incomplete")) {
      request.incomplete = true;
      continue;
    }
    std::string_view list = word;
    if (istarts_with(list, "jobid=")) list.remove_prefix(6);
    for (std::string_view one : split_outside_brackets(list)) {
      Result<rpc::JobSelector> s = parse_job_selector(one);
      if (!s) {
        c.complain("", s.error());
        return false;
      }
      request.jobs.push_back(std::move(*s));
    }
  }
  return true;
}

Result<rpc::JobSelector> one_job(Context& c, const std::string& word) {
  std::string_view text = word;
  if (istarts_with(text, "jobid=")) text.remove_prefix(6);
  Result<rpc::JobSelector> s = parse_job_selector(text);
  if (!s) c.complain("", s.error());
  return s;
}

}  // namespace

void control_jobs(Context& c, rpc::JobAction action, Words words) {
  rpc::ControlJobs request;
  request.action = action;
  if (!read_jobs(c, words, request)) return;
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  if (!answer) return c.complain(std::string(verb(action)) + " error: ", answer.error());
  for (const std::string& line : answer->lines)
    if (!c.options.quiet) c.log.info("{}", line);
  for (const rpc::PerJobError& e : answer->errors)
    c.complain((e.text.empty() ? std::string(errc_text_of_number(e.code)) : e.text) + " for job " + e.job);
}

void reconfigure(Context& c) {
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(rpc::Reconfigure{});
  if (!answer) return c.complain("slurm_reconfigure error: ", answer.error());
  for (const std::string& line : answer->lines)
    if (!c.options.quiet) c.log.info("{}", line);
}

void shutdown(Context& c, Words words) {
  rpc::Shutdown request;
  if (!words.empty()) {
    if (!istarts_with("slurmctld", words[0]) && !istarts_with("controller", words[0]))
      return c.complain("invalid shutdown option: " + words[0]);
    request.controller_only = true;
  }
  Session* session = c.query_session();
  if (!session) return;
  Result<rpc::Empty> answer = session->call(request);
  // A controller that ends may close the connection before its answer is through.
  if (!answer && answer.error().code != Errc::kReceiveFailed)
    c.complain("slurm_shutdown error: ", answer.error());
}

// The nodes of a job are ready as soon as it runs; until then the state is looked at often.
void wait_job(Context& c, Words words) {
  Result<rpc::JobSelector> job = one_job(c, words[0]);
  if (!job) return;
  Session* session = c.control_session();
  if (!session) return;
  rpc::QueryJobs query;
  query.filter.jobs = {*job};
  query.show_all = true;
  for (int64_t pause = 5;; pause = std::min<int64_t>(pause * 2, 500)) {
    std::optional<JobRow> row;
    Result<rpc::Empty> answer = session->stream(query, [&](rpc::JobRows&& part) -> Result<> {
      if (!part.jobs.empty()) row = std::move(part.jobs.front());
      return {};
    });
    if (!answer) return c.complain("slurm_job_node_ready error: ", answer.error());
    if (!row || is_finished(row->state)) return c.complain("Job " + words[0] + " is no longer running");
    if (row->state != JobState::kPending && !(row->flags & kJobConfiguring)) break;
    struct timespec t = {pause / 1000, (pause % 1000) * 1000000};
    nanosleep(&t, nullptr);
  }
  Out out;
  out.line("Job " + words[0] + " is ready");
}

void write_script(Context& c, Words words) {
  if (!istarts_with("batch_script", words[0])) {
    if (istarts_with("config", words[0])) return c.unavailable("write config");
    return c.complain("invalid write argument: " + words[0]);
  }
  Result<rpc::JobSelector> job = one_job(c, words[1]);
  if (!job) return;
  Session* session = c.query_session();
  if (!session) return;
  rpc::QueryText query;
  query.subject = "script";
  query.job = job->job;
  Result<rpc::Text> script = session->call(query);
  if (!script) return c.complain("job script retrieval failed: ", script.error());
  std::string file = words.size() > 2 ? words[2] : "slurm-" + words[1] + ".sh";
  Out out;
  if (file == "-") return out.put(script->text);
  if (Result<> written = os::write_file_atomic(file, script->text, 0600); !written)
    return c.complain("failed to open file `" + file + "`: ", written.error());
  if (!c.options.quiet) out.line("batch script for job " + words[1] + " written to " + file);
}

}  // namespace muster::cli
