// srun: runs tasks in parallel, in the job it is in or in a job of its own. srun(1).
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/allocation.h"
#include "cli/common/command.h"
#include "cli/common/end_watch.h"
#include "cli/common/job_environment.h"
#include "cli/common/job_setup.h"
#include "cli/common/spank.h"
#include "cli/salloc/allocation_environment.h"
#include "cli/sbcast/send_file.h"
#include "cli/srun/allocation.h"
#include "cli/srun/launch_plan.h"
#include "cli/srun/step_launcher.h"
#include "cli/srun/together.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process.h"
#include "os/users.h"
#include "site/mpi_modules.h"

namespace muster::cli {
namespace {

constexpr int kWrongOption = 255;

constexpr size_t kMaxProgramFile = 4u << 20;

// With --async nobody listens, so output goes to files on the nodes, and input is a file or nothing.
Result<> complete_async(JobOptions& o) {
  StepRequest& s = o.step;
  if (s.pty || s.immediate) return fail(Errc::kInvalidArgument, "--async cannot be combined with --pty or --immediate");
  bool from_srun = s.std_in == "all" || (!s.std_in.empty() && parse_number<uint32_t>(s.std_in));
  if (from_srun) return fail(Errc::kInvalidArgument, "--async: there is no srun to forward input; --input takes a file");
  if (s.std_in.empty() || s.std_in == "none") s.std_in = "/dev/null";
  if (s.std_out.empty()) s.std_out = "slurm-%J.out";
  for (std::string* path : {&s.std_out, &s.std_err})
    if (*path == "none") *path = "/dev/null";
  return {};
}

// A program that is not in PATH may be in the working directory: the last step of EXECUTABLE PATH RESOLUTION.
void look_in_work_dir(StepRequest& s) {
  if (s.multi_prog || s.argv[0].find('/') != std::string::npos || found_in_path(s.argv[0]) != s.argv[0]) return;
  if (std::string here = s.work_dir + "/" + s.argv[0]; may_run(here)) s.argv[0] = std::move(here);
}

// With SLURM_TEST_EXEC or LaunchParameters=test_exec, the program must exist here, too.
Result<> test_program(const JobOptions& o, const std::string& program) {
  if (!o.test_exec || o.step.multi_prog) return {};
  if (::access(found_in_path(program).c_str(), X_OK) == 0) return {};
  return fail(Errc::kInvalidArgument, program + ": command not found", "SLURM_TEST_EXEC or LaunchParameters=test_exec is set");
}

// Adds what the parser does not: the program, the file of --multi-prog, what is inherited.
Result<> complete_step(JobOptions& options, const std::vector<std::string>& operands) {
  StepRequest& step = options.step;
  if (operands.empty()) return fail(Errc::kInvalidArgument, "No command given to execute.");
  step.argv = operands;
  step.work_dir = options.request.work_dir;
  look_in_work_dir(step);
  MUSTER_TRY_VOID(test_program(options, step.argv[0]));
  if (options.async) MUSTER_TRY_VOID(complete_async(options));
  if (step.multi_prog) {
    MUSTER_TRY(text, os::read_file(operands[0], kMaxProgramFile));
    step.multi_prog_text = std::move(text);
  }
  step.umask = options.request.umask;
  step.limits = options.request.limits;
  size_t slash = operands[0].rfind('/');
  std::string command = slash == std::string::npos ? operands[0] : operands[0].substr(slash + 1);
  if (step.name.empty()) step.name = command;
  if (options.request.name.empty()) options.request.name = command;
  if (step.pty) {
    if (auto size = os::window_size(0)) {
      step.pty_rows = size->rows;
      step.pty_columns = size->columns;
    }
  }
  if (std::string_view type = site::mpi_type(step.mpi); !type.empty() && site::mpi_program(type).empty())
    return fail(Errc::kInvalidMpiPlugin, "Invalid MPI type '" + std::string(type) + "', --mpi=list for acceptable types");
  return {};
}

// Prints the list of --mpi=list as Slurm does.
void list_mpi() {
  const site::MpiModules modules = site::mpi_modules();
  Out out;
  out.line("MPI plugin types are...");
  for (const std::string& type : modules.types) out.line("\t" + type);
  if (modules.versions.empty()) return;
  std::string versions;
  for (const std::string& v : modules.versions) versions += (versions.empty() ? "" : ",") + v;
  out.line("specific pmix plugin versions available: " + versions);
}

void say_step_id(const JobOptions& o, JobId job, StepId step) {
  if (o.quiet) return;
  std::string name = std::to_string(job.value) + "." + std::to_string(step.value);
  Out().line(o.parsable ? name : "Submitted step " + name);
}

// Prints a line such as "jobid 7: nodes(2):`n[1-2]', cpu counts: 3(x1),1(x1)".
void say_allocation(const rpc::Allocated& a, const os::CliLog& log) {
  if (!log.enabled(os::LogLevel::kVerbose)) return;
  std::string counts;
  for (size_t i = 0, same = 1; i < a.cpus_per_node.size(); i += same) {
    for (same = 1; i + same < a.cpus_per_node.size() && a.cpus_per_node[i + same] == a.cpus_per_node[i];) ++same;
    counts += (counts.empty() ? "" : ",") + std::to_string(a.cpus_per_node[i]) + "(x" + std::to_string(same) + ")";
  }
  log.verbose("jobid {}: nodes({}):`{}', cpu counts: {}", a.job.id.value, a.job.nodes, a.job.node_list, counts);
}

void say_asked(const StepRequest& r, const rpc::Allocated& a, const os::CliLog& log) {
  log.debug("requesting job {}, user {}, nodes {} including ({})", a.job.id.value, a.request.uid.value,
            r.min_nodes ? r.min_nodes : a.job.nodes, r.required_nodes.empty() ? std::string("(null)") : r.required_nodes.text());
  log.debug("cpus {}, tasks {}, name {}, relative {}", r.num_tasks * std::max(r.cpus_per_task, 1u), r.num_tasks, r.name,
            r.relative < 0 ? std::string("none") : std::to_string(r.relative));
  log.verbose("CpuBindType={}", r.cpu_bind.empty() ? std::string("(null type)") : r.cpu_bind.text());
}

// --relative leaves out some of the job's first nodes; whether the number of nodes asked for fits into the others.
bool fits_behind(const JobOptions& o, const rpc::Allocated& a, const os::CliLog& log) {
  const int64_t first = o.step.relative, wanted = o.step.min_nodes, there = a.job.nodes;
  if (first < 0) return true;
  if (o.source_of("nodes") == Source::kCommandLine && first + wanted > there) {
    log.error("--relative and --nodes option incompatible with count of allocated nodes ({}+{}>{})", first, wanted, there);
    return false;
  }
  if (first < there && first + std::max<int64_t>(wanted, 1) > there)
    log.info("Warning: --relative={}: the step has {} of the job's {} nodes", first, there - first, there);
  return true;
}

// For a step that waits for the job's resources: a process of its own waits for them and launches the step. It has no input and no
// terminal. False in the process that the user called.
bool continue_in_background(const os::CliLog& log) {
  const pid_t child = ::fork();
  if (child < 0) log.error("srun cannot start the process that launches the step later: {}", std::string(strerror(errno)));
  if (child != 0) return false;
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd : {0, 1, 2}) ::dup2(nothing, fd);
  return true;
}

int launch_later(Session& session, const JobOptions& options, LaunchPlan plan, const rpc::StepCreated& waiting, SpankHost& plugins,
                 const os::CliLog& log) {
  auto placed = await_step(session, waiting.job, waiting.step);
  if (!placed) {
    finish_step(session, waiting, 1 << 8);
    return 1;
  }
  plan.step = std::move(*placed);
  const rpc::StepCreated step = plan.step;
  say_distribution(options, step, plan.request);
  int code = prepare(session, options, plan.step, plan.dialer, plan.request, plugins) ? StepLauncher(std::move(plan), log).run() : 1;
  if (code != 0) finish_step(session, step, 1 << 8);
  return code;
}

// Runs the step in a job that has its nodes, or on nodes without a job. `job_status` is the status to give the job back with.
int run_step(Session& session, const JobOptions& options, const rpc::Allocated& allocated, Place place, SpankHost& plugins,
             const os::CliLog& log, int32_t& job_status) {
  job_status = 1 << 8;
  const ClientConf& conf = session.conf();
  std::optional<EndWatch> here;
  if (place == Place::kInJobOfItsOwn && conf.inactive_limit_seconds > 0) here.emplace(conf, allocated.job.id);
  LaunchPlan plan = launch_plan(options, allocated, conf, place);
  if (!run_program(options.prolog.empty() ? conf.srun_prolog : options.prolog, "prolog", plan.request.environment, log)) return 1;
  if (place == Place::kInJobOfItsOwn) fill_whole_nodes(options, allocated, plan.request);
  say_asked(plan.request, allocated, log);
  auto created = place == Place::kWithoutJob ? step_without_job(session, plan.request, log)
                                             : create_step(session, allocated.job.id, plan.request, options.async, log);
  if (!created) return options.exit_error.value_or(1);
  if (options.async) say_step_id(options, created->job, created->step);
  if (created->waiting) {
    if (!continue_in_background(log)) return 0;
    Session later(session.conf(), Patience::kMessageTimeout, Whom::kStepManager);
    return launch_later(later, options, std::move(plan), *created, plugins, log);
  }
  plan.step = std::move(*created);
  if (place != Place::kInJobOfItsOwn) say_distribution(options, plan.step, plan.request);
  if (Result<> ready = prepare(session, options, plan.step, plan.dialer, plan.request, plugins); !ready) {
    log.error(ready.error());
    if (place != Place::kWithoutJob) finish_step(session, plan.step, 1 << 8);
    return options.exit_error.value_or(1);
  }
  const rpc::StepCreated step = plan.step;
  const std::vector<std::string> environment = plan.request.environment;
  StepLauncher launcher(std::move(plan), log);
  int code = launcher.run();
  job_status = launcher.wait_status() == 0 && code != 0 ? code << 8 : launcher.wait_status();
  if (options.async) return code;
  run_program(options.epilog.empty() ? conf.srun_epilog : options.epilog, "epilog", environment, log);
  if (place == Place::kInJob) finish_step(session, step, job_status, launcher.out_of_memory());
  return code;
}

// --no-allocate. The step has nothing to do with a job in which srun may have been called.
int run_without_job(Session& session, const JobOptions& o, SpankHost& plugins, const os::CliLog& log) {
  log.info("do not allocate resources");
  rpc::Allocated none;
  none.request.name = o.request.name;
  os::UserDirectory users;
  none.request.user_name = users.user_name(Uid(::geteuid()));
  int32_t status = 0;
  return run_step(session, o, none, Place::kWithoutJob, plugins, log, status);
}

// Runs the step in the job that srun is in, in one of its own, or without a job. `several`: the command line has other components, which only
// a question about them could mean here.
int run_one(Session& session, JobOptions& options, bool several, SpankHost& plugins, const os::CliLog& log) {
  rpc::JobSelector job;
  job.job = options.job_id;
  job.array_task = options.array_task;
  if (options.request.test_only && options.source_of("jobid") == Source::kCommandLine) return test_only(session, job, log);
  if (options.request.test_only && several) {
    log.error("srun --test-only is for one component; sbatch --test-only takes several");
    return options.exit_error.value_or(1);
  }
  if (options.request.test_only) return test_only(session, options.request, log);
  say_inherited(log, options.request);
  bool own = !options.job_id;
  if ((own || options.request.no_allocate) && options.async) {
    log.error("--async can only be used in an existing job allocation");
    return options.exit_error.value_or(1);
  }
  if (options.request.no_allocate) return run_without_job(session, options, plugins, log);
  if (own) {  // the controller enforces the job's limit and warning
    options.step.time_limit_min = std::nullopt;
    options.step.warn = {};
  }
  std::optional<rpc::Allocated> a = own ? allocate_own(session, options.request, log) : attach(session, job, log);
  if (a) say_allocation(*a, log);
  if (!a) return own && options.request.immediate_seconds ? options.exit_immediate.value_or(1) : options.exit_error.value_or(1);
  if (!own && !fits_behind(options, *a, log)) return options.exit_error.value_or(1);
  int32_t status = 0;
  int code = run_step(session, options, *a, own ? Place::kInJobOfItsOwn : Place::kInJob, plugins, log, status);
  if (own) give_back(session, a->job.id, status, log);
  return code;
}

int run(int argc, char** argv) {
  os::CliLog log("srun");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  Result<ClientConf> conf = find_client_conf();
  std::optional<SpankHost> plugins = start_plugins(Command::kSrun, conf, arguments, log);
  if (!plugins) return 1;
  JobScanResult scan = scan_job_command(Command::kSrun, arguments, plugins->options());
  if (!scan.ok()) {
    show(scan.messages, "srun");
    return kWrongOption;
  }
  fill_commands(scan);
  JobInputs in;
  in.env = process_environment();
  in.now = os::wall_now();
  JobParse parse = parse_job_command(scan.line, in);
  if (parse.outcome == Outcome::kTopicHelp && parse.topic == "mpi") {
    list_mpi();
    return 0;
  }
  if (auto code = settled(parse.outcome, Command::kSrun, parse.messages, kWrongOption, parse.topic, plugins->options())) return *code;
  JobOptions& options = parse.options;
  if (options.quiet) log.set_level(os::LogLevel::kError);
  set_verbosity(log, options.verbose);
  say_options(log, options);
  if (!conf) {
    report(log, conf.error());
    return 1;
  }
  if (auto code = plugins_settled(*plugins, parse, log, kWrongOption)) return *code;
  Session session(std::move(*conf), Patience::kMessageTimeout, options.job_id ? Whom::kStepManager : Whom::kController);
  const CompleteOptions complete_options = [&](JobOptions& of, const std::vector<std::string>& operands) -> Result<> {
    of.test_exec = of.test_exec || session.conf().has_launch_parameter("test_exec");
    MUSTER_TRY_VOID(complete_request(of, session.conf(), "srun", arguments));
    return of.request.test_only ? Result<>() : complete_step(of, operands);
  };
  if (means_components(scan, options) && !options.request.test_only)
    return run_together(session, scan, in, options, complete_options, *plugins, log);
  if (Result<> complete = complete_options(options, parse.operands); !complete) {
    report(log, complete.error());
    return options.exit_error.value_or(1);
  }
  return run_one(session, options, !scan.more.empty(), *plugins, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
