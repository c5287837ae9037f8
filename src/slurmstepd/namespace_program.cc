#include "slurmstepd/namespace_program.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/job_namespace.h"
#include "os/process.h"

namespace muster::slurmstepd {
namespace {

int told(const Result<>& result) {
  if (result) return 0;
  const std::string line = std::string(result.error().message()) + "\n";
  [[maybe_unused]] const ssize_t n = ::write(2, line.data(), line.size());
  return 1;
}

// What a program of the site finds in its environment beside ours.
using Variables = std::vector<std::string>;

Result<> run(const std::string& what, const std::string& program, const Variables& variables, const std::string& wait) {
  if (program.empty()) return {};
  os::SpawnSpec spec;
  spec.path = program;
  spec.cwd = "/";
  std::vector<std::string>& env = spec.env.emplace();
  for (char** e = environ; e && *e; ++e) env.emplace_back(*e);
  env.insert(env.end(), variables.begin(), variables.end());
  MUSTER_TRY(ran, os::run_captured(std::move(spec), seconds(parse_number<uint32_t>(wait, 1).value_or(10)), 4096));
  if (ran.timed_out) return fail(what + " " + program + ": not over after " + wait + " seconds");
  if (ran.status.ok()) return {};
  const std::string how =
      ran.status.signal ? "signal " + std::to_string(ran.status.signal) : "exit code " + std::to_string(ran.status.code);
  const std::string_view said = trim(ran.output);
  return fail(what + " " + program + ": " + how + (said.empty() ? "" : ": " + std::string(said)));
}

// ---- make
constexpr int kOfJob = 8, kOfDir = 4;  // arguments

// BASE JOB UID KINDS
Result<os::JobNamespaceSpec> read_spec(char** argument, int count) {
  const auto uid = parse_number<uint32_t>(argument[2]);
  if (!parse_number<uint32_t>(argument[1], 1) || !uid) return fail("namespace make: a job and a user have numbers");
  os::JobNamespaceSpec spec;
  spec.base = argument[0];
  spec.job = argument[1];
  spec.uid = Uid(*uid);
  for (const std::string_view kind : split(argument[3], ',')) {
    if (kind == "shared") spec.shared = true;
    if (kind == "user") spec.own_users = true;
    if (kind == "pid") spec.first_process = {"/proc/self/exe", "slurmstepd: [" + spec.job + ".namespace]", "namespace", "first"};
  }
  for (int at = kOfJob; at < count; at += kOfDir)
    spec.dirs.push_back({argument[at], argument[at + 1], argument[at + 2], !strcmp(argument[at + 3], "1")});
  return spec;
}

Result<> make(char** argument, int count) {
  MUSTER_TRY(spec, read_spec(argument, count));
  const std::string init = argument[4], users = argument[5], script = argument[6], wait = argument[7];
  MUSTER_TRY_VOID(os::prepare_namespace_base(spec.base, false));
  for (const os::PrivateDirSpec& dir : spec.dirs) {
    if (!dir.base.empty()) MUSTER_TRY_VOID(os::prepare_namespace_base(dir.base, false));
    MUSTER_TRY_VOID(os::check_private_dir(dir.path));  // its name may be the job's own
  }
  MUSTER_TRY_VOID(run("InitScript", init, {}, wait));
  if (!users.empty())
    spec.map_users = [&](pid_t pid) { return run("user_ns_script", users, {"SLURM_NS_PID=" + std::to_string(pid)}, wait); };
  MUSTER_TRY_VOID(os::make_job_namespace(spec));
  auto ready = run("CloneNSScript", script, {"SLURM_NS=" + os::namespace_file(spec.base, spec.job)}, wait);
  if (ready) return ready;
  std::vector<std::string> bases{spec.base};
  for (const os::PrivateDirSpec& dir : spec.dirs)
    if (!dir.base.empty()) bases.push_back(dir.base);
  [[maybe_unused]] auto gone = os::close_job_namespace(bases, spec.job);
  return ready;
}

// JOB EPILOG SECONDS BASE… Whatever the epilog says, the namespace goes.
Result<> close(char** argument, int count) {
  const std::string job = argument[0];
  if (!parse_number<uint32_t>(job, 1)) return fail("namespace close: a job has a number");
  const std::vector<std::string> bases(argument + 3, argument + count);
  const std::string file = os::namespace_file(bases.front(), job);
  auto over = os::open_job_namespace(file) ? run("CloneNSEpilog", argument[1], {"SLURM_NS=" + file}, argument[2]) : Result<>();
  auto closed = os::close_job_namespace(bases, job);
  return closed ? over : closed;
}

// Nobody in there can end it, but for those whom the site makes root; with it, everything in there ends.
[[noreturn]] void be_first(char** words) {
  [[maybe_unused]] auto named = os::set_process_name("slurmstepd");
  for (; *words; ++words) std::memset(*words, 0, std::strlen(*words));  // ps shows the title alone
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::sigwaitinfo(&children, nullptr);
  }
}

}  // namespace

int namespace_program(int argc, char** argv) {
  if (argc > kOfJob && (argc - 1 - kOfJob) % kOfDir == 0 && !strcmp(argv[0], "make")) return told(make(argv + 1, argc - 1));
  if (argc >= 5 && !strcmp(argv[0], "close")) return told(close(argv + 1, argc - 1));
  if (argc == 2 && !strcmp(argv[0], "sweep")) return told(os::sweep_job_namespaces(argv[1]));
  if (argc == 1 && !strcmp(argv[0], "first") && ::getpid() == 1) be_first(argv - 1);
  return told(fail("slurmstepd namespace: started by slurmd only"));
}

}  // namespace muster::slurmstepd
