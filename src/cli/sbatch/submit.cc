#include "cli/sbatch/submit.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_environment.h"
#include "cli/common/job_setup.h"
#include "hostlist/hostlist.h"
#include "os/files.h"

namespace muster::cli {
namespace {

constexpr size_t kMaxEnvironmentFile = 16u << 20;

int own_nice() {
  errno = 0;
  int n = getpriority(PRIO_PROCESS, 0);
  return errno ? 0 : n;
}

// Reads --export-file: a file, or the number of an open descriptor.
Result<std::vector<std::string>> read_export_file(const std::string& named) {
  std::string path = parse_number<int>(named, 3) ? "/proc/self/fd/" + named : named;
  Result<std::string> text = os::read_file(path, kMaxEnvironmentFile);
  if (!text) return fail(Errc::kInvalidReq, "Unable to read --export-file=" + named, std::string(text.error().message()));
  return parse_environment_file(*text);
}

int wait_for(Session& session, JobId job, const os::CliLog& log) {
  rpc::WaitJob wait;
  wait.job = job;
  Result<rpc::JobResult> result = session.call(wait, net::kNoTimeout);
  if (!result) {
    report(log, result.error(), "Waiting for job " + std::to_string(job.value) + " failed: ");
    return 1;
  }
  return exit_code_of(*result);
}

// Of a heterogeneous job each component is asked for by itself: all can have started when the last of them could.
int test_only(Session& session, const Submission& submission, const os::CliLog& log) {
  std::optional<rpc::WillRunAnswer> all;
  std::vector<const AskedRequest*> components{&submission.job.request};
  for (const AskedRequest& r : submission.more) components.push_back(&r);
  for (const AskedRequest* request : components) {
    rpc::WillRun ask;
    ask.request = *request;
    Result<rpc::WillRunAnswer> answer = session.call(ask);
    if (!answer) {
      report_refusal(log, answer.error(), "allocation failure: ");
      return 1;
    }
    if (all) add_component(*answer, *all);
    else all = std::move(*answer);
  }
  log.write(os::LogLevel::kInfo, will_run_text(*all));
  return 0;
}

bool listed(std::string_view list, std::string_view name) {
  const auto names = split(list, ',');
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

int exit_code_of(const rpc::JobResult& result) {
  if (WIFEXITED(result.exit_status) && (result.state == JobState::kCompleted || WEXITSTATUS(result.exit_status)))
    return WEXITSTATUS(result.exit_status);
  return result.state == JobState::kCompleted ? 0 : 1;
}

std::string will_run_text(const rpc::WillRunAnswer& a) {
  return "Job " + std::to_string(a.job.value) + " to start at " + format_time(a.start) + " using " + std::to_string(a.cpus) +
         " processors on nodes " + a.node_list + " in partition " + a.partition;
}

Result<rpc::SubmitJob> make_submission(JobOptions options, Script script, const std::vector<std::string>& operands, const ClientConf& conf,
                                       std::span<const std::string> arguments, std::span<const std::string> environment) {
  MUSTER_TRY_VOID(complete_request(options, conf, "sbatch", arguments));
  AskedRequest& request = options.request;
  if (request.name.empty()) request.name = script.default_job_name;
  request.argv = operands;
  if (!request.argv.empty() && !script.path.empty()) {
    request.argv[0] = script.path.starts_with('/') ? script.path : current_directory() + "/" + script.path;
  }
  std::vector<std::string> base;
  if (!options.export_file.empty()) {
    MUSTER_TRY(read, read_export_file(options.export_file));
    base = std::move(read);
  } else {
    base = exported(options, environment);
  }
  VariableList variables(std::move(base));
  add_option_variables(options, variables);
  add_submit_variables(options, conf, current_directory(), own_nice(), variables);
  rpc::SubmitJob out;
  out.request = std::move(request);
  out.script = std::move(script.text);
  out.environment = variables.blob();
  return out;
}

void add_component(const rpc::WillRunAnswer& one, rpc::WillRunAnswer& all) {
  all.start = std::max(all.start, one.start);
  all.cpus += one.cpus;
  auto a = expand_hosts(all.node_list), b = expand_hosts(one.node_list);
  if (a && b) all.node_list = compress_hosts(hosts_union(*a, *b));
  if (!listed(all.partition, one.partition)) all.partition += "," + one.partition;
}

Result<Submission> make_submission(std::vector<JobOptions> components, Script script, const std::vector<std::string>& operands,
                                   const ClientConf& conf, std::span<const std::string> arguments,
                                   std::span<const std::string> environment) {
  Submission out;
  const std::string name = script.default_job_name;
  MUSTER_TRY(first, make_submission(std::move(components.front()), std::move(script), operands, conf, arguments, environment));
  out.job = std::move(first);
  for (size_t i = 1; i < components.size(); ++i) {
    JobOptions& o = components[i];
    MUSTER_TRY_VOID(complete_request(o, conf, "sbatch", arguments));
    if (o.request.name.empty()) o.request.name = name;
    o.request.argv = out.job.request.argv;
    out.more.push_back(std::move(o.request));
  }
  return out;
}

int submit(Session& session, const JobOptions& options, const Submission& submission, const os::CliLog& log) {
  const rpc::SubmitJob& request = submission.job;
  if (request.request.test_only) return test_only(session, submission, log);
  Result<rpc::JobSubmitted> done;
  if (submission.more.empty()) {
    done = session.call(request);
  } else {
    rpc::SubmitHetJob together;
    together.components.push_back(request.request);
    together.components.insert(together.components.end(), submission.more.begin(), submission.more.end());
    together.script = request.script;
    together.environment = request.environment;
    done = session.call(together);
  }
  if (!done) {
    report_refusal(log, done.error(), "Batch job submission failed: ");
    return options.exit_error.value_or(1);
  }
  if (!done->message.empty()) log.write(os::LogLevel::kInfo, done->message);
  if (!options.quiet) {  // sbatch(1): --quiet omits the id, too, even with --parsable
    Out out;
    std::string id = std::to_string(done->job.value);
    if (options.parsable) out.line(options.request.clusters.empty() ? id : id + ";" + session.conf().cluster_name);
    else out.line("Submitted batch job " + id);
  }
  return options.wait ? wait_for(session, done->job, log) : 0;
}

}  // namespace muster::cli
