// Options whose feature Muster does not have (yet), each with the reason that the user is told; and input environment variables that are no
// options.
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

constexpr const char* kBurstBuffer = "burst buffers are not available yet";
constexpr const char* kContainers =
    "OCI containers are not available yet; container plugins such as Pyxis (--container-image) work through "
    "SPANK";

constexpr JobOptionRow kUnavailable[] = {
    {{.name = "bb",
      .arg = Arg::kRequired,
      .arg_name = "spec",
      .commands = kJobs,
      .env = {.srun = "SLURM_BURST_BUFFER", .salloc = "SALLOC_BURST_BUFFER"},
      .section = Section::kUnavailable,
      .summary = "burst buffer specification",
      .doc = "What the job needs of a burst buffer.",
      .status = Status::kRefused,
      .note = kBurstBuffer,
      .needs = "burst buffers"},
     set_nothing},
    {{.name = "bbf",
      .arg = Arg::kRequired,
      .arg_name = "file",
      .commands = kJobs,
      .section = Section::kUnavailable,
      .summary = "file with a burst buffer specification",
      .doc = "A file that says what the job needs of a burst buffer.",
      .status = Status::kRefused,
      .note = kBurstBuffer,
      .needs = "burst buffers"},
     set_nothing},
    {{.name = "cluster-constraint",
      .arg = Arg::kRequired,
      .arg_name = "[!]features",
      .commands = kJobs,
      .section = Section::kUnavailable,
      .summary = "features a federation's cluster must have",
      .doc = "In a federation, which clusters may take the job.",
      .status = Status::kNoEffect,
      .note = "there is no federation here, so there are no clusters to choose from",
      .needs = "federation"},
     set_text<&AskedRequest::cluster_features>},
    {{.name = "container",
      .arg = Arg::kRequired,
      .arg_name = "bundle",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CONTAINER", .srun = "SRUN_CONTAINER", .salloc = "SALLOC_CONTAINER"},
      .section = Section::kUnavailable,
      .summary = "OCI bundle to run in",
      .doc = "Path of an OCI container bundle.",
      .status = Status::kRefused,
      .note = kContainers,
      .needs = "OCI containers"},
     set_nothing},
    {{.name = "container-id",
      .arg = Arg::kRequired,
      .arg_name = "id",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CONTAINER_ID", .srun = "SRUN_CONTAINER_ID", .salloc = "SALLOC_CONTAINER_ID"},
      .section = Section::kUnavailable,
      .summary = "name of the OCI container",
      .doc = "Name of the OCI container.",
      .status = Status::kRefused,
      .note = kContainers,
      .needs = "OCI containers"},
     set_nothing},
    {{.name = "container-type",
      .arg = Arg::kRequired,
      .arg_name = "type",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CONTAINER_TYPE", .srun = "SRUN_CONTAINER_TYPE", .salloc = "SALLOC_CONTAINER_TYPE"},
      .section = Section::kUnavailable,
      .summary = "kind of OCI container",
      .doc = "Kind of the OCI container.",
      .status = Status::kRefused,
      .note = kContainers,
      .needs = "OCI containers"},
     set_nothing},
    {{.name = "x11",
      .arg = Arg::kOptional,
      .arg_name = "all|first|last",
      .commands = kSrunOnly | kSallocOnly,
      .section = Section::kUnavailable,
      .summary = "X11 forwarding",
      .doc = "Forwards X11 from nodes of the allocation.",
      .status = Status::kRefused,
      .note = "X11 forwarding is not available yet",
      .needs = "launch"},
     set_nothing},
    {{.name = "context",
      .arg = Arg::kRequired,
      .arg_name = "context",
      .commands = kJobs,
      .section = Section::kUnavailable,
      .summary = "SELinux context of the job",
      .doc = "The SELinux context that the job runs in.",
      .status = Status::kRefused,
      .note = "jobs run in the context that SELinux gives to the programs of slurmd",
      .hidden = true},
     set_nothing},
    {{.name = "debugger-test",
      .commands = kSrunOnly,
      .section = Section::kUnavailable,
      .summary = "as if a parallel debugger had started srun",
      .doc = "For tests of the interface to parallel debuggers.",
      .status = Status::kNoEffect,
      .note = "there is no interface to parallel debuggers",
      .hidden = true},
     set_nothing},
    {{.name = "power",
      .arg = Arg::kRequired,
      .arg_name = "flags",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_POWER", .srun = "SLURM_POWER", .salloc = "SALLOC_POWER"},
      .section = Section::kUnavailable,
      .summary = "power management flags",
      .doc = "Flags for a power plugin.",
      .status = Status::kNoEffect,
      .note = "there is no power management plugin",
      .hidden = true},
     set_text<&AskedRequest::power>},
    {{
         .name = "external-launcher",
         .commands = kSrunOnly,
         .section = Section::kUnavailable,
         .summary = "step for an MPI's own launcher",
         .doc = "A step with access to all resources of its nodes for the launcher of an MPI; used by mpirun.",
     },
     [](JobOptions& o, const Given&) -> Result<> {
       // The description of the option asks for all of the job's resources on each node, beside any other step.
       o.step.whole = true;
       o.step.overlap = true;
       return {};
     }},
};

Result<> set_step_gres(JobOptions& o, const Given& g) {
  o.step_gres = std::string(g.value);
  return {};
}

Result<> set_umask(JobOptions& o, const Given& g) {
  uint32_t mask = 0;
  bool ok = !g.value.empty() && g.value.size() <= 4;
  for (char c : g.value) {
    ok = ok && c >= '0' && c <= '7';
    mask = mask * 8 + static_cast<uint32_t>(c - '0');
  }
  if (!ok || mask > 0777)
    return fail(Errc::kInvalidReq, "Invalid SLURM_UMASK value: " + std::string(g.value), "expected an octal umask such as 0022");
  o.umask = mask;
  return {};
}

template <auto Member>
Result<> set_exit_code(JobOptions& o, const Given& g) {
  auto v = parse_number<int>(g.value, 0, 255);
  // Slurm ignores a value that is no exit code; a wrong value must not hide the error that the code was meant for.
  if (v) o.*Member = *v;
  return {};
}

#define EVERY_JOB_COMMAND(text) \
  { .sbatch = text, .srun = text, .salloc = text }
constexpr JobOptionRow kEnvironment[] = {
    {{.commands = kJobs, .env = EVERY_JOB_COMMAND("SLURM_CONF"), .doc = "Where slurm.conf is."}, set_nothing},
    {{.commands = kJobs,
      .env = EVERY_JOB_COMMAND("SLURM_DEBUG_FLAGS"),
      .doc = "Debug flags of the command itself. Accepted: the commands have nothing to say for any of them."},
     set_text<&JobOptions::debug_flags>},
    {{.commands = kJobs, .env = EVERY_JOB_COMMAND("SLURM_EXIT_ERROR"), .doc = "The exit code when the command itself fails."},
     set_exit_code<&JobOptions::exit_error>},
    {{.commands = kSrunOnly | kSallocOnly,
      .env = {.srun = "SLURM_EXIT_IMMEDIATE", .salloc = "SLURM_EXIT_IMMEDIATE"},
      .doc = "The exit code when --immediate finds no free resources."},
     set_exit_code<&JobOptions::exit_immediate>},
    {{.commands = kSbatchOnly | kSrunOnly,
      .env = {.sbatch = "SLURM_UMASK", .srun = "SLURM_UMASK"},
      .doc = "The umask for output files, in octal."},
     set_umask},
    {{.commands = kSbatchOnly | kSrunOnly,
      .env = {.sbatch = "SLURM_STEP_KILLED_MSG_NODE_ID", .srun = "SLURM_STEP_KILLED_MSG_NODE_ID"},
      .doc = "Only the node with this number reports that a step was killed. Passed on to the job."},
     set_nothing},
    {{.commands = kJobs,
      .env = {.sbatch = "SBATCH_WAIT4SWITCH", .srun = "SLURM_WAIT4SWITCH", .salloc = "SALLOC_WAIT4SWITCH"},
      .doc = "The longest wait for the switch count of --switches."},
     set_text<&JobOptions::wait4switch>},
    {{.commands = kJobs,
      .env = EVERY_JOB_COMMAND("SLURM_HOSTFILE"),
      .doc = "A file with the name of a node for each task, in the order of the tasks; it makes the distribution arbitrary. A list "
             "given with --nodelist or --nodefile goes before it."},
     set_text<&JobOptions::host_file>},
    {{.commands = kSrunOnly, .env = {.srun = "SLURM_DIST_PLANESIZE"}, .doc = "Size for --distribution=plane without a size."},
     [](JobOptions& o, const Given& g) -> Result<> {
       o.plane_size = parse_number<uint32_t>(g.value, 1).value_or(0);
       return {};
     }},
    {{.commands = kSrunOnly, .env = {.srun = "SLURM_STEP_GRES"}, .doc = "Like --gres, for steps only."}, set_step_gres},
    {{.commands = kSrunOnly,
      .env = {.srun = "SLURM_TEST_EXEC"},
      .doc = "If set, srun checks that the program exists and is executable before it asks for a step."},
     set_flag<&JobOptions::test_exec>},
    {{.commands = kSrunOnly,
      .env = {.srun = "SLURM_SRUN_REDUCE_TASK_EXIT_MSG"},
      .doc = "If set and not zero, messages about tasks with the same exit code are printed once."},
     [](JobOptions& o, const Given& g) -> Result<> {
       o.reduce_task_exit_msg = parse_number<int>(g.value).value_or(0) != 0;
       return {};
     }},
    {{.commands = kSrunOnly, .env = {.srun = "PMI_FANOUT"}, .doc = "Used by the PMI-1 library of the program; passed on as it is."},
     set_nothing},
    {{.commands = kSrunOnly,
      .env = {.srun = "PMI_FANOUT_OFF_HOST"},
      .doc = "Used by the PMI-1 library of the program; passed on as it is."},
     set_nothing},
    {{.commands = kSrunOnly, .env = {.srun = "PMI_TIME"}, .doc = "Used by the PMI-1 library of the program; passed on as it is."},
     set_nothing},
    {{.commands = kSrunOnly,
      .env = {.srun = "SLURM_PMI_KVS_NO_DUP_KEYS"},
      .doc = "Used by the PMI-1 library of the program; passed on as it is."},
     set_nothing},
};
}  // namespace

std::span<const JobOptionRow> job_unavailable_rows() { return kUnavailable; }
std::span<const JobOptionRow> job_environment_rows() { return kEnvironment; }

}  // namespace muster
