#include "slurmstepd/namespace_program.h"

#include <unistd.h>

#include <cstring>
#include <string>

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

// A program of the site's, with our environment; `space` is SLURM_NS, "" before there is one.
Result<> run(const std::string& what, const std::string& program, const std::string& space, const std::string& wait) {
  if (program.empty()) return {};
  os::SpawnSpec spec;
  spec.path = program;
  spec.cwd = "/";
  std::vector<std::string>& env = spec.env.emplace();
  for (char** e = environ; e && *e; ++e) env.emplace_back(*e);
  if (!space.empty()) env.push_back("SLURM_NS=" + space);
  MUSTER_TRY(ran, os::run_captured(std::move(spec), seconds(parse_number<uint32_t>(wait, 1).value_or(10)), 4096));
  if (ran.timed_out) return fail(what + " " + program + ": not over after " + wait + " seconds");
  if (ran.status.ok()) return {};
  const std::string how =
      ran.status.signal ? "signal " + std::to_string(ran.status.signal) : "exit code " + std::to_string(ran.status.code);
  const std::string_view said = trim(ran.output);
  return fail(what + " " + program + ": " + how + (said.empty() ? "" : ": " + std::string(said)));
}

Result<> make(char** argument) {
  const auto uid = parse_number<uint32_t>(argument[2]);
  if (!parse_number<uint32_t>(argument[1], 1) || !uid) return fail("namespace make: a job and a user have numbers");
  os::JobNamespaceSpec spec{argument[0], argument[1], Uid(*uid), {}, !strcmp(argument[4], "1")};
  for (std::string_view dir : split(argument[3], ',')) spec.dirs.emplace_back(dir);
  MUSTER_TRY_VOID(os::prepare_namespace_base(spec.base, false));
  MUSTER_TRY_VOID(run("InitScript", argument[5], "", argument[7]));
  MUSTER_TRY_VOID(os::make_job_namespace(spec));
  auto ready = run("CloneNSScript", argument[6], os::namespace_file(spec.base, spec.job), argument[7]);
  if (!ready) [[maybe_unused]]
    auto gone = os::close_job_namespace(spec.base, spec.job);
  return ready;
}

// Whatever the epilog says, the namespace goes.
Result<> close(char** argument) {
  if (!parse_number<uint32_t>(argument[1], 1)) return fail("namespace close: a job has a number");
  const std::string file = os::namespace_file(argument[0], argument[1]);
  auto over = os::open_job_namespace(file) ? run("CloneNSEpilog", argument[2], file, argument[3]) : Result<>();
  auto closed = os::close_job_namespace(argument[0], argument[1]);
  return closed ? over : closed;
}

}  // namespace

int namespace_program(int argc, char** argv) {
  if (argc == 9 && !strcmp(argv[0], "make")) return told(make(argv + 1));
  if (argc == 5 && !strcmp(argv[0], "close")) return told(close(argv + 1));
  if (argc == 2 && !strcmp(argv[0], "sweep")) return told(os::sweep_job_namespaces(argv[1]));
  return told(fail("slurmstepd namespace: started by slurmd only"));
}

}  // namespace muster::slurmstepd
