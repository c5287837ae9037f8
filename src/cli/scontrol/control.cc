// Commands that act on jobs and daemons without changing a setting: hold, release, requeue, suspend …, notify, wait_job, reconfigure,
// shutdown, write batch_script.
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

// Turns words into selectors and names; false after a complaint.
bool read_jobs(Context& context, Words words, rpc::ControlJobs& request) {
  for (const std::string& word : words) {
    if (istarts_with(word, "jobname=") || istarts_with(word, "name=")) {
      request.names.push_back(word.substr(word.find('=') + 1));
      continue;
    }
    if (iequals(word, "incomplete")) {
      request.incomplete = true;
      continue;
    }
    if (istarts_with(word, "state=") && request.action == rpc::JobAction::kRequeueHold) {
      request.special_exit = iequals(word.substr(6), "SpecialExit");
      if (!request.special_exit) {
        context.complain("invalid state: " + word.substr(6) + "; the one that can be set is SpecialExit");
        return false;
      }
      continue;
    }
    std::string_view list = word;
    if (istarts_with(list, "jobid=")) list.remove_prefix(6);
    for (std::string_view one : split_outside_brackets(list)) {
      Result<rpc::JobSelector> s = parse_job_selector(one);
      if (!s) {
        context.complain("Invalid job id specified for job " + std::string(one));
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

void control_jobs(Context& context, rpc::JobAction action, Words words) {
  rpc::ControlJobs request;
  request.action = action;
  if (!read_jobs(context, words, request)) return;
  Session* session = context.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  if (!answer) return context.complain(std::string(verb(action)) + " error: ", answer.error());
  for (const std::string& line : answer->lines)
    if (!context.options.quiet) context.log.info("{}", line);
  for (const rpc::PerJobError& e : answer->errors)
    context.complain((e.text.empty() ? std::string(errc_text_of_number(e.code)) : e.text) + " for job " + e.job);
}

void reconfigure(Context& c) {
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(rpc::Reconfigure{});
  if (!answer) return c.complain("slurm_reconfigure error: ", answer.error());
  for (const std::string& line : answer->lines)
    if (!c.options.quiet) c.log.info("{}", line);
}

void shutdown(Context& context, Words words) {
  rpc::Shutdown request;
  if (!words.empty()) {
    if (!istarts_with("slurmctld", words[0]) && !istarts_with("controller", words[0]))
      return context.complain("invalid shutdown argument:" + words[0]);
    request.controller_only = true;
  }
  Session* session = context.query_session();
  if (!session) return;
  Result<rpc::Empty> answer = session->call(request);
  // A controller that ends may close the connection before its answer is sent.
  if (!answer && answer.error().code != Errc::kReceiveFailed) context.complain("slurm_shutdown error: ", answer.error());
}

// The controller answers when the job's nodes are ready, or when the job has ended.
void wait_job(Context& c, Words words) {
  Result<rpc::JobSelector> job = one_job(c, words[0]);
  if (!job) return;
  Session* session = c.control_session();
  if (!session) return;
  rpc::WaitJob request{job->job, true};
  Result<rpc::JobResult> answer = session->call_again(request, net::kNoTimeout);
  if (!answer && answer.error().code == Errc::kInvalidJobId) return c.complain("scontrol: Problem running job " + words[0]);
  if (!answer) return c.complain("slurm_job_node_ready error: ", answer.error());
  if (is_finished(answer->state)) return c.complain("scontrol: Job " + words[0] + " no longer running");
  if (!c.options.quiet) c.log.info("Nodes are ready for job {}", words[0]);
}

void notify(Context& c, Words words) {
  Result<rpc::JobSelector> job = parse_job_selector(words[0]);
  if (!job) return c.complain("Invalid job_id " + words[0]);
  rpc::NotifyJob request;
  request.job = job->job;
  for (const std::string& word : words.subspan(1)) request.text += (request.text.empty() ? "" : " ") + word;
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Empty> answer = session->call(request);
  if (!answer) c.complain("job notify failure: ", answer.error());
}

namespace {

void write_script(Context& context, Words words) {
  Result<rpc::JobSelector> job = parse_job_selector(words[1]);
  if (!job) return context.complain("job script retrieval failed: Invalid job id specified");
  Session* session = context.query_session();
  if (!session) return;
  rpc::QueryText query;
  query.subject = "script";
  query.job = job->job;
  Result<rpc::Text> script = session->call(query);
  if (!script) return context.complain("job script retrieval failed: ", script.error());
  std::string file = words.size() > 2 ? words[2] : "slurm-" + words[1] + ".sh";
  Out out;
  if (file == "-") return out.put(script->text);
  if (Result<> written = os::write_file_atomic(file, script->text, 0600); !written)
    return context.complain("failed to open file `" + file + "`: ", written.error());
  if (!context.options.quiet) out.line("batch script for job " + words[1] + " written to " + file);
}

}  // namespace

void write(Context& c, Words words) {
  if (istarts_with("batch_script", words[0])) {
    if (words.size() < 2) return c.complain("too few arguments for keyword:write");
    return write_script(c, words);
  }
  if (!istarts_with("config", words[0])) return c.complain("invalid write argument:" + words[0]);
  if (words.size() > 2) return c.complain("too many arguments for keyword:write");
  write_config(c, words.subspan(1));
}

}  // namespace muster::cli
