// sattach: connects to the output and input of a running step. sattach(1).
#include <unistd.h>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/find_job.h"
#include "cli/common/job_ids.h"
#include "cli/common/session.h"
#include "cli/sattach/layout.h"
#include "cli/srun/step_launcher.h"
#include "os/users.h"

namespace muster::cli {
namespace {

// Reads "15.0" or "12_3.0". Errors: no step, or a batch or extern step, whose streams are files.
Result<rpc::JobSelector> step_named(const std::string& text) {
  MUSTER_TRY(s, parse_job_selector(text));
  if (!s.has_step) return fail(Errc::kInvalidReq, "Invalid job id or step id: " + text, "a step is named as job.step: 15.0");
  if (s.step == kBatchStep || s.step == kExternStep)
    return fail(Errc::kInvalidReq, "Attaching to a batch or extern step is not possible",
                "the output of a batch script is in its file: scontrol show job " + std::to_string(s.job.value));
  return s;
}

Result<rpc::StepCreated> layout_of(Session& session, const rpc::JobSelector& named) {
  rpc::AskCredential ask;
  MUSTER_TRY(job, find_job(session, named));
  ask.job = job;
  ask.sluid = named.sluid;
  ask.has_step = true;
  ask.step = named.step;
  ask.purpose = rpc::CredentialPurpose::kAttach;
  MUSTER_TRY(step, session.call(ask));
  if (step.nodes.empty()) return fail(Errc::kInvalidJobId, {}, "the step waits for the job's resources");
  return step;
}

// Prints the settings with -vv.
void say_settings(const SattachOptions& options, const rpc::JobSelector& named, const os::CliLog& log) {
  if (!log.enabled(os::LogLevel::kDebug)) return;
  const uint32_t uid = getuid(), gid = getgid();
  const std::string user = os::find_user(Uid{uid}) ? os::find_user(Uid{uid})->name : std::to_string(uid);
  log.info("defined options for program `sattach'");
  log.info("--------------- ---------------------");
  log.info("job ID         : {}", named.job.value);
  log.info("step ID        : {}", step_id_text(named.step));
  log.info("user           : `{}'", user);
  log.info("uid            : {}", uid);
  log.info("gid            : {}", gid);
  log.info("verbose        : {}", options.verbose);
}

// A filter is the number of a task, as in srun's --output=TASK.
Result<> take_filter(std::optional<uint32_t> filter, const char* option, uint32_t num_tasks, std::string& where) {
  if (!filter) return {};
  if (*filter >= num_tasks)
    return fail(Errc::kInvalidReq, "Invalid --" + std::string(option) + "=" + std::to_string(*filter) + ": the step has tasks 0 to " +
                                       std::to_string(num_tasks - 1));
  where = std::to_string(*filter);
  return {};
}

Result<LaunchPlan> make_plan(const SattachOptions& options, rpc::StepCreated step, const ClientConf& conf) {
  LaunchPlan plan;
  plan.attach = true;
  plan.request.label = options.label;
  plan.request.pty = options.pty;
  plan.request.kill_on_bad_exit = KillOnBadExit::kNo;
  plan.quiet_exits = options.quiet;
  MUSTER_TRY_VOID(take_filter(options.input_filter, "input-filter", step.num_tasks, plan.request.std_in));
  MUSTER_TRY_VOID(take_filter(options.output_filter, "output-filter", step.num_tasks, plan.request.std_out));
  MUSTER_TRY_VOID(take_filter(options.error_filter, "error-filter", step.num_tasks, plan.request.std_err));
  plan.dialer = NodeDialer::of(conf);
  plan.step = std::move(step);
  return plan;
}

int run(int argc, char** argv) {
  os::CliLog log("sattach");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  QueryParse<SattachOptions> parse = parse_sattach(arguments, process_environment());
  const SattachOptions& options = parse.options;
  int failed = static_cast<int>(options.exit_error.value_or(1));
  if (auto code = settled(parse.outcome, Command::kSattach, parse.messages, failed)) return *code;
  if (options.quiet) log.set_level(os::LogLevel::kError);
  set_verbosity(log, options.verbose);
  auto refused = [&](const Error& e) {
    report(log, e);
    return failed;
  };
  if (parse.operands.size() != 1) return refused(Error(Errc::kInvalidReq, "One step must be named, as job.step"));
  Result<rpc::JobSelector> named = step_named(parse.operands[0]);
  if (!named) return refused(named.error());
  say_settings(options, *named, log);
  Result<Session> session = Session::find(Patience::kNone, Whom::kStepManager);
  if (!session) return refused(session.error());
  Result<rpc::StepCreated> step = layout_of(*session, *named);
  if (!step) {
    log.error(step.error(), "Could not get job step info: ");
    return failed;
  }
  if (options.layout) {
    Out().put(layout_text(*step));
    return 0;
  }
  Result<LaunchPlan> plan = make_plan(options, std::move(*step), session->conf());
  if (!plan) return refused(plan.error());
  return StepLauncher(std::move(*plan), log).run();
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
