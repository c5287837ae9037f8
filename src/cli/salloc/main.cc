// salloc: an allocation, and a command or shell that runs while it lasts. salloc(1).
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/text.h"
#include "cli/common/allocation.h"
#include "cli/common/command.h"
#include "cli/common/end_watch.h"
#include "cli/common/job_setup.h"
#include "cli/common/spank.h"
#include "cli/salloc/allocate.h"
#include "cli/salloc/allocation_environment.h"
#include "cli/salloc/run_command.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

constexpr int kWrongOption = 255;
constexpr Duration kLongWait = seconds(10);  // the bell rings after a longer wait, unless --no-bell

std::vector<std::string> command_of(const JobParse& parse, const ClientConf& conf, bool& interactive_step) {
  if (!parse.operands.empty()) return parse.operands;
  interactive_step = conf.has_launch_parameter("use_interactive_step");
  if (!interactive_step) return {user_shell()};
  // The options may hold $SHELL, so a shell expands them, as Slurm does it.
  return {"/bin/sh", "-c", "exec srun " + conf.interactive_step_options};
}

std::vector<std::string> environment_of(const JobOptions& o, const std::vector<rpc::Allocated>& all, const ClientConf& conf) {
  VariableList variables(own_environment());
  add_option_variables(o, variables);
  errno = 0;
  int nice = getpriority(PRIO_PROCESS, 0);
  add_submit_variables(o, conf, current_directory(), errno ? 0 : nice, variables);
  add_allocation_variables(all.front(), conf, variables);
  add_component_variables(all, variables);
  return variables.list();
}

// While the request blocks the main thread: tells the user after a moment that the job waits, and gives the job up at a signal.
class PendingGuard {
 public:
  PendingGuard(const ClientConf& conf, Pending& pending, const os::CliLog& log) : conf_(conf), pending_(pending), log_(log) {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this] { watch(); });
  }
  ~PendingGuard() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  }

 private:
  void watch() {
    const timespec step{0, 100'000'000};
    for (;;) {
      int got = sigtimedwait(&set_, nullptr, &step);
      if (over_) return;
      if (got > 0) give_up();
      const std::scoped_lock lock(pending_.telling);
      uint32_t id = pending_.job;
      if (!id || pending_.told_waiting || pending_.granted) continue;
      if (const std::string notice = notice_of(conf_, JobId{id}); !notice.empty()) log_.write(os::LogLevel::kInfo, notice);
      log_.write(os::LogLevel::kInfo, "Pending job allocation " + std::to_string(id));
      log_.write(os::LogLevel::kInfo, "job " + std::to_string(id) + " queued and waiting for resources");
      pending_.told_waiting = true;
    }
  }
  [[noreturn]] void give_up() {
    const std::scoped_lock lock(pending_.telling);
    if (uint32_t id = pending_.job) {
      cancel(conf_, JobId{id});
      log_.write(os::LogLevel::kInfo, "Job allocation " + std::to_string(id) + " has been revoked.");
      log_.write(os::LogLevel::kInfo, "Job aborted due to signal");
    }
    _exit(1);
  }

  const ClientConf& conf_;
  Pending& pending_;
  const os::CliLog& log_;
  sigset_t set_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

int run_in_allocation(const JobParse& parse, const std::vector<rpc::Allocated>& all, const ClientConf& conf, const os::CliLog& log) {
  const rpc::Allocated& allocated = all.front();  // with it ends the whole job
  bool interactive_step = false;
  std::vector<std::string> argv = command_of(parse, conf, interactive_step);
  std::string named = argv[0];
  Result<ChildCommand> child = ChildCommand::start(std::move(argv), environment_of(parse.options, all, conf), parse.options.chdir);
  if (!child) {
    log.error("_fork_command: Unable to find command \"{}\"", named);
    if (child.error().code != Errc::kNotFound) log.error("{}", child.error().message());
    relinquish(conf, allocated.job.id, 1 << 8, log);
    return 1;
  }
  EndWatch watch(conf, allocated.job.id);
  uint8_t wanted = parse.options.kill_command.value_or(0);
  Result<os::ExitStatus> status = child->wait(watch.fd(), wanted ? wanted : parse.options.kill_command ? SIGTERM : SIGHUP);
  int raw = status ? status->raw : 1 << 8;
  if (watch.ended()) log.write(os::LogLevel::kInfo, "Job allocation " + std::to_string(allocated.job.id.value) + " has been revoked.");
  else relinquish(conf, allocated.job.id, raw, log);
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

// Adds what the other components of a heterogeneous job ask for. The exit code where one is wrong.
std::optional<int> add_others(const JobScanResult& scan, JobInputs in, const ClientConf& conf, std::span<const std::string> arguments,
                              const os::CliLog& log, std::vector<AskedRequest>& out) {
  for (size_t index = 1; index <= scan.more.size(); ++index) {
    in.before.push_back(scan.component(index - 1));
    JobCommandLine line = scan.component(index);
    line.scan.operands = scan.last().scan.operands;
    JobParse parse = parse_job_command(line, in);
    if (auto code = settled(parse.outcome, Command::kSalloc, parse.messages, kWrongOption, parse.topic)) return code;
    if (Result<> complete = complete_request(parse.options, conf, "salloc", arguments); !complete) {
      report(log, complete.error());
      return parse.options.exit_error.value_or(1);
    }
    AskedRequest& r = parse.options.request;
    if (r.name.empty()) r.name = out.front().name;
    r.argv = out.front().argv;
    out.push_back(std::move(r));
  }
  return std::nullopt;
}

int run(int argc, char** argv) {
  os::CliLog log("salloc");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  Result<ClientConf> conf = find_client_conf();
  std::optional<SpankHost> plugins = start_plugins(Command::kSalloc, conf, arguments, log);
  if (!plugins) return 1;
  JobScanResult scan = scan_job_command(Command::kSalloc, arguments, plugins->options());
  if (!scan.ok()) {
    show(scan.messages, "salloc");
    return kWrongOption;
  }
  JobInputs in;
  in.env = process_environment();
  in.now = os::wall_now();
  scan.line.scan.operands = scan.last().scan.operands;  // the command stands with the last component
  JobParse parse = parse_job_command(scan.line, in);
  if (auto code = settled(parse.outcome, Command::kSalloc, parse.messages, kWrongOption, parse.topic, plugins->options())) return *code;
  JobOptions& options = parse.options;
  if (options.quiet) log.set_level(os::LogLevel::kError);
  set_verbosity(log, options.verbose);
  say_options(log, options);
  if (!conf) {
    report_fatal(log, conf.error());
    return 1;
  }
  if (auto code = plugins_settled(*plugins, parse, log, kWrongOption)) return *code;
  Session session(std::move(*conf), Patience::kMessageTimeout);
  if (Result<> complete = complete_request(options, session.conf(), "salloc", arguments); !complete) {
    report(log, complete.error());
    return options.exit_error.value_or(1);
  }
  if (options.request.name.empty()) {
    std::string first = !parse.operands.empty() ? parse.operands[0] : options.no_shell ? "no-shell" : "interactive";
    options.request.name = first.substr(first.rfind('/') + 1);
  }
  options.request.argv = parse.operands;
  std::vector<AskedRequest> components{options.request};
  if (auto code = add_others(scan, in, session.conf(), arguments, log, components)) return *code;
  Pending pending;
  Time asked = os::wall_now();
  std::optional<std::vector<rpc::Allocated>> granted;
  {
    PendingGuard guard(session.conf(), pending, log);
    granted = allocate(session, components, !options.no_shell, log, pending);
  }
  if (!granted) return options.exit_error.value_or(1);
  bool waited = os::wall_now() - asked >= kLongWait;
  if (options.bell == Bell::kAlways || (options.bell == Bell::kAfterDelay && waited)) [[maybe_unused]]
    ssize_t rung = write(2, "\a", 1);
  if (options.no_shell) return 0;
  return run_in_allocation(parse, *granted, session.conf(), log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
